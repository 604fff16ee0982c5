/* SPDX-License-Identifier: Apache-2.0 */
/* Where a command is: one answer for what a target needs and for what is started. */
#ifndef SENTINEL_PROGRAM_H
#define SENTINEL_PROGRAM_H

#include "user/base/util.h"

/* What commands are looked up in, whoever started us: sudo, a service and a shell differ. */
#define PROGRAM_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * The file that `name` is: itself where it contains a '/', else the first one in path (like the
 * variable PATH; NULL: PROGRAM_PATH) that somebody may execute. Empty entries of path, the current
 * directory, are passed over. 0, -ENOENT or -ENAMETOOLONG.
 */
int program_find(const char *name, const char *path, char *ret, size_t n) must_check;

#endif

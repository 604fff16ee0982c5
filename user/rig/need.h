/* SPDX-License-Identifier: Apache-2.0 */
/* What a target needs of this machine: a command, or a feature of the kernel. */
#ifndef SENTINEL_NEED_H
#define SENTINEL_NEED_H

#include "user/base/util.h"

/* Whether it is one: the name or path of a command, or `landlock:N`, Landlock with ABI N or
 * later. */
bool need_is_valid(const char *need);

/* ret of size n: where the command is, or what the kernel has. 0, -ENOENT where it is not here,
 * -EINVAL where it is no need, -ENAMETOOLONG. */
int need_find(const char *need, char *ret, size_t n) must_check;

#endif

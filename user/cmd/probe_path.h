/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of the programs that a sandbox's unprivileged user executes. */
#ifndef SENTINEL_PROBE_PATH_H
#define SENTINEL_PROBE_PATH_H

#include "user/base/diag.h"
#include "user/base/util.h"

#define PROBE_PATH_FOLDER "/var/lib/sentinel/bin"

/*
 * program, "sentinel-probe" say, beside this one where everybody may reach it; else (a checkout
 * below a 0700 home) a copy in PROBE_PATH_FOLDER, named by its digest and kept, so that later runs
 * find it. 0 or -errno with d filled.
 */
int probe_path(const char *program, char *ret, size_t n, struct diag *d) must_check;

/* Whether users other than the owner may execute it and pass every folder above it. */
bool probe_path_open(const char *path);

#endif

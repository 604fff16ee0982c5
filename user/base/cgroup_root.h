/* SPDX-License-Identifier: Apache-2.0 */
/* Where the cgroup v2 hierarchy is: pure, or beside v1 wherever it is mounted. */
#ifndef SENTINEL_BASE_CGROUP_ROOT_H
#define SENTINEL_BASE_CGROUP_ROOT_H

#include "user/base/diag.h"
#include "user/base/util.h"

/*
 * Finds the cgroup v2 root in a line of mountinfo (proc(5)): 0 and the mount point (unescaped) in
 * ret, -ENOENT where the line is another mount, -ENAMETOOLONG where ret is too small.
 */
int cgroup_parse_mount(const char *line, char *ret, size_t n) must_check;

/*
 * Opens the cgroup v2 root, wherever it is mounted (pure or beside v1). A CLOEXEC descriptor, or
 * -ENOENT (not mounted), -EOPNOTSUPP (only a part of the hierarchy is visible, as in a cgroup
 * namespace: programs on the root and ancestor levels would be wrong), -errno.
 */
int cgroup_open_root(struct diag *d) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the programs that a sandbox's unprivileged user executes.
 *
 * What such a user can't reach (a checkout below a 0700 home), and a user's own probe, is copied to
 * PROBE_PATH_FOLDER under a name that holds the digest of its content, for later runs to find. A
 * run holds a shared lock on each copy that it uses; a copy that nobody holds, and nobody used for
 * a day, is removed by the next run.
 */
#ifndef SENTINEL_PROBE_PATH_H
#define SENTINEL_PROBE_PATH_H

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/rig/probe_file.h"

#define PROBE_PATH_FOLDER "/var/lib/sentinel/bin"
#define PROBE_COPIES_MAX 80

struct probe_copies { /* those in use; zeroed to begin with */
	int lock[PROBE_COPIES_MAX];
	size_t n;
};

/* program, "sentinel-probe" say, beside this one where everybody may reach it; else its copy. 0 or
 * -errno with d filled. */
int probe_path(struct probe_copies *c, const char *program, char *ret, size_t n,
	       struct diag *d) must_check;

/*
 * A user's own probe with a program of its own: a folder with that and sentinel-probe, and what p
 * says of them. One folder, so that a sandbox that shows {probe} shows both. Nothing where the
 * command is the sandbox's own. 0 or -errno with d filled.
 */
int probe_path_own(struct probe_copies *c, struct probe_file *p, struct diag *d) must_check;

/* Removes what nobody uses any more. */
void probe_copies_prune(void);

void probe_copies_done(struct probe_copies *c);

/* Whether users other than the owner may execute it and pass every folder above it. */
bool probe_path_open(const char *path);

#endif

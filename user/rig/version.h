/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform says of its own version, for the evidence. */
#ifndef SENTINEL_VERSION_H
#define SENTINEL_VERSION_H

#include <signal.h>

#include "user/rig/client.h"
#include "user/rig/launch.h"
#include "user/rig/target.h"

/*
 * First line of what the command prints within 5 s, "" where there is none; it is killed after
 * that. 0: it ended by itself with status 0 and said something. Else -errno, with d saying what is
 * wrong with it; ret may hold a line all the same. *stop set (NULL: never) ends the wait.
 */
int version_run(const struct launch_opts *o, const volatile sig_atomic_t *stop,
		char ret[EV_TEXT_MAX], struct diag *d) must_check;

/*
 * What the target's version command says, "" where it has none. It is a stranger's program like
 * every other: it runs in a lane and in a cgroup of the run, under the target's user. That it fails
 * stops no run: `wrong` says so then, else its text is "". 0; -EINTR where *stop was set (NULL:
 * never); or what the daemon answered.
 */
int version_of(struct client *c, const struct target *t, const volatile sig_atomic_t *stop,
	       char ret[EV_TEXT_MAX], struct diag *wrong, struct diag *d) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform says of its own version, for the evidence. */
#ifndef SENTINEL_VERSION_H
#define SENTINEL_VERSION_H

#include <signal.h>

#include "user/rig/client.h"
#include "user/rig/target.h"

/*
 * First line of what the target's version command prints within 5 s, "" where it has none or fails.
 * It is a stranger's program like every other: it runs in a lane and in a cgroup of the run, under
 * the target's user. 0; -EINTR where *stop was set (NULL: never); or what the daemon answered.
 */
int version_of(struct client *c, const struct target *t, const volatile sig_atomic_t *stop,
	       char ret[EV_TEXT_MAX], struct diag *d) must_check;

#endif

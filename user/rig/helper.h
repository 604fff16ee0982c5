/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trial needs beside its session, in its cgroup and under its uid, and started before it: a
 * process that is ready once it says so on a line of its own.
 */
#ifndef SENTINEL_RIG_HELPER_H
#define SENTINEL_RIG_HELPER_H

#include "user/rig/launch.h"

#define HELPER_READY "SENTINEL1:ready" /* anywhere in its output */
#define HELPER_WAIT_MAX_MS 10000       /* a sandbox may have to start around it */

struct helper {
	struct launch launch;
	bool waited_for; /* it was started, and has not said yet that it is ready */
	uint64_t deadline_ns;
	size_t line_len;
	char line[512];
};

/* Starts it; say goes to its stdin. One that can't be started is not waited for: what it was to be
 * is not there, and the trial shows it. */
void helper_start(struct helper *h, const struct launch_opts *o, const char *say);

/* Whether it is still to be waited for. Reads what it printed; never blocks. */
bool helper_step(struct helper *h);

/* Kills it; its heirs are the cgroup's matter. A zeroed one and a done one are fine. */
void helper_done(struct helper *h);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trial needs beside its session, in its cgroup and under its uid, and started before it: a
 * process that is ready once it says so, anywhere in a line, and perhaps proves itself alive, by
 * the lines of a session.
 */
#ifndef SENTINEL_RIG_HELPER_H
#define SENTINEL_RIG_HELPER_H

#include "user/base/session_line.h"
#include "user/rig/launch.h"

#define HELPER_ANSWER_MAX_MS 2000

struct helper {
	struct launch launch;
	/* Something is asked of it: to be ready, or to answer a challenge; until the deadline. */
	bool waited_for;
	uint64_t deadline_ns;
	bool has_at;
	uint8_t at[16];		      /* where it says that it is */
	struct session_line alive[2]; /* what it said; of kind SESSION_LINE_NONE: nothing */
	size_t line_len;
	char line[SESSION_LINE_MAX + 64];
};

/* Starts it; say goes to its stdin, and it is waited for as long as a sandbox may take to start.
 * One that can't be started is not waited for: what it was to be is not there, and the trial shows
 * it.
 */
void helper_start(struct helper *h, const struct launch_opts *o, const char *say,
		  uint32_t start_timeout_ms);

/* Sends a challenge's line; its second sign of life is waited for. Nothing where it is not there,
 * or was asked before. */
void helper_challenge(struct helper *h, const char *line);

/* Reads what it printed, all of it hostile; never blocks, and leaves what is more than one turn's.
 * It is waited for no more once it did what was asked, ended, or its time is over. */
void helper_step(struct helper *h);

/* Kills it; its heirs are the cgroup's matter. A zeroed one and a done one are fine. */
void helper_done(struct helper *h);

#endif

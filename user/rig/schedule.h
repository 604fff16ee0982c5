/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run consists of, and its way through the lanes.
 *
 * A job is what one lane does without giving itself to another: a baseline trial, or a round of one
 * cell (on, off, on2). A round waits for the first baseline of its probe, uid and far side; the
 * last baseline waits for all those rounds. Lanes work side by side; windows overlap, since W
 * listens for every token until the end of the run.
 */
#ifndef SENTINEL_SCHEDULE_H
#define SENTINEL_SCHEDULE_H

#include "probes/probe.h"
#include "user/rig/session.h"

struct schedule_opts {
	const struct target *const *targets;
	size_t targets_n;
	const struct probe_manifest *const *probes;
	size_t probes_n;
	uint32_t lanes, repeat;
	uint32_t arms; /* bit = enum arm: which of on, off, on2 are run */
	const char *probe_exe;
	/* Called now and then with how far it is; NULL: never. */
	void (*progress)(void *arg, uint32_t done, uint32_t total);
	void *progress_arg;
	const volatile bool *stop; /* set by a signal: give up; NULL: never */
};

/* Registers targets, probes and cells; runs all jobs. 0; -EINTR when stopped; -errno with d. */
int schedule_run(struct client *c, const struct schedule_opts *o, struct diag *d) must_check;

#endif

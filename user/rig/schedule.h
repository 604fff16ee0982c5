/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a run's jobs through the lanes. Lanes work side by side; windows overlap, since W
 * listens for every token until the end of the run.
 */
#ifndef SENTINEL_SCHEDULE_H
#define SENTINEL_SCHEDULE_H

#include <signal.h>

#include "user/rig/client.h"
#include "user/rig/jobs.h"

struct schedule_opts {
	struct jobs_opts jobs;
	uint32_t lanes;
	const char *probe_exe, *confine_exe;
	/* Called now and then with how far it is; NULL: never. */
	void (*progress)(void *arg, uint32_t done, uint32_t total);
	/* Called with what the user should know of a target, and what stops no run; NULL: never. */
	void (*warn)(void *arg, const char *target, const char *text);
	void *progress_arg;		   /* of both */
	const volatile sig_atomic_t *stop; /* set by a signal: give up; NULL: never */
};

/* Registers targets, probes and cells; runs all jobs, which were made from o->jobs. 0; -EINTR when
 * stopped; -errno with d. */
int schedule_run(struct client *c, const struct schedule_opts *o, struct jobs *jobs,
		 struct diag *d) must_check;

#endif

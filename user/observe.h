/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instrument of one run: the lanes with their far sides, the hooks, and the flow that records
 * what they see. It also watches itself: what was lost, what is attached, what the far side
 * received, and whether packets of our own are seen, all become records.
 */
#ifndef SENTINEL_OBSERVE_H
#define SENTINEL_OBSERVE_H

#include <poll.h>

#include "user/pipeline.h"
#include "user/rig/cgroup.h"
#include "user/rig/farside.h"
#include "user/rig/folder.h"
#include "user/rig/lane.h"
#include "user/rig/resolver.h"
#include "user/rig/rig.h"
#include "user/rig/sabotage.h"

struct observe_opts {
	const char *run; /* its id */
	const char *dir; /* of the bundle */
	const char *collector;
	const uint8_t *key; /* EV_MAC_BYTES, the far side's */
	uint32_t lanes, repeat;
	bool resolver;	     /* a probe asks for names: each lane needs its resolver */
	uint32_t world_ring; /* bytes; 0 = the default */
	uint32_t sabotage;   /* SABOTAGE_*, written into the capture */
};

struct counters {
	struct snt_count count[SNT_HOOK_MAX][LANES_MAX + 1];
	uint64_t recursion[SNT_HOOK_MAX];
	uint64_t time_ns;
};

struct observe { /* zeroed: nothing is there */
	struct sense *sense;
	struct pipeline *pipeline; /* NULL until there is a capture */
	uint32_t lanes_n;
	struct lane lanes[LANES_MAX + 1]; /* by number */
	char folder[FOLDER_PATH_MAX];	  /* where the lanes' UNIX listeners are */
	/* private */
	struct folders folders;
	struct farside farsides[LANES_MAX + 1];
	struct resolver resolvers[LANES_MAX + 1];
	struct counters seen;
};

/* Makes all of it, ready for the first trial. 0, or -errno with d filled, and then too the caller
 * calls observe_end(). */
int observe_begin(struct observe *o, const struct observe_opts *opts,
		  const struct cgroup_run *cgroups, struct diag *d) must_check;
void observe_end(struct observe *o);

/* The canaries of a lane: one that B must see, one that W must see. trial: before or after which;
 * 0 = none. */
int observe_canaries(struct observe *o, uint32_t lane, uint32_t trial) must_check;

/* Sends W two tokens that must not match the trial's: a foreign one, and one that differs in a bit.
 */
int observe_decoys(struct observe *o, const struct ev_trial *t) must_check;

/* What observe_tend() waits for, OBSERVE_POLLFDS entries; and for how long at most. */
#define OBSERVE_POLLFDS LANES_MAX
#define OBSERVE_TICK_MS 100 /* how finely a loss is placed in time */
void observe_pollfds(const struct observe *o, struct pollfd p[OBSERVE_POLLFDS]);

/* Reads what the far sides received, and now and then the counters of loss. */
int observe_tend(struct observe *o) must_check;

/* What was lost since the last look becomes a record now. */
int observe_loss(struct observe *o) must_check;

/* Everything that must be true at the end is asked while the hooks still are there; then they stop,
 * and the rings are drained. After it, observe_totals(). */
int observe_close(struct observe *o) must_check;

/* The sums of all counters. A loss that nobody accounts for becomes a record. */
int observe_totals(struct observe *o, struct ev_run_end *ret) must_check;

#endif

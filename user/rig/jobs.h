/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run consists of, and what of it may run now. Pure: it neither starts nor waits.
 *
 * A job is what one lane does without giving itself to another: a baseline trial, or a round of one
 * cell (on, off, on2, allowed). Rounds wait for the first baseline of their probe, uid,
 * capabilities and far side; the last baseline waits for all those rounds. Where a target has a
 * steady state, each round is followed by one that waits for it.
 */
#ifndef SENTINEL_JOBS_H
#define SENTINEL_JOBS_H

#include "probes/probe.h"
#include "user/base/diag.h"
#include "user/rig/target.h"

enum job_kind { JOB_BASELINE_FIRST, JOB_ROUND, JOB_BASELINE_LAST };

/*
 * What a baseline speaks for: the same probe, uid, capabilities and far side. What a probe needs is
 * given to the calibrators alone: a target has what its platform gives it, and shows by a baseline
 * without it what the host itself refuses.
 */
struct base_key {
	const struct probe_manifest *probe;
	enum far_side far;
	uid_t uid;
	gid_t gid;
	uint64_t caps; /* bit per CAP_*; of uid 0 always none: it has its own */
};

struct job {
	enum job_kind kind;
	struct base_key key;
	const struct target *target; /* of a round; else NULL */
	uint32_t repeat;
	uint32_t wait_ms;   /* with the control on, attempts are made so late; 0: at once */
	uint32_t arms_left; /* bit = enum arm; whoever starts one takes it out */
	/* private */
	struct base *base;
	struct job *next;
};

struct jobs_opts {
	const struct target *const *targets;
	size_t targets_n;
	const struct probe_manifest *const *probes;
	size_t probes_n;
	uint32_t repeat;
	uint32_t arms;	     /* bit = enum arm: which of on, off, on2, allowed are run */
	uint32_t trials_max; /* more are refused */
};

struct jobs;

/* Targets and probes are borrowed for its life. The caller owns *ret: jobs_free(). -ENOMEM, or
 * -E2BIG where the run would be larger than trials_max. */
int jobs_new(struct jobs **ret, const struct jobs_opts *o, struct diag *d) must_check;
void jobs_free(struct jobs *j); /* NULL is fine */

uint32_t jobs_trials(const struct jobs *j); /* how many there are in all */

/* The job that should run next, or NULL where none may now. Its time is linear in the number of
 * baselines. It is the caller's until he says jobs_finish() (no arm is left) or jobs_give_back()
 * (another lane goes on with it). */
struct job *jobs_take(struct jobs *j);
void jobs_finish(struct jobs *j, struct job *job);
void jobs_give_back(struct jobs *j, struct job *job);

/* The next of the arms that are left; ARM_NONE. */
enum arm job_next_arm(const struct job *job);

/* How the target's control is loosened for the probe, and what the target says of it; NULL. */
const struct target_off *probe_off(const struct target *t, const struct probe_manifest *p);
const struct target_claim *probe_claim(const struct target *t, const struct probe_manifest *p);

/* Whether the far side's allowed destination must answer the probe from inside the target. */
bool probe_allowed(const struct target *t, const struct probe_manifest *p);

#endif

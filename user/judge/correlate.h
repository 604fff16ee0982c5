/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From records to facts: puts together what the capture says of each trial, fills struct facts for
 * every round of every cell, and asks the judge.
 *
 * Pure: no clock, descriptor, log or global; the same events in the same order give the same
 * result. Nothing depends on the order of kernel records among each other beyond their own times,
 * except that what registers something (run.begin, target, probe, cell, lane, trial) comes before
 * what it concerns.
 */
#ifndef SENTINEL_CORRELATE_H
#define SENTINEL_CORRELATE_H

#include "user/base/util.h"
#include "user/decode/ev.h"
#include "user/judge/verdict.h"

#define CORRELATE_REPEAT_MAX 1000
#define CORRELATE_TRIALS_MAX 60000 /* of a run; the matcher holds 65536 tokens */

struct correlate;

/* The caller owns *ret: correlate_free(). 0 or -ENOMEM. */
int correlate_new(struct correlate **ret) must_check;
void correlate_free(struct correlate *c); /* NULL is fine */

/* One accepted event, borrowed. 0; -ENOMEM, -ENOSPC (too many trials) or -EBADMSG (the run's log
 * contradicts itself: an unknown trial, a second run.begin), after which the result is not valid.
 */
int correlate_push(struct correlate *c, const struct ev *ev) must_check;

/* Until when W must listen (CLOCK_MONOTONIC) so that no window is too short, by what is known now.
 * 0 where nothing needs it. */
uint64_t correlate_window_end(const struct correlate *c);

/* What the events that were pushed are worth. */
enum evidence_state {
	EVIDENCE_WHOLE = 0,
	EVIDENCE_DAMAGED, /* among them are some that do not verify: no cell gets anything of them
			   */
	EVIDENCE_SEALED, /* they verify, and something else does not, or is missing: what they prove
			  * by themselves is proven, and that is a crossing alone */
};

/* What the judge says. Of evidence that is not whole, nothing is held against the run that is only
 * missing: its end, a witness. cells is allocated: run_result_done(). Call once, after the last
 * event. */
int correlate_finish(struct correlate *c, enum evidence_state evidence,
		     struct run_result *ret) must_check;
void run_result_done(struct run_result *r);

/* For `explain` and the like, after correlate_finish(): makes correlate_trial_of() ready. 0 or
 * -ENOMEM.
 */
int correlate_index(struct correlate *c) must_check;

/* Which trial an event belongs to, 0 where to none. */
uint32_t correlate_trial_of(const struct correlate *c, const struct ev *ev);
const struct ev_trial *correlate_trial(const struct correlate *c, uint32_t trial);

#endif

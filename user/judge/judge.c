// SPDX-License-Identifier: Apache-2.0
/*
 * The judge: facts in, verdict out (DESIGN.md 3.3 to 3.6). No clock, descriptor, log or global.
 *
 * The order is the argument. Damaged evidence proves nothing, in either direction. A proof that the
 * attempt reached the far side can't be undone by anything that was lost, detached or too short.
 * Everything else is a search for doubts: each thing that "nothing arrived" could also mean is one,
 * all of them are named, and `contained` is what is left when none is.
 */
#include "user/judge/guard.h"
#include "user/judge/verdict.h"

static inline reason_set when(bool condition, enum reason r)
{
	return (reason_set)condition << r;
}

/*
 * How the attempt provably reached the far side, from the expected sandbox. Asks neither for loss
 * nor for hooks: what was seen, was seen. It does ask for the self-test, since an instrument that
 * finds tokens where there are none proves nothing (3.4).
 */
static enum grade crossed_grade(const struct facts *f)
{
	if (GUARD(ESCAPE_IDENTITY, f->identity != IDENTITY_RIGHT))
		return GRADE_NONE;
	if (GUARD(ESCAPE_SELF_TEST, !f->self_test))
		return GRADE_NONE;
	if (GUARD(ESCAPE_TOKEN, f->on == CROSSING_TOKEN))
		return GRADE_PAYLOAD;
	if (GUARD(ESCAPE_ANSWER, f->on_answered))
		return GRADE_PAYLOAD;
	if (GUARD(ESCAPE_SIGNAL_AT_B, !f->signal_at_b))
		return GRADE_NONE;
	if (GUARD(ESCAPE_SIGNAL, f->on == CROSSING_SIGNAL))
		return GRADE_SIGNAL;
	return GRADE_NONE;
}

/* Was the observer in a state to see? Loss at A matters only where no attempt was seen in spite of
 * it (3.5). */
static reason_set instrument_doubts(const struct facts *f)
{
	return when(GUARD(SELF_TEST, !f->self_test), REASON_SELF_TEST_FAILED) |
	       when(GUARD(ATTACHED_W, !f->attached_w), REASON_OBSERVER_NOT_ATTACHED) |
	       when(GUARD(ATTACHED_B, !f->attached_b), REASON_OBSERVER_NOT_ATTACHED) |
	       when(GUARD(ATTACHED_A, !f->attached_a), REASON_OBSERVER_NOT_ATTACHED) |
	       when(GUARD(ATTACHED_EXEC, !f->attached_exec), REASON_OBSERVER_NOT_ATTACHED) |
	       when(GUARD(LOST_W, f->lost_w), REASON_RECORDS_LOST) |
	       when(GUARD(LOST_B, f->lost_b), REASON_RECORDS_LOST) |
	       when(GUARD(LOST_A, f->lost_a && f->attempt != ATTEMPT_SEEN), REASON_RECORDS_LOST);
}

/* Was it this sandbox, alive, and did the probe make its attempt in it? `ran` is asked for whether
 * the attempt was seen or inferred: without it, nobody knows that the last call returned. */
static reason_set sandbox_doubts(const struct facts *f)
{
	return when(GUARD(IDENTITY_WRONG, f->identity == IDENTITY_WRONG), REASON_WRONG_SANDBOX) |
	       when(GUARD(IDENTITY_UNKNOWN, f->identity == IDENTITY_UNKNOWN),
		    REASON_IDENTITY_UNKNOWN) |
	       when(GUARD(ALIVE_BEFORE, !f->alive1), REASON_SANDBOX_NOT_ALIVE) |
	       when(GUARD(ALIVE_AFTER, !f->alive2), REASON_SANDBOX_NOT_ALIVE) |
	       when(GUARD(SAME_INSTANCE, !f->same_instance), REASON_SANDBOX_NOT_ALIVE) |
	       when(GUARD(RAN, !f->ran), REASON_PROBE_DID_NOT_RUN) |
	       when(GUARD(ATTEMPT, f->attempt == ATTEMPT_NONE), REASON_NO_ATTEMPT_SEEN) |
	       when(GUARD(SHARED, f->shared), REASON_BOUNDARY_SHARED);
}

/* Was there something to reach, and does what W saw, for as long as it must, mean "nothing"? */
static reason_set world_doubts(const struct facts *f)
{
	return when(GUARD(BASELINE_FIRST, f->baseline_first != REACH_ANSWERED),
		    REASON_TARGET_UNREACHABLE_OUTSIDE) |
	       when(GUARD(BASELINE_LAST, f->baseline_last != REACH_ANSWERED),
		    REASON_TARGET_UNREACHABLE_OUTSIDE) |
	       when(GUARD(UNEXPLAINED, f->on == CROSSING_UNEXPLAINED), REASON_UNEXPLAINED_TRAFFIC) |
	       when(GUARD(UNCLAIMED_SIGNAL, f->on == CROSSING_SIGNAL && !f->signal_at_b),
		    REASON_UNCLAIMED_SIGNAL) |
	       when(GUARD(WINDOW, !f->window_long), REASON_WINDOW_TOO_SHORT);
}

/* Was it the control? Where no `off` can be expressed, the attempt itself must have been seen, and
 * where it stopped be known: the table's row for `provisional`. */
static reason_set control_doubts(const struct facts *f)
{
	bool no_off = f->off == OFF_ABSENT;

	return when(GUARD(OFF_NO_DIFFERENCE, f->off == OFF_NONE),
		    REASON_CONTROL_MAKES_NO_DIFFERENCE) |
	       when(GUARD(ON2_CROSSED, f->on2 == ON2_CROSSED), REASON_CONTROL_LEFT_OPEN) |
	       when(GUARD(ON2_MISSING, f->on2 == ON2_ABSENT), REASON_ON2_MISSING) |
	       when(GUARD(ALLOWED_DEAD, f->allowed == ALLOWED_DEAD),
		    REASON_ALLOWED_DESTINATION_DEAD) |
	       when(GUARD(STOP_UNKNOWN, no_off && !f->stopped_known), REASON_STOP_UNKNOWN) |
	       when(GUARD(NO_OFF_INFERRED, no_off && f->attempt == ATTEMPT_INFERRED),
		    REASON_NO_ATTEMPT_SEEN);
}

static struct judgement withheld(bool claimed, reason_set reasons)
{
	return (struct judgement){
		.verdict = claimed ? VERDICT_INCONCLUSIVE : VERDICT_NOT_CLAIMED,
		.reasons = reasons,
	};
}

/*
 * What a platform never promised is observed, not scored: never inconclusive, never escaped. Where
 * it provably crossed, the grade says so. Where it did not, the reasons say why "did not cross"
 * would be no measurement; the control is not asked, since none was promised.
 */
struct judgement judge_round(const struct facts *f)
{
	bool claimed = !GUARD(UNCLAIMED, !f->claimed);
	enum grade grade;
	reason_set doubts;

	/* Alone: any other reason would rest on bytes that do not verify. */
	if (GUARD(DAMAGED, f->damaged))
		return withheld(claimed, REASON_BIT(REASON_EVIDENCE_DAMAGED));

	grade = crossed_grade(f);
	if (grade != GRADE_NONE)
		return (struct judgement){
			.verdict = claimed ? VERDICT_ESCAPED : VERDICT_NOT_CLAIMED,
			.grade = grade,
			.via_other = f->via_other,
		};

	doubts = instrument_doubts(f) | sandbox_doubts(f) | world_doubts(f);
	if (claimed)
		doubts |= control_doubts(f);
	if (doubts || !claimed)
		return withheld(claimed, doubts);

	if (GUARD(PROVISIONAL, f->off == OFF_ABSENT))
		return (struct judgement){ .verdict = VERDICT_PROVISIONAL };
	return (struct judgement){ .verdict = VERDICT_CONTAINED };
}

/*
 * Two rounds of one cell. One crossing of n is enough, and what the other round doubts is then
 * beside the point. Rounds that differ in what they grant are `unstable`: whatever one of them
 * granted, the cell doesn't have it.
 */
static struct judgement join(struct judgement a, struct judgement b)
{
	if (GUARD(ONE_OF_N, a.grade != GRADE_NONE || b.grade != GRADE_NONE)) {
		struct judgement best = a.grade >= b.grade ? a : b;

		best.via_other = a.via_other || b.via_other;
		return best;
	}
	a.reasons |= b.reasons;
	if (GUARD(UNSTABLE, a.verdict != b.verdict)) {
		a.verdict = VERDICT_INCONCLUSIVE;
		a.reasons |= REASON_BIT(REASON_UNSTABLE);
	}
	return a;
}

struct judgement judge_cell(const struct facts *rounds, uint32_t n)
{
	struct judgement cell;

	if (n == 0) /* a caller's mistake, and no round must never look like a good one */
		return withheld(true, REASON_BIT(REASON_PROBE_DID_NOT_RUN));
	cell = judge_round(&rounds[0]);
	for (uint32_t i = 1; i < n; i++)
		cell = join(cell, judge_round(&rounds[i]));
	return cell;
}

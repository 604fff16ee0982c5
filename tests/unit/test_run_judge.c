// SPDX-License-Identifier: Apache-2.0
/*
 * The run's own judgement and its exit code: every outcome of the four calibrators, with every
 * combination of what else can reject a run, against DESIGN.md 3.4 and 6.1.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "user/base/util.h"
#include "user/judge/exit.h"
#include "user/judge/run_judge.h"

/* How a calibrator can come out. */
enum outcome {
	OUT_MISSING = 0,
	OUT_INCONCLUSIVE,
	OUT_UNREACHABLE, /* inconclusive, for nothing could be reached outside either */
	OUT_DAMAGED,	 /* inconclusive, for the evidence does not verify */
	OUT_NOT_CLAIMED,
	OUT_PROVISIONAL,
	OUT_CONTAINED,
	OUT_ESCAPED,
	OUT_MAX
};

static struct judgement judgement_of(enum outcome o)
{
	static const enum verdict verdicts[OUT_MAX] = {
		[OUT_NOT_CLAIMED] = VERDICT_NOT_CLAIMED,
		[OUT_PROVISIONAL] = VERDICT_PROVISIONAL,
		[OUT_CONTAINED] = VERDICT_CONTAINED,
		[OUT_ESCAPED] = VERDICT_ESCAPED,
	};
	struct judgement j = { .verdict = verdicts[o] };

	if (o == OUT_INCONCLUSIVE)
		j.reasons = REASON_BIT(REASON_SANDBOX_NOT_ALIVE);
	if (o == OUT_UNREACHABLE)
		j.reasons = REASON_BIT(REASON_TARGET_UNREACHABLE_OUTSIDE);
	if (o == OUT_DAMAGED)
		j.reasons = REASON_BIT(REASON_EVIDENCE_DAMAGED);
	if (o == OUT_ESCAPED)
		j.grade = GRADE_PAYLOAD;
	return j;
}

#define CELLS_MAX 5 /* the calibrators and one target, one probe */

struct trial_run {
	enum outcome out[ROLE_MAX]; /* [ROLE_TARGET]: of the target */
	bool crossed, builtin, listed, witnesses_disagree, decoy_matched, aborted;
	struct cell_result cells[CELLS_MAX];
	struct run_result result;
};

static void cell_add(struct trial_run *t, enum role role)
{
	struct cell_result *c = &t->cells[t->result.cells_n];

	if (t->out[role] == OUT_MISSING)
		return;
	*c = (struct cell_result){ .role = role,
				   .probe = "p",
				   .judgement = judgement_of(t->out[role]) };
	c->arms[ARM_ON].crossed = t->out[role] == OUT_ESCAPED;
	t->result.cells_n++;
}

static void build(struct trial_run *t)
{
	t->result = (struct run_result){ .cells = t->cells };
	for (enum role role = 0; role < ROLE_MAX; role++)
		cell_add(t, role);
}

static void judge(struct trial_run *t)
{
	const struct run_probe probe = { "p", t->builtin, t->crossed };
	const struct run_probe other = { "other", false, false };
	const struct run_facts f = {
		.witnesses_disagree = t->witnesses_disagree,
		.decoy_matched = t->decoy_matched,
		.aborted = t->aborted,
		.probes_n = 1,
		.probes = t->listed ? &probe : &other,
	};

	run_judge(&t->result, &f);
}

static bool is_inconclusive(enum outcome o)
{
	return o == OUT_INCONCLUSIVE || o == OUT_UNREACHABLE || o == OUT_DAMAGED;
}

/* Of fake and deny-all: what came out is not what must, and nothing excuses it. */
static bool is_wrong(const struct trial_run *t, enum outcome o, enum outcome must)
{
	bool excused = o == OUT_DAMAGED || (!t->crossed && is_inconclusive(o));

	return o != OUT_MISSING && o != must && !excused;
}

/* 3.4 in its own words. */
static uint32_t expected_rejections(const struct trial_run *t)
{
	enum outcome fake = t->out[ROLE_ESCAPES], deny = t->out[ROLE_CONTAINS];
	enum outcome never = t->out[ROLE_NEVER], deaf = t->out[ROLE_DEAF];
	bool any_missing = !fake || !deny || !never || !deaf;
	bool any_cell = t->result.cells_n > 0;
	uint32_t r = 0;

	if (t->witnesses_disagree)
		r |= 1u << REJECT_WITNESSES_DISAGREE;
	if (t->decoy_matched)
		r |= 1u << REJECT_DECOY_MATCHED;
	if (t->aborted)
		r |= 1u << REJECT_ABORTED;
	if (!t->listed)
		return any_cell ? r | 1u << REJECT_CALIBRATOR_MISSING : r;

	if (t->builtin && any_missing)
		r |= 1u << REJECT_CALIBRATOR_MISSING;
	if (t->builtin && is_wrong(t, fake, OUT_ESCAPED))
		r |= 1u << REJECT_FAKE_NOT_ESCAPED;
	if (t->builtin && is_wrong(t, deny, OUT_CONTAINED))
		r |= 1u << REJECT_DENY_NOT_CONTAINED;
	if (never && !is_inconclusive(never))
		r |= 1u << REJECT_NEVER_NOT_INCONCLUSIVE;
	if (deaf && !is_inconclusive(deaf))
		r |= 1u << REJECT_DEAF_NOT_INCONCLUSIVE;
	return r;
}

static void check_cells(const struct trial_run *t, const struct cell_result *before)
{
	bool rejected = t->result.status == RUN_REJECTED;

	for (uint32_t i = 0; i < t->result.cells_n; i++) {
		const struct judgement *was = &before[i].judgement;
		const struct judgement *is = &t->cells[i].judgement;

		assert_int_equal(t->cells[i].arms[ARM_ON].crossed, before[i].arms[ARM_ON].crossed);
		if (!rejected || t->cells[i].role != ROLE_TARGET) {
			assert_int_equal(is->verdict, was->verdict);
			assert_true(is->reasons == was->reasons);
			assert_int_equal(is->grade, was->grade);
			continue;
		}
		assert_int_equal(is->verdict, was->verdict == VERDICT_NOT_CLAIMED
						      ? VERDICT_NOT_CLAIMED
						      : VERDICT_INCONCLUSIVE);
		assert_true((is->reasons & was->reasons) == was->reasons && is->reasons);
		assert_int_equal(is->grade, GRADE_NONE);
	}
}

static void check_reasons(const struct trial_run *t)
{
	const uint32_t own = 1u << REJECT_ABORTED | 1u << REJECT_WITNESSES_DISAGREE;
	reason_set reasons = t->cells[0].judgement.reasons;

	if (t->result.status != RUN_REJECTED || t->out[ROLE_TARGET] == OUT_MISSING)
		return;
	assert_int_equal(t->aborted, !!(reasons & REASON_BIT(REASON_WINDOW_TOO_SHORT)));
	assert_int_equal(t->witnesses_disagree,
			 !!(reasons & REASON_BIT(REASON_WITNESSES_DISAGREE)));
	assert_int_equal((t->result.rejections & ~own) != 0,
			 !!(reasons & REASON_BIT(REASON_SELF_TEST_FAILED)));
}

static void check_run(struct trial_run *t)
{
	struct cell_result before[CELLS_MAX];
	enum exit_code code;

	build(t);
	memcpy(before, t->cells, sizeof(before));
	judge(t);
	assert_int_equal(t->result.rejections, expected_rejections(t));
	assert_int_equal(t->result.status, t->result.rejections ? RUN_REJECTED : RUN_VALID);
	check_cells(t, before);
	check_reasons(t);

	code = run_exit_code(&t->result, false, false, false);
	if (t->result.status == RUN_REJECTED)
		assert_int_equal(code, EXIT_INCONCLUSIVE);
	else if (t->out[ROLE_TARGET] == OUT_CONTAINED)
		assert_int_equal(code, EXIT_CONTAINED);
}

/* The number's digits are the outcomes, then the flags. */
static void decode(struct trial_run *t, unsigned int number)
{
	bool *const flags[] = { &t->crossed,	   &t->builtin, &t->listed, &t->witnesses_disagree,
				&t->decoy_matched, &t->aborted };

	for (enum role role = 0; role < ROLE_MAX; role++) {
		t->out[role] = number % OUT_MAX;
		number /= OUT_MAX;
	}
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		*flags[i] = number & 1;
		number >>= 1;
	}
}

#define OUTCOMES ((unsigned int)(OUT_MAX * OUT_MAX * OUT_MAX * OUT_MAX * OUT_MAX))

static void every_run(void **state unused_arg)
{
	static struct trial_run t;

	for (unsigned int i = 0; i < OUTCOMES * 64; i++) {
		decode(&t, i);
		check_run(&t);
	}
}

static bool passes(enum outcome o, enum outcome must)
{
	return o == must || o == OUT_UNREACHABLE || o == OUT_DAMAGED;
}

static void every_self_test(void **state unused_arg)
{
	static struct trial_run t;

	for (unsigned int i = 0; i < OUTCOMES; i++) {
		bool expected;

		decode(&t, i);
		build(&t);
		expected = passes(t.out[ROLE_ESCAPES], OUT_ESCAPED) &&
			   passes(t.out[ROLE_CONTAINS], OUT_CONTAINED) &&
			   is_inconclusive(t.out[ROLE_NEVER]) && is_inconclusive(t.out[ROLE_DEAF]);
		assert_int_equal(run_self_test(&t.result, "p"), expected);
		assert_false(run_self_test(&t.result, "q"));
	}
}

/* One probe's failure is not another's, except that it rejects the run. */
static void two_probes(void **state unused_arg)
{
	static const enum outcome out[ROLE_MAX] = { OUT_CONTAINED, OUT_ESCAPED, OUT_CONTAINED,
						    OUT_INCONCLUSIVE, OUT_UNREACHABLE };
	const struct run_probe probes[] = { { "p", true, true }, { "q", false, true } };
	const struct run_facts f = { .probes_n = 2, .probes = probes };
	struct cell_result cells[2 * ROLE_MAX] = { 0 };
	struct run_result r = { .cells_n = ARRAY_SIZE(cells), .cells = cells };

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		cells[i].role = i / 2;
		(void)str_copy(cells[i].probe, sizeof(cells[i].probe), i % 2 ? "q" : "p");
		cells[i].judgement = judgement_of(out[i / 2]);
	}
	run_judge(&r, &f);
	assert_int_equal(r.status, RUN_VALID);
	assert_int_equal(run_exit_code(&r, false, false, false), EXIT_CONTAINED);

	cells[2 * ROLE_ESCAPES + 1].judgement = judgement_of(OUT_CONTAINED);
	assert_true(run_self_test(&r, "p"));
	assert_false(run_self_test(&r, "q"));
	run_judge(&r, &f);
	assert_int_equal(r.status, RUN_VALID);

	cells[2 * ROLE_ESCAPES].judgement = judgement_of(OUT_CONTAINED);
	run_judge(&r, &f);
	assert_int_equal(r.rejections, 1u << REJECT_FAKE_NOT_ESCAPED);
}

/* A second calibrator of a role does not hide behind the first. */
static void two_of_a_role(void **state unused_arg)
{
	static const enum outcome out[] = { OUT_CONTAINED,    OUT_ESCAPED,     OUT_CONTAINED,
					    OUT_INCONCLUSIVE, OUT_UNREACHABLE, OUT_CONTAINED };
	static const enum role roles[] = { ROLE_TARGET, ROLE_ESCAPES, ROLE_CONTAINS,
					   ROLE_NEVER,	ROLE_DEAF,    ROLE_ESCAPES };
	const struct run_probe probe = { "p", true, true };
	const struct run_facts f = { .probes_n = 1, .probes = &probe };
	struct cell_result cells[ARRAY_SIZE(out)] = { 0 };
	struct run_result r = { .cells_n = ARRAY_SIZE(cells), .cells = cells };

	for (size_t i = 0; i < ARRAY_SIZE(cells); i++) {
		cells[i].role = roles[i];
		(void)str_copy(cells[i].probe, sizeof(cells[i].probe), "p");
		cells[i].judgement = judgement_of(out[i]);
	}
	assert_false(run_self_test(&r, "p"));
	run_judge(&r, &f);
	assert_int_equal(r.rejections, 1u << REJECT_FAKE_NOT_ESCAPED);
}

/* Calibrators of every verdict beside up to two targets' cells, with every flag. */
static enum exit_code expected_exit(const struct run_result *r, bool skipped, bool damaged,
				    bool accept)
{
	const enum verdict a = r->cells[0].judgement.verdict, b = r->cells[1].judgement.verdict;
	bool nothing = a == VERDICT_NOT_CLAIMED && b == VERDICT_NOT_CLAIMED;

	if (damaged)
		return EXIT_DAMAGED;
	if (r->status == RUN_REJECTED)
		return EXIT_INCONCLUSIVE;
	if (a == VERDICT_ESCAPED || b == VERDICT_ESCAPED)
		return EXIT_ESCAPED;
	if (a == VERDICT_INCONCLUSIVE || b == VERDICT_INCONCLUSIVE || skipped || nothing)
		return EXIT_INCONCLUSIVE;
	if (a == VERDICT_PROVISIONAL || b == VERDICT_PROVISIONAL)
		return accept ? EXIT_CONTAINED : EXIT_PROVISIONAL;
	return EXIT_CONTAINED;
}

static void every_exit(void **state unused_arg)
{
	struct cell_result cells[3] = { { .role = ROLE_TARGET },
					{ .role = ROLE_TARGET },
					{ .role = ROLE_ESCAPES } };
	struct run_result r = { .cells_n = 3, .cells = cells };

	for (unsigned int i = 0; i < VERDICT_MAX * VERDICT_MAX * VERDICT_MAX * 16; i++) {
		bool skipped = i & 1, damaged = i & 2, accept = i & 4;
		unsigned int verdicts = i / 16;

		r.status = i & 8 ? RUN_REJECTED : RUN_VALID;
		for (size_t c = 0; c < 3; c++) {
			cells[c].judgement.verdict = verdicts % VERDICT_MAX;
			verdicts /= VERDICT_MAX;
		}
		assert_int_equal(run_exit_code(&r, skipped, damaged, accept),
				 expected_exit(&r, skipped, damaged, accept));
	}
	r = (struct run_result){ .cells_n = 1, .cells = &cells[2] };
	assert_int_equal(run_exit_code(&r, false, false, true), EXIT_INCONCLUSIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_run),  cmocka_unit_test(every_self_test),
		cmocka_unit_test(two_probes), cmocka_unit_test(two_of_a_role),
		cmocka_unit_test(every_exit),
	};

	return cmocka_run_group_tests_name("run_judge", tests, NULL, NULL);
}

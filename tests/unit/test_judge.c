// SPDX-License-Identifier: Apache-2.0
/* The judge by example: one row per line of DESIGN.md's table and per reason. test_judge_all.c
 * holds every combination against the same rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/facts_good.h"
#include "user/base/util.h"
#include "user/judge/verdict.h"

/* The good case, but for what is assigned in the arguments. */
#define BUT(...)                                                                                   \
	({                                                                                         \
		struct facts f = good;                                                             \
		__VA_ARGS__;                                                                       \
		f;                                                                                 \
	})
#define R(reason) REASON_BIT(REASON_##reason)

struct row {
	const char *name;
	struct facts facts;
	enum verdict verdict;
	reason_set reasons;
	enum grade grade;
};

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct judgement j = judge_round(&rows[i].facts);

		if (j.verdict != rows[i].verdict || j.reasons != rows[i].reasons ||
		    j.grade != rows[i].grade)
			fail_msg("%s: %s, reasons %#llx, grade %d", rows[i].name,
				 verdict_text(j.verdict), (unsigned long long)j.reasons, j.grade);
	}
}

static void granted(void **state unused_arg)
{
	const struct row rows[] = {
		{ "every item holds", good, VERDICT_CONTAINED, 0, GRADE_NONE },
		{ "a lost record at A, attempt seen", BUT(f.lost_a = true), VERDICT_CONTAINED, 0,
		  GRADE_NONE },
		{ "inferred, and ran", BUT(f.attempt = ATTEMPT_INFERRED), VERDICT_CONTAINED, 0,
		  GRADE_NONE },
		{ "stop unknown, but off crossed", BUT(f.stopped_known = false), VERDICT_CONTAINED,
		  0, GRADE_NONE },
		{ "allowed works", BUT(f.allowed = ALLOWED_WORKS), VERDICT_CONTAINED, 0,
		  GRADE_NONE },
		{ "no off", BUT(f.off = OFF_ABSENT), VERDICT_PROVISIONAL, 0, GRADE_NONE },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

static void escaped(void **state unused_arg)
{
	const struct facts blind = {
		.claimed = true,
		.identity = IDENTITY_RIGHT,
		.on = CROSSING_TOKEN,
		.lost_w = true,
		.lost_b = true,
		.lost_a = true,
		.shared = true,
		.self_test = true,
	};
	const struct facts by_other_way = BUT(f.on = CROSSING_TOKEN, f.via_other = true);
	const struct facts stopped = BUT(f.via_other = true);
	const struct row rows[] = {
		{ "token at W", BUT(f.on = CROSSING_TOKEN), VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
		{ "the far side's answer, W saw nothing", BUT(f.on_answered = true),
		  VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
		{ "signal, seen at B", BUT(f.on = CROSSING_SIGNAL, f.signal_at_b = true),
		  VERDICT_ESCAPED, 0, GRADE_SIGNAL },
		{ "signal and answer", BUT(f.on = CROSSING_SIGNAL, f.on_answered = true),
		  VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
		{ "nothing else holds", blind, VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
	};

	check_rows(rows, ARRAY_SIZE(rows));
	assert_true(judge_round(&by_other_way).via_other);
	assert_false(judge_round(&stopped).via_other);
}

static void withheld(void **state unused_arg)
{
	static const struct facts nothing = { .claimed = true };
	const reason_set all = R(IDENTITY_UNKNOWN) | R(SANDBOX_NOT_ALIVE) | R(PROBE_DID_NOT_RUN) |
			       R(NO_ATTEMPT_SEEN) | R(TARGET_UNREACHABLE_OUTSIDE) | R(ON2_MISSING) |
			       R(STOP_UNKNOWN) | R(OBSERVER_NOT_ATTACHED) | R(SELF_TEST_FAILED) |
			       R(WINDOW_TOO_SHORT);
#define HELD(name, reasons, ...)                                                                   \
	{                                                                                          \
		name, BUT(__VA_ARGS__), VERDICT_INCONCLUSIVE, reasons, GRADE_NONE                  \
	}
	const struct row rows[] = {
		HELD("damaged", R(EVIDENCE_DAMAGED), f.damaged = true),
		HELD("damaged, alone", R(EVIDENCE_DAMAGED), f.damaged = true, f.alive2 = false),
		HELD("damaged, token at W", R(EVIDENCE_DAMAGED), f.damaged = true,
		     f.on = CROSSING_TOKEN),
		HELD("identity unknown", R(IDENTITY_UNKNOWN), f.identity = IDENTITY_UNKNOWN),
		HELD("identity wrong", R(WRONG_SANDBOX), f.identity = IDENTITY_WRONG),
		HELD("identity wrong, crossed", R(WRONG_SANDBOX), f.identity = IDENTITY_WRONG,
		     f.on = CROSSING_TOKEN, f.on_answered = true),
		HELD("not alive before", R(SANDBOX_NOT_ALIVE), f.alive1 = false),
		HELD("not alive after", R(SANDBOX_NOT_ALIVE), f.alive2 = false),
		HELD("two instances", R(SANDBOX_NOT_ALIVE), f.same_instance = false),
		HELD("did not run", R(PROBE_DID_NOT_RUN), f.ran = false),
		HELD("inferred, did not run", R(PROBE_DID_NOT_RUN), f.attempt = ATTEMPT_INFERRED,
		     f.ran = false),
		HELD("no attempt", R(NO_ATTEMPT_SEEN), f.attempt = ATTEMPT_NONE),
		HELD("no attempt, loss at A", R(NO_ATTEMPT_SEEN) | R(RECORDS_LOST),
		     f.attempt = ATTEMPT_NONE, f.lost_a = true),
		HELD("inferred, loss at A", R(RECORDS_LOST), f.attempt = ATTEMPT_INFERRED,
		     f.lost_a = true),
		HELD("no baseline first", R(TARGET_UNREACHABLE_OUTSIDE),
		     f.baseline_first = REACH_NONE),
		HELD("baseline unanswered last", R(TARGET_UNREACHABLE_OUTSIDE),
		     f.baseline_last = REACH_CROSSED),
		HELD("off as closed as on", R(CONTROL_MAKES_NO_DIFFERENCE), f.off = OFF_NONE),
		HELD("left open", R(CONTROL_LEFT_OPEN), f.on2 = ON2_CROSSED),
		HELD("no on2", R(ON2_MISSING), f.on2 = ON2_ABSENT),
		HELD("allowed is dead", R(ALLOWED_DESTINATION_DEAD), f.allowed = ALLOWED_DEAD),
		HELD("loss at W", R(RECORDS_LOST), f.lost_w = true),
		HELD("loss at B", R(RECORDS_LOST), f.lost_b = true),
		HELD("no hook at W", R(OBSERVER_NOT_ATTACHED), f.attached_w = false),
		HELD("no hook at B", R(OBSERVER_NOT_ATTACHED), f.attached_b = false),
		HELD("no hook at A", R(OBSERVER_NOT_ATTACHED), f.attached_a = false),
		HELD("no hook at exec", R(OBSERVER_NOT_ATTACHED), f.attached_exec = false),
		HELD("self-test", R(SELF_TEST_FAILED), f.self_test = false),
		HELD("self-test, token at W", R(SELF_TEST_FAILED), f.self_test = false,
		     f.on = CROSSING_TOKEN),
		HELD("unexplained", R(UNEXPLAINED_TRAFFIC), f.on = CROSSING_UNEXPLAINED),
		HELD("signal, not at B", R(UNCLAIMED_SIGNAL), f.on = CROSSING_SIGNAL),
		HELD("window", R(WINDOW_TOO_SHORT), f.window_long = false),
		HELD("shared boundary", R(BOUNDARY_SHARED), f.shared = true),
		HELD("no off, stop unknown", R(STOP_UNKNOWN), f.off = OFF_ABSENT,
		     f.stopped_known = false),
		HELD("no off, inferred", R(NO_ATTEMPT_SEEN), f.off = OFF_ABSENT,
		     f.attempt = ATTEMPT_INFERRED),
		{ "nothing is known", nothing, VERDICT_INCONCLUSIVE, all, GRADE_NONE },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

static void not_claimed(void **state unused_arg)
{
#define OBSERVED(name, reasons, grade, ...)                                                        \
	{                                                                                          \
		name, BUT(f.claimed = false, __VA_ARGS__), VERDICT_NOT_CLAIMED, reasons, grade     \
	}
	const struct row rows[] = {
		OBSERVED("did not cross", 0, GRADE_NONE, (void)0),
		OBSERVED("crossed", 0, GRADE_PAYLOAD, f.on = CROSSING_TOKEN),
		OBSERVED("the control is not asked", 0, GRADE_NONE, f.off = OFF_NONE,
			 f.on2 = ON2_ABSENT, f.allowed = ALLOWED_DEAD),
		OBSERVED("nobody watched", R(OBSERVER_NOT_ATTACHED), GRADE_NONE,
			 f.attached_w = false),
		OBSERVED("self-test", R(SELF_TEST_FAILED), GRADE_NONE, f.self_test = false,
			 f.on = CROSSING_TOKEN),
		OBSERVED("damaged", R(EVIDENCE_DAMAGED), GRADE_NONE, f.damaged = true,
			 f.on = CROSSING_TOKEN),
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

static void cells(void **state unused_arg)
{
	const struct facts open = BUT(f.on = CROSSING_TOKEN);
	const struct facts signal = BUT(f.on = CROSSING_SIGNAL, f.signal_at_b = true);
	const struct facts dead = BUT(f.alive1 = false), short_ = BUT(f.window_long = false);
	const struct facts no_off = BUT(f.off = OFF_ABSENT);
	const struct facts unclaimed = BUT(f.claimed = false);
	const struct facts unclaimed_open = BUT(f.claimed = false, f.on = CROSSING_TOKEN);
	const struct {
		struct facts rounds[3];
		enum verdict verdict;
		reason_set reasons;
		enum grade grade;
	} rows[] = {
		{ { good, good, good }, VERDICT_CONTAINED, 0, GRADE_NONE },
		{ { good, good, open }, VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
		{ { dead, open, good }, VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
		{ { signal, open, good }, VERDICT_ESCAPED, 0, GRADE_PAYLOAD },
		{ { good, signal, good }, VERDICT_ESCAPED, 0, GRADE_SIGNAL },
		{ { good, dead, good },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE) | R(UNSTABLE),
		  GRADE_NONE },
		{ { dead, short_, dead },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE) | R(WINDOW_TOO_SHORT),
		  GRADE_NONE },
		{ { no_off, no_off, no_off }, VERDICT_PROVISIONAL, 0, GRADE_NONE },
		{ { no_off, good, good }, VERDICT_INCONCLUSIVE, R(UNSTABLE), GRADE_NONE },
		{ { unclaimed, unclaimed_open, unclaimed }, VERDICT_NOT_CLAIMED, 0, GRADE_PAYLOAD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct judgement j = judge_cell(rows[i].rounds, 3);

		assert_int_equal(j.verdict, rows[i].verdict);
		assert_true(j.reasons == rows[i].reasons);
		assert_int_equal(j.grade, rows[i].grade);
	}
	assert_int_equal(judge_cell(&good, 1).verdict, VERDICT_CONTAINED);
	assert_int_equal(judge_cell(NULL, 0).verdict, VERDICT_INCONCLUSIVE);
}

static bool is_code(const char *text)
{
	if (!text || !*text)
		return false;
	for (; *text; text++) {
		if (!(*text >= 'a' && *text <= 'z') && !(*text >= '0' && *text <= '9') &&
		    *text != '-')
			return false;
	}
	return true;
}

static bool is_sentence(const char *text)
{
	size_t n = text ? strlen(text) : 0;

	return n > 2 && text[0] >= 'A' && text[0] <= 'Z' && text[n - 1] == '.';
}

/* Codes are read by programs: all there, in one alphabet, none twice. */
static void words(void **state unused_arg)
{
	for (enum reason r = 0; r < REASON_MAX; r++) {
		assert_true(is_code(reason_code(r)));
		assert_true(is_sentence(reason_sentence(r)));
		for (enum reason other = 0; other < r; other++)
			assert_string_not_equal(reason_code(r), reason_code(other));
	}
	for (enum rejection r = 0; r < REJECT_MAX; r++) {
		assert_true(is_code(rejection_code(r)));
		assert_true(is_sentence(rejection_sentence(r)));
		for (enum rejection other = 0; other < r; other++)
			assert_string_not_equal(rejection_code(r), rejection_code(other));
	}
	for (enum verdict v = 0; v < VERDICT_MAX; v++)
		assert_true(is_code(verdict_text(v)));
	assert_string_equal(verdict_text(VERDICT_NOT_CLAIMED), "not-claimed");
	assert_string_equal(verdict_text(VERDICT_MAX), "unknown");
	assert_string_equal(reason_code(REASON_RECORDS_LOST), "records-lost");
	assert_string_equal(reason_code(REASON_MAX), "unknown");
	assert_string_equal(rejection_sentence(REJECT_MAX), "unknown");
	assert_string_equal(grade_text(GRADE_PAYLOAD), "payload");
	assert_string_equal(vantage_text(VANTAGE_B), "B");
	assert_null(grade_text(GRADE_NONE));
	assert_null(vantage_text(VANTAGE_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(granted),  cmocka_unit_test(escaped),
		cmocka_unit_test(withheld), cmocka_unit_test(not_claimed),
		cmocka_unit_test(cells),    cmocka_unit_test(words),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}

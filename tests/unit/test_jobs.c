// SPDX-License-Identifier: Apache-2.0
/* What a run consists of, and in which order it may run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/rig/jobs.h"

#define ALL_ARMS (1u << ARM_ON | 1u << ARM_OFF | 1u << ARM_ON2 | 1u << ARM_ALLOWED)

static char *everything[] = { (char *)"*", NULL };
static struct target_off off = { .probes = everything };
static struct probe_manifest probes[2] = { { .p = { .name = "one" } }, { .p = { .name = "two" } } };
static const struct probe_manifest *const probe_list[] = { &probes[0], &probes[1] };

static struct target plain = { .name = "plain", .uid = 65534, .off = &off, .off_n = 1 };
static struct target closed = {
	.name = "closed", .uid = 65534, .off = &off, .off_n = 1, .lane = TARGET_LANE_CLOSED
};
static struct target deaf = { .name = "deaf", .uid = 65534, .far = FAR_DEAF };
static const struct target *const target_list[] = { &plain, &closed, &deaf };

static struct jobs_opts opts(uint32_t repeat)
{
	return (struct jobs_opts){ .targets = target_list,
				   .targets_n = ARRAY_SIZE(target_list),
				   .probes = probe_list,
				   .probes_n = ARRAY_SIZE(probe_list),
				   .repeat = repeat,
				   .arms = ALL_ARMS,
				   .trials_max = 60000 };
}

static struct jobs *make(const struct jobs_opts *o)
{
	struct jobs *j = NULL;
	struct diag d;

	assert_int_equal(jobs_new(&j, o, &d), 0);
	return j;
}

/* Plays all arms of it; how many. */
static uint32_t play(struct job *job)
{
	uint32_t n = 0;

	for (enum arm arm = job_next_arm(job); arm != ARM_NONE; arm = job_next_arm(job)) {
		job->arms_left &= ~(1u << arm);
		n++;
	}
	return n;
}

static void test_everything_once(void **state unused_arg)
{
	struct jobs_opts o = opts(3);
	struct jobs *j = make(&o);
	uint32_t trials = 0;

	for (struct job *job; (job = jobs_take(j));) {
		trials += play(job);
		jobs_finish(j, job);
	}
	/* on, off, on2 of two targets, on and on2 of the third; four pairs of baselines */
	assert_int_equal(jobs_trials(j), 2 * 3 * (3 + 3 + 2) + 4 * 2);
	assert_int_equal(trials, jobs_trials(j));
	jobs_free(j);
}

/* What is long is first: the deaf far side, then the lane that is closed. */
static void test_order(void **state unused_arg)
{
	struct jobs_opts o = opts(1);
	struct jobs *j = make(&o);
	struct job *first[4];

	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		first[i] = jobs_take(j);
		assert_non_null(first[i]);
		assert_int_equal(first[i]->kind, JOB_BASELINE_FIRST);
		assert_int_equal(first[i]->key.far, i < 2 ? FAR_DEAF : FAR_ANSWERS);
	}
	assert_null(jobs_take(j)); /* all rounds wait for their baseline */
	jobs_finish(j, first[2]);
	assert_ptr_equal(jobs_take(j)->target, &closed);
	jobs_finish(j, first[0]);
	assert_ptr_equal(jobs_take(j)->target, &deaf);
	assert_ptr_equal(jobs_take(j)->target, &plain);
	assert_null(jobs_take(j));
	jobs_free(j);
}

static void test_last_baseline_waits_for_all_rounds(void **state unused_arg)
{
	struct jobs_opts o = opts(1);
	struct job *a, *b, *last;
	struct jobs *j;

	o.probes_n = 1;
	o.targets_n = 2;
	j = make(&o);
	jobs_finish(j, jobs_take(j));
	a = jobs_take(j);
	b = jobs_take(j);
	assert_null(jobs_take(j));
	jobs_finish(j, a);
	assert_null(jobs_take(j));
	jobs_finish(j, b);
	last = jobs_take(j);
	assert_int_equal(last->kind, JOB_BASELINE_LAST);
	jobs_finish(j, last);
	assert_null(jobs_take(j));
	jobs_free(j);
}

/* Its lane was retired: another goes on with what is left of it, before other rounds. */
static void test_give_back(void **state unused_arg)
{
	struct jobs_opts o = opts(5);
	struct jobs *j;
	struct job *job;

	o.probes_n = o.targets_n = 1;
	j = make(&o);
	job = jobs_take(j);
	jobs_give_back(j, job);
	assert_ptr_equal(jobs_take(j), job);
	jobs_finish(j, job);
	job = jobs_take(j);
	job->arms_left &= ~(1u << ARM_ON);
	jobs_give_back(j, job);
	assert_ptr_equal(jobs_take(j), job);
	assert_int_equal(job_next_arm(job), ARM_OFF);
	jobs_finish(j, job);
	for (uint32_t i = 2; i <= 5; i++) {
		job = jobs_take(j);
		assert_int_equal(job->repeat, i);
		jobs_give_back(j, job);
		assert_ptr_equal(jobs_take(j), job);
		jobs_finish(j, job);
	}
	assert_int_equal(jobs_take(j)->kind, JOB_BASELINE_LAST);
	jobs_free(j);
}

static void test_too_many(void **state unused_arg)
{
	struct jobs_opts o = opts(1000);
	struct jobs *j = NULL;
	struct diag d = { .text = "" };

	o.trials_max = 16011;
	assert_int_equal(jobs_new(&j, &o, &d), -E2BIG);
	assert_null(j);
	assert_non_null(strstr(d.text, "16012 trials"));
	o.trials_max = 16012;
	assert_int_equal(jobs_new(&j, &o, &d), 0);
	jobs_free(j);
	jobs_free(NULL);
}

/* What a probe needs the calibrators get, with baselines of their own; root has it already. */
static void test_capabilities(void **state unused_arg)
{
	static const struct probe_manifest raw = { .p = { .name = "raw", .caps = 0x2000 } };
	static const struct probe_manifest *const list[] = { &raw };
	static struct target calibrator = { .name = "calibrator",
					    .uid = 65534,
					    .role = ROLE_ESCAPES };
	static struct target root = { .name = "root", .role = ROLE_ESCAPES };
	static const struct target *const targets[] = { &plain, &calibrator, &root };
	const struct jobs_opts o = { .targets = targets,
				     .targets_n = ARRAY_SIZE(targets),
				     .probes = list,
				     .probes_n = 1,
				     .repeat = 1,
				     .arms = ALL_ARMS,
				     .trials_max = 60000 };
	uint32_t first = 0, given = 0;
	struct jobs *j = make(&o);

	for (struct job *job; (job = jobs_take(j));) {
		if (job->target)
			assert_int_equal(job->key.caps, job->target == &calibrator ? 0x2000 : 0);
		else
			given += job->key.caps == 0x2000;
		first += job->kind == JOB_BASELINE_FIRST;
		(void)play(job);
		jobs_finish(j, job);
	}
	assert_int_equal(first, 3);
	assert_int_equal(given, 2); /* first and last */
	jobs_free(j);
}

/* Only where the target names the probe, and the probe could go there. */
static void test_allowed(void **state unused_arg)
{
	static const struct probe_manifest far = { .p = { .name = "far", .dest = DEST_FAR } };
	static const struct probe_manifest fixed = { .p = { .name = "fixed",
							    .dest = DEST_METADATA } };
	static const struct probe_manifest *const list[] = { &far, &fixed };
	static char *only_far[] = { (char *)"far", NULL };
	static struct target all = { .name = "all", .allowed = everything };
	static struct target some = { .name = "some", .allowed = only_far };
	static const struct target *const targets[] = { &all, &some, &plain };
	struct jobs_opts o = { .targets = targets,
			       .targets_n = ARRAY_SIZE(targets),
			       .probes = list,
			       .probes_n = ARRAY_SIZE(list),
			       .repeat = 1,
			       .arms = ALL_ARMS,
			       .trials_max = 60000 };
	struct jobs *j = make(&o);

	for (struct job *job; (job = jobs_take(j)); jobs_finish(j, job)) {
		bool wanted = job->target && job->target != &plain && job->key.probe == &far;

		assert_int_equal(!!(job->arms_left & 1u << ARM_ALLOWED), wanted);
		(void)play(job);
	}
	/* on and on2, plain's with off; allowed twice; baselines of two probes and two users */
	assert_int_equal(jobs_trials(j), 2 * (2 + 2 + 3) + 2 + 4 * 2);
	jobs_free(j);

	o.arms &= ~(1u << ARM_ALLOWED);
	j = make(&o);
	assert_int_equal(jobs_trials(j), 2 * (2 + 2 + 3) + 4 * 2);
	jobs_free(j);
}

/* Each round at the start is followed by one that waits, which is longer and goes first. */
static void test_steady(void **state unused_arg)
{
	static struct target late = {
		.name = "late", .uid = 65534, .off = &off, .off_n = 1, .steady_ms = 3000
	};
	static const struct target *const targets[] = { &plain, &late };
	struct jobs_opts o = opts(2);
	static const struct {
		const struct target *target;
		uint32_t repeat, wait_ms;
	} want[] = {
		{ &late, 2, 3000 }, { &late, 4, 3000 }, { &plain, 1, 0 },
		{ &plain, 2, 0 },   { &late, 1, 0 },	{ &late, 3, 0 },
	};
	struct diag d = { .text = "" };
	struct jobs *j, *none = NULL;

	o.targets = targets;
	o.targets_n = 2;
	o.probes_n = 1;
	j = make(&o);
	assert_int_equal(jobs_trials(j), 3 * (2 + 4) + 2);
	jobs_finish(j, jobs_take(j));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		struct job *job = jobs_take(j);

		assert_ptr_equal(job->target, want[i].target);
		assert_int_equal(job->repeat, want[i].repeat);
		assert_int_equal(job->wait_ms, want[i].wait_ms);
		assert_int_equal(play(job), 3);
		jobs_finish(j, job);
	}
	assert_int_equal(jobs_take(j)->kind, JOB_BASELINE_LAST);
	jobs_free(j);

	/* As many as were counted: two baselines for each cell at most. */
	o.trials_max = 3 * (2 + 4) + 2 * 2 - 1;
	assert_int_equal(jobs_new(&none, &o, &d), -E2BIG);
	o.trials_max++;
	assert_int_equal(jobs_new(&none, &o, &d), 0);
	jobs_free(none);
}

static void test_many_are_quick(void **state unused_arg)
{
	struct jobs_opts o = opts(1000);
	struct jobs *j = make(&o);
	uint64_t begin = mono_ns();
	size_t n = 0;

	for (struct job *job; (job = jobs_take(j)); n++)
		jobs_finish(j, job);
	assert_int_equal(n, 6000 + 8);
	print_message("one choice among %zu jobs: %.0f ns\n", n,
		      (double)(mono_ns() - begin) / (double)n);
	jobs_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_once),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_last_baseline_waits_for_all_rounds),
		cmocka_unit_test(test_give_back),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_many_are_quick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

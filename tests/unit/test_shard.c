// SPDX-License-Identifier: Apache-2.0
/* Which part of a list a task of a batch system has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/base/shard.h"

#define VARIABLES_MAX 5

static const char *const variables[] = { "SLURM_ARRAY_TASK_ID",	  "SLURM_ARRAY_TASK_MIN",
					 "SLURM_ARRAY_TASK_STEP", "SLURM_ARRAY_TASK_COUNT",
					 "JOB_COMPLETION_INDEX",  "JOB_COMPLETIONS" };

struct row {
	const char *text;
	const char *set[VARIABLES_MAX]; /* NAME=VALUE */
	uint32_t k, n;
	const char *why; /* where it is refused: what must be said */
};

static const struct row rows[] = {
	{ .text = "1/1", .k = 1, .n = 1 },
	{ .text = "3/7", .k = 3, .n = 7 },
	{ .text = "7/7", .k = 7, .n = 7 },
	{ .text = "4294967295/4294967295", .k = UINT32_MAX, .n = UINT32_MAX },
	/* said outright, the environment is not looked at */
	{ .text = "1/2", .set = { "SLURM_ARRAY_TASK_ID=x" }, .k = 1, .n = 2 },

	{ .text = "", .why = "--shard takes K/N, auto or auto/N, not ''" },
	{ .text = "3", .why = "not '3'" },
	{ .text = "automatic", .why = "not 'automatic'" },
	{ .text = "a\033]0;b", .why = "not 'a\\x1b]0;b'" },
	{ .text = "0/4", .why = "--shard 0/4: K is the number of this part, 1 to 4" },
	{ .text = "5/4", .why = "1 to 4" },
	{ .text = "/4", .why = "K is" },
	{ .text = "-1/4", .why = "K is" },
	{ .text = "1 /4", .why = "K is" },
	{ .text = "1/0", .why = "--shard 1/0: N is the number of parts, 1 or more" },
	{ .text = "1/", .why = "N is" },
	{ .text = "1/2/3", .why = "N is" },
	{ .text = "1/4294967296", .why = "N is" },
	{ .text = "auto/0", .why = "N is" },

	/* Slurm: --array=1-10, 0-9, 5-8, 0-15:5, and a limit as in 0-9%2 changes nothing */
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_COUNT=10" },
	  .k = 1,
	  .n = 10 },
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=9", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_COUNT=10" },
	  .k = 10,
	  .n = 10 },
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_MIN=5", "SLURM_ARRAY_TASK_COUNT=4" },
	  .k = 3,
	  .n = 4 },
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=10", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_STEP=5",
		   "SLURM_ARRAY_TASK_COUNT=4" },
	  .k = 3,
	  .n = 4 },
	{ .text = "auto/10",
	  .set = { "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_COUNT=10" },
	  .k = 4,
	  .n = 10 },
	/* one that failed, submitted again alone: its number is 3, and MIN is 3 */
	{ .text = "auto/10",
	  .set = { "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN=3", "SLURM_ARRAY_TASK_COUNT=1" },
	  .why = "SLURM_ARRAY_TASK_COUNT is 1, not 10: name the part by --shard K/N" },
	/* 1,3,7: nobody can tell the place of 7 */
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_COUNT=3" },
	  .why = "SLURM_ARRAY_TASK_ID 7 is none of 3 tasks from 1 on, in steps of 1" },
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_STEP=5",
		   "SLURM_ARRAY_TASK_COUNT=4" },
	  .why = "in steps of 5" },
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_MIN=2", "SLURM_ARRAY_TASK_COUNT=3" },
	  .why = "from 2 on" },
	{ .text = "auto",
	  .set = { "SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_STEP=0", "SLURM_ARRAY_TASK_COUNT=3" },
	  .why = "in steps of 0" },
	{ .text = "auto", .set = { "SLURM_ARRAY_TASK_ID=1" }, .why = "TASK_COUNT is not set" },
	{ .text = "auto", .set = { "SLURM_ARRAY_TASK_ID=one" }, .why = "'one', and no number" },

	/* Kubernetes */
	{ .text = "auto/4", .set = { "JOB_COMPLETION_INDEX=0" }, .k = 1, .n = 4 },
	{ .text = "auto",
	  .set = { "JOB_COMPLETION_INDEX=3", "JOB_COMPLETIONS=4" },
	  .k = 4,
	  .n = 4 },
	{ .text = "auto/4",
	  .set = { "JOB_COMPLETION_INDEX=4" },
	  .why = "JOB_COMPLETION_INDEX 4 is none of 4" },
	{ .text = "auto/5",
	  .set = { "JOB_COMPLETION_INDEX=3", "JOB_COMPLETIONS=4" },
	  .why = "JOB_COMPLETIONS is 4, not 5" },
	{ .text = "auto",
	  .set = { "JOB_COMPLETION_INDEX=0" },
	  .why = "JOB_COMPLETIONS is not set: name the number of parts by --shard auto/N" },
	{ .text = "auto", .set = { "JOB_COMPLETION_INDEX=-1" }, .why = "'-1', and no number" },

	{ .text = "auto", .why = "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set" },
	{ .text = "auto/4", .why = "neither" },
	{ .text = "auto/4",
	  .set = { "SLURM_ARRAY_TASK_ID=1", "JOB_COMPLETION_INDEX=1" },
	  .why = "both" },
};

static void set_variables(const struct row *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		assert_int_equal(unsetenv(variables[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(row->set) && row->set[i]; i++) {
		char name[64];
		const char *equals = strchr(row->set[i], '=');

		(void)str_format(name, sizeof(name), "%.*s", (int)(equals - row->set[i]),
				 row->set[i]);
		assert_int_equal(setenv(name, equals + 1, 1), 0);
	}
}

static void test_parse(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct shard s = { 77, 77 };
		struct diag d = { .text = "" };
		int err;

		set_variables(&rows[i]);
		err = shard_parse(&s, rows[i].text, &d);
		if (err != (rows[i].why ? -EINVAL : 0) ||
		    (rows[i].why && !strstr(d.text, rows[i].why)))
			fail_msg("row %zu '%s': %d, '%s'", i, rows[i].text, err, d.text);
		assert_int_equal(s.k, rows[i].why ? 77 : rows[i].k);
		assert_int_equal(s.n, rows[i].why ? 77 : rows[i].n);
	}
}

/* Every entry is in one part, and in one only. */
static void test_parts_make_the_whole(void **state unused_arg)
{
	for (uint32_t n = 1; n < 20; n++)
		for (size_t place = 0; place < 50; place++) {
			uint32_t parts = 0;

			for (uint32_t k = 1; k <= n; k++)
				parts += shard_has(&(struct shard){ k, n }, place);
			assert_int_equal(parts, 1);
		}
	assert_true(shard_has(&(struct shard){ 0, 0 }, 12));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parts_make_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

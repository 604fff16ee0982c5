// SPDX-License-Identifier: Apache-2.0
/* What a session makes of a user's own executable, whatever that does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "probes/own.h"
#include "user/base/own_words.h"

#define H64 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void run_for(uint32_t ms, const char *const *command, struct probe_outcome *ret)
{
	static const struct probe_manifest none;
	struct probe_attempt a = { .manifest = &none,
				   .port = 9000,
				   .token = "ffeeddccbbaa99887766554433221100" };
	char *argv[OWN_ARGS_MAX + 2];
	size_t n = 0;

	assert_int_equal(parse_addr("203.0.113.9", a.to), 0);
	a.deadline_ns = mono_ns() + ms * NSEC_PER_MSEC;
	for (; command[n]; n++)
		assert_non_null(argv[n] = strdup(command[n]));
	argv[n] = NULL;
	*ret = (struct probe_outcome){ .has_answer = false };
	probe_own(&a, argv, ret);
	while (n)
		free(argv[--n]);
}

static void shell_for(uint32_t ms, const char *script, struct probe_outcome *ret)
{
	run_for(ms, (const char *const[]){ "sh", "-c", script, NULL }, ret);
}

static void test_views(unused_arg void **state)
{
	static const struct {
		const char *script, *view;
		bool answer;
	} cases[] = {
		{ "exit 0", "exit-0", false },
		{ "exit 7", "exit-7", false },
		{ "kill -9 $$", "signal-9", false },
		{ "echo SENTINEL-ANSWER " H64, "answered", true },
		{ "echo noise; printf 'SENTINEL-ANSWER " H64 "'; exit 1", "answered", true },
		{ "echo SENTINEL-ANSWER " H64 " >&2", "answered", true },
		{ "printf 'SENTINEL-ANSWER " H64 "\\r\\n'", "answered", true },
		{ "echo SENTINEL-ANSWER " H64 "00", "exit-0", false },
		{ "echo SENTINEL-ANSWER 0011", "exit-0", false },
		/* its input is empty, not ours */
		{ "read line && echo SENTINEL-ANSWER " H64 "; exit 2", "exit-2", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_outcome o;

		shell_for(5000, cases[i].script, &o);
		assert_string_equal(o.view, cases[i].view);
		assert_int_equal(o.has_answer, cases[i].answer);
	}
}

static void test_words(unused_arg void **state)
{
	struct probe_outcome o;

	run_for(5000,
		(const char *const[]){ "sh", "-c",
				       "[ \"$1 $2 $3\" = '203.0.113.9 9000 "
				       "ffeeddccbbaa99887766554433221100' ] && [ $4 -gt 1000 ] && "
				       "exit 5",
				       "sh", "{to}", "{port}", "{token}", "{timeout_ms}", NULL },
		&o);
	assert_string_equal(o.view, "exit-5");
}

static void test_no_such(unused_arg void **state)
{
	struct probe_outcome o;

	run_for(5000, (const char *const[]){ "/no/such/program", NULL }, &o);
	assert_string_equal(o.view, "ENOENT");
	run_for(5000, (const char *const[]){ "/etc/passwd", NULL }, &o);
	assert_string_equal(o.view, "EACCES");
	run_for(5000, (const char *const[]){ "sh", "{nonce}", NULL }, &o);
	assert_string_equal(o.view, "EINVAL");
}

/* One that hangs, its children with it, is gone at the deadline; so is what outlives one that
 * ended, though it holds the pipe. */
static void test_time(unused_arg void **state)
{
	static const struct {
		const char *script, *view;
		uint32_t ms, at_most_ms;
	} cases[] = {
		{ "sleep 60 & echo $! >$0; sleep 60", "timeout", 200, 1500 },
		{ "sleep 60 & echo $! >$0; exit 4", "exit-4", 10000, 5000 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char file[] = "/tmp/test_own-XXXXXX", *text = NULL;
		uint64_t begin = mono_ns();
		cleanup_fd int fd = mkstemp(file);
		struct probe_outcome o;
		size_t len;
		int pid;

		assert_true(fd >= 0);
		run_for(cases[i].ms,
			(const char *const[]){ "sh", "-c", cases[i].script, file, NULL }, &o);
		assert_string_equal(o.view, cases[i].view);
		assert_true(mono_ns() - begin < cases[i].at_most_ms * NSEC_PER_MSEC);
		assert_int_equal(read_file(file, 64, &text, &len), 0);
		assert_int_equal(sscanf(text, "%d", &pid), 1);
		/* killed: gone, or waiting for whoever inherited it to take notice */
		for (int k = 0; k < 100 && !kill(pid, 0); k++) {
			char path[64], stat[512] = "";
			cleanup_file FILE *f = NULL;

			assert_int_equal(str_format(path, sizeof(path), "/proc/%d/stat", pid), 0);
			f = fopen(path, "re");
			if (!f || !fgets(stat, sizeof(stat), f) || strstr(stat, ") Z "))
				break;
			assert_true(k < 99);
			(void)usleep(10000);
		}
		free(text);
		(void)unlink(file);
	}
}

/* Endless output neither keeps it longer nor grows us; an answer in it still counts. */
static void test_flood(unused_arg void **state)
{
	struct probe_outcome o;

	shell_for(300, "echo SENTINEL-ANSWER " H64 "; exec yes", &o);
	assert_string_equal(o.view, "answered");
	shell_for(300, "exec yes SENTINEL1:ran", &o);
	assert_string_equal(o.view, "timeout");
	/* a line without end */
	shell_for(5000, "head -c 100000 /dev/zero; echo; echo SENTINEL-ANSWER " H64, &o);
	assert_string_equal(o.view, "answered");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_views),	cmocka_unit_test(test_words),
		cmocka_unit_test(test_no_such), cmocka_unit_test(test_time),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests_name("own", tests, NULL, NULL);
}

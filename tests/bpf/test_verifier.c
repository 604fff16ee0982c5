// SPDX-License-Identifier: Apache-2.0
/*
 * What the verifier has to look at in each program, against tests/bpf/verifier.csv: a program that
 * grows by a tenth is a change to be seen in review, and one of 200,000 instructions is a fifth of
 * the way to being refused.
 *
 *   test_verifier            compares with the lines of the running kernel's series
 *   test_verifier --print    prints those lines, for the file
 */
#include <linux/bpf.h> /* before banned.h: it names functions that are */
#include <bpf/bpf.h>
#include <sys/utsname.h>

#include <setjmp.h>
#include <stdarg.h>
/* cmocka wants those two first */
#include <cmocka.h>

#include "user/sense/sense_priv.h"

#define BASELINE "tests/bpf/verifier.csv" /* kernel,program,instructions */
#define INSTRUCTIONS_MAX 200000
#define GROWTH_PERCENT 10

static struct sense *sense;

/* "6.18" of "6.18.44-1-amd64". */
static void kernel_series(char ret[32])
{
	struct utsname u;
	char *dot;

	assert_int_equal(0, uname(&u));
	(void)str_copy(ret, 32, u.release);
	dot = strchr(ret, '.');
	if (dot)
		dot[1 + strspn(dot + 1, "0123456789")] = '\0';
}

/* 0: the program was not chosen on this kernel. */
static uint32_t instructions_of(const struct program *p)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (sense->host[p->hook].program != p)
		return 0;
	assert_int_equal(0, bpf_obj_get_info_by_fd(hook_prog_fd(sense, p->hook), &info, &len));
	return info.verified_insns;
}

/* 0: no line for it. */
static uint32_t baseline_of(const char *series, const char *program)
{
	cleanup_file FILE *f = fopen(BASELINE, "re");
	char line[128], want[96];
	uint32_t n = 0;

	if (!f)
		fail_msg("%s: %s (run it from the top of the tree)", BASELINE, strerror(errno));
	assert_int_equal(0, str_format(want, sizeof(want), "%s,%s,", series, program));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, want, strlen(want)))
			assert_int_equal(0, parse_u32(line + strlen(want), 1, UINT32_MAX, &n));
	}
	return n;
}

static int set_up(void **state)
{
	struct diag d = { 0 };

	(void)state;
	if (sense_new(&sense, &(struct sense_opts){ 0 }, &d))
		fail_msg("%s", d.text);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sense_free(sense);
	return 0;
}

/* Before 5.16 the kernel doesn't tell. */
static void test_limit(void **state)
{
	uint32_t total = 0;

	(void)state;
	for (size_t i = 0; i < programs_n; i++) {
		uint32_t n = instructions_of(&programs[i]);

		if (n > INSTRUCTIONS_MAX)
			fail_msg("%s: %u instructions to verify", programs[i].name, n);
		total += n;
	}
	print_message("%u instructions in all\n", total);
}

static void test_growth(void **state)
{
	unsigned int compared = 0;
	char series[32];

	(void)state;
	kernel_series(series);
	for (size_t i = 0; i < programs_n; i++) {
		uint32_t n = instructions_of(&programs[i]);
		uint32_t was = baseline_of(series, programs[i].name);

		if (!was || !n)
			continue;
		compared++;
		if (n > was + was * GROWTH_PERCENT / 100)
			fail_msg("%s: %u instructions to verify, the baseline has %u",
				 programs[i].name, n, was);
	}
	if (!compared) {
		print_message("%s has no lines for Linux %s\n", BASELINE, series);
		skip();
	}
	/* A program that nobody compares is as good as one that may grow; one that is no longer
	 * chosen on this kernel is missed by nobody else. */
	for (size_t i = 0; i < programs_n; i++) {
		const char *name = programs[i].name;
		bool loaded = instructions_of(&programs[i]);

		if (loaded && !baseline_of(series, name))
			fail_msg("%s has no line for '%s'", BASELINE, name);
		if (!loaded && baseline_of(series, name))
			fail_msg("%s has a line for '%s', which is not loaded", BASELINE, name);
	}
}

static int print_lines(void)
{
	char series[32];

	kernel_series(series);
	(void)set_up(NULL);
	for (size_t i = 0; i < programs_n; i++)
		if (instructions_of(&programs[i]))
			printf("%s,%s,%u\n", series, programs[i].name,
			       instructions_of(&programs[i]));
	return tear_down(NULL);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_growth),
	};

	if (geteuid()) {
		(void)fprintf(stderr, "skipped: needs root to load programs\n");
		return 77;
	}
	if (argc > 1 && !strcmp(argv[1], "--print"))
		return print_lines();
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

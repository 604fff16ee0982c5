// SPDX-License-Identifier: Apache-2.0
/* What is expected of a run: the file, and what differs from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <limits.h>

#include "user/report/expect.h"

static char path[] = "/tmp/test-expect-XXXXXX";

static int make(void **state unused_arg)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int drop(void **state unused_arg)
{
	return unlink(path);
}

static int load(struct expect **ret, const char *text, size_t len, struct diag *d)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, len), 0);
	return expect_load(ret, path, d);
}

/* ---- the file ---- */

static void test_mistakes(void **state unused_arg)
{
	static const struct {
		const char *text;
		unsigned int line, column;
		const char *says;
	} rows[] = {
		{ "", 0, 0, "nothing is expected" },
		{ "# only a comment\n\n", 0, 0, "nothing is expected" },
		{ "box\n", 1, 4, "a probe is missing" },
		{ "box udp-send\n", 1, 13, "a verdict: contained, escaped" },
		{ "box udp-send # escaped\n", 1, 14, "is missing" },
		{ "\n\nbox udp-send containd\n", 3, 14, "'containd' is not a verdict" },
		{ "box udp-send contained by\n", 1, 26, "a word after 'by' is missing" },
		{ "box udp-send contained because records-lost,never\n", 1, 45,
		  "'never' is not the code of a reason" },
		{ "box udp-send contained at C\n", 1, 27, "'C' is not A, B or W" },
		{ "box udp-send escaped grade much\n", 1, 28, "payload or signal" },
		{ "box udp-send escaped startup -1\n", 1, 30, "'-1' is not a number" },
		{ "box udp-send contained allowed maybe\n", 1, 32, "answered or dead" },
		{ "box udp-send contained held held\n", 1, 29, "twice" },
		{ "box udp-send contained perhaps\n", 1, 24, "'perhaps' is not a condition" },
		{ "box udp-send \x1b[31m\n", 1, 14, "'\\x1b[31m' is not a verdict" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct expect *x = NULL;
		struct diag d;
		int err = load(&x, rows[i].text, strlen(rows[i].text), &d);

		if (err != -EINVAL || x || d.line != rows[i].line || d.column != rows[i].column ||
		    !strstr(d.text, rows[i].says))
			fail_msg("%s: %d, %u:%u: %s", rows[i].text, err, d.line, d.column, d.text);
	}
}

static void test_files(void **state unused_arg)
{
	static char big[EXPECT_FILE_MAX + 1];
	struct expect *x = NULL;
	struct diag d;

	assert_int_equal(load(&x, "a b contained\0\n", 15, &d), -EINVAL);
	memset(big, '\n', sizeof(big));
	assert_int_equal(load(&x, big, sizeof(big), &d), -EFBIG);
	for (size_t i = 0; i + 20 < 14 * (EXPECT_LINES_MAX + 1); i += 14)
		memcpy(big + i, "a b contained\n", 14);
	assert_int_equal(load(&x, big, 14 * EXPECT_LINES_MAX, &d), 0);
	expect_free(x);
	x = NULL;
	memcpy(big + (size_t)14 * EXPECT_LINES_MAX, "a b contained\n", 14);
	assert_int_equal(load(&x, big, 14 * (EXPECT_LINES_MAX + 1), &d), -EINVAL);
	assert_int_equal(expect_load(&x, "/nowhere/at/all", &d), -ENOENT);
	assert_null(x);
}

/* ---- comparing ---- */

static bool in_family(const char *probe, const char *family)
{
	return !strcmp(family, "@udp") && !strncmp(probe, "udp-", 4);
}

static struct cell_result cells[4];
static struct run_result run = { .cells = cells, .cells_n = 3 };

/* An escape at start-up, something stopped, something that nobody claims; and a calibrator. */
static void set_run(void)
{
	static const struct cell_result all[] = {
		{ .target = "box",
		  .probe = "udp-send",
		  .judgement = { .verdict = VERDICT_ESCAPED, .grade = GRADE_PAYLOAD },
		  .via = "resolver",
		  .n = 2,
		  .crossed = 1,
		  .steady_ms = 1000,
		  .arms = { [ARM_ON] = { .present = true, .crossed = true } } },
		{ .target = "box",
		  .probe = "tcp-connect",
		  .stopped_at = VANTAGE_A,
		  .stopped_by = "no-route",
		  .judgement = { .verdict = VERDICT_CONTAINED },
		  .arms = { [ARM_ON] = { .present = true },
			    [ARM_ALLOWED] = { .present = true, .answered = true } } },
		{ .target = "jail",
		  .probe = "udp-write",
		  .judgement = { .verdict = VERDICT_INCONCLUSIVE,
				 .reasons = REASON_BIT(REASON_RECORDS_LOST) |
					    REASON_BIT(REASON_UNSTABLE) },
		  .arms = { [ARM_ON] = { .present = true } } },
		{ .target = "deny-all", .probe = "udp-send", .role = ROLE_CONTAINS },
	};

	memcpy(cells, all, sizeof(all));
	run.cells_n = ARRAY_SIZE(all);
}

struct told {
	uint32_t n;
	bool escaped;
	char text[2048];
};

static void note(void *arg, const char *text, bool escaped)
{
	struct told *t = arg;

	t->n++;
	t->escaped |= escaped;
	(void)str_copy(t->text, sizeof(t->text), text);
}

static struct told compare(const char *text)
{
	struct told t = { .n = 0 };
	struct expect *x;
	struct diag d;
	uint32_t n;

	if (load(&x, text, strlen(text), &d))
		fail_msg("%s", d.text);
	n = expect_compare(x, &run, in_family, note, &t);
	assert_int_equal(n, t.n);
	expect_free(x);
	return t;
}

#define REST "box tcp-connect contained\njail * inconclusive\n"

static void test_comparing(void **state unused_arg)
{
	static const struct {
		const char *text;
		uint32_t n;
		bool escaped;
		const char *says;
	} rows[] = {
		{ "box udp-send escaped\n" REST, 0, false, "" },
		{ "# known\r\n\tbox  udp-send\tescaped # yes\r\n" REST, 0, false, "" },
		{ "box @udp escaped\nbox * contained\n* @udp inconclusive\n", 0, false, "" },
		{ "b?x udp-* escaped grade payload via resolver startup 1 steady 0 crossed\n" REST,
		  0, false, "" },
		{ "* tcp-* contained by no-route at A allowed answered held\n* u* escaped\n", 1,
		  false, "jail x udp-write: inconclusive, not escaped (" },
		{ "jail * inconclusive because records-lost,unstable\nbox * escaped\n", 1, false,
		  "box x tcp-connect: contained, not escaped (" },
		{ "jail * inconclusive because unstable\nbox u* escaped\nbox t* contained\n", 1,
		  false,
		  "jail x udp-write: inconclusive because records-lost,unstable, not inconclusive "
		  "because unstable (" },
		{ "box udp-send contained\n" REST, 1, true,
		  "box x udp-send: escaped, not contained" },
		{ "box udp-send escaped grade signal\n" REST, 1, false,
		  "escaped grade payload, not escaped grade signal" },
		{ "box udp-send escaped by seccomp:EPERM\n" REST, 1, false,
		  "escaped by nothing, not escaped by seccomp:EPERM" },
		{ REST, 1, true, "box x udp-send: escaped, and no line of" },
		{ "box udp-send escaped\n" REST "gone udp-send contained\n", 1, false,
		  "gone x udp-send: not among the results (" },
		/* calibrators are nobody's */
		{ "box udp-send escaped\n" REST "deny-all * contained\n", 1, false, "deny-all" },
		/* the first line counts, and one that is never reached is a mistake */
		{ "box udp-send contained\nbox udp-send escaped\n" REST, 2, true, "not among" },
	};

	set_run();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct told t = compare(rows[i].text);

		if (t.n != rows[i].n || t.escaped != rows[i].escaped ||
		    !strstr(t.text, rows[i].says))
			fail_msg("%s: %u, %d: %s", rows[i].text, t.n, t.escaped, t.text);
	}
}

/* Whatever changes in a cell that a line tells all about, is told. */
static void test_each_word_counts(void **state unused_arg)
{
	static const char all[] =
		"box udp-send escaped by x at B because unstable grade payload via "
		"resolver startup 1 steady 0 allowed answered crossed\n" REST;
	struct cell_result good;

	set_run();
	cells[0].stopped_at = VANTAGE_B;
	(void)str_copy(cells[0].stopped_by, sizeof(cells[0].stopped_by), "x");
	cells[0].judgement.reasons = REASON_BIT(REASON_UNSTABLE);
	cells[0].arms[ARM_ALLOWED].answered = true;
	good = cells[0];
	assert_int_equal(compare(all).n, 0);
	for (int change = 0; change < 9; change++) {
		struct cell_result *c = &cells[0];

		*c = good;
		switch (change) {
		case 0:
			c->judgement.verdict = VERDICT_CONTAINED;
			break;
		case 1:
			c->stopped_by[0] = 'y';
			break;
		case 2:
			c->stopped_at = VANTAGE_A;
			break;
		case 3:
			c->judgement.reasons |= REASON_BIT(REASON_RECORDS_LOST);
			break;
		case 4:
			c->judgement.grade = GRADE_SIGNAL;
			break;
		case 5:
			c->via[0] = '\0';
			break;
		case 6:
			c->crossed_steady = 1;
			break;
		case 7:
			c->arms[ARM_ALLOWED].answered = false;
			break;
		default:
			c->arms[ARM_ON].crossed = false;
		}
		if (compare(all).n != 1)
			fail_msg("change %d was not told", change);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_comparing),
		cmocka_unit_test(test_each_word_counts),
	};

	return cmocka_run_group_tests_name("expect", tests, make, drop);
}

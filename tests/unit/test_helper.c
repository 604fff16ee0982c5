// SPDX-License-Identifier: Apache-2.0
/* What is taken from the process beside a session: lines of its own, and no more than its turn. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>

#include "user/rig/helper.h"

#define H32 "00112233445566778899aabbccddeeff"
#define H64 H32 H32
#define ALIVE1 "SENTINEL1:alive1 instance=" H32 " mac=" H64 "\n"
#define ALIVE2 "SENTINEL1:alive2 instance=" H32 " mac=" H64 "\n"

/* One that was asked for something just now, and whose output is fd. */
static struct helper asked(int fd)
{
	return (struct helper){ .launch = { .out = fd },
				.waited_for = true,
				.deadline_ns = mono_ns() + 10 * NSEC_PER_SEC };
}

static struct helper after(const char *output, bool ended)
{
	struct helper h;
	int p[2];

	assert_int_equal(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(write_all(p[1], output, strlen(output)), 0);
	if (ended)
		(void)close(p[1]);
	h = asked(p[0]);
	helper_step(&h);
	(void)close(p[0]);
	if (!ended)
		(void)close(p[1]);
	return h;
}

static void test_ready(void **state unused_arg)
{
	static const struct {
		const char *output;
		bool ended, waited_for, alive;
		const char *at; /* NULL: it says nothing of it */
	} cases[] = {
		{ "", false, true, false, NULL },
		{ "", true, false, false, NULL },
		{ "SENTINEL1:ready", false, true, false, NULL },
		{ "SENTINEL1:ready\n", false, false, false, NULL },
		{ "log: SENTINEL1:ready\r\n", false, false, false, NULL },
		{ "SENTINEL1:ready at=192.0.2.7\r\n", false, false, false, "192.0.2.7" },
		{ "SENTINEL1:ready at=2001:db8::7\n", false, false, false, "2001:db8::7" },
		{ "SENTINEL1:ready at=192.0.2.700\n", false, false, false, NULL },
		{ "SENTINEL1:ready at=\x1b[2J\n", false, false, false, NULL },
		{ "SENTINEL1:ready at=" H64 "\n", false, false, false, NULL },
		{ "noise\n" ALIVE1, false, true, true, NULL },
		{ ALIVE1 "SENTINEL1:ready\n", false, false, true, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct helper h = after(cases[i].output, cases[i].ended);
		char text[ADDR_TEXT_MAX];

		if (h.waited_for != cases[i].waited_for || !!h.alive[0].kind != cases[i].alive ||
		    h.has_at != !!cases[i].at)
			fail_msg("case %zu: %s", i, cases[i].output);
		if (cases[i].at)
			assert_string_equal(addr_text(h.at, text), cases[i].at);
	}
}

/* Each sign of life is taken once: the first that is given. */
static void test_alive_once(void **state unused_arg)
{
	static const char other[] =
		"SENTINEL1:alive2 instance=" H32 " mac=" H32 "ffffffffffffffffffffffffffffffff\n";
	char output[512];
	struct helper h;

	(void)str_format(output, sizeof(output), "%s%s", ALIVE2, other);
	h = after(output, false);
	assert_int_equal(h.alive[1].kind, SESSION_LINE_ALIVE2);
	assert_int_equal(h.alive[1].mac[MAC_BYTES - 1], 0xff);
	assert_int_equal(h.alive[1].mac[MAC_BYTES - 2], 0xee);
	assert_int_equal(h.alive[0].kind, SESSION_LINE_NONE);
	assert_false(h.waited_for);
}

/* Who never stops talking has its turn, like everybody. */
static void test_flood(void **state unused_arg)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	struct helper h = asked(fd);

	assert_true(fd >= 0);
	helper_step(&h);
	assert_true(mono_ns() < h.deadline_ns);
	assert_true(h.waited_for);
	h.deadline_ns = mono_ns();
	helper_step(&h);
	assert_false(h.waited_for);
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready),
		cmocka_unit_test(test_alive_once),
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

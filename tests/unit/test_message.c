// SPDX-License-Identifier: Apache-2.0
/* The line for people about a record: where a trial goes, and nothing that a terminal obeys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "user/record/message.h"

static const char *line_of(struct ev_trial t, char out[MESSAGE_MAX])
{
	struct ev ev = { .type = EV_TRIAL };

	t.id = 7;
	(void)str_copy(t.probe, sizeof(t.probe), "p");
	ev.trial_new = t;
	return message_text(&ev, out);
}

static void test_destination(void **state unused_arg)
{
	static const struct {
		struct ev_trial t;
		const char *want;
	} cases[] = {
		{ { .daddr = { [10] = 0xff, 0xff, 192, 0, 2, 1 }, .dport = 9000 },
		  "lane 0, to 192.0.2.1:9000, token" },
		{ { .daddr = { 0x20, 0x01, [15] = 1 }, .dport = 80 },
		  "lane 0, to [2001::1]:80, token" },
		{ { .dest = DEST_UNIX_PATH, .path = "/run/x.sock" },
		  "lane 0, to /run/x.sock, token" },
		{ { .dest = DEST_UNIX_ABSTRACT, .path = "@x\x1b[2J" },
		  "lane 0, to @x\\x1b[2J, token" },
		{ { .dest = DEST_NONE }, "lane 0, to what is planted, token" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char out[MESSAGE_MAX];

		if (!strstr(line_of(cases[i].t, out), cases[i].want))
			fail_msg("case %zu: %s", i, out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destination),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: the far side logs what a trial sent when that is over already. Whether the tap's own
 * record of it comes before or after the log's line says only which ring was read first.
 */
#include "tests/unit/story.h"

static void sends(struct run *r, const struct ev_trial *t, uint32_t up_to)
{
	address(r, t, SNT_HOOK_SENDMSG4, SOCK_DGRAM);
	sent(r, t, AF_INET, SOCK_DGRAM, 42);
	travels(r, t, up_to,
		(struct frame){ .protocol = IPPROTO_UDP, .payload = token_line(t->token) });
	if (t->far != FAR_DEAF)
		r->claim.answer = up_to == SNT_HOOK_WORLD;
}

static void opened(struct run *r, const struct ev_trial *t)
{
	sends(r, t, SNT_HOOK_WORLD);
	if (t->far != FAR_DEAF)
		received_token(r, t, IPPROTO_UDP);
}

static void closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "sendto", .ret = -ENETUNREACH, .family = AF_INET });
}

static const struct way way = {
	.probe = { .name = "udp-send", .channel = CHANNEL_UDP, .family = AF_INET, .answers = true },
	.open = opened,
	.closed = closed,
	.deaf = opened,
};

/* ---- the last baseline, of which W and the log tell late ---- */

static void answered_unseen(struct run *r, const struct ev_trial *t)
{
	sends(r, t, SNT_HOOK_BOUNDARY);
	r->claim.answer = true;
}

static void tap(struct run *r, const struct ev_trial *t)
{
	uint64_t now = r->now;

	r->now = now - 2 * MS; /* in its arm */
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_WORLD,
			      .protocol = IPPROTO_UDP,
			      .payload = token_line(t->token) });
	r->now = now;
}

static void log_line(struct run *r, const struct ev_trial *t)
{
	r->now += MS;
	received_token(r, t, IPPROTO_UDP);
}

static void tap_then_log(struct run *r, const struct ev_trial *t)
{
	tap(r, t);
	log_line(r, t);
}

static void log_then_tap(struct run *r, const struct ev_trial *t)
{
	log_line(r, t);
	tap(r, t);
}

static void lines(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &way }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "the tap, then the log",
		  { .way = &way, .last = answered_unseen, .after_last = tap_then_log },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "the log, then the tap",
		  { .way = &way, .last = answered_unseen, .after_last = log_then_tap },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "the log alone",
		  { .way = &way, .last = answered_unseen, .after_last = log_line },
		  VERDICT_INCONCLUSIVE,
		  R(WITNESSES_DISAGREE),
		  RUN_REJECTED },
		{ "the tap alone",
		  { .way = &way, .last = answered_unseen, .after_last = tap },
		  VERDICT_INCONCLUSIVE,
		  R(WITNESSES_DISAGREE),
		  RUN_REJECTED },
	};

	check_rows(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

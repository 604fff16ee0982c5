// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: what trials share. A destination that several have in one lane; the destination that a
 * platform's policy allows; rounds at the start and in the steady state.
 */
#include "tests/unit/story.h"

/* ---- a metadata service: one address for all ---- */

static void at_metadata(struct ev_trial *t)
{
	static const uint8_t metadata[16] = { [10] = 0xff, 0xff, 169, 254, 169, 254 };

	memcpy(t->daddr, metadata, 16);
	t->daddr[15] = (uint8_t)(t->daddr[15] - t->far);
	t->dport = 80;
}

static const struct frame syn = { .protocol = IPPROTO_TCP, .tcp_flags = 0x02 };
static const struct frame ack = { .protocol = IPPROTO_TCP, .tcp_flags = 0x10 };

static struct frame nobodys(struct frame f)
{
	f.nobodys = true;
	return f;
}

static struct frame with_token(const struct ev_trial *t)
{
	return (struct frame){ .protocol = IPPROTO_TCP,
			       .tcp_flags = 0x18,
			       .payload = token_line(t->token) };
}

static void connects(struct run *r, const struct ev_trial *t, int64_t ret)
{
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	call(r, t, (struct call){ .name = "connect", .ret = ret, .family = AF_INET });
}

static void answered(struct run *r, const struct ev_trial *t)
{
	if (t->far == FAR_DEAF)
		return;
	received_token(r, t, IPPROTO_TCP);
	r->claim.answer = true;
}

static void open(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	travels(r, t, SNT_HOOK_WORLD, syn);
	travels(r, t, SNT_HOOK_WORLD, ack);
	travels(r, t, SNT_HOOK_WORLD, with_token(t));
	answered(r, t);
}

static void closed(struct run *r, const struct ev_trial *t)
{
	connects(r, t, -ENETUNREACH);
}

static const struct way metadata = {
	.probe = { .name = "metadata-gcp",
		   .channel = CHANNEL_TCP,
		   .dest = DEST_METADATA,
		   .family = AF_INET,
		   .answers = true },
	.place = at_metadata,
	.open = open,
	.closed = closed,
	.deaf = open,
};

/* At W from a socket that A did not see: its address was translated. */
static void translated(struct run *r, const struct ev_trial *t, uint16_t sport, struct frame f)
{
	f.sport = sport;
	f.hook = SNT_HOOK_BOUNDARY;
	frame(r, t, nobodys(f));
	f.hook = SNT_HOOK_WORLD;
	frame(r, t, nobodys(f));
}

static void open_translated(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	translated(r, t, 3333, syn);
	translated(r, t, 3333, ack);
	translated(r, t, 3333, with_token(t));
	answered(r, t);
}

static void syn_translated(struct run *r, const struct ev_trial *t)
{
	connects(r, t, -EINPROGRESS);
	translated(r, t, 3333, syn);
}

/* Its data alone; the SYN was before the tap, or is lost. */
static void bare_translated(struct run *r, const struct ev_trial *t)
{
	connects(r, t, -ENETUNREACH);
	translated(r, t, 3334, ack);
}

static void syn_of_own(struct run *r, const struct ev_trial *t)
{
	connects(r, t, -EINPROGRESS);
	travels(r, t, SNT_HOOK_WORLD, syn);
}

/* As if a helper began, and came too late. */
static void closed_and_kept(struct run *r, const struct ev_trial *t)
{
	closed(r, t);
	r->crossed = *t;
}

/* The socket of the trial that was kept, which A sees send again. */
static void kept_sends(struct run *r, uint16_t sport)
{
	struct frame f = syn;

	f.sport = sport;
	f.hook = SNT_HOOK_CG_EGRESS;
	frame(r, &r->crossed, f);
	f.hook = SNT_HOOK_BOUNDARY;
	frame(r, &r->crossed, f);
	f.hook = SNT_HOOK_WORLD;
	frame(r, &r->crossed, f);
}

static void closed_while_kept_sends(struct run *r, const struct ev_trial *t)
{
	closed(r, t);
	kept_sends(r, 40001);
}

static void open_while_kept_sends(struct run *r, const struct ev_trial *t)
{
	kept_sends(r, 40001);
	open(r, t);
}

static void both_send(struct run *r, const struct ev_trial *t)
{
	kept_sends(r, 40001);
	syn_of_own(r, t);
}

/* A helper's, while off runs: whose was it? */
static void open_while_nobody_sends(struct run *r, const struct ev_trial *t)
{
	open(r, t);
	translated(r, t, 3335, syn);
}

static void waits_and_nobody_sends(struct run *r, const struct ev_trial *t)
{
	closed(r, t);
	r->now += (WINDOW_MS + 100) * MS;
	translated(r, t, 3335, syn);
}

static void open_much_later(struct run *r, const struct ev_trial *t)
{
	r->now += (WINDOW_MS + 100) * MS;
	open_translated(r, t);
}

/* After the last arm, while nobody is at work. */
static void nobody_sends(struct run *r, const struct ev_trial *t)
{
	translated(r, t, 3335, syn);
}

/* ... but a trial to another destination is. */
static void another_begins(struct run *r, const struct ev_trial *t)
{
	struct ev ev = { .type = EV_TRIAL };
	struct part p = { .target = "box", .arm = ARM_ON, .repeat = 9 };

	r->now += (WINDOW_MS - 50) * MS;
	fill_trial(r, &ev.trial_new, &p);
	ev.trial_new.daddr[12] = 203;
	push(r, &ev);
	r->now += MS;
	translated(r, t, 3335, syn);
}

/* The connection of off goes on: its end, and more, while on2 runs. */
static void closed_while_off_ends(struct run *r, const struct ev_trial *t)
{
	closed(r, t);
	translated(r, t, 3333, ack);
}

static void closed_while_off_goes_on(struct run *r, const struct ev_trial *t)
{
	struct frame f = ack;

	closed(r, t);
	f.payload = "more";
	translated(r, t, 3333, f);
}

/* By a port that off's connection had, long ago. */
static void waits_and_uses_the_port_again(struct run *r, const struct ev_trial *t)
{
	closed(r, t);
	r->now += (WINDOW_MS + 100) * MS;
	translated(r, t, 3333, syn);
}

static void waits_and_nobody_acknowledges(struct run *r, const struct ev_trial *t)
{
	closed(r, t);
	r->now += (WINDOW_MS + 100) * MS;
	translated(r, t, 3335, ack);
}

static void nobody_sends_much_later(struct run *r, const struct ev_trial *t)
{
	r->now += 2 * WINDOW_MS * MS;
	translated(r, t, 3335, syn);
}

static void off_goes_on(struct run *r, const struct ev_trial *t)
{
	struct frame f = ack;

	f.payload = "more";
	translated(r, t, 3333, f);
}

/* In the second round, by the port that off's connection had in the first, as A sees. */
static void closed_then_uses_the_port_again(struct run *r, const struct ev_trial *t)
{
	if (t->repeat == 1) {
		closed(r, t);
		return;
	}
	r->sport = 3333;
	syn_of_own(r, t);
}

/* More frames than are kept. */
static void closed_in_a_crowd(struct run *r, const struct ev_trial *t)
{
	struct frame f = nobodys(ack);

	closed(r, t);
	f.hook = SNT_HOOK_WORLD;
	f.sport = 3333;
	for (uint32_t i = 0; i <= 65536; i++)
		frame(r, t, f);
}

static void destinations(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &metadata }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "crossed", { .way = &metadata, .on = open }, VERDICT_ESCAPED, 0, RUN_VALID },
		{ "a SYN crossed",
		  { .way = &metadata, .on = syn_of_own },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "crossed behind address translation",
		  { .way = &metadata, .on = open_translated },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "off crossed behind address translation",
		  { .way = &metadata, .off = open_translated },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "... and ends later",
		  { .way = &metadata, .off = open_translated, .on2 = closed_while_off_ends },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "... and says more, later",
		  { .way = &metadata, .off = open_translated, .on2 = closed_while_off_goes_on },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "a SYN crossed behind address translation",
		  { .way = &metadata, .on = syn_translated, .off = open_much_later },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a bare segment of no connection",
		  { .way = &metadata, .on = bare_translated },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "off's socket sends while on2 runs",
		  { .way = &metadata, .off = closed_and_kept, .on2 = closed_while_kept_sends },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_MAKES_NO_DIFFERENCE),
		  RUN_VALID },
		{ "on's socket sends while off runs",
		  { .way = &metadata, .on = closed_and_kept, .off = open_while_kept_sends },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "off's socket sends while on2 does",
		  { .way = &metadata, .off = closed_and_kept, .on2 = both_send },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "nobody's socket sends while off runs, and on's window is open",
		  { .way = &metadata, .off = open_while_nobody_sends },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "nobody's socket sends while on2 runs, and no other window is open",
		  { .way = &metadata, .on2 = waits_and_nobody_sends },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "nobody's socket sends when all is over",
		  { .way = &metadata, .after = nobody_sends },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "nobody's socket sends when another has begun",
		  { .way = &metadata, .after = another_begins, .run_short = true },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "... nor is one for long",
		  { .way = &metadata, .after = nobody_sends_much_later },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "nobody's bare segment while on2 runs, and no other window is open",
		  { .way = &metadata, .on2 = waits_and_nobody_acknowledges },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "off's connection says more, when all is over",
		  { .way = &metadata, .off = open_translated, .after = off_goes_on },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "another connection by the port of off's",
		  { .way = &metadata,
		    .off = open_translated,
		    .on2 = waits_and_uses_the_port_again },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "... which A sees the socket of",
		  { .way = &metadata,
		    .repeat = 2,
		    .off = open_translated,
		    .on = closed_then_uses_the_port_again },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "more frames than are kept",
		  { .way = &metadata, .off = open_translated, .on2 = closed_in_a_crowd },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
	};

	check_rows(table);
}

/* ---- the allowed destination ---- */

static void answered_by_none(struct run *r, const struct ev_trial *t)
{
	open(r, t);
	r->claim.answer = false;
}

static void allowed_destinations(void **state unused_arg)
{
	static const struct row table[] = {
		{ "it works",
		  { .way = &metadata, .has_allowed = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "it is dead",
		  { .way = &metadata, .has_allowed = true, .allowed = closed },
		  VERDICT_INCONCLUSIVE,
		  R(ALLOWED_DESTINATION_DEAD),
		  RUN_VALID },
		{ "it is reached, and does not answer",
		  { .way = &metadata, .has_allowed = true, .allowed = answered_by_none },
		  VERDICT_INCONCLUSIVE,
		  R(ALLOWED_DESTINATION_DEAD),
		  RUN_VALID },
		{ "it works, and so does everything else",
		  { .way = &metadata, .has_allowed = true, .on = open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "it works in each round",
		  { .way = &metadata, .has_allowed = true, .repeat = 3 },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
	};

	check_rows(table);
}

/* ---- the steady state ---- */

/* Although it was told to wait. */
static void steady_too_early(struct run *r, const struct ev_trial *t)
{
	r->now -= t->wait_ms * MS;
	closed(r, t);
	r->now += t->wait_ms * MS;
}

static void rounds(void **state unused_arg)
{
	static const struct {
		struct row row;
		uint32_t crossed, crossed_steady, n;
	} table[] = {
		{ { "an honest run",
		    { .way = &metadata, .steady_ms = 300 },
		    VERDICT_CONTAINED,
		    0,
		    RUN_VALID },
		  0,
		  0,
		  2 },
		{ { "start-up crosses",
		    { .way = &metadata, .steady_ms = 300, .on = open, .steady = closed },
		    VERDICT_ESCAPED,
		    0,
		    RUN_VALID },
		  1,
		  0,
		  2 },
		{ { "the steady state crosses",
		    { .way = &metadata, .steady_ms = 300, .steady = open, .repeat = 2 },
		    VERDICT_ESCAPED,
		    0,
		    RUN_VALID },
		  2,
		  2,
		  4 },
		{ { "it did not wait",
		    { .way = &metadata, .steady_ms = 300, .steady = steady_too_early },
		    VERDICT_INCONCLUSIVE,
		    R(NO_ATTEMPT_SEEN) | R(UNSTABLE),
		    RUN_VALID },
		  0,
		  0,
		  2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct cell_result *cell;
		struct run_result r;

		check_row(&table[i].row);
		tell(&table[i].row.s, &r);
		cell = cell_of_box(&r);
		assert_int_equal(cell->n, table[i].n);
		assert_int_equal(cell->steady_ms, 300);
		assert_int_equal(cell->crossed, table[i].crossed);
		assert_int_equal(cell->crossed_steady, table[i].crossed_steady);
		run_result_done(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(destinations),
		cmocka_unit_test(allowed_destinations),
		cmocka_unit_test(rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

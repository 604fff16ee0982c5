// SPDX-License-Identifier: Apache-2.0
/* What a host stops by itself is credited to the host: only that, and never an escape. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "tests/unit/story.h"

static void makes_socket(struct run *r, const struct ev_trial *t, int64_t ret)
{
	call(r, t,
	     (struct call){ .name = "socket", .ret = ret, .family = AF_INET, .type = SOCK_RAW });
}

static void passes(struct run *r, const struct ev_trial *t)
{
	makes_socket(r, t, 3);
	call(r, t, (struct call){ .name = "sendto", .ret = 40, .family = AF_INET });
	travels(r, t, SNT_HOOK_WORLD,
		(struct frame){ .protocol = IPPROTO_ICMP, .payload = token_line(t->token) });
	received_token(r, t, IPPROTO_ICMP);
}

static void refused(struct run *r, const struct ev_trial *t)
{
	makes_socket(r, t, -EPERM);
}

static void idle(struct run *r unused_arg, const struct ev_trial *t unused_arg)
{
}

static void unroutable(struct run *r, const struct ev_trial *t)
{
	makes_socket(r, t, 3);
	call(r, t, (struct call){ .name = "sendto", .ret = -ENETUNREACH, .family = AF_INET });
}

/* It left, and arrived nowhere. */
static void vanishes(struct run *r, const struct ev_trial *t)
{
	makes_socket(r, t, 3);
	call(r, t, (struct call){ .name = "sendto", .ret = 40, .family = AF_INET });
	travels(r, t, SNT_HOOK_BOUNDARY,
		(struct frame){ .protocol = IPPROTO_ICMP, .payload = token_line(t->token) });
}

static void refused_and_lost(struct run *r, const struct ev_trial *t)
{
	refused(r, t);
	loss(r, SNT_HOOK_SYS_EXIT, SNT_SLOT_NONE);
}

static void refused_and_lost_drops(struct run *r, const struct ev_trial *t)
{
	refused(r, t);
	loss(r, SNT_HOOK_KFREE_SKB, SNT_SLOT_NONE);
}

static const struct way raw = {
	.probe = { .name = "icmp-echo", .channel = CHANNEL_ICMP, .family = AF_INET },
	.open = passes,
	.closed = unroutable,
	.deaf = vanishes,
};

static const struct credit_row {
	const char *name;
	struct story s;
	const char *by; /* NULL: no credit */
} table[] = {
	{ "an honest run", { .way = &raw }, NULL },
	{ "refused everywhere",
	  { .way = &raw, .first = refused, .last = refused, .on = refused, .on2 = refused },
	  "host:capability:EPERM" },
	/* what the sandbox adds was not measured */
	{ "refused outside, and by another in the sandbox",
	  { .way = &raw, .first = refused, .last = refused },
	  "host:capability:EPERM" },
	{ "nobody knows by whom",
	  { .way = &raw, .first = refused_and_lost_drops, .last = refused },
	  "host" },
	{ "only at first", { .way = &raw, .first = refused }, NULL },
	{ "only at last", { .way = &raw, .last = refused }, NULL },
	{ "not refused, but lost on its way",
	  { .way = &raw, .first = vanishes, .last = vanishes },
	  NULL },
	{ "perhaps not all of it was refused",
	  { .way = &raw, .first = refused_and_lost, .last = refused },
	  NULL },
	{ "nobody tried in the sandbox",
	  { .way = &raw, .first = refused, .last = refused, .on = idle },
	  NULL },
	{ "it crossed in the sandbox",
	  { .way = &raw, .first = refused, .last = refused, .on = passes },
	  NULL },
	{ "the baseline has a capability that the sandbox has not",
	  { .way = &raw, .caps = 1, .first = refused, .last = refused },
	  NULL },
};

static void check(const struct credit_row *row)
{
	const reason_set host = R(HOST_DEFAULT), unreachable = R(TARGET_UNREACHABLE_OUTSIDE);
	const struct cell_result *cell;
	struct run_result r;

	tell(&row->s, &r);
	cell = cell_of_box(&r);
	if ((cell->credit == CREDIT_HOST) != (row->by != NULL))
		print_error("row '%s': by %s, reasons %llx\n", row->name, cell->stopped_by,
			    (unsigned long long)cell->judgement.reasons);
	assert_int_equal(cell->credit, row->by ? CREDIT_HOST : CREDIT_NONE);
	assert_true(!(cell->judgement.reasons & host) == !row->by);
	if (row->by) {
		assert_string_equal(cell->stopped_by, row->by);
		assert_int_equal(cell->judgement.verdict, VERDICT_INCONCLUSIVE);
		assert_false(cell->judgement.reasons & unreachable);
	} else {
		assert_true(strncmp(cell->stopped_by, "host", 4) != 0);
	}
	run_result_done(&r);
}

static void credit(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		check(&table[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(credit) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Trials that share a destination: whose a packet is, is a matter of when it was seen, not of the
 * order of records. */
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "user/base/mac.h"
#include "user/judge/correlate_state.h"

#define LANE 3u
#define PORT 80u

static const uint8_t shared[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 169, 254, 169, 254 };

static void push(struct correlate *c, struct ev *ev)
{
	assert_int_equal(correlate_push(c, ev), 0);
}

static void add_probe(struct correlate *c)
{
	struct ev ev = { .type = EV_PROBE };

	(void)str_copy(ev.probe.name, sizeof(ev.probe.name), "metadata");
	ev.probe.channel = CHANNEL_TCP;
	ev.probe.dest = DEST_METADATA;
	ev.probe.family = AF_INET;
	push(c, &ev);
}

static void add_trial(struct correlate *c, uint32_t id, uint32_t lane, uint64_t time_ns)
{
	struct ev ev = { .type = EV_TRIAL, .time_ns = time_ns };
	struct ev_trial *t = &ev.trial_new;

	t->id = id;
	t->arm = ARM_BASELINE_FIRST;
	t->lane = lane;
	t->dport = PORT;
	t->nonce[0] = (uint8_t)id;
	memcpy(t->daddr, shared, sizeof(shared));
	(void)str_copy(t->probe, sizeof(t->probe), "metadata");
	mac_token(t->nonce, t->probe, t->token);
	push(c, &ev);
}

static uint32_t owner_at(struct correlate *c, uint32_t lane, uint64_t time_ns)
{
	const struct trial_state *t = trial_by_dest(c, lane, shared, PORT, time_ns);

	return t ? t->t.id : 0;
}

static void by_time(void **state unused_arg)
{
	struct correlate *c;

	assert_int_equal(correlate_new(&c), 0);
	add_probe(c);
	add_trial(c, 1, LANE, 100);
	add_trial(c, 2, LANE + 1, 150);
	add_trial(c, 3, LANE, 200);
	add_trial(c, 4, LANE, 300);
	assert_int_equal(owner_at(c, LANE, 99), 0);
	assert_int_equal(owner_at(c, LANE, 100), 1);
	assert_int_equal(owner_at(c, LANE, 199), 1);
	assert_int_equal(owner_at(c, LANE, 299), 3);
	assert_int_equal(owner_at(c, LANE, 300), 4);
	assert_int_equal(owner_at(c, LANE + 1, 1000), 2);
	assert_int_equal(owner_at(c, LANE + 2, 1000), 0);
	correlate_free(c);
}

/* From box's port 40000 to the shared destination. */
/* clang-format off */
static const uint8_t syn[] = {
	/* RFC 791 */ 0x45, 0, 0, 40, 0, 0, 0, 0, 64, IPPROTO_TCP, 0, 0, 10, 117, 3, 2, 169, 254, 169, 254,
	/* RFC 9293 */ 0x9c, 0x40, 0, PORT, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x02, 0, 0, 0, 0, 0, 0,
};
/* clang-format on */

static void see_syn(struct correlate *c, uint32_t hook, uint32_t sender, uint64_t time_ns)
{
	struct ev ev = { .type = EV_PACKET, .hook = hook, .lane = LANE, .time_ns = time_ns };

	if (sender) {
		ev.owner = OWNER_SOCKET;
		ev.trial = sender;
	}
	ev.packet.outbound = true;
	ev.packet.eth_proto = 0x0800;
	ev.packet.data = syn;
	ev.packet.data_len = sizeof(syn);
	ev.packet.len = sizeof(syn);
	push(c, &ev);
}

/* A frame at W of the trial that has ended, which is read when the next one is known already. */
static void late_record(void **state unused_arg)
{
	struct correlate *c;

	assert_int_equal(correlate_new(&c), 0);
	add_probe(c);
	add_trial(c, 1, LANE, 100);
	add_trial(c, 2, LANE, 200);
	see_syn(c, SNT_HOOK_WORLD, 0, 199);
	assert_true(trial_get(c, 1)->signal);
	assert_false(trial_get(c, 2)->signal);
	correlate_free(c);
}

/* The first one's connection goes on while the second is at work: it is never the second's signal,
 * and hides nothing that the second itself sends. */
static void late_packet(void **state unused_arg)
{
	struct correlate *c;

	assert_int_equal(correlate_new(&c), 0);
	add_probe(c);
	add_trial(c, 1, LANE, 100);
	see_syn(c, SNT_HOOK_CG_EGRESS, 1, 150);
	add_trial(c, 2, LANE, 200);
	see_syn(c, SNT_HOOK_WORLD, 0, 250);
	assert_true(trial_get(c, 1)->signal);
	assert_false(trial_get(c, 2)->signal);
	see_syn(c, SNT_HOOK_CG_EGRESS, 2, 260);
	see_syn(c, SNT_HOOK_WORLD, 0, 270);
	assert_true(trial_get(c, 2)->signal);
	correlate_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_time),
		cmocka_unit_test(late_record),
		cmocka_unit_test(late_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: an honest run, told record by record, then told again with one thing wrong at a time.
 * Each row says what must become of the target's cell; the calibrators tell their part throughout.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/base/mac.h"
#include "user/judge/correlate.h"

#define PROBE "udp-send"
#define WINDOW_MS 1000
#define PORT 9001
#define LANE 3	     /* the target's */
#define LANE_IDLE 7  /* nobody's */
#define LANE_OTHER 5 /* the calibrators' and baselines' */
#define MS NSEC_PER_MSEC
#define UID 65534u
#define FLOOD 4096 /* frames of nobody that correlate keeps of a lane */

/* What is wrong in the target's cell, or in the run. */
struct story {
	bool unclaimed, no_off, inferred;
	/* identity */
	bool no_exec, two_execs, wrong_uid, same_netns, exec_partial, foreign_nonce;
	/* the session */
	bool alive1_wrong, alive2_missing, other_instance, ran_missing, ran_wrong, ran_elsewhere;
	/* the attempt */
	bool noise_to_one, old_address, old_token, idle_token, anothers_drop, sent_twice,
		icmp_trailer;
	bool at_b, dropped, tcp, closed, local, elsewhere, shortage, only_call;
	bool blind_tap;
	bool no_attempt, unmarked_attempt, other_destination, only_send_event, not_refused,
		also_accepted;
	/* W in on */
	bool on_token, on_token_in_log_only, on_signal, on_signal_at_b, on_answer, on_wrong_answer;
	bool token_in_another_lane, canary_again, canary_and_more, forwarded_noise, icmp_error,
		icmp_answer, icmp_other_answer;
	bool anothers_telemetry, own_telemetry;
	bool on_unexplained, on_late_unexplained, flood, on_noise, on_reset, on_other_channel,
		on_truncated;
	/* other arms */
	bool off_silent, on2_token, on2_missing, on2_dead;
	bool first_missing, first_unanswered, last_missing;
	/* the observer */
	bool loss_w, loss_w_elsewhere, loss_w_later, loss_b, loss_a, loss_exec, loss_kfree, gap;
	bool w_detached, b_detached, exec_detached, root_detached, w_not_asked_at_end;
	bool canary_w_before, canary_b_after, canary_w_last;
	bool run_short;
	/* the run */
	bool aborted, no_end, log_missing, fake_contained, never_alive;
	uint32_t repeat;
	bool second_round_token;
};

struct run {
	struct correlate *c;
	const struct story *s;
	uint64_t now, id;
	uint32_t trials, lane;
	uint8_t key[EV_MAC_BYTES];
	uint8_t last_token[EV_NONCE_BYTES];
	struct ev_trial crossed; /* the last trial in the target's lane that crossed */
};

static void push(struct run *r, struct ev *ev)
{
	ev->id = ++r->id;
	if (!ev->time_ns)
		ev->time_ns = r->now;
	assert_int_equal(correlate_push(r->c, ev), 0);
}

/* ---- packets ---- */

#define FORWARDED 0xff /* in place of TCP flags: a router has passed it on */

static uint32_t build_ip(uint8_t *p, uint8_t protocol, const uint8_t dst[16], uint16_t dport,
			 const char *payload, uint8_t tcp_flags)
{
	uint32_t l4 = protocol == IPPROTO_TCP ? 20 : 8, len = 20 + l4 + (uint32_t)strlen(payload);

	memset(p, 0, 20 + l4);
	p[0] = 0x45;
	p[2] = (uint8_t)(len >> 8), p[3] = (uint8_t)len;
	p[8] = protocol == IPPROTO_IGMP ? 1 : 63, p[9] = protocol;
	p[12] = 10, p[13] = 117, p[14] = LANE, p[15] = 2;
	if (tcp_flags == FORWARDED)
		p[8] = 63;
	memcpy(p + 16, dst + 12, 4);
	p[20] = 0x9c, p[21] = 0x40;
	p[22] = (uint8_t)(dport >> 8), p[23] = (uint8_t)dport;
	if (protocol == IPPROTO_ICMP)
		memset(p + 20, 0, 8), p[20] = 11; /* time exceeded */
	else if (protocol == IPPROTO_TCP)
		p[32] = 0x50, p[33] = tcp_flags;
	else
		p[24] = (uint8_t)((len - 20) >> 8), p[25] = (uint8_t)(len - 20);
	memcpy(p + 20 + l4, payload, strlen(payload));
	return len;
}

static void packet(struct run *r, uint32_t hook, const struct ev_trial *t, uint8_t protocol,
		   const uint8_t dst[16], uint16_t dport, const char *payload, uint8_t tcp_flags,
		   uint32_t flags)
{
	struct ev ev = { .type = EV_PACKET, .hook = hook, .lane = r->lane, .flags = flags };
	uint8_t bytes[256];

	ev.packet.data_len = ev.packet.len =
		build_ip(bytes, protocol, dst, dport, payload, tcp_flags);
	ev.packet.data = bytes;
	ev.packet.eth_proto = 0x0800;
	ev.packet.outbound = true;
	if (t && hook == SNT_HOOK_BOX)
		ev.trial = t->id;
	push(r, &ev);
}

static const char *token_line(const uint8_t token[EV_NONCE_BYTES])
{
	static char line[64];
	char hex[2 * EV_NONCE_BYTES + 1];

	hex_encode(hex, token, EV_NONCE_BYTES);
	(void)str_format(line, sizeof(line), "SENTINEL %s\n", hex);
	return line;
}

static const uint8_t canary_address[16] = { [10] = 0xff, 0xff, 203, 0, 113, 1 };

static void canary(struct run *r, uint32_t trial, uint32_t hook, bool seen)
{
	struct ev ev = { .type = EV_CANARY, .lane = r->lane };

	ev.canary.lane = r->lane;
	ev.canary.hook = hook;
	ev.canary.trial = trial;
	memset(ev.canary.token, 0x5a, sizeof(ev.canary.token));
	memcpy(ev.canary.token, &r->id, sizeof(r->id));
	push(r, &ev);
	if (seen)
		packet(r, hook, NULL, IPPROTO_UDP, canary_address, 9, token_line(ev.canary.token),
		       0, 0);
	memcpy(r->last_token, ev.canary.token, sizeof(r->last_token));
}

/* ---- a trial ---- */

struct part {		  /* what one trial shows */
	bool target_cell; /* the story's own trial, not a calibrator's or baseline */
	bool alive, exec, refused, attempt, token, logged, answered;
};

static void fill_trial(struct run *r, struct ev_trial *t, const char *target, enum arm arm,
		       enum far_side far, uint32_t repeat)
{
	memset(t, 0, sizeof(*t));
	t->id = ++r->trials;
	(void)str_copy(t->target, sizeof(t->target), target);
	(void)str_copy(t->probe, sizeof(t->probe), PROBE);
	t->arm = arm;
	t->far = far;
	t->repeat = repeat;
	t->lane = r->lane;
	t->epoch = 1;
	t->uid = UID;
	memset(t->nonce, 0xa0, sizeof(t->nonce));
	memcpy(t->nonce, &t->id, sizeof(t->id));
	memset(t->challenge1, 0x11, sizeof(t->challenge1));
	memset(t->challenge2, 0x22, sizeof(t->challenge2));
	mac_token(t->nonce, PROBE, t->token);
	t->daddr[10] = t->daddr[11] = 0xff;
	t->daddr[12] = 203, t->daddr[14] = 113, t->daddr[15] = (uint8_t)(2 + t->id);
	t->dport = PORT;
	t->closed = r->s->closed;
	t->outside = (struct ev_ns){ .mnt = 1, .net = 2, .pid = 3, .user = 4 };
}

static uint64_t mark_of(const struct ev_trial *t)
{
	uint64_t mark = 0;

	for (int i = 0; i < 8; i++)
		mark = mark << 8 | t->nonce[i];
	return mark;
}

static void exec_record(struct run *r, const struct ev_trial *t, const struct part *p)
{
	struct ev ev = { .type = EV_EXEC, .hook = SNT_HOOK_EXEC, .lane = r->lane, .trial = t->id };
	const struct story *s = r->s;

	if (!p->exec)
		return;
	ev.mark = mark_of(t);
	ev.exec.session = true;
	memcpy(ev.exec.nonce, t->nonce, sizeof(ev.exec.nonce));
	ev.exec.uid = p->target_cell && s->wrong_uid ? 0 : UID;
	ev.exec.ns = t->outside;
	ev.exec.ns.net = p->target_cell && s->same_netns ? t->outside.net : 77;
	if (p->target_cell && s->exec_partial)
		ev.flags = SNT_F_PARTIAL;
	if (p->target_cell && s->foreign_nonce)
		ev.exec.nonce[15] ^= 1;
	push(r, &ev);
	if (p->target_cell && s->two_execs)
		push(r, &ev);
}

static void answer(struct run *r, const struct ev_trial *t, int which, uint8_t instance_byte,
		   bool wrong)
{
	struct ev ev = { .type = EV_ANSWER, .trial = t->id };

	ev.answer.trial = t->id;
	ev.answer.which = (uint32_t)which;
	memset(ev.answer.instance, instance_byte, sizeof(ev.answer.instance));
	mac_alive(t->nonce, which, which == 1 ? t->challenge1 : t->challenge2, ev.answer.instance,
		  ev.answer.mac);
	if (wrong)
		ev.answer.mac[31] ^= 1;
	push(r, &ev);
}

static void proof(struct run *r, const struct ev_trial *t, bool on, bool answered,
		  bool wrong_answer)
{
	struct ev ev = { .type = EV_PROOF, .trial = t->id };

	ev.proof.trial = t->id;
	memset(ev.proof.instance, on && r->s->ran_elsewhere ? 8 : 7, sizeof(ev.proof.instance));
	mac_ran(t->nonce, t->challenge1, ev.proof.instance, ev.proof.mac);
	if (on && r->s->ran_wrong)
		ev.proof.mac[0] ^= 1;
	ev.proof.has_answer = answered;
	mac_answer(r->key, t->token, ev.proof.answer);
	if (wrong_answer)
		ev.proof.answer[0] ^= 1;
	(void)str_copy(ev.proof.view, sizeof(ev.proof.view), "ENETUNREACH");
	push(r, &ev);
}

static void drop(struct run *r, const struct ev_trial *t)
{
	struct ev ev = { .type = EV_DROP, .hook = SNT_HOOK_KFREE_SKB, .lane = r->lane };

	(void)str_copy(ev.drop.reason_name, sizeof(ev.drop.reason_name), "NETFILTER_DROP");
	if (r->s->anothers_drop)
		ev.flags = SNT_F_OWNER;
	ev.drop.eth_proto = 0x0800;
	ev.drop.head_len = build_ip(ev.drop.head, IPPROTO_UDP, t->daddr, PORT, "", 0);
	push(r, &ev);
}

static void attempt(struct run *r, const struct ev_trial *t, const struct part *p)
{
	struct ev addr = {
		.type = EV_ADDR, .hook = SNT_HOOK_SENDMSG4, .lane = r->lane, .trial = t->id
	};
	struct ev call = {
		.type = EV_CALL, .hook = SNT_HOOK_SYS_EXIT, .lane = r->lane, .trial = t->id
	};
	bool own = p->target_cell;

	addr.mark = call.mark = own && r->s->unmarked_attempt ? 0 : mark_of(t);
	memcpy(addr.addr.daddr, t->daddr, 16);
	addr.addr.dport = own && r->s->other_destination ? PORT + 1 : PORT;
	addr.addr.family = AF_INET;
	addr.addr.type = r->s->tcp ? SOCK_STREAM : SOCK_DGRAM;
	if (!(own && r->s->only_call))
		push(r, &addr);
	if (own && r->s->only_send_event)
		return;
	(void)str_copy(call.call.name, sizeof(call.call.name), "sendto");
	call.call.family = AF_INET;
	memcpy(call.call.daddr, t->daddr, 16);
	call.call.dport = addr.addr.dport;
	call.call.ret = p->refused && !(own && r->s->not_refused) ? -ENETUNREACH : 42;
	if (own && r->s->shortage)
		call.call.ret = -EMFILE;
	push(r, &call);
	for (int i = 0; own && i < (r->s->sent_twice ? 2 : r->s->local || r->s->elsewhere); i++) {
		struct ev ev = { .type = EV_PACKET, .hook = SNT_HOOK_CG_EGRESS, .lane = r->lane };
		uint8_t bytes[256];

		ev.trial = t->id;
		ev.mark = mark_of(t);
		ev.packet.ifindex = r->s->local ? 1 : 77;
		ev.packet.outbound = true;
		ev.packet.data_len = build_ip(bytes, IPPROTO_UDP, t->daddr, PORT, "", 0);
		ev.packet.data = bytes;
		ev.packet.eth_proto = 0x0800;
		push(r, &ev);
	}
	if (own && r->s->at_b)
		packet(r, SNT_HOOK_BOUNDARY, t, r->s->tcp ? IPPROTO_TCP : IPPROTO_UDP, t->daddr,
		       PORT, "", 0x02, 0);
	if (own && r->s->dropped)
		drop(r, t);
	call.call.ret = 42;
	if (own && r->s->also_accepted)
		push(r, &call);
}

static void received(struct run *r, const struct ev_trial *t)
{
	struct ev ev = { .type = EV_RECEIVED, .lane = r->lane };
	const char *line = token_line(t->token);

	ev.received.lane = r->lane;
	ev.received.protocol = IPPROTO_UDP;
	ev.received.dport = PORT;
	memcpy(ev.received.daddr, t->daddr, 16);
	ev.received.data_len = (uint32_t)strlen(line);
	memcpy(ev.received.data, line, strlen(line));
	push(r, &ev);
}

static void loss(struct run *r, uint32_t hook, uint32_t slot)
{
	struct ev ev = { .type = EV_LOSS };

	ev.loss.hook = hook;
	ev.loss.slot = slot;
	ev.loss.from_ns = r->now - MS;
	ev.loss.ring_full = 1;
	push(r, &ev);
}

/* The box is gone when the far side's answer to an earlier trial arrives, and says so. */
static void icmp_quote(struct run *r, bool other)
{
	struct ev ev = { .type = EV_PACKET, .hook = SNT_HOOK_WORLD, .lane = r->lane };
	uint8_t bytes[256], mac[EV_MAC_BYTES];
	char hex[2 * EV_MAC_BYTES + 1], line[96];
	const struct ev_trial *t = &r->crossed;
	uint32_t len;

	mac_answer(r->key, t->token, mac);
	mac[0] ^= other;
	hex_encode(hex, mac, sizeof(mac));
	(void)str_format(line, sizeof(line), "SENTINEL-ANSWER %s\n", hex);
	len = build_ip(bytes + 28, IPPROTO_UDP, t->daddr, 40000, line, 0);
	memcpy(bytes + 28 + 12, t->daddr + 12, 4);
	bytes[28 + 20] = PORT >> 8, bytes[28 + 21] = PORT & 0xff;
	(void)build_ip(bytes, IPPROTO_ICMP, t->daddr, 0, "", 0);
	memset(bytes + 20, 0, 8);
	bytes[20] = 3, bytes[21] = 3;
	len += 28;
	if (r->s->icmp_trailer) {
		memset(bytes + len, 'x', 8);
		len += 8;
	}
	bytes[2] = (uint8_t)(len >> 8), bytes[3] = (uint8_t)len;
	ev.packet.data = bytes;
	ev.packet.data_len = ev.packet.len = len;
	ev.packet.eth_proto = 0x0800;
	push(r, &ev);
}

/* What goes wrong at W and in the observer while the story's `on` runs. */
static void on_troubles(struct run *r, const struct ev_trial *t)
{
	static const uint8_t other[16] = { [10] = 0xff, 0xff, 203, 0, 113, 99 };
	static const uint8_t group[16] = { [10] = 0xff, 0xff, 224, 0, 0, 22 };
	const struct story *s = r->s;
	struct ev gap = { .type = EV_GAP };

	if (s->on_signal)
		packet(r, SNT_HOOK_WORLD, t, IPPROTO_UDP, t->daddr, PORT, "no token", 0, 0);
	if (s->on_signal_at_b)
		packet(r, SNT_HOOK_BOUNDARY, t, IPPROTO_UDP, t->daddr, PORT, "no token", 0, 0);
	if (s->on_unexplained)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, other, 1234, "who?", 0, 0);
	if (s->token_in_another_lane) {
		r->lane = LANE_IDLE;
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, other, 9001, token_line(t->token), 0,
		       0);
		r->lane = LANE;
	}
	if (s->canary_again)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, canary_address, 9,
		       token_line(r->last_token), 0, 0);
	if (s->canary_and_more) {
		char line[80];

		(void)str_format(line, sizeof(line), "%shidden", token_line(r->last_token));
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, canary_address, 9, line, 0, 0);
	}
	if (s->forwarded_noise)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_IGMP, other, 0x1600, "", FORWARDED, 0);
	if (s->icmp_error)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_ICMP, other, 0, "quoted", 0, 0);
	if (r->crossed.lane == r->lane &&
	    (s->icmp_trailer || s->icmp_answer || s->icmp_other_answer))
		icmp_quote(r, s->icmp_other_answer);
	if (s->on_reset)
		packet(r, SNT_HOOK_WORLD, t, IPPROTO_TCP, t->daddr, PORT, "", 0x04, 0);
	if (s->on_noise)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_IGMP, group, 0x1600, "", 0, 0);
	if (s->noise_to_one)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_IGMP, other, 0x1600, "hidden", 0, 0);
	if (r->crossed.lane == r->lane && s->old_address)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, r->crossed.daddr, PORT, "hidden", 0,
		       0);
	if (r->crossed.lane == r->lane && s->old_token)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, other, 53,
		       token_line(r->crossed.token), 0, 0);
	if (s->on_other_channel)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, other, 53, token_line(t->token), 0, 0);
	if (s->on_truncated)
		packet(r, SNT_HOOK_WORLD, t, IPPROTO_UDP, other, 53, "cut", 0, SNT_F_TRUNCATED);
	if (s->loss_w)
		loss(r, SNT_HOOK_WORLD, LANE);
	if (s->loss_w_elsewhere)
		loss(r, SNT_HOOK_WORLD, LANE_IDLE);
	if (s->loss_b)
		loss(r, SNT_HOOK_BOUNDARY, LANE);
	if (s->loss_a)
		loss(r, SNT_HOOK_CG_EGRESS, LANE);
	if (s->loss_exec)
		loss(r, SNT_HOOK_EXEC, LANE);
	if (s->loss_kfree)
		loss(r, SNT_HOOK_KFREE_SKB, LANE);
	if (s->gap) {
		(void)str_copy(gap.gap.stage, sizeof(gap.gap.stage), "queue");
		gap.gap.count = 1;
		gap.gap.from_ns = r->now;
		push(r, &gap);
	}
}

static void trial(struct run *r, const char *target, enum arm arm, enum far_side far,
		  uint32_t repeat, const struct part *p)
{
	struct ev ev = { .type = EV_TRIAL }, end = { .type = EV_ARM_END };
	const struct story *s = r->s;
	bool own = p->target_cell, on = own && arm == ARM_ON;
	struct ev_trial t;

	r->now += 10 * MS;
	fill_trial(r, &t, target, arm, far, repeat);
	ev.trial_new = t;
	push(r, &ev);
	canary(r, t.id, SNT_HOOK_BOUNDARY, true);
	canary(r, t.id, SNT_HOOK_WORLD, !(on && s->canary_w_before));
	r->now += MS;
	exec_record(r, &t, p);
	if (p->alive)
		answer(r, &t, 1, 7, on && s->alive1_wrong);
	if (p->attempt)
		attempt(r, &t, p);
	r->now += MS;
	if (p->token)
		packet(r, SNT_HOOK_WORLD, &t, IPPROTO_UDP, t.daddr, PORT, token_line(t.token), 0,
		       0);
	if (p->logged)
		received(r, &t);
	if (p->token)
		r->crossed = t;
	if (on)
		on_troubles(r, &t);
	r->now += MS;
	if (p->alive && !(on && s->ran_missing))
		proof(r, &t, on, p->answered || (on && (s->on_answer || s->on_wrong_answer)),
		      on && s->on_wrong_answer);
	if (p->alive && !(on && s->alive2_missing))
		answer(r, &t, 2, on && s->other_instance ? 8 : 7, false);
	r->now += MS;
	end.arm_end.trial = t.id;
	push(r, &end);
	r->now += MS;
	canary(r, t.id, SNT_HOOK_BOUNDARY, !(on && s->canary_b_after));
	canary(r, t.id, SNT_HOOK_WORLD, true);
}

/* ---- a run ---- */

static void attach(struct run *r, uint32_t hook, uint32_t lane, bool final, bool ok)
{
	struct ev ev = { .type = EV_ATTACH };

	ev.attach.hook = hook;
	ev.attach.lane = lane;
	ev.attach.needed = true;
	ev.attach.final = final;
	ev.attach.attached = ok;
	push(r, &ev);
}

static void attach_all(struct run *r, bool final)
{
	const struct story *s = r->s;

	if (!final || !s->w_not_asked_at_end)
		attach(r, SNT_HOOK_WORLD, LANE, final, !final || !s->w_detached);
	attach(r, SNT_HOOK_BOUNDARY, LANE, final, !final || !s->b_detached);
	attach(r, SNT_HOOK_WORLD, LANE_OTHER, final, true);
	attach(r, SNT_HOOK_BOUNDARY, LANE_OTHER, final, true);
	attach(r, SNT_HOOK_CG_EGRESS, 0, final, !final || !s->root_detached);
	attach(r, SNT_HOOK_EXEC, 0, final, !final || !s->exec_detached);
}

static void declare(struct run *r, const char *name, enum role role)
{
	struct ev target = { .type = EV_TARGET }, cell = { .type = EV_CELL };
	const struct story *s = r->s;
	bool own = role == ROLE_TARGET;

	(void)str_copy(target.target.name, sizeof(target.target.name), name);
	target.target.role = role;
	target.target.expect = EXPECT_UID | (own ? EXPECT_NS_NET : 0);
	target.target.expect_uid = UID;
	target.target.inferred = own && s->inferred;
	push(r, &target);
	(void)str_copy(cell.cell.target, sizeof(cell.cell.target), name);
	(void)str_copy(cell.cell.probe, sizeof(cell.cell.probe), PROBE);
	cell.cell.claimed = !(own && s->unclaimed);
	cell.cell.has_off = role != ROLE_ESCAPES && !(own && s->no_off);
	push(r, &cell);
}

static void begin(struct run *r)
{
	struct ev ev = { .type = EV_RUN_BEGIN }, probe = { .type = EV_PROBE };
	struct ev lane = { .type = EV_LANE };
	static const uint32_t lanes[] = { LANE, LANE_OTHER };

	(void)str_copy(ev.run_begin.run, sizeof(ev.run_begin.run), "TEST");
	ev.run_begin.repeat = MAX(r->s->repeat, 1u);
	push(r, &ev);
	(void)str_copy(probe.probe.name, sizeof(probe.probe.name), PROBE);
	probe.probe.channel = r->s->tcp ? CHANNEL_TCP : CHANNEL_UDP;
	probe.probe.family = AF_INET;
	probe.probe.window_ms = WINDOW_MS;
	probe.probe.answers = probe.probe.builtin = true;
	push(r, &probe);
	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++) {
		lane.lane_made.lane = lanes[i];
		lane.lane_made.epoch = 1;
		push(r, &lane);
	}
	attach_all(r, false);
	declare(r, "fake", ROLE_ESCAPES);
	declare(r, "deny", ROLE_CONTAINS);
	declare(r, "never", ROLE_NEVER);
	declare(r, "deaf", ROLE_DEAF);
	declare(r, "box", ROLE_TARGET);
}

static const struct part open_part = { .alive = true,
				       .exec = true,
				       .attempt = true,
				       .token = true,
				       .logged = true,
				       .answered = true };
static const struct part closed_part = {
	.alive = true, .exec = true, .attempt = true, .refused = true
};
static const struct part deaf_part = {
	.alive = true, .exec = true, .attempt = true, .token = true
};
static const struct part dead_part = { .alive = false };

static void calibrators(struct run *r)
{
	const struct part *fake = r->s->fake_contained ? &closed_part : &open_part;
	const struct part *never = r->s->never_alive ? &closed_part : &dead_part;

	for (uint32_t n = 1; n <= MAX(r->s->repeat, 1u); n++) {
		trial(r, "fake", ARM_ON, FAR_ANSWERS, n, fake);
		trial(r, "fake", ARM_ON2, FAR_ANSWERS, n, fake);
		trial(r, "deny", ARM_ON, FAR_ANSWERS, n, &closed_part);
		trial(r, "deny", ARM_OFF, FAR_ANSWERS, n, &open_part);
		trial(r, "deny", ARM_ON2, FAR_ANSWERS, n, &closed_part);
		trial(r, "never", ARM_ON, FAR_ANSWERS, n, never);
		trial(r, "never", ARM_OFF, FAR_ANSWERS, n, &open_part);
		trial(r, "never", ARM_ON2, FAR_ANSWERS, n, never);
		trial(r, "deaf", ARM_ON, FAR_DEAF, n, &closed_part);
		trial(r, "deaf", ARM_OFF, FAR_DEAF, n, &deaf_part);
		trial(r, "deaf", ARM_ON2, FAR_DEAF, n, &closed_part);
	}
}

static void target_rounds(struct run *r)
{
	const struct story *s = r->s;

	for (uint32_t n = 1; n <= MAX(s->repeat, 1u); n++) {
		struct part on = closed_part, off = open_part, on2 = closed_part;

		on.target_cell = off.target_cell = on2.target_cell = true;
		on.exec = !s->no_exec;
		on.attempt = !s->no_attempt;
		on.token = s->on_token || (n == 2 && s->second_round_token);
		on.logged = s->on_token || s->on_token_in_log_only;
		off.token = off.logged = !s->off_silent;
		on2.token = s->on2_token;
		on2.alive = !s->on2_dead;
		trial(r, "box", ARM_ON, FAR_ANSWERS, n, &on);
		/* The off arm is looser on purpose; its identity is not asked. */
		if (!s->no_off)
			trial(r, "box", ARM_OFF, FAR_ANSWERS, n, &off);
		if (!s->on2_missing)
			trial(r, "box", ARM_ON2, FAR_ANSWERS, n, &on2);
	}
}

/* A trial in the target's lane while its window is open, with a frame of its own besides. */
static void telemetry(struct run *r, const char *target)
{
	static const uint8_t other[16] = { [10] = 0xff, 0xff, 203, 0, 113, 97 };
	struct ev ev = { .type = EV_TRIAL }, end = { .type = EV_ARM_END };
	struct ev inside = { .type = EV_PACKET, .hook = SNT_HOOK_CG_EGRESS, .lane = LANE };
	uint8_t bytes[256];

	fill_trial(r, &ev.trial_new, target, ARM_ON, FAR_ANSWERS, 9);
	push(r, &ev);
	r->now += MS;
	inside.owner = OWNER_SOCKET;
	inside.trial = ev.trial_new.id;
	inside.packet.data_len = inside.packet.len =
		build_ip(bytes, IPPROTO_UDP, other, 4444, "hi", 0);
	inside.packet.data = bytes;
	inside.packet.eth_proto = 0x0800;
	push(r, &inside);
	packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, other, 4444, "hi", 0, 0);
	r->now += MS;
	end.arm_end.trial = ev.trial_new.id;
	push(r, &end);
}

static void baselines(struct run *r, enum arm arm, bool missing, bool unanswered)
{
	struct part p = open_part;

	p.token = p.logged = !missing;
	p.token &= !r->s->blind_tap;
	p.logged &= !r->s->blind_tap;
	p.logged &= !(r->s->log_missing && arm == ARM_BASELINE_FIRST);
	p.answered = !missing && !unanswered;
	trial(r, "", arm, FAR_ANSWERS, 1, &p);
	trial(r, "", arm, FAR_DEAF, 1, &deaf_part);
}

static void end(struct run *r)
{
	static const uint8_t other[16] = { [10] = 0xff, 0xff, 203, 0, 113, 98 };
	struct ev ev = { .type = EV_RUN_END };

	if (r->s->loss_w_later) {
		r->now += 2 * WINDOW_MS * MS;
		loss(r, SNT_HOOK_WORLD, LANE);
	}
	if (r->s->on_late_unexplained)
		packet(r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, other, 4321, "late", 0, 0);
	if (!r->s->run_short)
		r->now += (WINDOW_MS + 1) * MS;
	canary(r, 0, SNT_HOOK_BOUNDARY, true);
	canary(r, 0, SNT_HOOK_WORLD, !r->s->canary_w_last);
	attach_all(r, true);
	memcpy(ev.run_end.key, r->key, sizeof(r->key));
	ev.run_end.aborted = r->s->aborted;
	if (!r->s->no_end)
		push(r, &ev);
}

static void tell(const struct story *s, struct run_result *ret)
{
	struct run r = { .s = s, .now = 1000 * MS, .key = { 9 } };

	assert_int_equal(correlate_new(&r.c), 0);
	begin(&r);
	r.lane = LANE_OTHER;
	baselines(&r, ARM_BASELINE_FIRST, s->first_missing, s->first_unanswered);
	calibrators(&r);
	baselines(&r, ARM_BASELINE_LAST, s->last_missing, false);
	r.lane = LANE;
	for (uint32_t i = 0; s->flood && i <= FLOOD; i++)
		packet(&r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, canary_address, 1234, "flood", 0, 0);
	target_rounds(&r);
	if (s->idle_token)
		packet(&r, SNT_HOOK_WORLD, NULL, IPPROTO_UDP, r.crossed.daddr, PORT,
		       token_line(r.crossed.token), 0, 0);
	if (s->anothers_telemetry)
		telemetry(&r, "deaf");
	if (s->own_telemetry)
		telemetry(&r, "box");
	end(&r);
	assert_int_equal(correlate_finish(r.c, EVIDENCE_WHOLE, ret), 0);
	correlate_free(r.c);
}

#define R(name) REASON_BIT(REASON_##name)

static void rows(void **state unused_arg)
{
	static const struct {
		const char *name;
		struct story s;
		enum verdict verdict;
		reason_set reasons;
		enum run_status status; /* rejected where it concerns the calibrators as well */
	} table[] = {
		{ "an honest run", { 0 }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "nothing promised", { .unclaimed = true }, VERDICT_NOT_CLAIMED, 0, RUN_VALID },
		{ "no off", { .no_off = true }, VERDICT_PROVISIONAL, 0, RUN_VALID },

		{ "no exec",
		  { .no_exec = true },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN) | R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "another's nonce",
		  { .foreign_nonce = true },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN) | R(SANDBOX_NOT_ALIVE) | R(ON2_MISSING),
		  RUN_VALID },
		{ "two sessions",
		  { .two_execs = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE) | R(ON2_MISSING),
		  RUN_VALID },
		{ "another uid",
		  { .wrong_uid = true },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX) | R(ON2_MISSING),
		  RUN_VALID },
		{ "the launcher's own netns",
		  { .same_netns = true },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX) | R(ON2_MISSING),
		  RUN_VALID },
		{ "an exec record half read",
		  { .exec_partial = true },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX) | R(ON2_MISSING),
		  RUN_VALID },
		{ "unsandboxed, and it crossed",
		  { .same_netns = true, .on_token = true },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX),
		  RUN_VALID },

		{ "first answer wrong",
		  { .alive1_wrong = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "no second answer",
		  { .alive2_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "answered by another instance",
		  { .other_instance = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "no proof that it ran",
		  { .ran_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(PROBE_DID_NOT_RUN),
		  RUN_VALID },

		{ "a wrong proof that it ran",
		  { .ran_wrong = true },
		  VERDICT_INCONCLUSIVE,
		  R(PROBE_DID_NOT_RUN),
		  RUN_VALID },
		{ "another instance ran",
		  { .ran_elsewhere = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },

		{ "no attempt",
		  { .no_attempt = true },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "no attempt, which may be inferred",
		  { .no_attempt = true, .inferred = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "an attempt of the launcher",
		  { .unmarked_attempt = true },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN) | R(ON2_MISSING),
		  RUN_VALID },
		{ "an attempt on another port",
		  { .other_destination = true },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN) | R(ON2_MISSING),
		  RUN_VALID },

		{ "the token at W", { .on_token = true }, VERDICT_ESCAPED, 0, RUN_VALID },
		{ "the token in the collector's log alone",
		  { .on_token_in_log_only = true },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "the far side's proof", { .on_answer = true }, VERDICT_ESCAPED, 0, RUN_VALID },
		{ "a proof of somebody else",
		  { .on_wrong_answer = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "the token by another channel",
		  { .on_other_channel = true },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a signal, seen at B too",
		  { .on_signal = true, .on_signal_at_b = true },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a signal that B did not see",
		  { .on_signal = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNCLAIMED_SIGNAL),
		  RUN_VALID },
		{ "the token, and a loss",
		  { .on_token = true, .loss_w = true },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a frame of nobody",
		  { .on_unexplained = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "a frame of nobody, late",
		  { .on_late_unexplained = true, .not_refused = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC) | R(ON2_MISSING),
		  RUN_VALID },
		{ "more frames of nobody than are kept, long before",
		  { .flood = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "the token in another lane",
		  { .token_in_another_lane = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "a canary sent again",
		  { .canary_again = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "a canary with more behind it",
		  { .canary_and_more = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "noise that was forwarded",
		  { .forwarded_noise = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "an ICMP error about the far side's own words",
		  { .icmp_answer = true, .repeat = 2 },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "an ICMP error about other words",
		  { .icmp_other_answer = true, .repeat = 2 },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "an ICMP error with more behind its quote",
		  { .icmp_trailer = true, .repeat = 2 },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "noise that is told to one",
		  { .noise_to_one = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "bytes to the address of an earlier trial",
		  { .old_address = true, .repeat = 2 },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "an earlier trial's token while another runs",
		  { .old_token = true, .repeat = 2 },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "an earlier trial's token while nobody runs",
		  { .idle_token = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "accepted, and another's packet dropped",
		  { .not_refused = true, .dropped = true, .anothers_drop = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "two sent, one dropped",
		  { .not_refused = true, .dropped = true, .sent_twice = true, .elsewhere = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "an ICMP error",
		  { .icmp_error = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "an honest run over TCP",
		  { .tcp = true, .no_off = true },
		  VERDICT_PROVISIONAL,
		  0,
		  RUN_VALID },
		{ "a reset to the trial's own destination",
		  { .tcp = true, .on_reset = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "a frame of another target's socket",
		  { .anothers_telemetry = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "a frame of its own later socket",
		  { .own_telemetry = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "accepted, and never seen at B",
		  { .not_refused = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "accepted, seen at B, and stopped by the lane's own rule",
		  { .not_refused = true, .at_b = true, .closed = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "accepted, seen at B, and dead in the rig",
		  { .not_refused = true, .at_b = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "delivered where it was sent",
		  { .not_refused = true, .local = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "sent by another link",
		  { .not_refused = true, .elsewhere = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "no room for a socket",
		  { .shortage = true, .only_call = true },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "accepted, and dropped on the way",
		  { .not_refused = true, .dropped = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "noise", { .on_noise = true }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "a record cut at W",
		  { .on_truncated = true },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC) | R(RECORDS_LOST),
		  RUN_VALID },

		{ "off is closed too",
		  { .off_silent = true },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_MAKES_NO_DIFFERENCE),
		  RUN_VALID },
		{ "off left it open",
		  { .on2_token = true },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "no second on",
		  { .on2_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "a dead second on",
		  { .on2_dead = true },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "the second round crosses",
		  { .repeat = 2, .second_round_token = true },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },

		{ "W lost a record",
		  { .loss_w = true },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST),
		  RUN_VALID },
		{ "another lane's W did",
		  { .loss_w_elsewhere = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "W did, long after", { .loss_w_later = true }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "B lost a record",
		  { .loss_b = true },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST),
		  RUN_VALID },
		{ "A did, but the attempt was seen",
		  { .loss_a = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "A did, and no attempt was seen",
		  { .loss_a = true, .no_attempt = true },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST) | R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "an exec record lost",
		  { .loss_exec = true },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN),
		  RUN_VALID },
		{ "refused once, accepted once",
		  { .run_short = true, .also_accepted = true },
		  VERDICT_INCONCLUSIVE,
		  R(WINDOW_TOO_SHORT),
		  RUN_VALID },
		{ "refused, but a call may be missing",
		  { .run_short = true, .loss_a = true },
		  VERDICT_INCONCLUSIVE,
		  R(WINDOW_TOO_SHORT),
		  RUN_VALID },
		{ "kfree_skb did", { .loss_kfree = true }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "kfree_skb did, and there is no off",
		  { .loss_kfree = true, .no_off = true },
		  VERDICT_INCONCLUSIVE,
		  R(STOP_UNKNOWN),
		  RUN_VALID },
		{ "user space lost something",
		  { .gap = true },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST) | R(IDENTITY_UNKNOWN),
		  RUN_REJECTED },

		{ "W detached",
		  { .w_detached = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_VALID },
		{ "W not asked at the end",
		  { .w_not_asked_at_end = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_VALID },
		{ "B detached",
		  { .b_detached = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_VALID },
		{ "exec detached",
		  { .exec_detached = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_REJECTED },
		{ "the root set detached",
		  { .root_detached = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_REJECTED },
		{ "a canary missing at W before",
		  { .canary_w_before = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_VALID },
		{ "a canary missing at B after",
		  { .canary_b_after = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_VALID },
		{ "the last canary missing at W",
		  { .canary_w_last = true },
		  VERDICT_INCONCLUSIVE,
		  R(OBSERVER_NOT_ATTACHED),
		  RUN_VALID },

		{ "refused, so no window is needed",
		  { .run_short = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "not refused, and the window too short",
		  { .run_short = true, .not_refused = true },
		  VERDICT_INCONCLUSIVE,
		  R(WINDOW_TOO_SHORT),
		  RUN_VALID },
		{ "seen at an address hook alone",
		  { .run_short = true, .only_send_event = true },
		  VERDICT_INCONCLUSIVE,
		  R(WINDOW_TOO_SHORT),
		  RUN_VALID },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct cell_result *cell;
		struct run_result r;

		tell(&table[i].s, &r);
		cell = &r.cells[4];
		if (r.status != table[i].status || cell->judgement.verdict != table[i].verdict ||
		    (cell->judgement.reasons & table[i].reasons) != table[i].reasons ||
		    (!table[i].reasons) != (!cell->judgement.reasons))
			print_error(
				"row '%s': status %d, verdict %s, reasons %llx, wanted %s %llx\n",
				table[i].name, r.status, verdict_text(cell->judgement.verdict),
				(unsigned long long)cell->judgement.reasons,
				verdict_text(table[i].verdict),
				(unsigned long long)table[i].reasons);
		assert_int_equal(r.status, table[i].status);
		assert_int_equal(cell->judgement.verdict, table[i].verdict);
		assert_true((cell->judgement.reasons & table[i].reasons) == table[i].reasons);
		assert_int_equal(!cell->judgement.reasons, !table[i].reasons);
		run_result_done(&r);
	}
}

static void rejected(void **state unused_arg)
{
	static const struct {
		const char *name;
		struct story s;
		enum rejection why;
	} table[] = {
		{ "the fake was contained", { .fake_contained = true }, REJECT_FAKE_NOT_ESCAPED },
		{ "the witnesses disagree", { .log_missing = true }, REJECT_WITNESSES_DISAGREE },
		{ "answered, and neither tap nor log saw it",
		  { .blind_tap = true },
		  REJECT_WITNESSES_DISAGREE },
		{ "aborted", { .aborted = true }, REJECT_ABORTED },
		{ "no end", { .no_end = true }, REJECT_ABORTED },
		{ "never-started was alive",
		  { .never_alive = true },
		  REJECT_NEVER_NOT_INCONCLUSIVE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct run_result r;

		tell(&table[i].s, &r);
		if (!(r.rejections & 1u << table[i].why))
			print_error("row '%s': rejections %x\n", table[i].name, r.rejections);
		assert_int_equal(r.status, RUN_REJECTED);
		assert_true(r.rejections & 1u << table[i].why);
		assert_int_not_equal(r.cells[4].judgement.verdict, VERDICT_CONTAINED);
		run_result_done(&r);
	}
}

/* Unreachable outside: the target's cell says so, and the calibrators, which could not be reached
 * either, say nothing about the instrument. */
static void unreachable(void **state unused_arg)
{
	static const struct story stories[] = { { .first_missing = true },
						{ .first_unanswered = true },
						{ .last_missing = true } };

	for (size_t i = 0; i < ARRAY_SIZE(stories); i++) {
		struct run_result r;

		tell(&stories[i], &r);
		assert_int_equal(r.cells[4].judgement.verdict, VERDICT_INCONCLUSIVE);
		assert_true(r.cells[4].judgement.reasons & R(TARGET_UNREACHABLE_OUTSIDE));
		run_result_done(&r);
	}
}

/* The capture may be a stranger's: a log that contradicts itself is refused, never judged. */
static void contradictions(void **state unused_arg)
{
	struct ev begin_ev = { .type = EV_RUN_BEGIN }, trial_ev = { .type = EV_TRIAL };
	struct ev cell_ev = { .type = EV_CELL }, end_ev = { .type = EV_ARM_END };
	struct ev probe_ev = { .type = EV_PROBE };
	struct correlate *c;

	assert_int_equal(correlate_new(&c), 0);
	begin_ev.run_begin.repeat = CORRELATE_REPEAT_MAX + 1;
	assert_int_equal(correlate_push(c, &begin_ev), -EBADMSG);
	begin_ev.run_begin.repeat = 1;
	assert_int_equal(correlate_push(c, &begin_ev), 0);
	assert_int_equal(correlate_push(c, &begin_ev), -EBADMSG);
	trial_ev.trial_new.id = 1;
	trial_ev.trial_new.arm = ARM_ON;
	assert_int_equal(correlate_push(c, &trial_ev), -EBADMSG);
	assert_int_equal(correlate_push(c, &probe_ev), 0);
	for (uint32_t lane = 0; lane <= SNT_SLOT_MAX; lane += SNT_SLOT_MAX) {
		trial_ev.trial_new.lane = lane;
		assert_int_equal(correlate_push(c, &trial_ev), -EBADMSG);
	}
	assert_int_equal(correlate_push(c, &cell_ev), -EBADMSG);
	end_ev.arm_end.trial = 9;
	assert_int_equal(correlate_push(c, &end_ev), -EBADMSG);
	correlate_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(rejected),
		cmocka_unit_test(unreachable),
		cmocka_unit_test(contradictions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

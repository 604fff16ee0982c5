/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scenes are made of (story.h): records of the kernel, frames as the hooks saw them, lines of
 * the far side's log. Each tells of one trial, in the lane and at the time where the run is.
 */
#ifndef SENTINEL_TEST_STORY_RECORDS_H
#define SENTINEL_TEST_STORY_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include "user/base/mac.h"
#include "user/judge/correlate.h"

#define WINDOW_MS 1000
#define LANE 3	     /* the target's */
#define LANE_IDLE 7  /* nobody's */
#define LANE_OTHER 5 /* the calibrators' and baselines' */
#define MS NSEC_PER_MSEC
#define UID 65534u
#define BOX_IFINDEX 20
#define FLOOD 4096 /* frames of nobody that correlate keeps of a lane */

struct run;
typedef void (*scene_fn)(struct run *r, const struct ev_trial *t);

struct way {
	struct ev_probe probe; /* as its manifest has it */
	/* Where a trial goes; NULL: to a far address of its own. */
	void (*place)(struct ev_trial *t);
	scene_fn before; /* the session starts; NULL: nothing */
	scene_fn open, closed, deaf;
};

struct story {
	const struct way *way;
	/* In place of the way's own scenes; on to last are of the target's cell, and its baseline.
	 */
	scene_fn before, on, off, on2, steady, allowed, first, last;
	scene_fn after;	     /* the target's rounds, with its last trial */
	scene_fn after_last; /* the last baseline is over */
	bool unclaimed, no_off, inferred, has_allowed, closed;
	uint64_t caps; /* of the target's trials, which its baselines have not */
	uint32_t steady_ms, repeat;
	uint32_t expect; /* EXPECT_*, more than of every target */
	/* identity */
	bool no_exec, two_execs, wrong_uid, same_netns, exec_partial, foreign_nonce;
	/* the session in on */
	bool alive1_wrong, alive2_missing, other_instance, ran_missing, ran_wrong, ran_elsewhere;
	/* the sandbox beside it in on */
	bool sibling1_missing, sibling1_wrong, sibling2_missing, sibling2_wrong, other_sibling;
	bool sibling_repeats; /* and says it right later */
	bool sibling_late;    /* is there only behind the attempt */
	/* other arms */
	bool on2_missing, on2_dead;
	/* the observer, in on where nothing else is said */
	bool loss_w_later, w_detached, b_detached, exec_detached, root_detached, w_not_asked_at_end;
	bool canary_w_before, canary_b_after, canary_w_last, run_short, flood;
	/* the run */
	bool aborted, no_end, fake_contained, never_alive, never_missing;
};

struct run {
	struct correlate *c;
	ev_sink_fn sink; /* that is told instead of c; NULL: none */
	void *sink_arg;
	const struct story *s;
	uint64_t now, id;
	uint32_t trials, lane;
	uint16_t sport; /* of the trial's socket */
	uint8_t key[EV_MAC_BYTES];
	uint8_t last_token[EV_NONCE_BYTES];
	struct ev_trial last;	 /* the last trial in the target's lane */
	struct ev_trial crossed; /* ... of which a scene says so */
	/* What the session of the trial being told says in its last words. */
	struct claim {
		bool answer, wrong_answer, secret, twin;
		uint8_t secret_of[EV_NONCE_BYTES], twin_of[EV_NONCE_BYTES]; /* what it read */
	} claim;
};

static inline void push(struct run *r, struct ev *ev)
{
	ev->id = ++r->id;
	if (!ev->time_ns)
		ev->time_ns = r->now;
	assert_int_equal(r->sink ? r->sink(r->sink_arg, ev) : correlate_push(r->c, ev), 0);
}

/* ---- records of the kernel ---- */

static inline uint64_t mark_of(const struct ev_trial *t)
{
	return mac_mark(t->nonce);
}

/* A record of the trial's own task. */
static inline struct ev own(const struct run *r, const struct ev_trial *t, enum ev_type type,
			    uint32_t hook)
{
	return (struct ev){ .type = type,
			    .hook = hook,
			    .lane = r->lane,
			    .trial = t->id,
			    .mark = mark_of(t),
			    .owner = OWNER_MARK };
}

/* What differs from a call towards the trial's destination that succeeded. */
struct call {
	const char *name;
	int64_t ret;
	uint32_t family; /* of the address given; 0: none */
	uint32_t type;	 /* of socket() */
	const uint8_t *daddr;
	uint32_t dport;
	const char *path;
	const void *data;
	size_t data_len;
	uint32_t flags;
	bool launchers; /* by no marked task */
};

static inline void call(struct run *r, const struct ev_trial *t, struct call c)
{
	struct ev ev = own(r, t, EV_CALL, SNT_HOOK_SYS_EXIT);

	if (c.launchers)
		ev.mark = 0;
	ev.flags = c.flags;
	(void)str_copy(ev.call.name, sizeof(ev.call.name), c.name);
	ev.call.ret = c.ret;
	ev.call.family = c.family;
	ev.call.arg1 = c.type;
	if (c.family == AF_INET || c.family == AF_INET6) {
		memcpy(ev.call.daddr, c.daddr ? c.daddr : t->daddr, 16);
		ev.call.dport = c.dport ? c.dport : t->dport;
	}
	if (!strcmp(c.name, "socket"))
		memset(ev.call.daddr, 0, 16), ev.call.dport = 0;
	if (c.path)
		(void)str_copy(ev.call.path, sizeof(ev.call.path), c.path);
	ev.call.data_len = ev.call.data_cap = (uint32_t)c.data_len;
	if (c.data)
		memcpy(ev.call.data, c.data, c.data_len);
	push(r, &ev);
}

/* An address hook of the cgroup saw the call. */
static inline void address(struct run *r, const struct ev_trial *t, uint32_t hook, uint32_t type)
{
	struct ev ev = own(r, t, EV_ADDR, hook);

	ev.addr.family = t->path[0] ? AF_UNIX : AF_INET;
	ev.addr.type = type;
	ev.addr.dport = t->dport;
	ev.addr.retval = 1;
	memcpy(ev.addr.daddr, t->daddr, 16);
	(void)str_copy(ev.addr.path, sizeof(ev.addr.path), t->path);
	push(r, &ev);
}

static inline void sent(struct run *r, const struct ev_trial *t, uint32_t family, uint32_t type,
			int32_t ret)
{
	struct ev ev = own(r, t, EV_SEND, SNT_HOOK_SEND_LENGTH);

	ev.send.family = family;
	ev.send.type = type;
	ev.send.ret = ret;
	if (family != AF_UNIX) {
		memcpy(ev.send.daddr, t->daddr, 16);
		ev.send.dport = t->dport;
	}
	push(r, &ev);
}

static inline void established(struct run *r, const struct ev_trial *t)
{
	struct ev ev = own(r, t, EV_STATE, SNT_HOOK_SOCK_STATE);

	ev.state.oldstate = 2;
	ev.state.newstate = 1;
	ev.state.sport = r->sport;
	ev.state.dport = t->dport;
	memcpy(ev.state.daddr, t->daddr, 16);
	push(r, &ev);
}

static inline void uring(struct run *r, const struct ev_trial *t, uint32_t opcode, int32_t res)
{
	struct ev ev = own(r, t, EV_URING, SNT_HOOK_URING);

	ev.uring.opcode = opcode;
	ev.uring.res = res;
	push(r, &ev);
}

/* ---- frames ---- */

struct frame {
	uint32_t hook;
	uint8_t protocol;
	const uint8_t *dst; /* NULL: the trial's destination, and its port */
	uint16_t sport, dport;
	uint8_t tcp_flags, ttl;
	const void *payload; /* NULL: none */
	size_t payload_len;  /* 0: as text */
	uint32_t ifindex;    /* 0: box's own */
	uint32_t flags;
	bool nobodys; /* no socket of the trial's is known for it */
};

static inline void put16(uint8_t *p, uint32_t value)
{
	p[0] = (uint8_t)(value >> 8), p[1] = (uint8_t)value;
}

/* IPv4 from box; TCP data follows a SYN with sequence number 0. */
static inline uint32_t build_frame(uint8_t *p, const struct frame *f)
{
	size_t payload = f->payload && !f->payload_len ? strlen(f->payload) : f->payload_len;
	uint32_t l4 = f->protocol == IPPROTO_TCP ? 20 : 8, len = 20 + l4 + (uint32_t)payload;

	memset(p, 0, 20 + l4);
	p[0] = 0x45;
	put16(p + 2, len);
	p[8] = f->ttl ? f->ttl : 63, p[9] = f->protocol;
	p[12] = 10, p[13] = 117, p[14] = LANE, p[15] = 2;
	memcpy(p + 16, f->dst + 12, 4);
	if (f->protocol == IPPROTO_ICMP) {
		p[20] = 8; /* echo request */
	} else {
		put16(p + 20, f->sport);
		put16(p + 22, f->dport);
	}
	if (f->protocol == IPPROTO_UDP)
		put16(p + 24, len - 20);
	if (f->protocol == IPPROTO_TCP) {
		p[27] = !(f->tcp_flags & 0x02);
		p[32] = 0x50, p[33] = f->tcp_flags;
	}
	if (payload)
		memcpy(p + 20 + l4, f->payload, payload);
	return len;
}

/* Bytes as a hook saw them; t may be NULL where f says all. */
static inline void frame(struct run *r, const struct ev_trial *t, struct frame f)
{
	struct ev ev = { .type = EV_PACKET, .hook = f.hook, .lane = r->lane, .flags = f.flags };
	uint8_t bytes[1024];

	if (!f.dst) {
		f.dst = t->daddr;
		f.dport = (uint16_t)t->dport;
	}
	f.sport = f.sport ? f.sport : r->sport;
	if (t && !f.nobodys && (f.hook == SNT_HOOK_CG_EGRESS || f.hook == SNT_HOOK_BOX)) {
		ev.owner = OWNER_SOCKET;
		ev.trial = t->id;
		ev.mark = mark_of(t);
	}
	ev.packet.data = bytes;
	ev.packet.data_len = ev.packet.len = build_frame(bytes, &f);
	ev.packet.eth_proto = 0x0800;
	ev.packet.ifindex = f.ifindex ? f.ifindex : BOX_IFINDEX;
	ev.packet.outbound = true;
	push(r, &ev);
}

/* Seen by the hooks on its way, up to where it died or arrived. */
static inline void travels(struct run *r, const struct ev_trial *t, uint32_t up_to, struct frame f)
{
	static const uint32_t way[] = { SNT_HOOK_CG_EGRESS, SNT_HOOK_BOX, SNT_HOOK_BOUNDARY,
					SNT_HOOK_WORLD };

	for (size_t i = 0; i < ARRAY_SIZE(way); i++) {
		f.hook = way[i];
		frame(r, t, f);
		if (way[i] == up_to)
			return;
	}
}

static inline void dropped(struct run *r, const struct ev_trial *t, struct frame f, bool owned)
{
	struct ev ev = { .type = EV_DROP, .hook = SNT_HOOK_KFREE_SKB, .lane = r->lane };
	uint8_t bytes[1024];

	if (!f.dst) {
		f.dst = t->daddr;
		f.dport = (uint16_t)t->dport;
	}
	f.sport = f.sport ? f.sport : r->sport;
	(void)str_copy(ev.drop.reason_name, sizeof(ev.drop.reason_name), "NETFILTER_DROP");
	ev.flags = owned ? SNT_F_OWNER : 0;
	ev.mark = owned ? mark_of(t) : 0;
	ev.drop.eth_proto = 0x0800;
	ev.drop.head_len = MIN(build_frame(bytes, &f), (uint32_t)SNT_DROP_HEAD_MAX);
	memcpy(ev.drop.head, bytes, ev.drop.head_len);
	push(r, &ev);
}

static inline const char *token_line(const uint8_t token[EV_NONCE_BYTES])
{
	static char line[64];
	char hex[2 * EV_NONCE_BYTES + 1];

	hex_encode(hex, token, EV_NONCE_BYTES);
	(void)str_format(line, sizeof(line), "SENTINEL %s\n", hex);
	return line;
}

/* ---- the far side, and what the sentinel itself does ---- */

/* As the far side's log hands it over: no lane but its own. */
static inline void received(struct run *r, const struct ev_trial *t, uint8_t protocol,
			    const void *data, size_t len)
{
	struct ev ev = { .type = EV_RECEIVED };

	ev.received.lane = r->lane;
	ev.received.epoch = 1;
	ev.received.protocol = protocol;
	ev.received.sport = r->sport;
	ev.received.dport = t->dport;
	memcpy(ev.received.daddr, t->daddr, 16);
	(void)str_copy(ev.received.path, sizeof(ev.received.path), t->path);
	ev.received.forbidden = r->s->way->probe.forbidden;
	ev.received.answered = true;
	ev.received.data_len = (uint32_t)len;
	memcpy(ev.received.data, data, len);
	push(r, &ev);
}

static inline void received_token(struct run *r, const struct ev_trial *t, uint8_t protocol)
{
	const char *line = token_line(t->token);

	received(r, t, protocol, line, strlen(line));
}

static inline void loss(struct run *r, uint32_t hook, uint32_t slot)
{
	struct ev ev = { .type = EV_LOSS };

	ev.loss.hook = hook;
	ev.loss.slot = slot;
	ev.loss.from_ns = r->now - MS;
	ev.loss.ring_full = 1;
	push(r, &ev);
}

static inline void gap(struct run *r, const char *stage)
{
	struct ev ev = { .type = EV_GAP, .lane = r->lane };

	(void)str_copy(ev.gap.stage, sizeof(ev.gap.stage), stage);
	ev.gap.count = 1;
	ev.gap.from_ns = r->now;
	push(r, &ev);
}

static const uint8_t canary_address[16] = { [10] = 0xff, 0xff, 203, 0, 113, 1 };
static const uint8_t other_address[16] = { [10] = 0xff, 0xff, 203, 0, 113, 99 };

static inline void canary(struct run *r, uint32_t trial, uint32_t hook, bool seen)
{
	struct ev ev = { .type = EV_CANARY, .lane = r->lane };

	ev.canary.lane = r->lane;
	ev.canary.hook = hook;
	ev.canary.trial = trial;
	memset(ev.canary.token, 0x5a, sizeof(ev.canary.token));
	memcpy(ev.canary.token, &r->id, sizeof(r->id));
	push(r, &ev);
	if (seen)
		frame(r, NULL,
		      (struct frame){ .hook = hook,
				      .protocol = IPPROTO_UDP,
				      .dst = canary_address,
				      .sport = 40000,
				      .dport = 9,
				      .payload = token_line(ev.canary.token) });
	memcpy(r->last_token, ev.canary.token, sizeof(r->last_token));
}

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * The witnesses of a crossing: the tap at W, and the collector's receive log; and what B and the
 * vantages inside saw of a trial's own packets.
 *
 * A frame at W belongs to a trial by its token, in whatever channel and coding, else by whose
 * socket sent it and by its destination. What is neither, nor ours, nor noise, is unexplained.
 *
 * A listener that no sandbox may reach stands on this side of W, so that its log is the witness
 * there, and the token on its way to it, as A saw it, the second one.
 */
#include <netinet/in.h>

#include "user/base/mac.h"
#include "user/decode/dns.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

#define DNS_PORT 53
#define CANARY_PORT 9	   /* discard; rig.h */
#define LOOPBACK_IFINDEX 1 /* in every network namespace: net/core/dev.c */
#define FLOWS_MAX 262144   /* remembered; beyond, a frame has no known sender */

static void add_record(struct trial_state *t, uint64_t id)
{
	if (t->records_n && t->records[t->records_n - 1] == id)
		return;
	if (t->records_n < VERDICT_RECORDS_MAX)
		t->records[t->records_n++] = id;
}

static void name_channel(char ret[EV_NAME_MAX], uint8_t protocol, const uint8_t dst[16],
			 uint32_t dport)
{
	char addr[ADDR_TEXT_MAX];
	const char *name = protocol == IPPROTO_TCP    ? "tcp"
			   : protocol == IPPROTO_UDP  ? "udp"
			   : protocol == IPPROTO_ICMP ? "icmp"
						      : NULL;

	(void)addr_text(dst, addr);
	if (name)
		(void)str_format(ret, EV_NAME_MAX, "%s %s port %u", name, addr, dport);
	else
		(void)str_format(ret, EV_NAME_MAX, "ip protocol %u to %s", protocol, addr);
}

/* A token by another way than its probe's is an escape all the same, but the cell says which. */
static void check_channel(const struct correlate *c, struct trial_state *t, uint8_t protocol,
			  const uint8_t dst[16], uint32_t dport)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	if (protocol == channel_protocol(probe) && trial_goes_to(t, dst, dport))
		return;
	/* A resolver asks whom it will, by UDP or TCP. */
	if (probe->channel == CHANNEL_RESOLVER && dport == DNS_PORT)
		return;
	t->other_channel = true;
	if (!t->via[0])
		name_channel(t->via, protocol, dst, dport);
}

uint64_t flow_key(uint32_t lane, const struct packet *p)
{
	uint64_t h = hash_addr(hash_addr(HASH_START, p->src), p->dst);

	h = hash_word(h, (uint64_t)lane << 32 | (uint32_t)p->sport << 16 | p->dport);
	h = hash_word(h, p->protocol);
	return h ? h : 1;
}

/* A record of the far side's log was seen in no lane: it says itself whose far side that was. */
static uint32_t lane_of(const struct ev *ev)
{
	return ev->type == EV_RECEIVED ? ev->received.lane : ev->lane;
}

/* The trial that was in its arm, in this lane, when the record was made; 0 = none. */
static uint32_t running_trial(const struct correlate *c, const struct ev *ev)
{
	const struct trial_state *last;
	uint32_t lane = lane_of(ev);

	if (lane >= SNT_SLOT_MAX || !c->last_trial[lane])
		return 0;
	last = &c->trials.at[c->last_trial[lane] - 1];
	return ev->time_ns >= last->new_ns && (!last->end_ns || ev->time_ns <= last->end_ns)
		       ? last->t.id
		       : 0;
}

static bool another_runs(const struct correlate *c, const struct trial_state *t,
			 const struct ev *ev)
{
	uint32_t running = running_trial(c, ev);

	return running && running != t->t.id;
}

/*
 * After its arm a trial has only what its own sockets left behind, as A saw them. A frame to its
 * address, or with its token, that another's socket sent is that other's; one whose sender nobody
 * saw is its own only while no other sandbox is at work in the lane.
 */
static bool is_strangers(const struct correlate *c, const struct trial_state *t,
			 const struct packet *p, const struct ev *ev)
{
	uint32_t sender = 0;

	if (!t->end_ns || ev->time_ns <= t->end_ns)
		return false;
	if (resolver_asks_again(c, t, p, ev))
		return false;
	if (p && p->transport)
		(void)idmap_get(&c->by_flow, flow_key(ev->lane, p), &sender);
	return sender ? sender != t->t.id : another_runs(c, t, ev);
}

static void matched_at_tap(void *arg, uint32_t trial, enum match_form form unused_arg)
{
	struct correlate *c = arg;
	struct trial_state *t = trial_get(c, trial);

	if (c->now_self) {
		c->decoy_matched = true;
		return;
	}
	if (!t)
		return;
	c->now_matched = trial;
	add_record(t, c->now->id);
	/* Its nonce stands in /proc/PID/cmdline for all to read: another lane's sandbox can send
	 * its token. That is a doubt, about both lanes, and no escape. */
	if (GUARD(TOKEN_OF_ANOTHER_LANE, c->now->lane != t->t.lane) ||
	    GUARD(TOKEN_OF_A_STRANGER, is_strangers(c, t, c->now_packet, c->now))) {
		t->elsewhere = true;
		c->now_elsewhere = true;
		return;
	}
	t->token_tap = true;
	resolver_asked(c, t, c->now_packet, c->now);
}

static void matched_in_log(void *arg, uint32_t trial, enum match_form form unused_arg)
{
	struct correlate *c = arg;
	struct trial_state *t = trial_get(c, trial);
	const struct ev_received *r = &c->now->received;

	if (!t)
		return;
	c->now_matched = trial;
	add_record(t, c->now->id);
	if (GUARD(TOKEN_OF_ANOTHER_LANE, r->lane != t->t.lane)) {
		t->elsewhere = true;
		c->now_elsewhere = true;
		return;
	}
	if (t->end_ns && c->now->time_ns > t->end_ns) {
		if (late_log_keep(c, t, c->now, another_runs(c, t, c->now)))
			t->elsewhere = c->now_elsewhere = true;
		return;
	}
	t->token_log = true;
	check_channel(c, t, (uint8_t)r->protocol, r->daddr, r->dport);
}

/* Digits that are spread over labels meet in the joined name. */
static void scan_dns(struct correlate *c, const uint8_t *data, size_t len, match_fn fn)
{
	uint8_t joined[DNS_NAME_BYTES];
	struct dns_reader r;
	struct dns_entry e;

	if (dns_open(&r, data, len))
		return;
	while (dns_next(&r, &e) > 0)
		match_scan(c->tokens, NULL, joined, dns_name_join(&e.name, joined), fn, c);
}

static int scan_piece(void *arg, const struct stream_piece *p)
{
	struct correlate *c = arg;
	uint32_t before = c->now_matched;
	int err = 0;

	_Static_assert(sizeof(struct match_stream) <= STREAM_STATE_MAX, "state of a flow");
	c->now_matched = 0;
	match_scan(c->tokens, p->state, p->data, p->len, matched_at_tap, c);
	if (p->kind == STREAM_DATAGRAM && p->packet && p->packet->dport == DNS_PORT)
		scan_dns(c, p->data, p->len, matched_at_tap);
	if (c->now_matched && p->packet)
		check_channel(c, trial_get(c, c->now_matched), p->packet->protocol, p->packet->dst,
			      p->packet->dport);
	if (c->now_matched && !c->now_elsewhere && p->packet && c->by_token.used < FLOWS_MAX)
		err = idmap_set(&c->by_token, flow_key(c->now->lane, p->packet), c->now_matched);
	if (!c->now_matched)
		c->now_matched = before;
	return err;
}

int witness_init(struct correlate *c)
{
	int err = match_set_new(&c->tokens);

	return err ? err : stream_new(&c->world, NULL, scan_piece, c);
}

/* ---- what the sentinel itself sent ---- */

static uint64_t token_key(const uint8_t token[EV_NONCE_BYTES])
{
	uint64_t key;

	memcpy(&key, token, sizeof(key));
	return key ? key : 1;
}

int witness_self(struct correlate *c, const uint8_t token[EV_NONCE_BYTES], uint32_t index)
{
	return idmap_set(&c->self, token_key(token), index);
}

/* Whether this hook sees it for the first time. */
static bool first_sight(const struct ev *ev, bool *seen_w, bool *seen_b)
{
	bool *seen = ev->hook == SNT_HOOK_WORLD ? seen_w : seen_b;
	bool first = !*seen;

	*seen = true;
	return first;
}

static bool is_canary(struct canary_state *s, const struct ev *ev,
		      const uint8_t token[EV_NONCE_BYTES])
{
	if (memcmp(s->c.token, token, EV_NONCE_BYTES) != 0 || s->c.lane != ev->lane)
		return false;
	if (s->c.hook == ev->hook)
		s->seen = true;
	return first_sight(ev, &s->seen_w, &s->seen_b);
}

static bool is_decoy(struct decoy_state *s, const struct ev *ev,
		     const uint8_t token[EV_NONCE_BYTES])
{
	return !memcmp(s->d.token, token, EV_NONCE_BYTES) && s->d.lane == ev->lane &&
	       first_sight(ev, &s->seen_w, &s->seen_b);
}

/* Whether the frame is a canary or decoy of ours, byte for byte, for the first time at this hook:
 * then it is accounted for. A sandbox may have seen one, and dress up as it. */
static bool is_self(struct correlate *c, const struct packet *p, const struct ev *ev)
{
	size_t prefix = strlen(MAC_TOKEN_PREFIX), hex = 2 * EV_NONCE_BYTES;
	char digits[2 * EV_NONCE_BYTES + 1] = "";
	uint8_t token[EV_NONCE_BYTES];
	uint32_t index;

	if (p->protocol != IPPROTO_UDP || p->payload_len != prefix + hex + 1 || p->fragment ||
	    p->dport != CANARY_PORT || p->payload[prefix + hex] != '\n' ||
	    memcmp(p->payload, MAC_TOKEN_PREFIX, prefix))
		return false;
	memcpy(digits, p->payload + prefix, hex);
	if (hex_decode(token, sizeof(token), digits) ||
	    !idmap_get(&c->self, token_key(token), &index))
		return false;
	if (index & SELF_DECOY)
		return is_decoy(&c->decoys.at[index & ~SELF_DECOY], ev, token);
	return is_canary(&c->canaries.at[index], ev, token);
}

/* ---- packets ---- */

static struct trial_state *newest_trial(struct correlate *c, uint32_t lane, const struct packet *p)
{
	struct trial_state *t = trial_by_dest(c, lane, p->dst, p->dport, c->now->time_ns);

	if (t || lane >= SNT_SLOT_MAX)
		return t;
	t = trial_get(c, c->last_trial[lane]);
	return t && t->t.dest == DEST_SIBLING && trial_goes_to(t, p->dst, p->dport) ? t : NULL;
}

/*
 * Where trials share a destination, the newest has it, unless A saw whose socket sends: a
 * connection of an earlier trial goes on after its end, and is never the newest one's signal.
 */
static struct trial_state *addressed_trial(struct correlate *c, const struct packet *p,
					   uint32_t lane)
{
	struct trial_state *t = p->transport ? newest_trial(c, lane, p) : NULL;
	const struct ev_probe *probe;
	uint32_t sender;

	if (t && idmap_get(&c->by_flow, flow_key(lane, p), &sender) &&
	    GUARD(FLOW_OF_ANOTHER, sender != t->t.id)) {
		t = trial_get(c, sender);
		if (!t || t->t.lane != lane || !trial_goes_to(t, p->dst, p->dport))
			return NULL;
	}
	probe = t ? probe_of(c, t->t.probe) : NULL;
	return t && p->protocol == channel_protocol(probe) ? t : NULL;
}

void trial_signal(struct trial_state *t, uint64_t record)
{
	if (t->signal)
		return;
	t->signal = true;
	add_record(t, record);
}

bool packet_is_signal(const struct packet *p)
{
	return !packet_is_bare_tcp(p) ||
	       (p->tcp_flags & TCP_FLAG_SYN && !(p->tcp_flags & TCP_FLAG_ACK));
}

static int unexplained(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct unexplained_state s = { .lane = lane_of(ev), .time_ns = ev->time_ns, .id = ev->id };

	if (s.lane >= SNT_SLOT_MAX)
		return -EBADMSG;
	if (p && p->transport)
		(void)idmap_get(&c->by_flow, flow_key(s.lane, p), &s.sender);
	if (c->unexplained_of[s.lane]++ >= UNEXPLAINED_MAX) {
		c->unexplained_overflow[s.lane] = true;
		return 0;
	}
	return list_add(&c->unexplained, s);
}

/*
 * What host itself says on its link to world, and no router passes on: so a sandbox can't have sent
 * it (a forwarded packet has lost a hop, and a link-local source is not forwarded).
 */
static bool is_noise(const struct packet *p)
{
	bool local = p->src[0] == 0xfe && (p->src[1] & 0xc0) == 0x80;
	bool nobody = !memcmp(p->src, (const uint8_t[16]){ 0 }, 16);

	switch (packet_noise(p)) {
	case NOISE_ARP:
		return true;
	case NOISE_IGMP:
		/* Told to a group, which host does not forward: TTL 1 alone may be 2 less a hop. */
		return p->ttl == 1 && p->dst[12] >> 4 == 0xe;
	case NOISE_MLD:
		return p->ttl == 1 && (local || nobody);
	case NOISE_ND:
		return p->ttl == 255;
	default:
		return false;
	}
}

/* Other trials had the destination before, and nobody saw the socket that it comes from. */
static bool is_anyones(const struct correlate *c, const struct trial_state *t,
		       const struct packet *p, const struct ev *ev)
{
	uint32_t sender;

	return t->older && !idmap_get(&c->by_flow, flow_key(ev->lane, p), &sender);
}

static int at_world(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t;
	uint64_t lost;
	int err;

	c->now_packet = p;
	c->now_self = p && is_self(c, p, ev);
	err = stream_push(c->world, ev);
	if (err)
		return err;
	lost = stream_lost(c->world);
	if (GUARD(WORLD_RECORD_CUT, lost != c->stream_lost || ev->flags & SNT_F_TRUNCATED)) {
		c->stream_lost = lost;
		err = add_loss(c, SNT_HOOK_WORLD, ev->lane, ev->time_ns, ev->time_ns);
		if (err)
			return err;
	}
	if ((c->now_matched && !c->now_elsewhere) || c->now_self || (p && is_noise(p)))
		return 0;
	if (p && !c->now_matched && resolver_asks_for_allowed(c, p, ev))
		return 0;
	if (p && !c->now_matched && packet_noise(p) == NOISE_ICMP_ERROR) {
		err = quote_keep(c, ev, p);
		if (err != -ENOENT)
			return err;
	}
	t = p && !c->now_matched ? addressed_trial(c, p, ev->lane) : NULL;
	if (t && GUARD(SHARED_DESTINATION, is_anyones(c, t, p, ev))) {
		err = shared_keep(c, ev, p, t, running_trial(c, ev));
		return err == -ENOSPC ? unexplained(c, ev, p) : err;
	}
	if (t && GUARD(SIGNAL_OF_A_STRANGER, is_strangers(c, t, p, ev)))
		return unexplained(c, ev, p);
	/* A bare segment is its connection's, so without a connection it is nobody's. */
	if (!t || (!packet_is_signal(p) && !t->signal && !t->token_tap))
		return GUARD(WORLD_UNEXPLAINED, true) ? unexplained(c, ev, p) : 0;
	if (packet_is_signal(p))
		trial_signal(t, ev->id);
	return 0;
}

/* Behind address translation A's sight of a socket says nothing here, but the token did, at W. */
static bool is_connection_of_another(const struct correlate *c, const struct trial_state *t,
				     const struct packet *p, uint32_t lane)
{
	uint64_t key = flow_key(lane, p);
	uint32_t id;

	return !idmap_get(&c->by_flow, key, &id) && idmap_get(&c->by_token, key, &id) &&
	       id != t->t.id;
}

static void at_boundary(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t;

	if (is_self(c, p, ev))
		return;
	t = addressed_trial(c, p, ev->lane);
	if (!t || is_strangers(c, t, p, ev) || is_connection_of_another(c, t, p, ev->lane))
		return;
	t->packet_b = true;
	if (packet_is_signal(p))
		t->signal_b = true;
}

static void matched_inside(void *arg, uint32_t trial, enum match_form form unused_arg)
{
	struct correlate *c = arg;
	struct trial_state *t = trial_get(c, trial);

	if (t && c->now->mark == t->mark)
		t->token_inside = true;
}

/* From where the trial's own connection was to go. */
static void see_reset(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t;

	if (ev->hook != SNT_HOOK_CG_INGRESS || p->protocol != IPPROTO_TCP ||
	    !(p->tcp_flags & TCP_FLAG_RST))
		return;
	t = trial_by_dest(c, ev->lane, p->src, p->sport, ev->time_ns);
	if (t && ev->mark == t->mark)
		t->blame.reset = true;
}

/* By a link that is not the lane's, behind which no W lies. */
static bool leaves_elsewhere(const struct correlate *c, const struct ev *ev)
{
	return ev->packet.outbound && ev->packet.ifindex != LOOPBACK_IFINDEX &&
	       ev->lane < SNT_SLOT_MAX && ev->packet.ifindex != c->lanes[ev->lane].box_ifindex;
}

static void matched_elsewhere(void *arg, uint32_t trial, enum match_form form unused_arg)
{
	struct correlate *c = arg;
	struct trial_state *t = trial_get(c, trial);

	if (t && c->now->mark == t->mark)
		t->packet_elsewhere = true;
}

/* A resolver or proxy is where the sandbox says, so that the token tells, not the destination. */
static void handed_elsewhere(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	const struct trial_state *t = trial_get(c, ev->trial);
	const struct ev_probe *probe = t ? probe_of(c, t->t.probe) : NULL;

	if (probe && (probe->channel == CHANNEL_RESOLVER || probe->channel == CHANNEL_PROXY) &&
	    GUARD(HANDED_ELSEWHERE, leaves_elsewhere(c, ev)))
		match_scan(c->tokens, NULL, p->payload, p->payload_len, matched_elsewhere, c);
}

static int inside(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t = addressed_trial(c, p, ev->lane);
	const struct ev_probe *probe = t ? probe_of(c, t->t.probe) : NULL;

	see_reset(c, ev, p);
	handed_elsewhere(c, ev, p);
	if (probe && probe->forbidden)
		match_scan(c->tokens, NULL, p->payload, p->payload_len, matched_inside, c);
	if (t && (ev->mark == t->mark || ev->hook == SNT_HOOK_BOX)) {
		t->packet_a = true;
		t->packet_elsewhere |= leaves_elsewhere(c, ev);
	}
	if (t && ev->mark == t->mark && ev->hook == SNT_HOOK_CG_EGRESS)
		t->sent++;
	if ((ev->owner != OWNER_SOCKET && ev->owner != OWNER_CGROUP) || !ev->trial ||
	    !p->transport || c->by_flow.used >= FLOWS_MAX)
		return 0;
	return idmap_set(&c->by_flow, flow_key(ev->lane, p), ev->trial);
}

static void dropped(struct correlate *c, const struct ev *ev)
{
	const struct ev_drop *d = &ev->drop;
	struct trial_state *t;
	struct packet p;

	if (ev->lane >= SNT_SLOT_MAX || packet_parse(d->head, d->head_len, 0, d->eth_proto, &p))
		return;
	t = addressed_trial(c, &p, ev->lane);
	if (!t)
		return;
	if (GUARD(DROP_OF_ANOTHER, ev->flags & SNT_F_OWNER && ev->mark != t->mark))
		return;
	t->drops++;
	blame_drop(t, &c->lanes[ev->lane], ev);
}

int witness_packet(struct correlate *c, const struct ev *ev)
{
	struct packet p;
	bool parsed;

	c->now = ev;
	c->now_self = false;
	c->now_matched = 0;
	c->now_elsewhere = false;
	if (ev->type == EV_DROP) {
		dropped(c, ev);
		return 0;
	}
	parsed = !packet_parse(ev->packet.data, ev->packet.data_len, ev->packet.l2_len,
			       ev->packet.eth_proto, &p);
	if (ev->hook == SNT_HOOK_WORLD)
		return at_world(c, ev, parsed ? &p : NULL);
	if (!parsed)
		return 0;
	if (ev->hook != SNT_HOOK_BOUNDARY)
		return inside(c, ev, &p);
	at_boundary(c, ev, &p);
	return 0;
}

/* ---- the collector's log ---- */

int witness_received(struct correlate *c, const struct ev *ev)
{
	const struct ev_received *r = &ev->received;

	c->now = ev;
	c->now_matched = 0;
	c->now_elsewhere = false;
	match_scan(c->tokens, NULL, r->data, r->data_len, matched_in_log, c);
	if (r->dport == DNS_PORT)
		scan_dns(c, r->data, r->data_len, matched_in_log);
	/* What nobody can read has reached it all the same; so has what nobody knows the sender of.
	 */
	if (GUARD(FORBIDDEN_UNEXPLAINED, r->forbidden && (!c->now_matched || c->now_elsewhere)))
		return unexplained(c, ev, NULL);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The witnesses of a crossing: the tap at W, and the collector's receive log; and what B and the
 * vantages inside saw of a trial's own packets.
 *
 * A frame at W belongs to a trial by its token, in whatever channel and coding, else by its
 * destination, which is one trial's own. What is neither, nor ours, nor noise, is unexplained.
 */
#include <netinet/in.h>

#include "user/decode/dns.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

#define DNS_PORT 53
#define SELF_PREFIX "SENTINEL "

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

	if (protocol == channel_protocol(probe->channel) && dport == t->t.dport &&
	    !memcmp(dst, t->t.daddr, 16))
		return;
	t->other_channel = true;
	if (!t->via[0])
		name_channel(t->via, protocol, dst, dport);
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
	t->token_tap = true;
	c->now_matched = trial;
	add_record(t, c->now->id);
}

static void matched_in_log(void *arg, uint32_t trial, enum match_form form unused_arg)
{
	struct correlate *c = arg;
	struct trial_state *t = trial_get(c, trial);
	const struct ev_received *r = &c->now->received;

	if (!t)
		return;
	t->token_log = true;
	add_record(t, c->now->id);
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

	_Static_assert(sizeof(struct match_stream) <= STREAM_STATE_MAX, "state of a flow");
	c->now_matched = 0;
	match_scan(c->tokens, p->state, p->data, p->len, matched_at_tap, c);
	if (p->kind == STREAM_DATAGRAM && p->packet && p->packet->dport == DNS_PORT)
		scan_dns(c, p->data, p->len, matched_at_tap);
	if (c->now_matched && p->packet)
		check_channel(c, trial_get(c, c->now_matched), p->packet->protocol, p->packet->dst,
			      p->packet->dport);
	if (!c->now_matched)
		c->now_matched = before;
	return 0;
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

static void canary_seen(struct canary_state *s, const struct ev *ev)
{
	if (s->c.hook == ev->hook && s->c.lane == ev->lane)
		s->seen = true;
}

/* Whether the frame is a canary or decoy of ours, byte for byte; then it is accounted for. */
static bool is_self(struct correlate *c, const struct packet *p, const struct ev *ev)
{
	size_t prefix = strlen(SELF_PREFIX), hex = 2 * EV_NONCE_BYTES;
	char digits[2 * EV_NONCE_BYTES + 1] = "";
	uint8_t token[EV_NONCE_BYTES];
	uint32_t index;

	if (p->protocol != IPPROTO_UDP || p->payload_len < prefix + hex ||
	    memcmp(p->payload, SELF_PREFIX, prefix))
		return false;
	memcpy(digits, p->payload + prefix, hex);
	if (hex_decode(token, sizeof(token), digits) ||
	    !idmap_get(&c->self, token_key(token), &index))
		return false;
	if (index & SELF_DECOY)
		return !memcmp(c->decoys.at[index & ~SELF_DECOY].token, token, sizeof(token));
	if (memcmp(c->canaries.at[index].c.token, token, sizeof(token)))
		return false;
	canary_seen(&c->canaries.at[index], ev);
	return true;
}

/* ---- packets ---- */

static struct trial_state *addressed_trial(struct correlate *c, const struct packet *p,
					   uint32_t lane)
{
	struct trial_state *t = p->transport ? trial_by_dest(c, lane, p->dst, p->dport) : NULL;
	const struct ev_probe *probe = t ? probe_of(c, t->t.probe) : NULL;

	return t && p->protocol == channel_protocol(probe->channel) ? t : NULL;
}

/* A bare ACK, FIN or RST may come from no socket at all, long after; a SYN or payload does not. */
static bool is_signal(const struct packet *p)
{
	return !packet_is_bare_tcp(p) ||
	       (p->tcp_flags & TCP_FLAG_SYN && !(p->tcp_flags & TCP_FLAG_ACK));
}

static int unexplained(struct correlate *c, const struct ev *ev)
{
	struct unexplained_state s = { .lane = ev->lane, .time_ns = ev->time_ns, .id = ev->id };

	if (c->unexplained.n == UNEXPLAINED_MAX) {
		c->unexplained_overflow = true;
		return 0;
	}
	return list_add(&c->unexplained, s);
}

static int loss_at_world(struct correlate *c, const struct ev *ev)
{
	struct loss_state s = { .hook = SNT_HOOK_WORLD,
				.slot = ev->lane,
				.from_ns = ev->time_ns,
				.to_ns = ev->time_ns };

	return list_add(&c->losses, s);
}

static int at_world(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t;
	uint64_t lost;
	int err;

	c->now_self = p && is_self(c, p, ev);
	err = stream_push(c->world, ev);
	if (err)
		return err;
	lost = stream_lost(c->world);
	if (GUARD(WORLD_RECORD_CUT, lost != c->stream_lost || ev->flags & SNT_F_TRUNCATED)) {
		c->stream_lost = lost;
		err = loss_at_world(c, ev);
		if (err)
			return err;
	}
	if (c->now_matched || c->now_self || (p && packet_noise(p) != NOISE_NONE))
		return 0;
	t = p ? addressed_trial(c, p, ev->lane) : NULL;
	if (!t)
		return GUARD(WORLD_UNEXPLAINED, true) ? unexplained(c, ev) : 0;
	if (is_signal(p) && !t->signal) {
		t->signal = true;
		add_record(t, ev->id);
	}
	return 0;
}

static void at_boundary(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t;

	if (is_self(c, p, ev))
		return;
	t = addressed_trial(c, p, ev->lane);
	if (!t)
		return;
	t->packet_b = true;
	if (is_signal(p))
		t->signal_b = true;
}

static void inside(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct trial_state *t = addressed_trial(c, p, ev->lane);

	if (t && (ev->mark == t->mark || ev->hook == SNT_HOOK_BOX))
		t->packet_a = true;
}

static void dropped(struct correlate *c, const struct ev *ev)
{
	const struct ev_drop *d = &ev->drop;
	const struct ev_lane *lane;
	struct trial_state *t;
	struct packet p;
	const char *where;

	if (ev->lane >= SNT_SLOT_MAX || packet_parse(d->head, d->head_len, 0, d->eth_proto, &p))
		return;
	t = addressed_trial(c, &p, ev->lane);
	if (!t)
		return;
	lane = &c->lanes[ev->lane];
	where = d->netns == lane->host.net    ? "host"
		: d->netns == lane->box.net   ? "box"
		: d->netns == lane->world.net ? "world"
					      : "sandbox";
	(void)str_format(t->drop, sizeof(t->drop), "%.40s@%s",
			 d->reason_name[0] ? d->reason_name : "drop", where);
}

int witness_packet(struct correlate *c, const struct ev *ev)
{
	struct packet p;
	bool parsed;

	c->now = ev;
	c->now_self = false;
	c->now_matched = 0;
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
	if (ev->hook == SNT_HOOK_BOUNDARY)
		at_boundary(c, ev, &p);
	else
		inside(c, ev, &p);
	return 0;
}

/* ---- the collector's log ---- */

int witness_received(struct correlate *c, const struct ev *ev)
{
	const struct ev_received *r = &ev->received;

	c->now = ev;
	match_scan(c->tokens, NULL, r->data, r->data_len, matched_in_log, c);
	if (r->dport == DNS_PORT)
		scan_dns(c, r->data, r->data_len, matched_in_log);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Whose a question of a lane's resolver is, where it carries no token, or a token that is not of
 * the trial at work.
 *
 * A lane's resolver that gets no answer asks again by its own clock, when the trial that asked it
 * is over and others are at work. Such a frame is the earlier trial's where it comes from host's
 * own address on the link to world, which no router takes from a sandbox, and asks nothing but what
 * the trial itself had asked: a later sandbox that knows its token could say more under that name.
 *
 * A policy that allows a destination by name makes the platform ask for that name, whenever it
 * likes. Where the target has declared it, the bare question, which says nothing, is explained.
 */
#include <netinet/in.h>

#include "user/decode/dns.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

#define DNS_PORT 53
#define CLASS_IN 1
#define TYPE_A 1
#define TYPE_AAAA 28
#define TYPE_HTTPS 65
#define OPT_BYTES 11 /* an OPT record without an option (RFC 6891 6.1.2) */

static bool is_from_host(const struct packet *p, uint32_t lane)
{
	const uint8_t host[16] = { /* 10.118.LANE.1; rig.h */
				   [10] = 0xff, 0xff, 10, 118, (uint8_t)lane, 1
	};

	return lane <= UINT8_MAX && !memcmp(p->src, host, sizeof(host));
}

/* Reads the one question, the message's whole matter but its id: where it ends; 0 where there is
 * more to it. */
static size_t only_question(const struct packet *p, struct dns_entry *ret)
{
	struct dns_reader r;

	if (!p->transport || p->protocol != IPPROTO_UDP || p->dport != DNS_PORT ||
	    p->payload_len != p->wire_len || dns_open(&r, p->payload, p->payload_len) ||
	    dns_next(&r, ret) <= 0 || ret->section != DNS_QUESTION ||
	    p->payload_len - r.pos > OPT_BYTES)
		return 0;
	return r.pos;
}

/* FNV-1a of it. */
static uint64_t question_of(const struct packet *p)
{
	uint64_t h = 0xcbf29ce484222325ull;
	struct dns_entry e;
	size_t end = only_question(p, &e);

	if (!end)
		return 0;
	for (size_t i = DNS_HEADER_BYTES; i < end; i++)
		h = (h ^ p->payload[i]) * 0x100000001b3ull;
	return h ? h : 1;
}

static bool is_resolver_trial(const struct correlate *c, const struct trial_state *t)
{
	return probe_of(c, t->t.probe)->channel == CHANNEL_RESOLVER;
}

void resolver_asked(const struct correlate *c, struct trial_state *t, const struct packet *p,
		    const struct ev *ev)
{
	if (!t->question && p && is_resolver_trial(c, t) && is_from_host(p, ev->lane))
		t->question = question_of(p);
}

bool resolver_asks_again(const struct correlate *c, const struct trial_state *t,
			 const struct packet *p, const struct ev *ev)
{
	if (!t->question || !p || !is_resolver_trial(c, t) || ev->lane != t->t.lane)
		return false;
	if (GUARD(QUESTION_FROM_ELSEWHERE, !is_from_host(p, ev->lane)))
		return false;
	return !GUARD(QUESTION_OF_ANOTHER, question_of(p) != t->question);
}

/* In these letters alone: who could choose among large and small ones could say something. */
static bool asks_for_allowed(const struct packet *p)
{
	static const uint8_t name[] = "\7allowed\10sentinel\4test"; /* rig.h, and the root */
	struct dns_entry e;

	return only_question(p, &e) && e.class == CLASS_IN && e.name.len == sizeof(name) &&
	       !memcmp(e.name.wire, name, sizeof(name)) &&
	       (e.type == TYPE_A || e.type == TYPE_AAAA || e.type == TYPE_HTTPS);
}

static bool declares_allowed(struct correlate *c, uint32_t lane)
{
	const struct trial_state *t =
		lane < SNT_SLOT_MAX ? trial_get(c, c->last_trial[lane]) : NULL;

	for (uint32_t i = 0; t && t->t.target[0] && i < c->cells.n; i++)
		if (c->cells.at[i].has_allowed && !strcmp(c->cells.at[i].target, t->t.target))
			return true;
	return false;
}

bool resolver_asks_for_allowed(struct correlate *c, const struct packet *p, const struct ev *ev)
{
	if (GUARD(ALLOWED_FROM_ELSEWHERE, !is_from_host(p, ev->lane)))
		return false;
	if (GUARD(ALLOWED_NOT_DECLARED, !declares_allowed(c, ev->lane)))
		return false;
	return !GUARD(ALLOWED_OTHER_QUESTION, !asks_for_allowed(p));
}

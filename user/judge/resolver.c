// SPDX-License-Identifier: Apache-2.0
/*
 * A lane's resolver that gets no answer asks again by its own clock, when the trial that asked it
 * is over and others are at work. Such a frame is the earlier trial's where it comes from host's
 * own address on the link to world, which no router takes from a sandbox, and asks nothing but what
 * the trial itself had asked: a later sandbox that knows its token could say more under that name.
 */
#include <netinet/in.h>

#include "user/decode/dns.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

#define DNS_PORT 53
#define OPT_BYTES 11 /* an OPT record without an option (RFC 6891 6.1.2) */

static bool is_from_host(const struct packet *p, uint32_t lane)
{
	const uint8_t host[16] = { /* 10.118.LANE.1; rig.h */
				   [10] = 0xff, 0xff, 10, 118, (uint8_t)lane, 1
	};

	return lane <= UINT8_MAX && !memcmp(p->src, host, sizeof(host));
}

/* FNV-1a of the one question, the message's whole matter but its id; 0 where there is more to it.
 */
static uint64_t question_of(const struct packet *p)
{
	uint64_t h = 0xcbf29ce484222325ull;
	struct dns_reader r;
	struct dns_entry e;

	if (!p->transport || p->protocol != IPPROTO_UDP || p->dport != DNS_PORT ||
	    p->payload_len != p->wire_len || dns_open(&r, p->payload, p->payload_len) ||
	    dns_next(&r, &e) <= 0 || e.section != DNS_QUESTION ||
	    p->payload_len - r.pos > OPT_BYTES)
		return 0;
	for (size_t i = DNS_HEADER_BYTES; i < r.pos; i++)
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

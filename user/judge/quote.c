// SPDX-License-Identifier: Apache-2.0
/*
 * ICMP errors at W. A sandbox that is gone, or its host, answers what the far side sent with one,
 * and it quotes what it is about; so bytes can hide in it. It is explained only where it quotes, to
 * the letter, the far side's own answer to a token that had crossed. The answer is an HMAC of a key
 * that is known at the end, so errors are kept until then.
 */
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/base/mac.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

#define ICMP_REST 4 /* bytes of an error between its checksum and what it quotes: unused, zero */

int quote_keep(struct correlate *c, const struct ev *ev, const struct packet *p)
{
	struct quote_state q = { .unexplained = {
					 .lane = ev->lane, .time_ns = ev->time_ns, .id = ev->id } };
	struct trial_state *t;
	struct packet in;

	if (p->payload_len < ICMP_REST ||
	    memcmp(p->payload, (const uint8_t[ICMP_REST]){ 0 }, ICMP_REST))
		return -ENOENT;
	if (packet_parse(p->payload + ICMP_REST, p->payload_len - ICMP_REST, 0, p->eth_proto,
			 &in) ||
	    !in.transport || in.protocol != IPPROTO_UDP ||
	    memcmp(in.src, p->dst, sizeof(in.src)) != 0 || in.payload_len > sizeof(q.payload) ||
	    c->quotes.n == UNEXPLAINED_MAX)
		return -ENOENT;
	/* Nothing before, between or behind: what a quote does not need could carry anything. */
	if (in.payload + in.payload_len != p->payload + p->payload_len ||
	    p->payload_len - ICMP_REST - in.payload_len != (in.family == AF_INET ? 28u : 48u))
		return -ENOENT;
	t = trial_by_dest(c, ev->lane, in.src, in.sport, ev->time_ns);
	if (!t || !t->token_tap)
		return -ENOENT;
	q.trial = t->t.id;
	q.len = in.payload_len;
	memcpy(q.payload, in.payload, in.payload_len);
	return list_add(&c->quotes, q);
}

static bool is_answer(const struct correlate *c, const struct quote_state *q)
{
	char hex[2 * EV_MAC_BYTES + 1], line[sizeof(MAC_ANSWER_PREFIX) + sizeof(hex) + 1];
	uint8_t mac[EV_MAC_BYTES];

	mac_answer(c->end.key, c->trials.at[q->trial - 1].t.token, mac);
	hex_encode(hex, mac, sizeof(mac));
	(void)str_format(line, sizeof(line), MAC_ANSWER_PREFIX "%s\n", hex);
	return q->len == strlen(line) && !memcmp(q->payload, line, q->len);
}

int quotes_settle(struct correlate *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->quotes.n && !err; i++)
		if (GUARD(QUOTE_OF_OTHERS, !c->ended || !is_answer(c, &c->quotes.at[i])))
			err = list_add(&c->unexplained, c->quotes.at[i].unexplained);
	return err;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * dns-udp-direct: a DNS question sent straight to an address of the far side, past any resolver.
 *
 * Decisive step: sendto() to the address and port 53 of the trial. The token is the first label of
 * the name: TOKEN.PROBE.sentinel.test, type TXT, for the answer comes as text.
 */
#include "probes/attempt.h"
#include "probes/dns_message.h"

static bool settles(struct probe_outcome *o, const uint8_t *data, size_t len, const void *arg)
{
	const uint16_t *id = arg;

	return dns_settles(o, data, len, *id);
}

void probe_dns_udp_direct(const struct probe_attempt *a, struct probe_outcome *ret)
{
	uint8_t question[DNS_QUESTION_MAX];
	uint16_t id;
	size_t len;
	int err = random_bytes(&id, sizeof(id));

	if (err < 0) {
		outcome_errno(ret, -err);
		return;
	}
	len = dns_question(a, id, question);
	attempt_datagram(a, datagram_sendto, question, len, settles, &id, ret);
}

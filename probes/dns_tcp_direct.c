// SPDX-License-Identifier: Apache-2.0
/*
 * dns-tcp-direct: a DNS question over TCP straight to an address of the far side, past any
 * resolver.
 *
 * Decisive step: connect() to the address and port 53 of the trial. The token is the first label of
 * the name, as in dns-udp-direct.
 */
#include "probes/dns_stream.h"

void probe_dns_tcp_direct(const struct probe_attempt *a, struct probe_outcome *ret)
{
	uint8_t question[DNS_QUESTION_MAX];
	cleanup_fd int fd = -1;
	uint16_t id;
	int err = random_bytes(&id, sizeof(id));

	if (err < 0) {
		outcome_errno(ret, -err);
		return;
	}
	fd = stream_open(a, ret);
	if (fd >= 0)
		dns_stream_ask(a, fd, question, dns_question(a, id, question), id, ret);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * udp-send: one datagram whose only line is the token.
 *
 * Decisive step: sendto() to the address and port of the trial. Sent once: a drop is final.
 */
#include "probes/attempt.h"

static bool is_answer(struct probe_outcome *o, const uint8_t *data, size_t len,
		      const void *arg unused_arg)
{
	return outcome_answer_text(o, data, len);
}

void probe_udp_send(const struct probe_attempt *a, struct probe_outcome *ret)
{
	char text[ATTEMPT_TEXT_MAX];
	size_t len = attempt_token_text(a, text);

	attempt_datagram(a, text, len, is_answer, NULL, ret);
}

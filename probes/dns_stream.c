// SPDX-License-Identifier: Apache-2.0
#include "probes/dns_stream.h"

/* Far above our answers, and our questions; a longer message is none of them. */
#define RESPONSE_MAX 2048

/* Exactly len bytes. 0, -EPIPE where the other side ends before, or what stream_recv() says. */
static int recv_all(const struct probe_attempt *a, int fd, uint8_t *out, size_t len)
{
	while (len) {
		ssize_t n = stream_recv(a, fd, out, len);

		if (n <= 0)
			return n ? (int)n : -EPIPE;
		out += n;
		len -= (size_t)n;
	}
	return 0;
}

static int next_response(const struct probe_attempt *a, int fd, uint8_t out[RESPONSE_MAX],
			 size_t *ret_len)
{
	uint8_t prefix[2];
	int err = recv_all(a, fd, prefix, sizeof(prefix));

	if (err)
		return err;
	*ret_len = (size_t)prefix[0] << 8 | prefix[1];
	return *ret_len <= RESPONSE_MAX ? recv_all(a, fd, out, *ret_len) : -EMSGSIZE;
}

void dns_stream_ask(const struct probe_attempt *a, int fd, const uint8_t *question, size_t len,
		    uint16_t id, struct probe_outcome *ret)
{
	uint8_t msg[RESPONSE_MAX];
	int err;

	/* in one piece: a server may read the length and the message by one call each, or not */
	msg[0] = (uint8_t)(len >> 8);
	msg[1] = (uint8_t)len;
	memcpy(msg + 2, question, len);
	err = stream_send(a, fd, msg, 2 + len);
	if (err) {
		stream_outcome(ret, err);
		return;
	}
	outcome_word(ret, "sent");
	do {
		err = next_response(a, fd, msg, &len);
	} while (!err && !dns_settles(ret, msg, len, id));
	if (err && err != -ETIMEDOUT && err != -EPIPE)
		outcome_errno(ret, -err);
}

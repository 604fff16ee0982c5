// SPDX-License-Identifier: Apache-2.0
/*
 * icmp-echo: a ping that carries the token, by the two ways in which a program may send one: a ping
 * socket (where net.ipv4.ping_group_range allows it), or a raw one (with CAP_NET_RAW).
 *
 * Decisive step: sendto() to the address of the trial, or the refusal of both sockets. Sent once: a
 * drop is final.
 */
#include "probes/attempt.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>

#include "probes/checksum.h"

#define PACKET_MAX (sizeof(struct icmphdr) + ATTEMPT_TEXT_MAX)

/* What the kernel does to a ping socket's request is done here for a raw one: checksum, and an
 * identifier, which a ping socket chooses itself. */
static size_t make_request(const struct probe_attempt *a, uint8_t out[PACKET_MAX])
{
	struct icmphdr h = { .type = ICMP_ECHO, .un.echo = { .sequence = htons(1) } };
	size_t len;

	h.un.echo.id = htons((uint16_t)getpid());
	len = sizeof(h) + attempt_token_text(a, (char *)out + sizeof(h));
	memcpy(out, &h, sizeof(h));
	h.checksum = checksum_of(out, len);
	memcpy(out, &h, sizeof(h));
	return len;
}

/* A raw socket's messages start with the IP header, and are all those of this machine, the request
 * itself among them where it went to ourselves. */
static bool settles(struct probe_outcome *o, const uint8_t *data, size_t len, bool raw)
{
	size_t skip = raw && len ? (data[0] & 0xfu) * 4u : 0;

	if (len < skip + sizeof(struct icmphdr) || data[skip] != ICMP_ECHOREPLY)
		return false;
	return outcome_answer_text(o, data + skip + sizeof(struct icmphdr),
				   len - skip - sizeof(struct icmphdr));
}

static void await_reply(const struct probe_attempt *a, int fd, bool raw, struct probe_outcome *ret)
{
	uint8_t data[2048];
	int ready;

	outcome_word(ret, "sent");
	while ((ready = wait_until(a->deadline_ns, fd, POLLIN)) > 0) {
		ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			outcome_errno(ret, errno);
			return;
		}
		if (n > 0 && settles(ret, data, (size_t)n, raw))
			return;
	}
	if (ready < 0)
		outcome_errno(ret, -ready);
}

void probe_icmp_echo(const struct probe_attempt *a, struct probe_outcome *ret)
{
	uint8_t packet[PACKET_MAX];
	struct sockaddr_storage to;
	socklen_t to_len = attempt_destination(a, &to);
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
	bool raw = fd < 0;
	int on = 1;

	if (raw)
		fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	if (fd < 0) {
		outcome_errno(ret, errno);
		return;
	}
	/* so that a router's refusal is an error and no silence */
	(void)setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	if (sendto(fd, packet, make_request(a, packet), 0, (struct sockaddr *)&to, to_len) < 0)
		outcome_errno(ret, errno);
	else
		await_reply(a, fd, raw, ret);
}

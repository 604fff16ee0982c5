// SPDX-License-Identifier: Apache-2.0
/*
 * dns-resolver: a DNS question to the resolver that this place has, which carries the token to
 * whoever answers for the name. Nothing of it goes to the far side straight.
 *
 * Decisive step: the question, with the token as the name's first label, to a server of
 * /etc/resolv.conf, as glibc sends it: connect() and send(), each server in turn, two rounds; over
 * TCP where the answer was cut.
 */
#include "probes/dns_stream.h"
#include "probes/resolv_conf.h"

#define DNS_PORT 53
#define ROUNDS 2
#define FLAG_TC 0x02 /* in the third byte of a message (RFC 1035 4.1.1) */
#define RCODE_MASK 0x0f
#define RCODE_SERVFAIL 2
#define RCODE_NOTIMP 4
#define RCODE_REFUSED 5

/* A question that is being asked, and what came of it. */
struct asked {
	uint8_t question[DNS_QUESTION_MAX];
	size_t len;
	uint16_t id;
	bool truncated, next_server;
};

static int by_connected(int fd, const void *data, size_t len, const struct sockaddr *to,
			socklen_t to_len)
{
	if (connect(fd, to, to_len) < 0)
		return -errno;
	return send(fd, data, len, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static bool settles(struct probe_outcome *o, const uint8_t *data, size_t len, const void *arg)
{
	struct asked *q = *(struct asked *const *)arg;
	uint8_t rcode;

	if (!dns_settles(o, data, len, q->id))
		return false;
	rcode = data[3] & RCODE_MASK;
	q->truncated = data[2] & FLAG_TC;
	q->next_server = rcode == RCODE_SERVFAIL || rcode == RCODE_NOTIMP || rcode == RCODE_REFUSED;
	return true;
}

static void ask_over_tcp(const struct probe_attempt *a, const struct asked *q,
			 struct probe_outcome *ret)
{
	cleanup_fd int fd = stream_open(a, ret);

	if (fd >= 0)
		dns_stream_ask(a, fd, q->question, q->len, q->id, ret);
}

/* True where the server said something that settles it. */
static bool ask_server(const struct probe_attempt *a, const uint8_t server[16],
		       uint64_t deadline_ns, struct asked *q, struct probe_outcome *ret)
{
	struct probe_manifest m = *a->manifest;
	struct probe_attempt to = *a;
	struct asked *arg = q;

	m.p.family = addr_is_v4(server) ? AF_INET : AF_INET6;
	to.manifest = &m;
	memcpy(to.to, server, sizeof(to.to));
	to.port = DNS_PORT;
	to.deadline_ns = deadline_ns;
	q->truncated = false;
	q->next_server = true; /* until one has said a word */
	attempt_datagram(&to, by_connected, q->question, q->len, settles, &arg, ret);
	if (q->truncated) {
		to.deadline_ns = a->deadline_ns;
		ask_over_tcp(&to, q, ret);
	}
	return !q->next_server;
}

void probe_dns_resolver(const struct probe_attempt *a, struct probe_outcome *ret)
{
	struct resolv_conf conf;
	struct asked q;
	int err = random_bytes(&q.id, sizeof(q.id));
	size_t turns;

	if (err < 0) {
		outcome_errno(ret, -err);
		return;
	}
	resolv_conf_read(&conf);
	q.len = dns_question(a, q.id, q.question);
	turns = ROUNDS * conf.n;
	for (size_t i = 0; i < turns; i++) {
		uint64_t now = mono_ns();
		uint64_t left = a->deadline_ns > now ? a->deadline_ns - now : 0;

		if (ask_server(a, conf.server[i % conf.n], now + left / (turns - i), &q, ret))
			return;
	}
}

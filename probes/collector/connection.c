// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/connection.h"

void connections_init(struct connections *t)
{
	for (size_t i = 0; i < CONNECTION_MAX; i++)
		t->at[i].fd = -1;
	t->open = 0;
	t->tls = NULL;
	t->evicted = 0;
}

static void close_slot(struct connections *t, struct connection *c)
{
	tls_free(c->tls);
	c->tls = NULL;
	(void)close(c->fd);
	c->fd = -1;
	t->open--;
}

void connections_done(struct connections *t)
{
	for (size_t i = 0; i < CONNECTION_MAX; i++)
		if (t->at[i].fd >= 0)
			close_slot(t, &t->at[i]);
	tls_server_free(t->tls);
	t->tls = NULL;
}

void connection_end(struct connections *t, struct connection *c, const struct message_sink *sink)
{
	if (c->len)
		/* a last line may lack its newline, a DNS message is whole or nothing */
		sink->fn(sink->arg, c, c->buf, c->len, c->from->service == SERVICE_TEXT);
	close_slot(t, c);
}

bool connections_evict(struct connections *t, const struct message_sink *sink)
{
	struct connection *oldest = NULL;

	for (size_t i = 0; i < CONNECTION_MAX; i++) {
		struct connection *c = &t->at[i];

		if (c->fd >= 0 && (!oldest || c->active_ns < oldest->active_ns))
			oldest = c;
	}
	if (!oldest)
		return false;
	connection_end(t, oldest, sink);
	t->evicted++;
	return true;
}

static struct connection *free_slot(struct connections *t)
{
	for (size_t i = 0; i < CONNECTION_MAX; i++)
		if (t->at[i].fd < 0)
			return &t->at[i];
	return NULL;
}

struct connection *connections_add(struct connections *t, int fd, const struct listener *from,
				   const struct endpoints *ends, uint64_t now_ns,
				   const struct message_sink *sink)
{
	struct connection *c;

	if (t->open == CONNECTION_MAX)
		(void)connections_evict(t, sink);
	c = free_slot(t);
	c->fd = fd;
	c->from = from;
	c->ends = *ends;
	c->active_ns = now_ns;
	c->total = 0;
	c->len = 0;
	c->done = false;
	c->tls = NULL;
	c->greeted = false;
	c->deciphered = false;
	t->open++;
	return c;
}

void connections_expire(struct connections *t, uint64_t now_ns, const struct message_sink *sink)
{
	if (!t->open)
		return;
	for (size_t i = 0; i < CONNECTION_MAX; i++) {
		struct connection *c = &t->at[i];

		if (c->fd >= 0 && now_ns - c->active_ns >= CONNECTION_IDLE_NS)
			connection_end(t, c, sink);
	}
}

/* Sends what TLS has for the peer. How many bytes, or -EPIPE where not all of them went. */
static ssize_t flush_tls(struct connection *c)
{
	uint8_t out[4096];
	ssize_t all = 0;
	size_t n;

	while ((n = tls_take(c->tls, out, sizeof(out)))) {
		if (send(c->fd, out, n, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)n)
			return -EPIPE;
		all += (ssize_t)n;
	}
	return all;
}

bool connection_send(struct connection *c, const void *data, size_t len)
{
	bool sent = c->tls ? !tls_write(c->tls, data, len) && flush_tls(c) >= 0
			   : send(c->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;

	if (!sent)
		(void)shutdown(c->fd, SHUT_RDWR);
	return sent;
}

void connection_finish(struct connection *c)
{
	if (c->tls) {
		tls_finish(c->tls);
		(void)flush_tls(c);
	}
	(void)shutdown(c->fd, SHUT_WR);
	c->done = true;
}

/* Bytes of the first message in len bytes at p, and where it starts; 0 where it is not whole yet. A
 * line that fills the buffer is a message as it is. */
static size_t next_message(const struct connection *c, const uint8_t *p, size_t len,
			   size_t *ret_off)
{
	struct http_request unused;
	const uint8_t *end;
	size_t n;

	*ret_off = 0;
	switch (c->from->service) {
	case SERVICE_TEXT:
		end = memchr(p, '\n', MIN(len, (size_t)CONNECTION_LINE_MAX));
		if (end)
			return (size_t)(end - p) + 1;
		return len >= CONNECTION_LINE_MAX ? CONNECTION_LINE_MAX : 0;
	case SERVICE_DNS:
		if (len < 2)
			return 0;
		*ret_off = 2;
		n = (size_t)p[0] << 8 | p[1]; /* RFC 1035 4.2.2 */
		return len - 2 >= n ? 2 + n : 0;
	case SERVICE_HTTP:
	case SERVICE_HTTPS:
		return len && http_request_parse(p, len, &unused) ? len : 0;
	case SERVICE_ECHO: /* has no connections */
		break;
	}
	return 0;
}

/* A DNS message longer than any question, which would never be whole, or more than fits. */
static bool is_too_long(const struct connection *c)
{
	return c->len == sizeof(c->buf) ||
	       (c->from->service == SERVICE_DNS && c->len >= CONNECTION_LINE_MAX);
}

static void take_messages(struct connection *c, const struct message_sink *sink)
{
	size_t at = 0, off, n;

	while (!c->done && (n = next_message(c, c->buf + at, c->len - at, &off))) {
		if (n > off)
			sink->fn(sink->arg, c, c->buf + at + off, n - off, true);
		at += n;
	}
	memmove(c->buf, c->buf + at, c->len - at);
	c->len = c->done ? 0 : c->len - (uint32_t)at;
}

/* 1: it is over; 0: more must come; -errno. */
static int shake_hands(struct connection *c, const uint8_t *raw, size_t len,
		       const struct message_sink *sink)
{
	ssize_t sent;
	int over;

	if (!c->greeted) {
		if (len > sizeof(c->buf) - c->len)
			return -EMSGSIZE;
		memcpy(c->buf + c->len, raw, len);
		c->len += (uint32_t)len;
	}
	over = tls_handshake(c->tls);
	sent = flush_tls(c);
	if (!c->greeted && (over || sent)) { /* it was whole, or nothing that it could be */
		sink->fn(sink->arg, c, c->buf, c->len, false);
		c->len = 0;
		c->greeted = true;
	}
	return sent < 0 ? (int)sent : over;
}

static int take_tls(struct connections *t, struct connection *c, const uint8_t *raw, size_t len,
		    const struct message_sink *sink)
{
	ssize_t n;
	int ret;

	if (!t->tls)
		t->tls = tls_server_new();
	if (t->tls && !c->tls)
		c->tls = tls_new(t->tls);
	if (!c->tls || tls_feed(c->tls, raw, len) < 0)
		return -ENOMEM;
	if (!c->deciphered) {
		ret = shake_hands(c, raw, len, sink);
		if (ret <= 0)
			return ret;
		c->deciphered = true;
	}
	do {
		n = tls_read(c->tls, c->buf + c->len, sizeof(c->buf) - c->len);
		c->len += n > 0 ? (uint32_t)n : 0;
		take_messages(c, sink);
	} while (n > 0 && !is_too_long(c));
	ret = flush_tls(c) < 0 ? -EPIPE : 0;
	return n < 0 ? (int)n : ret;
}

void connection_read(struct connections *t, struct connection *c, uint64_t now_ns,
		     const struct message_sink *sink)
{
	bool tls = c->from->service == SERVICE_HTTPS;
	uint8_t raw[4096], *to = tls ? raw : c->buf + c->len;
	size_t room = MIN(tls ? sizeof(raw) : sizeof(c->buf) - c->len,
			  (size_t)(CONNECTION_BYTES_MAX - c->total));
	ssize_t n = recv(c->fd, to, room, MSG_DONTWAIT);
	int err = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		connection_end(t, c, sink);
		return;
	}
	c->total += (uint32_t)n;
	c->active_ns = now_ns;
	if (tls) {
		err = take_tls(t, c, raw, (size_t)n, sink);
	} else {
		c->len += (uint32_t)n;
		take_messages(c, sink);
	}
	if (err || c->total == CONNECTION_BYTES_MAX || is_too_long(c))
		connection_end(t, c, sink);
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/collector.h"

#include <sys/epoll.h>

#include "probes/collector/connection.h"
#include "probes/collector/echo.h"
#include "probes/collector/listener.h"
#include "probes/collector/message.h"
#include "probes/collector/receive_log.h"
#include "probes/collector/site.h"
#include "probes/collector/zone.h"

/* how many of one socket are served before the others get their turn */
#define BURST 32
#define EVENTS_MAX 64
#define TICK_MS 1000 /* how often idle connections are looked for, while there are any */
#define DATAGRAM_MAX 65536

/* epoll's data: which kind of source in the upper half, which one of them in the lower */
enum source { SOURCE_LOG = 1, SOURCE_LISTENER, SOURCE_CONNECTION };

struct collector {
	struct site site;
	bool quiet;
	int epoll_fd;
	bool log_polled; /* false: a regular file, which epoll refuses and which never blocks */
	bool log_waits;	 /* EPOLLOUT is asked for */
	uint32_t syncs_asked, syncs_said;
	struct listeners listeners;
	struct connections connections;
	struct receive_log log;
	uint8_t datagram[DATAGRAM_MAX];
};

struct answer {
	size_t len; /* 0: none is due */
	uint8_t bytes[REPLY_MAX];
	bool proves;	  /* the token's HMAC is in it */
	bool closes;	  /* it is the last one */
	size_t token_off; /* where in the message the token's text starts; 0 for DNS */
};
_Static_assert(MESSAGE_ANSWER_MAX <= REPLY_MAX && ZONE_RESPONSE_MAX <= REPLY_MAX, "struct answer");

static void respond_site(const struct collector *c, const uint8_t local[16], const uint8_t *msg,
			 size_t len, struct answer *ret)
{
	struct reply reply;

	site_respond(&c->site, local, real_ns() / NSEC_PER_SEC, msg, len, &reply);
	memcpy(ret->bytes, reply.bytes, reply.len);
	ret->len = reply.len;
	ret->proves = reply.proves;
	ret->closes = reply.closes;
}

/* local: the address that was asked. */
static void respond(const struct collector *c, enum service service, const uint8_t local[16],
		    const uint8_t *msg, size_t len, struct answer *ret)
{
	uint8_t token[MAC_NONCE_BYTES];
	bool has_token;

	*ret = (struct answer){ .len = 0 };
	if (service == SERVICE_DNS) {
		ret->len = zone_respond(c->site.key, msg, len, ret->bytes, &ret->proves);
		return;
	}
	has_token = message_find_token(msg, len, token, &ret->token_off);
	if (service == SERVICE_HTTP || service == SERVICE_HTTPS) {
		respond_site(c, local, msg, len, ret);
	} else if (has_token) {
		ret->proves = true;
		ret->len = message_answer(c->site.key, token, (char *)ret->bytes);
	}
}

/* What came to l. Of a message its head is logged; where the token lies beyond that, from the token
 * on. */
static void log_message(struct collector *c, const struct listener *l, struct received r,
			const struct answer *a, bool sent)
{
	bool beyond = a->token_off + MESSAGE_TOKEN_TEXT_BYTES > RECEIVED_DATA_MAX;
	size_t off = beyond ? a->token_off : 0;

	r.time_ns = mono_ns();
	r.proto = l->proto;
	r.path = l->path;
	r.forbidden = l->forbidden;
	r.answered = a->proves && sent;
	r.data += off;
	r.len -= off;
	if (!c->quiet)
		receive_log_add(&c->log, &r);
}

/* ---- datagrams ---- */

static void serve_datagram(struct collector *c, const struct listener *l, const struct datagram *d)
{
	bool sent = false;
	struct answer a;

	respond(c, l->service, d->ends.dst, d->data, d->len, &a);
	if (a.len)
		sent = listener_answer(l, d, a.bytes, a.len);
	log_message(c, l, (struct received){ .ends = d->ends, .data = d->data, .len = d->len }, &a,
		    sent);
}

/* The kernel is told to leave it to us: a payload with a token comes back as its answer, any other
 * as it is. What is logged is the payload. */
static void serve_echo(struct collector *c, const struct listener *l, const struct datagram *d)
{
	struct received r = { .ends = d->ends,
			      .data = d->data + ECHO_HEADER_BYTES,
			      .len = d->len - ECHO_HEADER_BYTES };
	bool v6 = l->family == AF_INET6, sent = false;
	uint8_t proof[ECHO_HEADER_BYTES + REPLY_MAX], *reply = d->data;
	size_t len = d->len;
	struct answer a;

	if (d->len < ECHO_HEADER_BYTES)
		return;
	respond(c, SERVICE_TEXT, d->ends.dst, r.data, r.len, &a);
	if (a.proves) {
		memcpy(proof, d->data, ECHO_HEADER_BYTES);
		memcpy(proof + ECHO_HEADER_BYTES, a.bytes, a.len);
		reply = proof;
		len = ECHO_HEADER_BYTES + a.len;
	}
	if (echo_is_request(v6, d->data, d->len)) {
		echo_make_reply(v6, reply, len);
		sent = listener_answer(l, d, reply, len);
	}
	log_message(c, l, r, &a, sent);
}

static void serve_datagrams(struct collector *c, struct listener *l)
{
	struct datagram d;
	uint32_t lost = 0;
	int n = 1;

	for (int i = 0; i < BURST && n; i++) {
		n = listener_receive(l, c->datagram, sizeof(c->datagram), &d);
		if (n > 0 && l->service == SERVICE_ECHO)
			serve_echo(c, l, &d);
		else if (n > 0)
			serve_datagram(c, l, &d);
		else if (n < 0) /* one that the kernel could not give us */
			lost++;
	}
	lost += listener_dropped(l);
	if (lost && !c->quiet)
		receive_log_lost(&c->log, lost);
}

/* ---- connections ---- */

static bool send_answer(struct connection *conn, const struct answer *a)
{
	uint8_t framed[2 + sizeof(a->bytes)];
	size_t prefix = conn->from->service == SERVICE_DNS ? 2 : 0;

	framed[0] = (uint8_t)(a->len >> 8);
	framed[1] = (uint8_t)a->len;
	memcpy(framed + prefix, a->bytes, a->len);
	return connection_send(conn, framed, prefix + a->len);
}

static void serve_message(void *arg, struct connection *conn, const uint8_t *msg, size_t len,
			  bool whole)
{
	struct answer a = { .len = 0 };
	struct collector *c = arg;
	bool sent = false;

	if (whole)
		respond(c, conn->from->service, conn->ends.dst, msg, len, &a);
	if (a.len)
		sent = send_answer(conn, &a);
	if (a.closes)
		connection_finish(conn);
	log_message(c, conn->from,
		    (struct received){
			    .ends = conn->ends, .data = msg, .len = len, .tls = conn->deciphered },
		    &a, sent);
}

static int watch(struct collector *c, int op, int fd, uint32_t events, enum source source,
		 uint32_t index)
{
	struct epoll_event e = { .events = events, .data.u64 = (uint64_t)source << 32 | index };

	return epoll_ctl(c->epoll_fd, op, fd, &e) < 0 ? -errno : 0;
}

static void add_connection(struct collector *c, const struct listener *l, int fd,
			   const struct sockaddr_storage *peer)
{
	const struct message_sink sink = { serve_message, c };
	struct sockaddr_storage asked = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(asked);
	struct connection *conn;
	struct endpoints ends;

	(void)getsockname(fd, (struct sockaddr *)&asked, &len);
	endpoint_from(peer, ends.src, &ends.sport);
	endpoint_from(&asked, ends.dst, &ends.dport);
	conn = connections_add(&c->connections, fd, l, &ends, mono_ns(), &sink);
	if (watch(c, EPOLL_CTL_ADD, fd, EPOLLIN, SOURCE_CONNECTION,
		  (uint32_t)(conn - c->connections.at)) < 0)
		connection_end(&c->connections, conn, &sink);
}

/* Whether accept's error is the single connection's (accept(2): "treat like EAGAIN"), ours to mend
 * by giving up an old connection, or the end. */
static int mend_accept(struct collector *c, int err)
{
	const struct message_sink sink = { serve_message, c };

	switch (err) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		return connections_evict(&c->connections, &sink) ? 0 : -err;
	case EBADF:
	case EFAULT:
	case EINVAL:
	case ENOTSOCK:
		return -err;
	default:
		return 0;
	}
}

static int serve_accept(struct collector *c, const struct listener *l)
{
	for (int i = 0; i < BURST; i++) {
		struct sockaddr_storage peer;
		socklen_t len = sizeof(peer);
		int fd, err = 0;

		fd = accept4(l->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0)
			add_connection(c, l, fd, &peer);
		else if (errno == EAGAIN)
			return 0;
		else
			err = mend_accept(c, errno);
		if (err)
			return err;
	}
	return 0;
}

static void serve_connection(struct collector *c, struct connection *conn)
{
	const struct message_sink sink = { serve_message, c };

	/* its slot may have been given up, or given away, earlier in the same round of events */
	if (conn->fd >= 0)
		connection_read(&c->connections, conn, mono_ns(), &sink);
}

/* ---- the loop ---- */

/* The log's reader asks to be told when all that has arrived is logged. */
static int read_syncs(struct collector *c)
{
	char asked[64];
	ssize_t n = read(c->log.fd, asked, sizeof(asked));

	if (n > 0)
		c->syncs_asked += (uint32_t)n;
	return n || errno == EINTR ? 0 : -EPIPE;
}

static int serve_log(struct collector *c, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP))
		return -EPIPE;
	return events & EPOLLIN ? read_syncs(c) : 0; /* room for more: flush_log() follows */
}

static int serve_event(struct collector *c, const struct epoll_event *e)
{
	uint32_t index = (uint32_t)e->data.u64;
	struct listener *l;

	switch ((enum source)(e->data.u64 >> 32)) {
	case SOURCE_LOG:
		return serve_log(c, e->events);
	case SOURCE_LISTENER:
		l = &c->listeners.at[index];
		if (l->type == SOCK_STREAM)
			return serve_accept(c, l);
		serve_datagrams(c, l);
		return 0;
	case SOURCE_CONNECTION:
		serve_connection(c, &c->connections.at[index]);
		return 0;
	}
	return -EINVAL;
}

static int flush_log(struct collector *c)
{
	int waits = receive_log_flush(&c->log);

	if (waits < 0)
		return waits;
	if (!c->log_polled || c->log_waits == (waits == 1))
		return 0;
	c->log_waits = waits == 1;
	return watch(c, EPOLL_CTL_MOD, c->log.fd, EPOLLIN | (c->log_waits ? EPOLLOUT : 0),
		     SOURCE_LOG, 0);
}

static int serve_round(struct collector *c)
{
	const struct message_sink sink = { serve_message, c };
	struct epoll_event events[EVENTS_MAX];
	bool sync = c->syncs_said != c->syncs_asked && !c->log_waits;
	int n = epoll_wait(c->epoll_fd, events, EVENTS_MAX,
			   sync			 ? 0
			   : c->connections.open ? TICK_MS
						 : -1);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	/* Nothing is readable any more, so everything was read. */
	if (!n && sync && receive_log_sync(&c->log, c->syncs_asked) == 0)
		c->syncs_said = c->syncs_asked;
	for (int i = 0; i < n; i++) {
		int err = serve_event(c, &events[i]);

		if (err)
			return err;
	}
	connections_expire(&c->connections, mono_ns(), &sink);
	return flush_log(c);
}

int collector_run(struct collector *c)
{
	int err = receive_log_ready(&c->log);

	if (!err)
		err = flush_log(c);
	while (!err)
		err = serve_round(c);
	return err;
}

static int watch_all(struct collector *c)
{
	int err = watch(c, EPOLL_CTL_ADD, c->log.fd, EPOLLIN, SOURCE_LOG, 0);

	c->log_polled = !err;
	if (err == -EPERM)
		err = 0;
	for (size_t i = 0; i < c->listeners.n && !err; i++)
		err = watch(c, EPOLL_CTL_ADD, c->listeners.at[i].fd, EPOLLIN, SOURCE_LISTENER,
			    (uint32_t)i);
	return err;
}

static int open_all(struct collector *c, const struct collector_opts *o, uint16_t *ret_port)
{
	int err = receive_log_init(&c->log, o->log_fd);

	if (err)
		return err;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll_fd < 0)
		return -errno;
	err = listeners_open(&c->listeners, ret_port);
	for (size_t i = 0; i < o->given_n && !err; i++)
		err = listeners_take(&c->listeners, &o->given[i]);
	return err ? err : watch_all(c);
}

int collector_new(const struct collector_opts *o, struct collector **ret, uint16_t *ret_port)
{
	struct collector *c = calloc(1, sizeof(*c));
	int err;

	*ret_port = 0;
	if (!c)
		return -ENOMEM;
	c->quiet = o->quiet;
	c->epoll_fd = -1;
	connections_init(&c->connections);
	err = site_init(&c->site, o->key);
	if (!err)
		err = open_all(c, o, ret_port);
	if (err) {
		collector_free(c);
		return err;
	}
	*ret = c;
	return 0;
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	connections_done(&c->connections);
	listeners_close(&c->listeners);
	receive_log_done(&c->log);
	if (c->epoll_fd >= 0)
		(void)close(c->epoll_fd);
	explicit_bzero(&c->site, sizeof(c->site));
	free(c);
}

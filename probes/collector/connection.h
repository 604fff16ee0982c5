/* SPDX-License-Identifier: Apache-2.0 */
/* The far side's TCP connections: a bounded table, each with a bounded buffer and life. */
#ifndef SENTINEL_COLLECTOR_CONNECTION_H
#define SENTINEL_COLLECTOR_CONNECTION_H

#include "probes/collector/http_request.h"
#include "probes/collector/listener.h"
#include "probes/collector/tls.h"

#define CONNECTION_MAX 256
#define CONNECTION_BYTES_MAX (64u << 10) /* read in a connection's life; then it is closed */
#define CONNECTION_IDLE_NS (10 * NSEC_PER_SEC)
/* the longest line, and the longest DNS message, that is taken as one message */
#define CONNECTION_LINE_MAX 4096
#define CONNECTION_BUFFER_BYTES (HTTP_HEAD_MAX + HTTP_BODY_MAX)

struct connection {
	int fd; /* owned; -1 = free slot */
	const struct listener *from;
	struct endpoints ends;
	uint64_t active_ns; /* CLOCK_MONOTONIC of the last byte, or of accept */
	uint32_t total;	    /* bytes read so far */
	uint32_t len;	    /* of buf */
	bool done;	    /* what still comes is read and thrown away */
	/* SERVICE_HTTPS: NULL until something comes */
	struct tls *tls;
	bool greeted;	 /* its hello is with the sink; until then it is in buf as it came */
	bool deciphered; /* what is in buf */
	uint8_t buf[CONNECTION_BUFFER_BYTES];
};

struct connections {
	struct connection at[CONNECTION_MAX];
	uint32_t open;
	struct tls_server *tls; /* NULL until the first that needs it: start stays fast */
	uint64_t evicted;	/* closed for a newer one */
};

/* Who takes the messages. */
struct message_sink {
	/* A whole message; or with `whole` false what a connection left behind that is none, or
	 * how a TLS handshake began: the server's name is in there, in clear. */
	void (*fn)(void *arg, struct connection *c, const uint8_t *msg, size_t len, bool whole);
	void *arg;
};

void connections_init(struct connections *t);
void connections_done(struct connections *t);

/* Takes over fd. Where the table is full, the one that was idle longest is ended first (as by
 * connection_end). Never fails. */
struct connection *connections_add(struct connections *t, int fd, const struct listener *from,
				   const struct endpoints *ends, uint64_t now_ns,
				   const struct message_sink *sink);

/* Ends the connection that was idle longest; false where none is open. */
bool connections_evict(struct connections *t, const struct message_sink *sink);

/* Ends those without a byte for CONNECTION_IDLE_NS. */
void connections_expire(struct connections *t, uint64_t now_ns, const struct message_sink *sink);

/*
 * Reads once what has come and hands each whole message to the sink: lines with their newline, DNS
 * messages without the length before them, HTTP requests (or what can't become one). Ends the
 * connection at its end, at an error, or at CONNECTION_BYTES_MAX.
 */
void connection_read(struct connections *t, struct connection *c, uint64_t now_ns,
		     const struct message_sink *sink);

/* Sends all of it. What can't be sent whole ends the connection: half an answer would make the next
 * one unreadable, and who doesn't read gets no queue here. */
bool connection_send(struct connection *c, const void *data, size_t len);

/* We said the last word: what is still sent is read, lest the kernel's reset overtakes the word,
 * and dropped. */
void connection_finish(struct connection *c);

/* Hands what is left in the buffer to the sink as a last message, and closes. */
void connection_end(struct connections *t, struct connection *c, const struct message_sink *sink);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much HTTP/1.1 as a probe needs: one request on a connection of its own, and the response
 * (RFC 9112). The other side is hostile: what is kept of it is bounded.
 */
#ifndef SENTINEL_PROBES_HTTP_CLIENT_H
#define SENTINEL_PROBES_HTTP_CLIENT_H

#include "probes/stream.h"

#define HTTP_REQUEST_MAX 1024
#define HTTP_RESPONSE_MAX 8192 /* head and body: what lies beyond is not read */

struct http_request {
	const char *method;
	const char *target; /* "/path", or a whole URL for a proxy */
	const char *host;   /* the Host field */
	const char *fields; /* further ones, each ended by "\r\n"; "" = none */
	const char *body;   /* NULL = none */
};

/* The request as bytes: the fields before the rest, so that a token is in the first of them. Its
 * length, or 0 where it has no room. */
size_t http_format(const struct http_request *q, char out[HTTP_REQUEST_MAX]);

struct http_response {
	unsigned int status; /* 0: nothing came that can be read */
	const char *body;    /* in text; not terminated */
	size_t body_len;
	size_t len;
	char text[HTTP_RESPONSE_MAX];
};

/*
 * Reads text[0..len) of r into its other members. 0 where it is whole, -EAGAIN where more may come
 * (status and the body so far are right all the same), -EBADMSG where it is no response. ended: no
 * more bytes will come. A chunked body is given as it travels. Pure.
 */
int http_parse(struct http_response *r, bool ended) must_check;

/* How a request travels: over the bare connection, or over TLS. As stream_send(), stream_recv(). */
struct http_io {
	int (*send)(const struct http_io *io, const void *data, size_t len);
	ssize_t (*recv)(const struct http_io *io, void *out, size_t len);
	const struct probe_attempt *a;
	int fd;
	void *tls;
};
struct http_io http_plain(const struct probe_attempt *a, int fd);

/* Sends q and reads its response. 0; -EBADMSG as http_parse(); -E2BIG where the request has no
 * room; or what the connection said, -ETIMEDOUT where the deadline passed. *ret is filled as far as
 * it came. */
int http_exchange(const struct http_io *io, const struct http_request *q,
		  struct http_response *ret) must_check;

/*
 * The view of an exchange that ended with err: "answered" where the far side's digits are in the
 * body (behind MAC_ANSWER_PREFIX, or else as a word of 64 digits), "status-N" for another response,
 * "not-http", "sent" where none came, else the errno's name. True: answered.
 */
bool http_outcome(struct probe_outcome *o, const struct http_response *r, int err);

/* The destination as it stands in a Host field: an IPv6 address in brackets. */
#define HTTP_HOST_MAX (ADDR_TEXT_MAX + 2)
void http_host(const struct probe_attempt *a, char out[HTTP_HOST_MAX]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a request to the far side, and the bytes of the reply to it. Pure. */
#ifndef SENTINEL_COLLECTOR_REPLY_H
#define SENTINEL_COLLECTOR_REPLY_H

#include "probes/collector/http_request.h"
#include "user/base/mac.h"

#define REPLY_BODY_MAX 1536
#define REPLY_MAX (REPLY_BODY_MAX + 768)

struct asked {
	const struct http_request *request; /* NULL: it was none */
	uint64_t now_s;			    /* Unix time */
	/* the text that proves that its token was here; "" where it had none */
	char proof[sizeof(MAC_ANSWER_PREFIX) + 2 * MAC_BYTES];
};

struct reply {
	size_t len;
	char bytes[REPLY_MAX];
	bool proves; /* the proof is in it */
	bool closes; /* nothing follows on this connection */
};

struct reply_kind {
	const char *server, *type; /* of content */
	const char *fields;	   /* more of the header, each with its CRLF, or "" */
};

/* The whole reply, its body by fmt; HEAD gets no body. What does not fit is an error of ours, and
 * becomes a plain 500. */
void reply_format(struct reply *ret, const struct asked *a, int status, const struct reply_kind *k,
		  const char *fmt, ...) printf_like(5, 6);

/* The proof, or what stands in its place where there is none. */
const char *reply_proof(const struct asked *a, const char *instead);

/* Unix time as RFC 3339 has it. Returns out. */
#define REPLY_TIME_MAX 32
const char *reply_time(uint64_t unix_s, char out[REPLY_TIME_MAX]);

#endif

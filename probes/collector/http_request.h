/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP/1 request, as strict as RFC 9112 lets a server be. Pure; strangers wrote what it reads.
 */
#ifndef SENTINEL_COLLECTOR_HTTP_REQUEST_H
#define SENTINEL_COLLECTOR_HTTP_REQUEST_H

#include "user/base/util.h"

#define HTTP_HEAD_MAX 8192
#define HTTP_BODY_MAX 8192
#define HTTP_TARGET_MAX 2048
#define HTTP_FIELDS_MAX 64

struct http_text { /* a part of the message, not terminated */
	const char *p;
	size_t len;
};

struct http_request {
	struct http_text method;
	struct http_text path, query; /* of the target, without the authority of an absolute one */
	struct http_text fields;      /* the header's lines, each with its CRLF */
	struct http_text body;
	bool keeps; /* the connection is kept for another */
};

/*
 * 200: data is one whole request and nothing more; *ret has pointers into it. 0: more of it must
 * come. Else the status that refuses it, with *ret untouched:
 *
 *   400 malformed, or more bytes than the request has (pipelining is refused)
 *   413 a body beyond HTTP_BODY_MAX    414, 431 a target or header beyond its limit
 *   501 a body that has another coding than its plain length    505 not HTTP/1
 *
 * What it refuses it refuses as soon as it can be known, so that no buffer need be larger than
 * HTTP_HEAD_MAX + HTTP_BODY_MAX.
 */
int http_request_parse(const void *data, size_t len, struct http_request *ret);

/* The first field of that name (in any case), without the blanks around it; false: there is none.
 */
bool http_field(const struct http_request *r, const char *name, struct http_text *ret);

bool http_text_is(struct http_text t, const char *text);
bool http_text_is_caseless(struct http_text t, const char *text);
bool http_text_starts(struct http_text t, const char *prefix);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom a client says it means, in the first bytes that it sends on a connection: the server name of
 * a TLS ClientHello (RFC 6066 3), or the Host of an HTTP/1 request (RFC 9112 3.2). Nobody checks
 * what it says: a client can name whom it likes.
 *
 * Not found: a name in a hello that is spread over several TLS records, or encrypted (ECH).
 */
#ifndef SENTINEL_SERVER_NAME_H
#define SENTINEL_SERVER_NAME_H

#include "user/base/util.h"

#define SERVER_NAME_MAX 255

enum server_name_from { SERVER_NAME_NONE = 0, SERVER_NAME_TLS, SERVER_NAME_HTTP };

struct server_name {
	enum server_name_from from;
	size_t len;	     /* 1..SERVER_NAME_MAX */
	const uint8_t *name; /* borrowed from the bytes that were searched; hostile */
};

/* data: the first len bytes of a stream. 1 with ret; 0: there is none, nor will there be; -EAGAIN:
 * more bytes may tell. */
int server_name_find(const uint8_t *data, size_t len, struct server_name *ret) must_check;

#endif

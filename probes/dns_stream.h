/* SPDX-License-Identifier: Apache-2.0 */
/* A DNS question over a connection: each message with its length before it (RFC 1035 4.2.2). */
#ifndef SENTINEL_PROBES_DNS_STREAM_H
#define SENTINEL_PROBES_DNS_STREAM_H

#include "probes/dns_message.h"
#include "probes/stream.h"

/* Sends the question and waits for its response, whose word becomes the view; "sent" where none
 * comes by the deadline. */
void dns_stream_ask(const struct probe_attempt *a, int fd, const uint8_t *question, size_t len,
		    uint16_t id, struct probe_outcome *ret);

#endif

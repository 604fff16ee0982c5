/* SPDX-License-Identifier: Apache-2.0 */
/* ICMP echo, of IPv4 (RFC 792) and IPv6 (RFC 4443 4.1). Pure. */
#ifndef SENTINEL_COLLECTOR_ECHO_H
#define SENTINEL_COLLECTOR_ECHO_H

#include "user/base/util.h"

/*
 *   0      1      2           4            6          8
 *   type | code | checksum  | identifier | sequence | payload
 */
#define ECHO_HEADER_BYTES 8

/* Whether these len bytes are an echo request. Of IPv4 the checksum is checked here; of IPv6, whose
 * checksum covers addresses too, the kernel has done it. */
bool echo_is_request(bool v6, const uint8_t *msg, size_t len);

/* Makes a request's header the reply's, for the payload that stands behind it now. */
void echo_make_reply(bool v6, uint8_t *msg, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The far side's DNS: authoritative for sentinel.test. Pure. */
#ifndef SENTINEL_COLLECTOR_ZONE_H
#define SENTINEL_COLLECTOR_ZONE_H

#include "user/base/mac.h"
#include "user/base/util.h"

/* RFC 1035 4.2.1: what fits in UDP without EDNS, of which the zone never needs more than this. */
#define ZONE_RESPONSE_MAX 512

/*
 * Answers one DNS message of len bytes (without TCP's length prefix). Returns the response's length
 * in out, 0 where none is due: too short for a header, or itself a response, lest two servers
 * answer each other for ever.
 *
 *   TXT of a name below the zone whose first label is a token    TXT, the answer's 64 digits
 *   A of X.A-B-C-D.sentinel.test, inside 203.0.113.0/24          A, that address
 *   A of allowed.sentinel.test, and of all below it              A, RIG_ALLOWED4
 *   SOA of the zone                                              SOA
 *   anything else in the zone                                    no data
 *   another zone, another class                                  REFUSED
 *   an opcode other than QUERY                                   NOTIMP
 *   malformed                                                    FORMERR
 *
 * A name without a token is "no data", not NXDOMAIN: a resolver that asks label by label (RFC 9156)
 * would take NXDOMAIN for everything below it (RFC 8020). *ret_answered: the answer is in there.
 */
size_t zone_respond(const uint8_t key[MAC_BYTES], const uint8_t *msg, size_t len,
		    uint8_t out[ZONE_RESPONSE_MAX], bool *ret_answered);

#endif

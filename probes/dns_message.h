/* SPDX-License-Identifier: Apache-2.0 */
/* The question that carries a token, and its answer. Pure. */
#ifndef SENTINEL_PROBES_DNS_MESSAGE_H
#define SENTINEL_PROBES_DNS_MESSAGE_H

#include "probes/probe.h"

/* header, a name of at most 255 bytes, type and class (RFC 1035 4.1) */
#define DNS_QUESTION_MAX (12 + 255 + 4)

/* "TXT of TOKEN.PROBE.sentinel.test?", or of the domain that the attempt names; recursion desired.
 * Returns its length. */
size_t dns_question(const struct probe_attempt *a, uint16_t id, uint8_t out[DNS_QUESTION_MAX]);

/*
 * Whether msg is a response to the question id, and so settles it (a server says its word once):
 * the view becomes "answered" with the far side's digits, "no-data", or "rcode-N". msg is hostile.
 */
bool dns_settles(struct probe_outcome *o, const uint8_t *msg, size_t len, uint16_t id);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What DNS messages said: which names were asked for and answered, and which names the answers gave
 * to addresses. Two tables of fixed size; the row that was used longest ago makes room, counted.
 *
 * Names are kept as on the wire, letters in lower case (RFC 4343). Anybody can send a DNS message:
 * this is what was said, not what is so.
 */
#ifndef SENTINEL_LIVE_NAMES_H
#define SENTINEL_LIVE_NAMES_H

#include "user/base/lru.h"
#include "user/decode/dns.h"

#define NAMES_ADDRESSES_MAX 8 /* kept of each question: the latest */

struct name_question {
	struct dns_name name;
	uint16_t type;	   /* of what was asked for */
	uint16_t rcode;	   /* of the last answer; NAMES_NO_ANSWER: there was none */
	uint64_t asked;	   /* questions, repeated ones too */
	uint64_t answered; /* responses */
	uint64_t first_ns, last_ns;
	uint64_t addresses_n; /* distinct ones of those in answers, as far as they were kept */
	uint8_t addresses[NAMES_ADDRESSES_MAX][16];
};
#define NAMES_NO_ANSWER UINT16_MAX

struct names_stats {
	uint64_t messages;	    /* pushed */
	uint64_t malformed;	    /* of these, no DNS message or not to its end */
	uint64_t questions_evicted; /* rows that made room */
	uint64_t addresses_evicted;
};

struct name_address;

struct names {
	struct lru by_question, by_address;
	struct name_question *questions;
	struct name_address *addresses;
	struct names_stats stats;
};

/* questions, addresses: rows, 1 or more each. 0 or -ENOMEM. */
int names_init(struct names *n, uint32_t questions, uint32_t addresses,
	       const uint64_t secret[2]) must_check;
void names_done(struct names *n);

/* A DNS message that was seen at time_ns; what is well-formed of it counts. */
void names_push(struct names *n, const uint8_t *data, size_t len, uint64_t time_ns);

/* The name that was last given to an address, which is the one that was asked for; NULL: none.
 * Borrowed until the next push. */
const struct dns_name *names_find(const struct names *n, const uint8_t address[16]);

/* Rows of questions, in no order; borrowed. */
uint32_t names_count(const struct names *n);
const struct name_question *names_row(const struct names *n, uint32_t i);

#endif

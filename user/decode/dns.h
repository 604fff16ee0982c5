/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DNS messages (RFC 1035 section 4), read strictly and in place.
 *
 *	struct dns_reader r;
 *	struct dns_entry e;
 *
 *	err = dns_open(&r, data, len);
 *	while (!err && (n = dns_next(&r, &e)) > 0)
 *		...
 *
 * A compression pointer must point before the name part that holds it, so no chain of them can loop
 * (RFC 1035 4.1.4: "a prior occurrence").
 */
#ifndef SENTINEL_DNS_H
#define SENTINEL_DNS_H

#include "user/base/util.h"

#define DNS_HEADER_BYTES 12
#define DNS_NAME_BYTES 255 /* of a name on the wire, its length bytes and the root included */
#define DNS_LABEL_BYTES 63
#define DNS_TEXT_MAX (4 * DNS_NAME_BYTES + 1)

#define DNS_FLAG_RESPONSE 0x8000u
#define DNS_FLAG_TRUNCATED 0x0200u

enum dns_section { DNS_QUESTION = 0, DNS_ANSWER, DNS_AUTHORITY, DNS_ADDITIONAL, DNS_SECTIONS };

struct dns_name {
	uint32_t len;		      /* of wire, 1..255 */
	uint32_t labels;	      /* without the root */
	uint8_t wire[DNS_NAME_BYTES]; /* uncompressed: length, label, ..., 0; case as sent */
};

struct dns_reader {
	const uint8_t *data;
	size_t len, pos;
	uint16_t id, flags;
	uint16_t left[DNS_SECTIONS]; /* entries still to come */
};

struct dns_entry {
	enum dns_section section;
	struct dns_name name;
	uint16_t type, class;
	uint32_t ttl;	  /* 0 for a question */
	size_t rdata_pos; /* in the message, so that names in it can be read with dns_name_read() */
	uint32_t rdata_len; /* 0 for a question */
};

/* Reads the header. data is borrowed for as long as r is used. 0 or -EBADMSG. */
int dns_open(struct dns_reader *r, const uint8_t *data, size_t len) must_check;

/* The next entry, section by section. 1; 0 at the end (r->pos tells where the message ended); or
 * -EBADMSG, after which r is at its end. */
int dns_next(struct dns_reader *r, struct dns_entry *ret) must_check;

/* A name at *pos of a message, pointers followed; *pos moves behind it. 0 or -EBADMSG, nothing
 * changed then. */
int dns_name_read(const uint8_t *data, size_t len, size_t *pos, struct dns_name *ret) must_check;

/* Presentation form without the last dot ("." for the root); bytes that are no letter, digit,
 * hyphen or underscore as \DDD, dots and backslashes in a label escaped (RFC 1035 5.1). Returns
 * out. */
const char *dns_name_text(const struct dns_name *name, char out[DNS_TEXT_MAX]);

/* The bytes of all labels one after another, with neither dots nor length bytes: where a token's
 * digits are spread over labels they meet here. Number of bytes, at most 254. */
uint32_t dns_name_join(const struct dns_name *name, uint8_t out[DNS_NAME_BYTES]);

#endif

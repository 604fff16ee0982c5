/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict scanner for one flat JSON object (RFC 8259), without a tree and without allocation: json-c
 * needs microseconds for what must cost some hundred nanoseconds, twice for every record.
 *
 *   json_in_open(); while (json_in_key(...) > 0) json_in_value(...); json_in_close()
 */
#ifndef SENTINEL_RECORD_JSON_IN_H
#define SENTINEL_RECORD_JSON_IN_H

#include "user/base/util.h"

struct json_in {
	const char *at, *end; /* borrowed; no NUL needed */
	bool first;
};

enum json_in_kind { JSON_IN_STRING, JSON_IN_NUMBER, JSON_IN_TRUE, JSON_IN_FALSE, JSON_IN_NULL };

/* A value as it stands in the text: a string without its quotes, escapes not yet resolved. */
struct json_in_value {
	enum json_in_kind kind;
	const char *text;
	size_t len;
	bool escaped; /* there is a backslash in text */
};

/* All answer -EBADMSG for what is not a flat JSON object. */
int json_in_open(struct json_in *in, const char *text, size_t len) must_check;
int json_in_key(struct json_in *in, struct json_in_value *ret) must_check; /* 1, or 0 at the end */
int json_in_value(struct json_in *in, struct json_in_value *ret) must_check;
int json_in_close(struct json_in *in) must_check; /* nothing but white space is left */

/* The value of a string, in UTF-8, at most n bytes, not NUL-terminated; *ret_len of them. -EBADMSG
 * also for one that is longer, for NUL and for a lone surrogate. */
int json_in_string(const struct json_in_value *v, char *out, size_t n, size_t *ret_len) must_check;

/* The whole of text is a decimal number: no sign, no leading zero, at most max. */
int json_in_decimal(const char *text, size_t len, uint64_t max, uint64_t *ret) must_check;

#endif

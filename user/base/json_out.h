/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streaming JSON writer into a growing buffer: no tree, fixed key order, one line.
 *
 * Text may be any bytes: control characters become \u00NN, what is not UTF-8 becomes U+FFFD.
 * (json_object and json_bool are types of json-c, so these are called json_object_begin and
 * json_boolean.) 64-bit numbers are written as decimal strings (DESIGN.md 6.5), 32-bit ones as
 * numbers. key NULL inside arrays. A failed allocation sticks: json_out_error() tells, once, at the
 * end.
 */
#ifndef SENTINEL_BASE_JSON_OUT_H
#define SENTINEL_BASE_JSON_OUT_H

#include "user/base/util.h"

struct json_out {
	char *buf; /* NUL-terminated; owned: json_out_done() frees it */
	size_t len, cap;
	int error;
	unsigned int depth;
	bool comma;
};

void json_out_init(struct json_out *j);
void json_out_done(struct json_out *j);
void json_out_reset(struct json_out *j); /* empties, keeps the memory */
int json_out_error(const struct json_out *j) must_check;

void json_object_begin(struct json_out *j, const char *key);
void json_object_end(struct json_out *j);
void json_array(struct json_out *j, const char *key);
void json_array_end(struct json_out *j);
void json_text(struct json_out *j, const char *key, const char *text);
void json_text_len(struct json_out *j, const char *key, const char *text, size_t len);
void json_u32(struct json_out *j, const char *key, uint32_t v);
void json_i32(struct json_out *j, const char *key, int32_t v);
void json_u64(struct json_out *j, const char *key, uint64_t v);
void json_i64(struct json_out *j, const char *key, int64_t v);
void json_boolean(struct json_out *j, const char *key, bool v);
void json_null(struct json_out *j, const char *key);
void json_hex(struct json_out *j, const char *key, const void *data, size_t len);
/* A value that is JSON already, well-formed and on one line. */
void json_raw(struct json_out *j, const char *key, const char *json, size_t len);
void json_newline(struct json_out *j); /* between top-level values of an NDJSON stream */

#endif

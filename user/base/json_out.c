// SPDX-License-Identifier: Apache-2.0
#include "user/base/json_out.h"

#include <inttypes.h>

void json_out_init(struct json_out *j)
{
	*j = (struct json_out){ .buf = NULL };
}

void json_out_done(struct json_out *j)
{
	free(j->buf);
	json_out_init(j);
}

void json_out_reset(struct json_out *j)
{
	j->len = 0;
	j->depth = 0;
	j->comma = false;
	j->error = 0;
}

int json_out_error(const struct json_out *j)
{
	return j->error;
}

static bool room(struct json_out *j, size_t n)
{
	size_t cap = j->cap ? j->cap : 512;
	char *buf;

	if (j->error)
		return false;
	if (j->len + n + 1 <= j->cap)
		return true;
	while (cap < j->len + n + 1)
		cap *= 2;
	buf = realloc(j->buf, cap);
	if (!buf) {
		j->error = -ENOMEM;
		return false;
	}
	j->buf = buf;
	j->cap = cap;
	return true;
}

static void put(struct json_out *j, const char *s, size_t n)
{
	if (!room(j, n))
		return;
	memcpy(j->buf + j->len, s, n);
	j->len += n;
	j->buf[j->len] = '\0';
}

/* Length of a well-formed UTF-8 sequence of more than one byte, else 0. */
static size_t multibyte(const uint8_t *p, size_t left)
{
	size_t n = p[0] >= 0xc2 && p[0] <= 0xdf	  ? 2
		   : (p[0] & 0xf0) == 0xe0	  ? 3
		   : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
						  : 0;

	if (!n || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

static void put_text(struct json_out *j, const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text;
	size_t i = 0;

	put(j, "\"", 1);
	while (i < len) {
		size_t run = i, n;
		char esc[8];

		while (run < len && p[run] >= 0x20 && p[run] < 0x7f && p[run] != '"' &&
		       p[run] != '\\')
			run++;
		put(j, text + i, run - i);
		i = run;
		if (i == len)
			break;
		n = multibyte(p + i, len - i);
		if (n) {
			put(j, text + i, n);
			i += n;
			continue;
		}
		if (p[i] >= 0x80)
			put(j, "\xef\xbf\xbd", 3); /* U+FFFD */
		else if (p[i] == '"' || p[i] == '\\')
			put(j, (const char[]){ '\\', (char)p[i] }, 2);
		else {
			(void)snprintf(esc, sizeof(esc), "\\u%04x", p[i]);
			put(j, esc, 6);
		}
		i++;
	}
	put(j, "\"", 1);
}

static void begin(struct json_out *j, const char *key)
{
	if (j->comma)
		put(j, ",", 1);
	j->comma = true;
	if (key) {
		put_text(j, key, strlen(key));
		put(j, ":", 1);
	}
}

static void open_with(struct json_out *j, const char *key, const char *bracket)
{
	begin(j, key);
	put(j, bracket, 1);
	j->comma = false;
	j->depth++;
}

static void close_with(struct json_out *j, const char *bracket)
{
	put(j, bracket, 1);
	j->comma = true;
	j->depth--;
}

void json_object_begin(struct json_out *j, const char *key)
{
	open_with(j, key, "{");
}

void json_object_end(struct json_out *j)
{
	close_with(j, "}");
}

void json_array(struct json_out *j, const char *key)
{
	open_with(j, key, "[");
}

void json_array_end(struct json_out *j)
{
	close_with(j, "]");
}

void json_text_len(struct json_out *j, const char *key, const char *text, size_t len)
{
	begin(j, key);
	put_text(j, text, len);
}

void json_text(struct json_out *j, const char *key, const char *text)
{
	json_text_len(j, key, text, strlen(text));
}

/* Digits by hand: records are written at some hundred thousand a second. */
static void put_decimal(struct json_out *j, uint64_t v, bool negative, bool quoted)
{
	char buf[24];
	size_t at = sizeof(buf);

	if (quoted)
		buf[--at] = '"';
	do
		buf[--at] = (char)('0' + v % 10);
	while (v /= 10);
	if (negative)
		buf[--at] = '-';
	if (quoted)
		buf[--at] = '"';
	put(j, buf + at, sizeof(buf) - at);
}

void json_u32(struct json_out *j, const char *key, uint32_t v)
{
	begin(j, key);
	put_decimal(j, v, false, false);
}

void json_i32(struct json_out *j, const char *key, int32_t v)
{
	begin(j, key);
	put_decimal(j, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0, false);
}

void json_u64(struct json_out *j, const char *key, uint64_t v)
{
	begin(j, key);
	put_decimal(j, v, false, true);
}

void json_i64(struct json_out *j, const char *key, int64_t v)
{
	begin(j, key);
	put_decimal(j, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0, true);
}

void json_boolean(struct json_out *j, const char *key, bool v)
{
	begin(j, key);
	put(j, v ? "true" : "false", v ? 4 : 5);
}

void json_null(struct json_out *j, const char *key)
{
	begin(j, key);
	put(j, "null", 4);
}

void json_hex(struct json_out *j, const char *key, const void *data, size_t len)
{
	begin(j, key);
	put(j, "\"", 1);
	if (room(j, 2 * len)) {
		hex_encode(j->buf + j->len, data, len);
		j->len += 2 * len;
	}
	put(j, "\"", 1);
}

void json_raw(struct json_out *j, const char *key, const char *json, size_t len)
{
	begin(j, key);
	put(j, json, len);
}

void json_newline(struct json_out *j)
{
	put(j, "\n", 1);
	j->comma = false;
}

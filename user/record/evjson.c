// SPDX-License-Identifier: Apache-2.0
#include "user/record/evjson.h"

#include <endian.h>

#include "user/record/evfields.h"
#include "user/record/json_in.h"

/* Escaped text: four characters a byte, and what escape_text() wants for "...". */
#define ESCAPED_MAX (4 * FIELD_TEXT_MAX + 8)

const char *ev_type_name(enum ev_type type)
{
	return type < EV_TYPE_MAX && evfields_of[type].type ? evfields_of[type].type : "unknown";
}

static uint32_t get_u32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t get_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* ---- writing ---- */

/* Would escape_text() leave it as it is? Most names are of this kind. */
static bool is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] < 0x20 || text[i] > 0x7e || text[i] == '\\')
			return false;
	return true;
}

static int write_text(struct json_out *j, const struct field *f, const char *text)
{
	size_t len = strnlen(text, f->size);
	char escaped[ESCAPED_MAX];

	if (len == f->size)
		return -EINVAL;
	if (is_plain(text, len))
		json_text_len(j, f->key, text, len);
	else
		json_text(j, f->key, escape_text(escaped, sizeof(escaped), text, len));
	return 0;
}

static int write_enum(struct json_out *j, const struct field *f, uint32_t v)
{
	if (v >= f->names->n || !f->names->name[v])
		return -EINVAL;
	json_text(j, f->key, f->names->name[v]);
	return 0;
}

static int write_bytes(struct json_out *j, const struct field *f, const uint8_t *data, uint32_t len)
{
	if (len > f->size)
		return -EINVAL;
	if (len)
		json_hex(j, f->key, data, len);
	return 0;
}

static void write_addr(struct json_out *j, const struct field *f, const uint8_t *addr)
{
	char text[ADDR_TEXT_MAX];

	json_text(j, f->key, addr_text(addr, text));
}

static int write_field(struct json_out *j, const struct field *f, const uint8_t *ev)
{
	const uint8_t *p = ev + f->offset;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
		if (get_u32(p))
			json_u32(j, f->key, get_u32(p));
		return 0;
	case FIELD_I32:
		if (get_u32(p))
			json_i32(j, f->key, (int32_t)get_u32(p));
		return 0;
	case FIELD_U64:
		if (get_u64(p))
			json_u64(j, f->key, get_u64(p));
		return 0;
	case FIELD_I64:
		if (get_u64(p))
			json_i64(j, f->key, (int64_t)get_u64(p));
		return 0;
	case FIELD_BOOL:
		if (*p)
			json_boolean(j, f->key, true);
		return 0;
	case FIELD_ENUM:
		return get_u32(p) ? write_enum(j, f, get_u32(p)) : 0;
	case FIELD_TEXT:
		return *p ? write_text(j, f, (const char *)p) : 0;
	case FIELD_HEX:
		if (!all_zero(p, f->size))
			json_hex(j, f->key, p, f->size);
		return 0;
	case FIELD_BYTES:
		return write_bytes(j, f, p, get_u32(ev + f->len_offset));
	case FIELD_ADDR:
		if (!all_zero(p, 16))
			write_addr(j, f, p);
		return 0;
	}
	return -EINVAL;
}

static int write_table(struct json_out *j, const struct field_table *t, const struct ev *ev)
{
	for (uint32_t i = 0; i < t->n; i++) {
		int err = write_field(j, &t->fields[i], (const uint8_t *)ev);

		if (err)
			return err;
	}
	return 0;
}

int evjson_write(struct json_out *j, const struct ev *ev)
{
	const struct field_table *own;
	int err;

	if (ev->type >= EV_TYPE_MAX || !evfields_of[ev->type].type)
		return -EINVAL;
	own = &evfields_of[ev->type];
	json_object_begin(j, NULL);
	json_text(j, "type", own->type);
	err = write_table(j, &evfields_common, ev);
	if (!err)
		err = write_table(j, own, ev);
	json_object_end(j);
	return err ? err : json_out_error(j);
}

/* ---- reading ---- */

/* Undoes escape_text(): "\xNN" becomes the byte, any other backslash is nobody's writing. In place.
 */
static int unescape_text(char *text, size_t *len)
{
	size_t o = 0;

	for (size_t i = 0; i < *len; i++, o++) {
		char hex[3] = { 0 };

		if (text[i] != '\\') {
			text[o] = text[i];
			continue;
		}
		if (*len - i < 4 || text[i + 1] != 'x')
			return -EBADMSG;
		memcpy(hex, text + i + 2, 2);
		if (hex_decode(text + o, 1, hex) || !text[o])
			return -EBADMSG;
		i += 3;
	}
	*len = o;
	return 0;
}

static int read_text(const struct field *f, const struct json_in_value *v, uint8_t *p)
{
	char text[ESCAPED_MAX];
	size_t len;
	int err = json_in_string(v, text, sizeof(text), &len);

	if (!err && memchr(text, '\\', len))
		err = unescape_text(text, &len);
	if (err)
		return err;
	if (len >= f->size)
		return -EBADMSG;
	memcpy(p, text, len);
	p[len] = '\0';
	return 0;
}

static int read_enum(const struct field *f, const struct json_in_value *v, uint8_t *p)
{
	if (v->kind != JSON_IN_STRING || v->escaped)
		return -EBADMSG;
	for (uint32_t i = 0; i < f->names->n; i++) {
		const char *name = f->names->name[i];

		if (name && strlen(name) == v->len && !memcmp(name, v->text, v->len)) {
			memcpy(p, &i, sizeof(i));
			return 0;
		}
	}
	return -EBADMSG;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* All of the string, in the writer's lower case, which must be of len bytes. */
static int read_hex(const struct json_in_value *v, uint8_t *p, size_t len)
{
	if (v->kind != JSON_IN_STRING || v->len != 2 * len)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		int high = hex_digit(v->text[2 * i]), low = hex_digit(v->text[2 * i + 1]);

		if (high < 0 || low < 0)
			return -EBADMSG;
		p[i] = (uint8_t)(high << 4 | low);
	}
	return 0;
}

static int read_bytes(const struct field *f, const struct json_in_value *v, uint8_t *ev)
{
	uint32_t len = (uint32_t)(v->len / 2);
	int err;

	if (v->len > 2u * f->size)
		return -EBADMSG;
	err = read_hex(v, ev + f->offset, len);
	if (!err)
		memcpy(ev + f->len_offset, &len, sizeof(len));
	return err;
}

static int read_addr(const struct json_in_value *v, uint8_t *p)
{
	char text[ADDR_TEXT_MAX];
	size_t len;

	if (json_in_string(v, text, sizeof(text) - 1, &len))
		return -EBADMSG;
	text[len] = '\0';
	return parse_addr(text, p) ? -EBADMSG : 0;
}

static int read_unsigned(const struct json_in_value *v, enum json_in_kind kind, uint64_t max,
			 uint64_t *ret)
{
	return v->kind == kind ? json_in_decimal(v->text, v->len, max, ret) : -EBADMSG;
}

/* max: the largest positive value; the most negative one is -max - 1. */
static int read_signed(const struct json_in_value *v, enum json_in_kind kind, uint64_t max,
		       int64_t *ret)
{
	bool negative = v->len && v->text[0] == '-';
	uint64_t magnitude;
	int err;

	if (v->kind != kind)
		return -EBADMSG;
	err = json_in_decimal(v->text + negative, v->len - negative, max + negative, &magnitude);
	if (!err)
		*ret = (int64_t)(negative ? -magnitude : magnitude);
	return err;
}

static int read_number(const struct field *f, const struct json_in_value *v, uint8_t *p)
{
	uint64_t u = 0;
	int64_t i = 0;
	int err;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
		err = read_unsigned(v, JSON_IN_NUMBER, UINT32_MAX, &u);
		break;
	case FIELD_U64:
		err = read_unsigned(v, JSON_IN_STRING, UINT64_MAX, &u);
		break;
	case FIELD_I32:
		err = read_signed(v, JSON_IN_NUMBER, INT32_MAX, &i);
		u = (uint64_t)i;
		break;
	default:
		err = read_signed(v, JSON_IN_STRING, INT64_MAX, &i);
		u = (uint64_t)i;
		break;
	}
	if (err)
		return err;
	if (f->size == sizeof(uint32_t))
		memcpy(p, &(uint32_t){ (uint32_t)u }, sizeof(uint32_t));
	else
		memcpy(p, &u, sizeof(u));
	return 0;
}

static int read_field(const struct field *f, const struct json_in_value *v, uint8_t *ev)
{
	uint8_t *p = ev + f->offset;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
	case FIELD_I32:
	case FIELD_U64:
	case FIELD_I64:
		return read_number(f, v, p);
	case FIELD_BOOL:
		if (v->kind != JSON_IN_TRUE && v->kind != JSON_IN_FALSE)
			return -EBADMSG;
		*(bool *)p = v->kind == JSON_IN_TRUE;
		return 0;
	case FIELD_ENUM:
		return read_enum(f, v, p);
	case FIELD_TEXT:
		return read_text(f, v, p);
	case FIELD_HEX:
		return read_hex(v, p, f->size);
	case FIELD_BYTES:
		return read_bytes(f, v, ev);
	case FIELD_ADDR:
		return read_addr(v, p);
	}
	return -EBADMSG;
}

/* Which field a key names. The writer's order is kept, so the search goes on from the last hit. */
struct lookup {
	const struct field_table *own;
	uint32_t next;			/* index into the common fields, then into own */
	uint64_t seen[FIELDS_MAX / 64]; /* a key may come once */
};

static const struct field *field_at(const struct lookup *l, uint32_t i)
{
	return i < evfields_common.n ? &evfields_common.fields[i]
				     : &l->own->fields[i - evfields_common.n];
}

/* 0 and *ret, NULL for a key that nobody knows; -EBADMSG for one that was there before. */
static int lookup_key(struct lookup *l, const char *key, size_t len, const struct field **ret)
{
	uint32_t n = evfields_common.n + l->own->n;

	*ret = NULL;
	for (uint32_t tried = 0; tried < n; tried++) {
		uint32_t i = l->next + tried < n ? l->next + tried : l->next + tried - n;
		const struct field *f = field_at(l, i);

		if (f->key_len != len || memcmp(f->key, key, len))
			continue;
		if (l->seen[i / 64] & 1ull << i % 64)
			return -EBADMSG;
		l->seen[i / 64] |= 1ull << i % 64;
		l->next = i + 1 < n ? i + 1 : 0;
		*ret = f;
		return 0;
	}
	return 0;
}

/* Keys of ours have no escapes; one that is longer than all of them is nobody's. */
#define KEY_MAX 64

static int read_member(struct json_in *in, const struct json_in_value *key, struct lookup *l,
		       struct ev *ev)
{
	const struct field *f = NULL;
	struct json_in_value value;
	char text[KEY_MAX];
	size_t len = key->len;
	int err;

	if (!key->escaped)
		err = lookup_key(l, key->text, len, &f);
	else if (json_in_string(key, text, sizeof(text), &len))
		err = -EBADMSG;
	else
		err = lookup_key(l, text, len, &f);
	if (err)
		return err;
	err = json_in_value(in, &value);
	if (err || !f)
		return err;
	return read_field(f, &value, (uint8_t *)ev);
}

/* ---- reading what the writer writes, fast ---- */

/*
 * All of this only recognises, and never refuses: a member as the writer writes it, the next of the
 * table's or one behind that. Whatever else stands there is left to the scanner, which knows all of
 * JSON and every error.
 */

/* Longest decimal that can't overflow. */
#define DIGITS_SAFE 19

static const uint64_t power_of_ten[] = { 1,	 10,	  100,	    1000,     10000,
					 100000, 1000000, 10000000, 100000000 };

/*
 * How many digits the eight characters at p begin with, and what they say. In each byte of x is a
 * digit's value, or more where it is none; shifted so that zeros stand in front of the first, pairs
 * are put together, then pairs of pairs, then these, each time by one multiplication for all.
 */
static unsigned int eight_digits(const char *p, uint64_t *ret)
{
	uint64_t x, others;
	unsigned int n;

	memcpy(&x, p, sizeof(x));
	x = le64toh(x) ^ 0x3030303030303030ull;
	others = (x | (x + 0x7676767676767676ull)) & 0x8080808080808080ull;
	n = others ? (unsigned int)__builtin_ctzll(others) / 8 : 8;
	*ret = 0;
	if (!n)
		return 0;
	x <<= 64 - 8 * n;
	x = (x * (10 << 8 | 1) >> 8) & 0x00ff00ff00ff00ffull;
	x = (x * (100 << 16 | 1) >> 16) & 0x0000ffff0000ffffull;
	*ret = x * (10000ull << 32 | 1) >> 32;
	return n;
}

/* Behind the digits at p, NULL where there are none, too many, or one too many in front. */
static const char *fast_decimal(const char *p, const char *end, uint64_t *ret)
{
	const char *from = p;
	unsigned int n = 8;
	uint64_t v = 0, more;

	for (; n == 8 && end - p >= 8 && p - from <= DIGITS_SAFE; p += n) {
		n = eight_digits(p, &more);
		v = v * power_of_ten[n] + more;
	}
	for (; n == 8 && p < end && (unsigned char)(*p - '0') < 10; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	*ret = v;
	return p == from || p - from > DIGITS_SAFE || (*from == '0' && p - from > 1) ? NULL : p;
}

static const char *fast_u32(const char *p, const char *end, uint8_t *out)
{
	uint64_t v;

	p = fast_decimal(p, end, &v);
	if (!p || v > UINT32_MAX)
		return NULL;
	memcpy(out, &(uint32_t){ (uint32_t)v }, sizeof(uint32_t));
	return p;
}

static const char *fast_u64(const char *p, const char *end, uint8_t *out)
{
	uint64_t v;

	if (p == end || *p != '"')
		return NULL;
	p = fast_decimal(p + 1, end, &v);
	if (!p || p == end || *p != '"')
		return NULL;
	memcpy(out, &v, sizeof(v));
	return p + 1;
}

static const char *fast_true(const char *p, const char *end, uint8_t *out)
{
	if (end - p < 4 || memcmp(p, "true", 4))
		return NULL;
	*(bool *)out = true;
	return p + 4;
}

/* The quote behind the characters of a string without escapes. */
static const char *fast_string(const char *p, const char *end)
{
	if (p == end || *p != '"')
		return NULL;
	for (p++; p < end && (unsigned char)*p >= 0x20 && *p != '\\'; p++)
		if (*p == '"')
			return p;
	return NULL;
}

/* Behind the quotes of exactly this name. */
static const char *fast_name(const char *name, const char *p, const char *end)
{
	if (p == end || *p++ != '"')
		return NULL;
	for (; *name; name++, p++)
		if (p == end || *p != *name)
			return NULL;
	return p < end && *p == '"' ? p + 1 : NULL;
}

static const char *fast_enum(const struct field *f, const char *p, const char *end, uint8_t *out)
{
	for (uint32_t i = 0; i < f->names->n; i++) {
		const char *name = f->names->name[i];
		const char *behind = name ? fast_name(name, p, end) : NULL;

		if (behind) {
			memcpy(out, &i, sizeof(i));
			return behind;
		}
	}
	return NULL;
}

static const char *fast_text(const struct field *f, const char *p, const char *end, uint8_t *out)
{
	const char *quote = fast_string(p, end);
	size_t len = quote ? (size_t)(quote - p) - 1 : 0;

	if (!quote || len >= f->size)
		return NULL;
	memcpy(out, p + 1, len);
	out[len] = '\0';
	return quote + 1;
}

/* Behind the value at p, NULL where it is none of the field's, or not of a kind that is worth it.
 */
static const char *fast_value(const struct field *f, const char *p, const char *end, uint8_t *ev)
{
	uint8_t *out = ev + f->offset;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
		return fast_u32(p, end, out);
	case FIELD_U64:
		return fast_u64(p, end, out);
	case FIELD_BOOL:
		return fast_true(p, end, out);
	case FIELD_ENUM:
		return fast_enum(f, p, end, out);
	case FIELD_TEXT:
		return fast_text(f, p, end, out);
	default:
		return NULL;
	}
}

/* Two ends that overlap say what lies between; no token is shorter than five characters. */
static inline bool is_token(const char *p, const struct field *f)
{
	size_t n = f->token_len;
	const char *t = f->token;
	uint64_t a, b;

	if (n < sizeof(a))
		return !memcmp(p, t, n);
	for (size_t i = 0; i + sizeof(a) < n; i += sizeof(a)) {
		memcpy(&a, p + i, sizeof(a));
		memcpy(&b, t + i, sizeof(b));
		if (a != b)
			return false;
	}
	memcpy(&a, p + n - sizeof(a), sizeof(a));
	memcpy(&b, t + n - sizeof(b), sizeof(b));
	return a == b;
}

/* Takes a member, where it is one of those. */
static bool fast_member(struct json_in *in, struct lookup *l, struct ev *ev)
{
	const uint32_t n = evfields_common.n + l->own->n;
	size_t left = (size_t)(in->end - in->at);
	const struct field *f = NULL;
	const char *p;
	uint32_t i;

	for (i = l->next; i < n; i++) {
		f = field_at(l, i);
		if (f->token_len < left && in->at[2] == f->first && is_token(in->at, f))
			break;
	}
	if (i >= n || l->seen[i / 64] & 1ull << i % 64)
		return false;
	p = fast_value(f, in->at + f->token_len, in->end, (uint8_t *)ev);
	if (!p || p == in->end || (*p != ',' && *p != '}'))
		return false;
	l->seen[i / 64] |= 1ull << i % 64;
	l->next = i + 1;
	in->at = p;
	return true;
}

/* ---- a record ---- */

static int read_type(struct json_in *in, enum ev_type *ret)
{
	struct json_in_value key, value;

	if (json_in_key(in, &key) != 1 || key.len != 4 || memcmp(key.text, "type", 4) ||
	    json_in_value(in, &value) || value.kind != JSON_IN_STRING)
		return -EBADMSG;
	for (uint32_t i = 0; i < EV_TYPE_MAX; i++) {
		const char *name = evfields_of[i].type;

		if (name && strlen(name) == value.len && !memcmp(name, value.text, value.len)) {
			*ret = i;
			return 0;
		}
	}
	return -EBADMSG;
}

#define PACKET_BEGIN "{\"type\":\"packet\""

/* Up to behind the type. */
static int open_object(struct json_in *in, const char *text, size_t len, enum ev_type *ret)
{
	const size_t begin = strlen(PACKET_BEGIN);
	int err;

	if (len >= begin && !memcmp(text, PACKET_BEGIN, begin)) {
		*in = (struct json_in){ .at = text + begin, .end = text + len };
		*ret = EV_PACKET;
		return 0;
	}
	err = json_in_open(in, text, len);
	return err ? err : read_type(in, ret);
}

/* ret is scratch until 0 is answered. */
static int read_object(struct ev *ret, const char *text, size_t len)
{
	struct lookup l = { .own = NULL };
	struct json_in_value key;
	struct json_in in;
	int err = open_object(&in, text, len, &ret->type);

	if (err)
		return err;
	l.own = &evfields_of[ret->type];
	for (;;) {
		while (fast_member(&in, &l, ret))
			;
		err = json_in_key(&in, &key);
		if (err > 0)
			err = read_member(&in, &key, &l, ret);
		else
			return err ? err : json_in_close(&in);
		if (err)
			return err;
	}
}

/* Packets are the records that come by the million. */
static void clear(struct ev *ev)
{
	memset(ev, 0,
	       ev->type == EV_PACKET ? offsetof(struct ev, packet) + sizeof(ev->packet)
				     : sizeof(*ev));
}

int evjson_reread(struct ev *ev, const char *text, size_t len)
{
	int err;

	clear(ev); /* padding too: decoded events compare with memcmp() */
	err = read_object(ev, text, len);
	if (err)
		clear(ev);
	return err;
}

int evjson_read(struct ev *ret, const char *text, size_t len)
{
	struct ev ev;
	int err;

	memset(&ev, 0, sizeof(ev));
	err = read_object(&ev, text, len);
	if (!err)
		memcpy(ret, &ev, sizeof(ev));
	return err;
}

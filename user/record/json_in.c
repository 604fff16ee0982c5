// SPDX-License-Identifier: Apache-2.0
#include "user/record/json_in.h"

static void skip_space(struct json_in *in)
{
	while (in->at < in->end &&
	       (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
		in->at++;
}

static bool take(struct json_in *in, char c)
{
	skip_space(in);
	if (in->at == in->end || *in->at != c)
		return false;
	in->at++;
	return true;
}

int json_in_open(struct json_in *in, const char *text, size_t len)
{
	*in = (struct json_in){ .at = text, .end = text + len, .first = true };
	return take(in, '{') ? 0 : -EBADMSG;
}

/* Where the run of ordinary characters of a string ends. */
static const char *ordinary(const char *p, const char *end)
{
	while (p < end && (unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	return p;
}

/* After the opening quote. */
static int string_token(struct json_in *in, struct json_in_value *ret)
{
	const char *p = ordinary(in->at, in->end);

	*ret = (struct json_in_value){ .kind = JSON_IN_STRING, .text = in->at };
	while (p < in->end && *p == '\\') {
		ret->escaped = true;
		if (in->end - p < 2 || (unsigned char)p[1] < 0x20)
			return -EBADMSG;
		p = ordinary(p + 2, in->end);
	}
	if (p == in->end || *p != '"')
		return -EBADMSG;
	ret->len = (size_t)(p - ret->text);
	in->at = p + 1;
	return 0;
}

int json_in_key(struct json_in *in, struct json_in_value *ret)
{
	int err;

	if (take(in, '}'))
		return 0;
	if (!in->first && !take(in, ','))
		return -EBADMSG;
	in->first = false;
	if (!take(in, '"'))
		return -EBADMSG;
	err = string_token(in, ret);
	if (err)
		return err;
	return take(in, ':') ? 1 : -EBADMSG;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *digits(const char *p, const char *end)
{
	while (p < end && is_digit(*p))
		p++;
	return p;
}

/* RFC 8259 section 6: -? (0 | [1-9][0-9]*) (.[0-9]+)? ([eE][+-]?[0-9]+)? */
static int number_token(struct json_in *in, struct json_in_value *ret)
{
	const char *p = in->at, *from;

	*ret = (struct json_in_value){ .kind = JSON_IN_NUMBER, .text = p };
	if (p < in->end && *p == '-')
		p++;
	from = p;
	p = digits(p, in->end);
	if (p == from || (*from == '0' && p - from > 1))
		return -EBADMSG;
	if (p < in->end && *p == '.') {
		from = ++p;
		p = digits(p, in->end);
		if (p == from)
			return -EBADMSG;
	}
	if (p < in->end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < in->end && (*p == '+' || *p == '-'))
			p++;
		from = p;
		p = digits(p, in->end);
		if (p == from)
			return -EBADMSG;
	}
	ret->len = (size_t)(p - ret->text);
	in->at = p;
	return 0;
}

static int literal_token(struct json_in *in, struct json_in_value *ret)
{
	static const struct {
		const char *text;
		size_t len;
		enum json_in_kind kind;
	} literals[] = { { "true", 4, JSON_IN_TRUE },
			 { "false", 5, JSON_IN_FALSE },
			 { "null", 4, JSON_IN_NULL } };

	for (size_t i = 0; i < ARRAY_SIZE(literals); i++) {
		if ((size_t)(in->end - in->at) < literals[i].len ||
		    memcmp(in->at, literals[i].text, literals[i].len))
			continue;
		*ret = (struct json_in_value){ .kind = literals[i].kind,
					       .text = in->at,
					       .len = literals[i].len };
		in->at += literals[i].len;
		return 0;
	}
	return -EBADMSG;
}

int json_in_value(struct json_in *in, struct json_in_value *ret)
{
	skip_space(in);
	if (in->at == in->end)
		return -EBADMSG;
	if (*in->at == '"') {
		in->at++;
		return string_token(in, ret);
	}
	if (*in->at == '-' || is_digit(*in->at))
		return number_token(in, ret);
	return literal_token(in, ret);
}

int json_in_close(struct json_in *in)
{
	skip_space(in);
	return in->at == in->end ? 0 : -EBADMSG;
}

static int hex4(const char *p, const char *end, uint32_t *ret)
{
	uint8_t bytes[2];
	char text[5] = { 0 };

	if (end - p < 4)
		return -EBADMSG;
	memcpy(text, p, 4);
	if (hex_decode(bytes, 2, text))
		return -EBADMSG;
	*ret = (uint32_t)bytes[0] << 8 | bytes[1];
	return 0;
}

/* The code point after "\u" at *p, a surrogate pair taken together. */
static int code_point(const char **p, const char *end, uint32_t *ret)
{
	uint32_t c, low;
	int err = hex4(*p, end, &c);

	if (err)
		return err;
	*p += 4;
	if (c >= 0xd800 && c < 0xdc00) {
		if (end - *p < 2 || (*p)[0] != '\\' || (*p)[1] != 'u' || hex4(*p + 2, end, &low) ||
		    low < 0xdc00 || low > 0xdfff)
			return -EBADMSG;
		*p += 6;
		c = 0x10000 + ((c - 0xd800) << 10 | (low - 0xdc00));
	}
	if (!c || (c >= 0xdc00 && c <= 0xdfff))
		return -EBADMSG;
	*ret = c;
	return 0;
}

static size_t utf8_encode(char out[4], uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* One escape at *p, behind its backslash; *n bytes to out. */
static int unescape(const char **p, const char *end, char out[4], size_t *n)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char c = *(*p)++;
	const char *known = memchr(from, c, sizeof(from) - 1);
	uint32_t point;
	int err;

	if (known) {
		out[0] = to[known - from];
		*n = 1;
		return 0;
	}
	if (c != 'u')
		return -EBADMSG;
	err = code_point(p, end, &point);
	if (!err)
		*n = utf8_encode(out, point);
	return err;
}

int json_in_string(const struct json_in_value *v, char *out, size_t n, size_t *ret_len)
{
	const char *p = v->text, *end = p + v->len;
	size_t o = 0;

	if (v->kind != JSON_IN_STRING)
		return -EBADMSG;
	while (p < end) {
		const char *stop = v->escaped ? memchr(p, '\\', (size_t)(end - p)) : NULL;
		size_t plain = (size_t)((stop ? stop : end) - p), extra;
		char bytes[4];
		int err;

		if (plain > n - o)
			return -EBADMSG;
		memcpy(out + o, p, plain);
		o += plain;
		p += plain;
		if (!stop)
			break;
		p++;
		err = unescape(&p, end, bytes, &extra);
		if (err)
			return err;
		if (extra > n - o)
			return -EBADMSG;
		memcpy(out + o, bytes, extra);
		o += extra;
	}
	*ret_len = o;
	return 0;
}

int json_in_decimal(const char *text, size_t len, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!len || (text[0] == '0' && len > 1))
		return -EBADMSG;
	for (size_t i = 0; i < len; i++) {
		if (!is_digit(text[i]) || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
			return -EBADMSG;
	}
	if (v > max)
		return -EBADMSG;
	*ret = v;
	return 0;
}

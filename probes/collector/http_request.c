// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/http_request.h"

#include <strings.h>

#define METHOD_MAX 32

bool http_text_is(struct http_text t, const char *text)
{
	return t.len == strlen(text) && memcmp(t.p, text, t.len) == 0;
}

bool http_text_is_caseless(struct http_text t, const char *text)
{
	return t.len == strlen(text) && strncasecmp(t.p, text, t.len) == 0;
}

bool http_text_starts(struct http_text t, const char *prefix)
{
	size_t len = strlen(prefix);

	return t.len >= len && memcmp(t.p, prefix, len) == 0;
}

/* RFC 9110 5.6.2 */
static bool is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct http_text t)
{
	for (size_t i = 0; i < t.len; i++)
		if (!is_token_char(t.p[i]))
			return false;
	return t.len > 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Cuts off what is before the first c, which goes too; all of it where there is none. */
static struct http_text cut(struct http_text *t, char c)
{
	const char *at = t->len ? memchr(t->p, c, t->len) : NULL;
	struct http_text head = { t->p, at ? (size_t)(at - t->p) : t->len };
	size_t gone = head.len + (at ? 1 : 0);

	t->p += gone;
	t->len -= gone;
	return head;
}

static struct http_text trim(struct http_text t)
{
	while (t.len && is_blank(t.p[0]))
		t.p++, t.len--;
	while (t.len && is_blank(t.p[t.len - 1]))
		t.len--;
	return t;
}

/* Bytes of the head, its empty line included; 0: more must come, or *ret_status says why not.
 * A line ends in CRLF, and no other control character is in it but a tab. */
static size_t head_length(const char *p, size_t len, int *ret_status)
{
	size_t first = 0; /* length of the first line */

	for (size_t i = 0; i < len && i < HTTP_HEAD_MAX; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c == '\n' && i && p[i - 1] == '\r') {
			if (i >= 3 && p[i - 2] == '\n')
				return i + 1;
			if (!first)
				first = i + 1;
		} else if ((c < ' ' && c != '\t' && c != '\r') || c == 0x7f ||
			   (i && p[i - 1] == '\r')) {
			*ret_status = 400;
			return 0;
		}
	}
	if (len >= HTTP_HEAD_MAX)
		*ret_status = first ? 431 : 414;
	return 0;
}

/* One line without its CRLF, which is there. */
static struct http_text next_line(struct http_text *t)
{
	struct http_text line = cut(t, '\n');

	if (line.len)
		line.len--;
	return line;
}

/* RFC 9112 3.2: /path?query, http://authority/path?query, or what else there is for other methods.
 */
static void split_target(struct http_text target, struct http_request *r)
{
	static const char scheme[] = "http://";

	if (target.len >= strlen(scheme) && !strncasecmp(target.p, scheme, strlen(scheme))) {
		target.p += strlen(scheme);
		target.len -= strlen(scheme);
		while (target.len && target.p[0] != '/' && target.p[0] != '?')
			target.p++, target.len--;
	}
	r->path = cut(&target, '?');
	r->query = target;
	if (!r->path.len)
		r->path = (struct http_text){ "/", 1 };
}

static int parse_version(struct http_text v, bool *ret_keeps)
{
	*ret_keeps = http_text_is(v, "HTTP/1.1");
	if (*ret_keeps || http_text_is(v, "HTTP/1.0"))
		return 200;
	return http_text_starts(v, "HTTP/") && v.len == strlen("HTTP/1.1") ? 505 : 400;
}

static int parse_request_line(struct http_text line, struct http_request *r)
{
	struct http_text target;
	int status;

	r->method = cut(&line, ' ');
	target = cut(&line, ' ');
	if (!is_token(r->method) || r->method.len > METHOD_MAX || !target.len)
		return 400;
	for (size_t i = 0; i < target.len; i++)
		if ((unsigned char)target.p[i] <= ' ' || (unsigned char)target.p[i] > '~')
			return 400;
	status = parse_version(line, &r->keeps);
	if (status == 200 && target.len > HTTP_TARGET_MAX)
		status = 414;
	split_target(target, r);
	return status;
}

/* What the fields say of the message itself. */
struct framing {
	bool has_length, coded;
	uint32_t length;
};

static int parse_length(struct http_text value, struct framing *f)
{
	uint32_t n = 0;

	if (!value.len)
		return 400;
	for (size_t i = 0; i < value.len; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return 400;
		n = MIN(10 * n + (uint32_t)(value.p[i] - '0'), HTTP_BODY_MAX + 1u);
	}
	if (f->has_length && f->length != n) /* which of them would the next one believe? */
		return 400;
	f->has_length = true;
	f->length = n;
	return 200;
}

static bool lists_close(struct http_text value)
{
	while (value.len)
		if (http_text_is_caseless(trim(cut(&value, ',')), "close"))
			return true;
	return false;
}

static int parse_field(struct http_text line, struct http_request *r, struct framing *f)
{
	struct http_text value = line, name = cut(&value, ':');

	/* a name that is followed by a blank, or a line that is folded, is none */
	if (name.len == line.len || !is_token(name))
		return 400;
	value = trim(value);
	if (http_text_is_caseless(name, "content-length"))
		return parse_length(value, f);
	if (http_text_is_caseless(name, "transfer-encoding"))
		f->coded = true;
	else if (http_text_is_caseless(name, "connection") && lists_close(value))
		r->keeps = false;
	return 200;
}

static int parse_head(struct http_text head, struct http_request *r, struct framing *f)
{
	int status = parse_request_line(next_line(&head), r);
	struct http_text rest;

	head.len -= 2; /* the empty line */
	r->fields = head;
	rest = head;
	for (size_t n = 0; status == 200 && rest.len; n++)
		status = n == HTTP_FIELDS_MAX ? 431 : parse_field(next_line(&rest), r, f);
	if (status == 200 && f->coded)
		status = 501;
	if (status == 200 && f->length > HTTP_BODY_MAX)
		status = 413;
	return status;
}

int http_request_parse(const void *data, size_t len, struct http_request *ret)
{
	struct framing f = { .length = 0 };
	struct http_request r;
	const char *p = data;
	int status = 0;
	size_t head = head_length(p, len, &status);

	if (!head)
		return status;
	status = parse_head((struct http_text){ p, head }, &r, &f);
	if (status != 200)
		return status;
	if (len - head < f.length)
		return 0;
	if (len - head > f.length)
		return 400;
	r.body = (struct http_text){ p + head, f.length };
	*ret = r;
	return 200;
}

bool http_field(const struct http_request *r, const char *name, struct http_text *ret)
{
	struct http_text rest = r->fields;

	while (rest.len) {
		struct http_text value = next_line(&rest), key = cut(&value, ':');

		if (http_text_is_caseless(key, name)) {
			*ret = trim(value);
			return true;
		}
	}
	return false;
}

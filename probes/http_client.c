// SPDX-License-Identifier: Apache-2.0
#include "probes/http_client.h"

#include <strings.h>

#define ANSWER_HEX (2 * MAC_BYTES)

size_t http_format(const struct http_request *q, char out[HTTP_REQUEST_MAX])
{
	char length[64] = "";

	if (q->body)
		(void)str_format(length, sizeof(length),
				 "Content-Type: text/plain\r\nContent-Length: %zu\r\n",
				 strlen(q->body));
	if (str_format(out, HTTP_REQUEST_MAX,
		       "%s %s HTTP/1.1\r\nHost: %s\r\n%s%sAccept: */*\r\n"
		       "Connection: close\r\n\r\n%s",
		       q->method, q->target, q->host, q->fields, length, q->body ? q->body : ""))
		return 0;
	return strlen(out);
}

static bool parse_status(const char *line, size_t len, unsigned int *ret)
{
	static const char version[] = "HTTP/1.";
	char digits[4];
	uint32_t status;

	/* HTTP/1.x NNN */
	if (len < 12 || memcmp(line, version, sizeof(version) - 1) != 0 || line[8] != ' ')
		return false;
	memcpy(digits, line + 9, 3);
	digits[3] = '\0';
	if (parse_u32(digits, 100, 999, &status))
		return false;
	*ret = status;
	return true;
}

/* The value of Content-Length in the head, SIZE_MAX where it has none that is a number. */
static size_t content_length(const char *head, size_t len)
{
	static const char name[] = "\r\nContent-Length:";
	const size_t name_len = sizeof(name) - 1;
	char digits[24];

	for (size_t i = 0; i + name_len < len; i++) {
		size_t n = 0;
		uint64_t value;

		if (head[i] != '\r' || strncasecmp(head + i, name, name_len) != 0)
			continue;
		for (i += name_len; i < len && (head[i] == ' ' || head[i] == '\t'); i++)
			;
		while (i < len && n < sizeof(digits) - 1 && head[i] >= '0' && head[i] <= '9')
			digits[n++] = head[i++];
		digits[n] = '\0';
		return parse_u64(digits, 0, SIZE_MAX - 1, &value) ? SIZE_MAX : (size_t)value;
	}
	return SIZE_MAX;
}

/* 204 and 304 have no body (RFC 9112 6.3). */
static size_t expected_body(const struct http_response *r, const char *head, size_t head_len)
{
	return r->status == 204 || r->status == 304 ? 0 : content_length(head, head_len);
}

int http_parse(struct http_response *r, bool ended)
{
	const char *at = r->text, *end = r->text + r->len, *blank;
	size_t expected;

	r->status = 0;
	r->body = end;
	r->body_len = 0;
	do { /* interim responses come before the real one (RFC 9110 15.2) */
		blank = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
		if (!blank) {
			bool full = r->len == sizeof(r->text);

			r->status = 0;
			return ended || full ? -EBADMSG : -EAGAIN;
		}
		if (!parse_status(at, (size_t)(blank - at), &r->status))
			return -EBADMSG;
		/* with its line's end, which is the start of the next field's */
		expected = expected_body(r, at, (size_t)(blank + 2 - at));
		at = blank + 4;
	} while (r->status < 200);
	r->body = at;
	r->body_len = MIN((size_t)(end - at), expected);
	return ended || r->body_len == expected || r->len == sizeof(r->text) ? 0 : -EAGAIN;
}

static int send_plain(const struct http_io *io, const void *data, size_t len)
{
	return stream_send(io->a, io->fd, data, len);
}

static ssize_t recv_plain(const struct http_io *io, void *out, size_t len)
{
	return stream_recv(io->a, io->fd, out, len);
}

struct http_io http_plain(const struct probe_attempt *a, int fd)
{
	return (struct http_io){ .send = send_plain, .recv = recv_plain, .a = a, .fd = fd };
}

int http_exchange(const struct http_io *io, const struct http_request *q, struct http_response *ret)
{
	char text[HTTP_REQUEST_MAX];
	size_t len = http_format(q, text);
	int err;

	memset(ret, 0, offsetof(struct http_response, text));
	err = len ? io->send(io, text, len) : -E2BIG;
	if (err)
		return err;
	do {
		ssize_t n = io->recv(io, ret->text + ret->len, sizeof(ret->text) - ret->len);

		if (n < 0)
			return (int)n;
		ret->len += (size_t)n;
		err = ret->len ? http_parse(ret, n == 0) : 0;
		if (!n)
			return err;
	} while (err == -EAGAIN);
	return err;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The first run of exactly 64 digits at or behind `at`. */
static bool find_digits(struct probe_outcome *o, const char *at, const char *end)
{
	while (at < end) {
		const char *start = at;

		while (at < end && is_hex(*at))
			at++;
		if (at - start == ANSWER_HEX)
			return outcome_answer_hex(o, start, ANSWER_HEX);
		at += at == start;
	}
	return false;
}

bool http_outcome(struct probe_outcome *o, const struct http_response *r, int err)
{
	const size_t prefix_len = sizeof(MAC_ANSWER_PREFIX) - 1;
	const char *at = NULL;

	if (r->body_len) {
		at = memmem(r->body, r->body_len, MAC_ANSWER_PREFIX, prefix_len);
		if (find_digits(o, at ? at + prefix_len : r->body, r->body + r->body_len))
			return true;
	}
	if (r->status)
		(void)str_format(o->view, sizeof(o->view), "status-%u", r->status);
	else if (err == -EBADMSG)
		outcome_word(o, "not-http");
	else if (err && err != -ETIMEDOUT)
		outcome_errno(o, -err);
	else
		outcome_word(o, "sent");
	return false;
}

void http_host(const struct probe_attempt *a, char out[HTTP_HOST_MAX])
{
	char text[ADDR_TEXT_MAX];
	bool v4 = addr_is_v4(a->to);

	(void)str_format(out, HTTP_HOST_MAX, "%s%s%s", v4 ? "" : "[", addr_text(a->to, text),
			 v4 ? "" : "]");
}

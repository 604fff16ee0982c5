// SPDX-License-Identifier: Apache-2.0
#include "user/decode/server_name.h"

#include <strings.h>

#define TLS_HANDSHAKE 22
#define TLS_CLIENT_HELLO 1
#define TLS_EXT_SERVER_NAME 0
#define TLS_HOST_NAME 0
#define METHOD_MAX 20 /* the longest that is registered: UPDATEREDIRECTREF, 17 letters */

/* What is there of a length-prefixed part. end: where the part ends, which may lie behind what is
 * there; in the part nothing lies behind it. */
struct part {
	const uint8_t *data;
	size_t at, len; /* len: bytes there, from data on */
	size_t end;
};

/* n bytes of p. 0; -EBADMSG: the part has no n bytes left; -EAGAIN: they are not there yet. */
static int take(struct part *p, size_t n, const uint8_t **ret)
{
	if (n > p->end - p->at)
		return -EBADMSG;
	if (p->at > p->len || n > p->len - p->at)
		return -EAGAIN;
	*ret = p->data + p->at;
	p->at += n;
	return 0;
}

/* A number of n bytes, big-endian. */
static int take_number(struct part *p, size_t n, size_t *ret)
{
	const uint8_t *b = NULL;
	size_t v = 0;
	int err = take(p, n, &b);

	for (size_t i = 0; !err && i < n; i++)
		v = v << 8 | b[i];
	if (!err)
		*ret = v;
	return err;
}

/* A part of p, behind its length of n bytes; p stands behind it. */
static int take_part(struct part *p, size_t n, struct part *ret)
{
	size_t len = 0;
	int err = take_number(p, n, &len);

	if (err)
		return err;
	if (len > p->end - p->at)
		return -EBADMSG;
	*ret = (struct part){ .data = p->data, .at = p->at, .len = p->len, .end = p->at + len };
	p->at += len; /* maybe behind what is there: the next take() says so */
	return 0;
}

/* RFC 6066 3: a list of names, each a type and a part of two bytes' length. */
static int read_server_names(struct part *extension, struct server_name *ret)
{
	struct part list, name;
	const uint8_t *text = NULL;
	size_t type = 0;
	int err = take_part(extension, 2, &list);

	while (!err && list.at < list.end) {
		err = take_number(&list, 1, &type);
		if (!err)
			err = take_part(&list, 2, &name);
		if (err || type != TLS_HOST_NAME)
			continue;
		if (name.end == name.at || name.end - name.at > SERVER_NAME_MAX)
			return -EBADMSG;
		ret->from = SERVER_NAME_TLS;
		ret->len = name.end - name.at;
		err = take(&name, ret->len, &text);
		ret->name = text;
		return err ? err : 1;
	}
	return err;
}

static int find_extension(struct part *hello, struct server_name *ret)
{
	struct part extensions, extension;
	size_t type = 0;
	int err = take_part(hello, 2, &extensions);

	while (!err && extensions.at < extensions.end) {
		err = take_number(&extensions, 2, &type);
		if (!err)
			err = take_part(&extensions, 2, &extension);
		if (!err && type == TLS_EXT_SERVER_NAME)
			return read_server_names(&extension, ret);
	}
	return err;
}

/*
 * RFC 8446 5.1, 4.1.2. Record: type 1, version 2, length 2. Handshake: type 1, length 3. Hello:
 * version 2, random 32, session id (length 1), cipher suites (2), compression (1), extensions (2).
 */
static int find_tls(const uint8_t *data, size_t len, struct server_name *ret)
{
	struct part stream = { .data = data, .len = len, .end = SIZE_MAX }, record, hello, skipped;
	const uint8_t *head = NULL;
	int err = take(&stream, 3, &head);

	if (!err && (head[0] != TLS_HANDSHAKE || head[1] != 3))
		return 0;
	if (!err)
		err = take_part(&stream, 2, &record);
	if (!err)
		err = take(&record, 1, &head);
	if (!err && head[0] != TLS_CLIENT_HELLO)
		return 0;
	if (!err)
		err = take_part(&record, 3, &hello);
	if (!err)
		err = take(&hello, 34, &head);
	if (!err)
		err = take_part(&hello, 1, &skipped);
	if (!err)
		err = take_part(&hello, 2, &skipped);
	if (!err)
		err = take_part(&hello, 1, &skipped);
	if (!err)
		err = find_extension(&hello, ret);
	return err;
}

/* ---- HTTP ---- */

/* Letters in capitals and a blank. 1, 0, or -EAGAIN while it may yet become that. */
static int is_request(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len && i <= METHOD_MAX; i++) {
		if (data[i] == ' ')
			return i > 0;
		if ((data[i] < 'A' || data[i] > 'Z') && data[i] != '-')
			return 0;
	}
	return len > METHOD_MAX ? 0 : -EAGAIN;
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int read_host(const uint8_t *value, size_t len, struct server_name *ret)
{
	while (len && is_blank(value[0])) {
		value++;
		len--;
	}
	while (len && is_blank(value[len - 1]))
		len--;
	if (!len || len > SERVER_NAME_MAX)
		return 0;
	*ret = (struct server_name){ .from = SERVER_NAME_HTTP, .len = len, .name = value };
	return 1;
}

static int find_http(const uint8_t *data, size_t len, struct server_name *ret)
{
	static const char field[] = "host:";
	int err = is_request(data, len);

	while (err > 0) {
		const uint8_t *end = memchr(data, '\n', len);
		size_t line = end ? (size_t)(end - data) : len;

		if (!end)
			return -EAGAIN;
		if (line == 0 || (line == 1 && data[0] == '\r'))
			return 0; /* the fields are over */
		if (line >= sizeof(field) - 1 &&
		    !strncasecmp((const char *)data, field, sizeof(field) - 1))
			return read_host(data + sizeof(field) - 1, line - (sizeof(field) - 1), ret);
		data += line + 1;
		len -= line + 1;
	}
	return err;
}

int server_name_find(const uint8_t *data, size_t len, struct server_name *ret)
{
	struct server_name found = { .from = SERVER_NAME_NONE };
	int err;

	if (!len)
		return -EAGAIN;
	err = data[0] == TLS_HANDSHAKE ? find_tls(data, len, &found) : find_http(data, len, &found);
	if (err > 0)
		*ret = found;
	return err == -EBADMSG ? 0 : err;
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/proxy.h"

#include <openssl/evp.h>
#include <strings.h>

#define DEFAULT_PORT 1080 /* curl's, where the URL has none */
#define HTTP "http://"

static const char *find_variable(const char *(*get)(const char *name))
{
	static const char *const names[] = { "http_proxy", "all_proxy", "ALL_PROXY", "HTTP_PROXY" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = get(names[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

/* Percent-coded text (RFC 3986 2.1) of len bytes; a NUL in it is none of a name or a password. */
static int percent_decode(char *out, size_t n, const char *text, size_t len)
{
	size_t o = 0;

	for (size_t i = 0; i < len; i++) {
		char digits[3] = "";
		uint8_t byte = (uint8_t)text[i];

		if (text[i] == '%') {
			if (len - i < 3)
				return -EINVAL;
			memcpy(digits, text + i + 1, 2);
			if (hex_decode(&byte, 1, digits) || !byte)
				return -EINVAL;
			i += 2;
		}
		if (o >= n - 1)
			return -EINVAL;
		out[o++] = (char)byte;
	}
	out[o] = '\0';
	return 0;
}

static int parse_port(const char *text, size_t len, uint16_t *ret)
{
	char digits[8];
	uint32_t port;

	if (!len || len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (parse_u32(digits, 1, UINT16_MAX, &port))
		return -EINVAL;
	*ret = (uint16_t)port;
	return 0;
}

/* "HOST", "HOST:PORT", "[ADDRESS]" or "[ADDRESS]:PORT" */
static int parse_place(const char *text, size_t len, struct proxy *p)
{
	const char *host = text, *end = text + len, *colon;
	size_t host_len;

	if (len && *text == '[') {
		const char *close = memchr(text, ']', len);

		if (!close)
			return -EINVAL;
		host = text + 1;
		host_len = (size_t)(close - host);
		colon = close + 1 < end ? close + 1 : NULL;
		if (colon && *colon != ':')
			return -EINVAL;
	} else {
		colon = memchr(text, ':', len);
		host_len = colon ? (size_t)(colon - host) : len;
	}
	if (!host_len || host_len >= sizeof(p->host))
		return -EINVAL;
	memcpy(p->host, host, host_len);
	p->host[host_len] = '\0';
	p->port = DEFAULT_PORT;
	return colon ? parse_port(colon + 1, (size_t)(end - colon - 1), &p->port) : 0;
}

int proxy_find(const char *(*get)(const char *name), struct proxy *ret)
{
	const char *url = find_variable(get), *end, *at;
	struct proxy p = { .port = 0 };
	int err = 0;

	if (!url)
		return 0;
	if (strstr(url, "://")) {
		if (strncasecmp(url, HTTP, sizeof(HTTP) - 1) != 0)
			return -EPROTONOSUPPORT;
		url += sizeof(HTTP) - 1;
	}
	end = url + strcspn(url, "/?#");
	at = memrchr(url, '@', (size_t)(end - url));
	if (at)
		err = percent_decode(p.user, sizeof(p.user), url, (size_t)(at - url));
	if (!err) {
		url = at ? at + 1 : url;
		err = parse_place(url, (size_t)(end - url), &p);
	}
	if (err)
		return err;
	*ret = p;
	return 1;
}

/* Whether a line of hosts(5) gives this name an address that can be read. */
static bool line_names(const char *line, size_t len, const char *host, uint8_t ret[16])
{
	const char *comment = memchr(line, '#', len);
	char text[512], *save = NULL, *word;

	if (comment)
		len = (size_t)(comment - line);
	if (len >= sizeof(text))
		return false;
	memcpy(text, line, len);
	text[len] = '\0';
	word = strtok_r(text, " \t\r", &save);
	if (!word || parse_addr(word, ret))
		return false;
	while ((word = strtok_r(NULL, " \t\r", &save)))
		if (!strcasecmp(word, host))
			return true;
	return false;
}

int proxy_address(const struct proxy *p, const char *hosts, uint8_t ret[16])
{
	if (parse_addr(p->host, ret) == 0)
		return 0;
	for (const char *line = hosts; *line; line += strspn(line, "\n")) {
		size_t len = strcspn(line, "\n");

		if (line_names(line, len, p->host, ret))
			return 0;
		line += len;
	}
	return !strcasecmp(p->host, "localhost") ? parse_addr("127.0.0.1", ret) : -ENOENT;
}

void proxy_authorization(const struct proxy *p, char out[PROXY_FIELD_MAX])
{
	unsigned char coded[PROXY_USER_MAX * 4 / 3 + 8];

	out[0] = '\0';
	if (!p->user[0])
		return;
	(void)EVP_EncodeBlock(coded, (const unsigned char *)p->user, (int)strlen(p->user));
	(void)str_format(out, PROXY_FIELD_MAX, "Proxy-Authorization: Basic %s\r\n", coded);
}

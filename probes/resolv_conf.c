// SPDX-License-Identifier: Apache-2.0
#include "probes/resolv_conf.h"

#define PATH "/etc/resolv.conf"
#define FILE_MAX 65536

/* One line. A scope (%eth0) names an interface of a link-local server: such a one is left out. */
static void parse_line(const char *line, size_t len, struct resolv_conf *ret)
{
	static const char keyword[] = "nameserver";
	const size_t skip = sizeof(keyword) - 1;
	char text[ADDR_TEXT_MAX];
	size_t at = skip, n = 0;

	if (ret->n == RESOLV_CONF_SERVERS || len <= skip || memcmp(line, keyword, skip) != 0 ||
	    (line[skip] != ' ' && line[skip] != '\t'))
		return;
	while (at < len && (line[at] == ' ' || line[at] == '\t'))
		at++;
	while (at < len && !strchr(" \t\r", line[at]) && n < sizeof(text) - 1)
		text[n++] = line[at++];
	text[n] = '\0';
	if (parse_addr(text, ret->server[ret->n]) == 0)
		ret->n++;
}

void resolv_conf_parse(const char *text, size_t len, struct resolv_conf *ret)
{
	static const uint8_t own[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
	const char *end = text + len;

	memset(ret, 0, sizeof(*ret));
	for (const char *line = text, *stop; line < end; line = stop + 1) {
		stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			stop = end;
		parse_line(line, (size_t)(stop - line), ret);
	}
	if (!ret->n)
		memcpy(ret->server[ret->n++], own, sizeof(own));
}

void resolv_conf_read(struct resolv_conf *ret)
{
	cleanup_free char *text = NULL;
	size_t len = 0;

	if (read_file(PATH, FILE_MAX, &text, &len))
		len = 0;
	resolv_conf_parse(text ? text : "", len, ret);
}

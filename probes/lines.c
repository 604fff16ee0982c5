// SPDX-License-Identifier: Apache-2.0
#include "probes/lines.h"

static bool end_line(struct line *l, line_fn take, void *arg)
{
	bool more = true;

	while (l->len && l->text[l->len - 1] == '\r')
		l->len--;
	l->text[l->len] = '\0';
	if (!l->too_long)
		more = take(arg, l->text);
	l->len = 0;
	l->too_long = false;
	return more;
}

bool lines_feed(struct line *l, const char *data, size_t n, line_fn take, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] == '\n') {
			if (!end_line(l, take, arg))
				return false;
			continue;
		}
		l->too_long |= l->len == sizeof(l->text) - 1;
		if (!l->too_long)
			l->text[l->len++] = data[i];
	}
	return true;
}

bool lines_read(struct line *l, int fd, line_fn take, void *arg)
{
	char data[256];
	ssize_t n = read(fd, data, sizeof(data));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	return n > 0 && lines_feed(l, data, (size_t)n, take, arg);
}

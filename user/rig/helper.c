// SPDX-License-Identifier: Apache-2.0
#include "user/rig/helper.h"

#define READ_MAX_AT_ONCE (64 * 1024) /* of its output, before the lanes get their turn */

static void wait_for(struct helper *h, uint32_t ms)
{
	h->waited_for = true;
	h->deadline_ns = mono_ns() + ms * NSEC_PER_MSEC;
}

void helper_start(struct helper *h, const struct launch_opts *o, const char *say,
		  uint32_t start_timeout_ms)
{
	struct diag why = { .text = "" };

	*h = (struct helper){ .waited_for = false };
	if (launch_start(&h->launch, o, &why))
		return;
	(void)!write(h->launch.in, say, strlen(say));
	wait_for(h, start_timeout_ms);
}

void helper_challenge(struct helper *h, const char *line)
{
	if (!h->launch.started || h->launch.in < 0 || h->waited_for || h->alive[1].kind)
		return;
	(void)!write(h->launch.in, line, strlen(line));
	wait_for(h, HELPER_ANSWER_MAX_MS);
}

/* text: from behind the word that says so. */
static void take_ready(struct helper *h, const char *text)
{
	static const char at[] = " at=";
	char address[64];
	size_t len;

	h->waited_for = false;
	if (strncmp(text, at, sizeof(at) - 1) != 0)
		return;
	text += sizeof(at) - 1;
	len = strspn(text, "0123456789abcdef.:");
	if (len < sizeof(address)) {
		memcpy(address, text, len);
		address[len] = '\0';
		h->has_at = parse_addr(address, h->at) == 0;
	}
}

/* Each kind of line is taken once. */
static void take_line(struct helper *h)
{
	struct session_line l;
	const char *ready;

	if (!session_line_parse(h->line, h->line_len, &l)) {
		if (l.kind == SESSION_LINE_ALIVE1 && !h->alive[0].kind)
			h->alive[0] = l;
		if (l.kind == SESSION_LINE_ALIVE2 && !h->alive[1].kind) {
			h->alive[1] = l;
			h->waited_for = false;
		}
		return;
	}
	h->line[h->line_len] = '\0';
	ready = memmem(h->line, h->line_len, SESSION_LINE_READY, sizeof(SESSION_LINE_READY) - 1);
	if (ready)
		take_ready(h, ready + sizeof(SESSION_LINE_READY) - 1);
}

static void take(struct helper *h, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] != '\n') {
			if (h->line_len < sizeof(h->line) - 1)
				h->line[h->line_len++] = data[i];
			continue;
		}
		take_line(h);
		h->line_len = 0;
	}
}

void helper_step(struct helper *h)
{
	size_t total = 0;
	char data[4096];
	ssize_t n;

	while (h->waited_for && total < READ_MAX_AT_ONCE) {
		if (mono_ns() >= h->deadline_ns) {
			h->waited_for = false;
			return;
		}
		n = read(h->launch.out, data, sizeof(data));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			h->waited_for = false;
			return;
		}
		total += (size_t)n;
		take(h, data, (size_t)n);
	}
}

void helper_done(struct helper *h)
{
	launch_done(&h->launch);
	h->waited_for = false;
}

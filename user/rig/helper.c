// SPDX-License-Identifier: Apache-2.0
#include "user/rig/helper.h"

void helper_start(struct helper *h, const struct launch_opts *o, const char *say)
{
	struct diag why = { .text = "" };

	*h = (struct helper){ .deadline_ns = mono_ns() + HELPER_WAIT_MAX_MS * NSEC_PER_MSEC };
	if (launch_start(&h->launch, o, &why))
		return;
	(void)!write(h->launch.in, say, strlen(say));
	h->waited_for = true;
}

static bool take(struct helper *h, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] != '\n') {
			if (h->line_len < sizeof(h->line))
				h->line[h->line_len++] = data[i];
			continue;
		}
		if (memmem(h->line, h->line_len, HELPER_READY, sizeof(HELPER_READY) - 1))
			return true;
		h->line_len = 0;
	}
	return false;
}

bool helper_step(struct helper *h)
{
	char data[4096];
	ssize_t n;

	while (h->waited_for) {
		n = read(h->launch.out, data, sizeof(data));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && mono_ns() < h->deadline_ns)
			return true;
		if (n <= 0 || take(h, data, (size_t)n) || mono_ns() >= h->deadline_ns)
			h->waited_for = false;
	}
	return false;
}

void helper_done(struct helper *h)
{
	launch_done(&h->launch);
	h->waited_for = false;
}

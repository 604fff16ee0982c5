// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/progress.h"

#include <inttypes.h>

#include "user/record/bundle_find.h"

#define SHOW_NS (100 * NSEC_PER_MSEC)

void progress_begin(struct progress *p, const char *bundle, size_t number, size_t of)
{
	p->on = isatty(STDERR_FILENO);
	p->number = number;
	p->of = of;
	p->bytes = p->on ? bundle_size(bundle) : 0;
	progress_at(p, 0);
}

void progress_at(struct progress *p, uint64_t bytes)
{
	uint64_t now = p->on ? mono_ns() : 0;

	if (!p->on || now - p->shown_ns < SHOW_NS)
		return;
	p->shown_ns = now;
	(void)fprintf(stderr, "\r\x1b[Ksentinel: bundle %zu of %zu", p->number, p->of);
	/* as the capture says: never more than it has */
	if (p->bytes)
		(void)fprintf(
			stderr, ", %u %%",
			(unsigned int)(100.0 * (double)MIN(bytes, p->bytes) / (double)p->bytes));
}

void progress_end(const struct progress *p)
{
	if (p->on)
		(void)fputs("\r\x1b[K", stderr);
}

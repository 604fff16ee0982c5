// SPDX-License-Identifier: Apache-2.0
#include "user/decode/sequence.h"

void sequence_note(struct sequence *s, uint32_t hook, uint32_t cpu, uint64_t seq)
{
	__auto_type c = &s->cpu[snt_ring_of(hook)][cpu];

	if (!c->count || seq < c->low)
		c->low = seq;
	if (!c->count || seq > c->high)
		c->high = seq;
	c->count++;
}

uint64_t sequence_missing(const struct sequence *s)
{
	uint64_t missing = 0;

	for (size_t r = 0; r < SNT_RING_MAX; r++) {
		for (size_t i = 0; i < DECODE_CPUS_MAX; i++) {
			__auto_type c = &s->cpu[r][i];
			uint64_t above = c->high - c->low; /* numbers beside the lowest */

			if (c->count && above > c->count - 1)
				missing += above - (c->count - 1);
		}
	}
	return missing;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/decode/sequence.h"

enum ring ring_of(uint32_t hook)
{
	switch (hook) {
	case SNT_HOOK_WORLD:
		return RING_WORLD;
	case SNT_HOOK_BOUNDARY:
	case SNT_HOOK_BOX:
	case SNT_HOOK_CG_EGRESS:
	case SNT_HOOK_CG_INGRESS:
	case SNT_HOOK_SENDMSG4:
	case SNT_HOOK_SENDMSG6:
	case SNT_HOOK_SEND_LENGTH:
	case SNT_HOOK_KFREE_SKB:
		return RING_PACKET;
	default:
		return RING_LIFE;
	}
}

void sequence_note(struct sequence *s, uint32_t hook, uint32_t cpu, uint64_t seq)
{
	__auto_type c = &s->cpu[ring_of(hook)][cpu];

	if (!c->count || seq < c->low)
		c->low = seq;
	if (!c->count || seq > c->high)
		c->high = seq;
	c->count++;
}

uint64_t sequence_missing(const struct sequence *s)
{
	uint64_t missing = 0;

	for (size_t r = 0; r < RING_MAX; r++) {
		for (size_t i = 0; i < DECODE_CPUS_MAX; i++) {
			__auto_type c = &s->cpu[r][i];
			uint64_t above = c->high - c->low; /* numbers beside the lowest */

			if (c->count && above > c->count - 1)
				missing += above - (c->count - 1);
		}
	}
	return missing;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/live/carry.h"

struct carry_slot {
	uint32_t turn; /* changes with each owner; references of former ones are stale */
	uint32_t len;  /* 0: free */
	uint8_t data[CARRY_BYTES];
};

int carry_init(struct carry *c, uint32_t n)
{
	*c = (struct carry){ .n = n };
	c->slots = calloc(n, sizeof(*c->slots));
	return c->slots ? 0 : -ENOMEM;
}

void carry_done(struct carry *c)
{
	free(c->slots);
	c->slots = NULL;
}

/* The reference's own, or NULL. */
static struct carry_slot *slot_of(const struct carry *c, const struct carry_ref *ref)
{
	struct carry_slot *s;

	if (!ref->slot)
		return NULL;
	s = &c->slots[ref->slot - 1];
	return s->turn == ref->turn && s->len ? s : NULL;
}

static struct carry_slot *take_slot(struct carry *c, struct carry_ref *ref)
{
	struct carry_slot *s = &c->slots[c->next];

	*ref = (struct carry_ref){ .slot = c->next + 1, .turn = ++s->turn };
	c->next = (c->next + 1) % c->n;
	c->evicted += s->len > 0;
	return s;
}

bool carry_lost(const struct carry *c, const struct carry_ref *ref)
{
	return ref->slot && !slot_of(c, ref);
}

size_t carry_room(const struct carry *c, const struct carry_ref *ref)
{
	const struct carry_slot *s = slot_of(c, ref);

	return s ? CARRY_BYTES - s->len : CARRY_BYTES;
}

const uint8_t *carry_join(struct carry *c, struct carry_ref *ref, const uint8_t *data, size_t *len)
{
	struct carry_slot *s = slot_of(c, ref);

	if (!s)
		return data;
	memcpy(s->data + s->len, data, *len);
	s->len += (uint32_t)*len;
	*len = s->len;
	return s->data;
}

void carry_keep(struct carry *c, struct carry_ref *ref, const uint8_t *data, size_t len)
{
	struct carry_slot *s = slot_of(c, ref);

	if (!len) {
		carry_drop(c, ref);
		return;
	}
	if (!s)
		s = take_slot(c, ref);
	memmove(s->data, data, len);
	s->len = (uint32_t)len;
}

void carry_drop(struct carry *c, struct carry_ref *ref)
{
	struct carry_slot *s = slot_of(c, ref);

	if (s)
		s->len = 0;
	*ref = (struct carry_ref){ 0 };
}

// SPDX-License-Identifier: Apache-2.0
#include "user/attribute/owner_table.h"

#define FIRST_SIZE 1024

int owner_table_init(struct owner_table *t)
{
	*t = (struct owner_table){ .size = FIRST_SIZE };
	t->entries = calloc(t->size, sizeof(*t->entries));
	return t->entries ? 0 : -ENOMEM;
}

void owner_table_done(struct owner_table *t)
{
	free(t->entries);
	*t = (struct owner_table){ 0 };
}

/* Its entry, or the empty one where it belongs. */
static struct owner_entry *find(const struct owner_table *t, enum owner_kind kind, uint64_t number)
{
	uint64_t h = (number + (uint64_t)kind * 0x632be59bd9b4e019ull) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(h >> 32) & (t->size - 1);

	while (t->entries[i].kind &&
	       (t->entries[i].kind != (uint32_t)kind || t->entries[i].number != number))
		i = (i + 1) & (t->size - 1);
	return &t->entries[i];
}

static int grow(struct owner_table *t)
{
	struct owner_table bigger = { .size = t->size * 2, .used = t->used };

	if (t->used >= OWNER_TABLE_MAX)
		return -ENOSPC;
	bigger.entries = calloc(bigger.size, sizeof(*bigger.entries));
	if (!bigger.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->size; i++) {
		const struct owner_entry *e = &t->entries[i];

		if (e->kind)
			*find(&bigger, (enum owner_kind)e->kind, e->number) = *e;
	}
	free(t->entries);
	*t = bigger;
	return 0;
}

int owner_table_set(struct owner_table *t, enum owner_kind kind, uint64_t number, uint32_t lane,
		    uint32_t trial)
{
	struct owner_entry *e;
	int err;

	if (!number)
		return 0;
	e = find(t, kind, number);
	if (!e->kind && t->used >= t->size / 2) {
		err = grow(t);
		if (err < 0)
			return err;
		e = find(t, kind, number);
	}
	t->used += !e->kind;
	*e = (struct owner_entry){
		.kind = (uint32_t)kind, .lane = lane, .trial = trial, .number = number
	};
	return 0;
}

const struct owner_entry *owner_table_get(const struct owner_table *t, enum owner_kind kind,
					  uint64_t number)
{
	const struct owner_entry *e = number ? find(t, kind, number) : NULL;

	return e && e->kind ? e : NULL;
}

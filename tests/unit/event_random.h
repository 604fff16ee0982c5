/* SPDX-License-Identifier: Apache-2.0 */
/* Events with every field at random: what the tests of the capture put in and want back. */
#ifndef SENTINEL_TEST_EVENT_RANDOM_H
#define SENTINEL_TEST_EVENT_RANDOM_H

#include "tests/unit/random.h"
#include "user/record/evfields.h"

/* Values at the edges come as often as any other. */
static uint64_t random_number(void)
{
	static const uint64_t edge[] = { 0, 1, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };
	uint64_t r = random_u64();

	return r % 3 ? random_u64() : edge[r / 3 % ARRAY_SIZE(edge)];
}

static void random_bytes_at(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)random_u64();
}

static void random_text_at(char *p, size_t size)
{
	size_t len = random_u64() % size;
	bool plain = random_u64() % 2;

	for (size_t i = 0; i < len; i++)
		p[i] = plain ? (char)('a' + random_u64() % 26) : (char)(1 + random_u64() % 255);
}

static void random_field(const struct field *f, uint8_t *ev)
{
	uint8_t *p = ev + f->offset;
	uint64_t v = random_number();
	uint32_t n;

	switch ((enum field_kind)f->kind) {
	case FIELD_U32:
	case FIELD_I32:
	case FIELD_U64:
	case FIELD_I64:
		memcpy(p, &v, f->size);
		break;
	case FIELD_BOOL:
		*(bool *)p = v & 1;
		break;
	case FIELD_ENUM:
		n = (uint32_t)(random_u64() % f->names->n);
		memcpy(p, &n, sizeof(n));
		break;
	case FIELD_TEXT:
		random_text_at((char *)p, f->size);
		break;
	case FIELD_BYTES:
		n = (uint32_t)(random_u64() % (f->size + 1u));
		memcpy(ev + f->len_offset, &n, sizeof(n));
		random_bytes_at(p, n);
		break;
	case FIELD_HEX:
		random_bytes_at(p, f->size);
		break;
	case FIELD_ADDR:
		random_bytes_at(p, 16);
		if (v & 1)
			memcpy(p, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		break;
	}
}

static void random_event(struct ev *ev, enum ev_type type)
{
	const struct field_table *own = &evfields_of[type];

	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	for (uint32_t i = 0; i < evfields_common.n; i++)
		random_field(&evfields_common.fields[i], (uint8_t *)ev);
	for (uint32_t i = 0; i < own->n; i++)
		random_field(&own->fields[i], (uint8_t *)ev);
}

#endif

// SPDX-License-Identifier: Apache-2.0
/* The table behind tables of fixed size: against a plain list, key by key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "user/base/lru.h"

static const uint64_t secret[2] = { 0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull };

#define SLOTS 5

/* The keys that are there, the newest first. */
struct model {
	uint32_t keys[SLOTS];
	uint32_t n;
};

static bool model_use(struct model *m, uint32_t key)
{
	uint32_t at = 0;
	bool had;

	while (at < m->n && m->keys[at] != key)
		at++;
	had = at < m->n;
	if (!had && m->n < SLOTS)
		at = m->n++;
	else if (!had)
		at = SLOTS - 1;
	memmove(m->keys + 1, m->keys, at * sizeof(*m->keys));
	m->keys[0] = key;
	return had;
}

static uint32_t find(const struct lru *l, const uint32_t *slots, uint64_t hash, uint32_t key)
{
	uint32_t i = lru_first(l, hash);

	while (i != LRU_NONE && slots[i] != key)
		i = lru_next(l, i);
	return i;
}

/* mask: how many different hashes there are, so that chains are long, too. */
static void run_model(uint64_t mask)
{
	struct model m = { .n = 0 };
	uint32_t slots[SLOTS], random = 1;
	struct lru l;

	assert_int_equal(lru_init(&l, SLOTS, secret), 0);
	for (int i = 0; i < 20000; i++) {
		uint32_t key, at, oldest;
		uint64_t hash;
		bool full = m.n == SLOTS, evicted = false;

		random = random * 1664525u + 1013904223u;
		key = random >> 24 & 15;
		oldest = full ? m.keys[SLOTS - 1] : 0;
		hash = lru_hash(&l, &key, sizeof(key)) & mask;
		at = find(&l, slots, hash, key);
		assert_int_equal(at != LRU_NONE, model_use(&m, key));
		if (at == LRU_NONE) {
			at = lru_take(&l, hash, &evicted);
			assert_int_equal(evicted, full);
			if (evicted)
				assert_int_equal(slots[at], oldest);
			slots[at] = key;
		}
		lru_touch(&l, at);
		assert_int_equal(l.used, m.n);
	}
	lru_done(&l);
}

static void test_like_a_list(void **state unused_arg)
{
	run_model(UINT64_MAX);
	run_model(1);
	run_model(0);
}

static void test_one_slot(void **state unused_arg)
{
	bool evicted = true;
	struct lru l;

	assert_int_equal(lru_init(&l, 1, secret), 0);
	assert_int_equal(lru_take(&l, 7, &evicted), 0);
	assert_false(evicted);
	lru_touch(&l, 0);
	assert_int_equal(lru_take(&l, 8, &evicted), 0);
	assert_true(evicted);
	assert_int_equal(lru_first(&l, 7), LRU_NONE);
	assert_int_equal(lru_first(&l, 8), 0);
	lru_done(&l);
}

/* SipHash-1-3 of the first bytes of 00 01 .. 0e, under the key 00 .. 0f. Made with another program,
 * which gives the vector of the paper with the paper's number of rounds. */
static void test_hash(void **state unused_arg)
{
	static const struct {
		size_t len;
		uint64_t want;
	} cases[] = {
		{ 0, 0xabac0158050fc4dcull },  { 1, 0xc9f49bf37d57ca93ull },
		{ 2, 0x82cb9b024dc7d44dull },  { 8, 0x369095118d299a8eull },
		{ 15, 0xd320d86d2a519956ull },
	};
	uint8_t data[15];
	struct lru l;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	assert_int_equal(lru_init(&l, 1, secret), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(lru_hash(&l, data, cases[i].len), cases[i].want);
	lru_done(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_like_a_list),
		cmocka_unit_test(test_one_slot),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

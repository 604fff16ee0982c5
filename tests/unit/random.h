/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers that are the same in every run of a test, and good messages made bad with them. */
#ifndef SENTINEL_TEST_RANDOM_H
#define SENTINEL_TEST_RANDOM_H

#include "user/base/util.h"

static uint64_t random_state = 1;

/* xorshift64* */
static inline uint64_t random_u64(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

/* 0..n-1; the high bits are the better ones */
static inline uint32_t random_below(size_t n)
{
	return (uint32_t)((random_u64() >> 32) % n);
}

/* A good message with some bytes changed, and now and then cut, in memory of exactly its size, so
 * that a sanitizer sees a step beyond it. The caller frees. */
static inline uint8_t *random_mutant(const void *good, size_t len, size_t *ret_len)
{
	size_t n = random_below(4) ? len : random_below(len + 1);
	uint8_t *p = malloc(n ? n : 1);

	if (!p)
		abort();
	memcpy(p, good, n);
	for (uint32_t k = random_below(6); n && k; k--)
		p[random_below(n)] = (uint8_t)random_u64();
	*ret_len = n;
	return p;
}

#endif

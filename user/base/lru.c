// SPDX-License-Identifier: Apache-2.0
#include "user/base/lru.h"

#include <endian.h>

struct lru_node {
	uint64_t hash;
	uint32_t chain; /* next in the bucket */
	uint32_t newer, older;
};

int lru_init(struct lru *l, uint32_t size, const uint64_t secret[2])
{
	*l = (struct lru){ .size = size, .buckets_n = 1, .newest = LRU_NONE, .oldest = LRU_NONE };
	memcpy(l->secret, secret, sizeof(l->secret));
	while (l->buckets_n < size)
		l->buckets_n *= 2;
	l->nodes = calloc(size, sizeof(*l->nodes));
	l->buckets = malloc(l->buckets_n * sizeof(*l->buckets));
	if (!l->nodes || !l->buckets) {
		lru_done(l);
		return -ENOMEM;
	}
	memset(l->buckets, 0xff, l->buckets_n * sizeof(*l->buckets));
	return 0;
}

void lru_done(struct lru *l)
{
	free(l->nodes);
	free(l->buckets);
	l->nodes = NULL;
	l->buckets = NULL;
}

/* ---- SipHash (Aumasson and Bernstein 2012), one round a word and three at the end ---- */

static uint64_t rotate(uint64_t v, unsigned int by)
{
	return v << by | v >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	v[0] ^= word;
}

uint64_t lru_hash(const struct lru *l, const void *key, size_t len)
{
	uint64_t v[4] = { l->secret[0] ^ 0x736f6d6570736575ull,
			  l->secret[1] ^ 0x646f72616e646f6dull,
			  l->secret[0] ^ 0x6c7967656e657261ull,
			  l->secret[1] ^ 0x7465646279746573ull };
	const uint8_t *p = key;
	uint64_t word, last = (uint64_t)len << 56;
	size_t left = len;

	for (; left >= sizeof(word); left -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sip_word(v, le64toh(word));
	}
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)p[i] << (8 * i);
	sip_word(v, last);
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- chains ---- */

static uint32_t *bucket_of(const struct lru *l, uint64_t hash)
{
	return &l->buckets[hash & (l->buckets_n - 1)];
}

static uint32_t skip_others(const struct lru *l, uint32_t i, uint64_t hash)
{
	while (i != LRU_NONE && l->nodes[i].hash != hash)
		i = l->nodes[i].chain;
	return i;
}

uint32_t lru_first(const struct lru *l, uint64_t hash)
{
	return skip_others(l, *bucket_of(l, hash), hash);
}

uint32_t lru_next(const struct lru *l, uint32_t slot)
{
	return skip_others(l, l->nodes[slot].chain, l->nodes[slot].hash);
}

/* ---- ages ---- */

static void unlink_age(struct lru *l, uint32_t i)
{
	struct lru_node *n = &l->nodes[i];

	if (n->newer != LRU_NONE)
		l->nodes[n->newer].older = n->older;
	else
		l->newest = n->older;
	if (n->older != LRU_NONE)
		l->nodes[n->older].newer = n->newer;
	else
		l->oldest = n->newer;
}

static void link_newest(struct lru *l, uint32_t i)
{
	struct lru_node *n = &l->nodes[i];

	n->newer = LRU_NONE;
	n->older = l->newest;
	if (l->newest != LRU_NONE)
		l->nodes[l->newest].newer = i;
	else
		l->oldest = i;
	l->newest = i;
}

static uint32_t give_up_oldest(struct lru *l)
{
	uint32_t i = l->oldest;
	uint32_t *link = bucket_of(l, l->nodes[i].hash);

	while (*link != i)
		link = &l->nodes[*link].chain;
	*link = l->nodes[i].chain;
	unlink_age(l, i);
	return i;
}

uint32_t lru_take(struct lru *l, uint64_t hash, bool *evicted)
{
	uint32_t *bucket = bucket_of(l, hash);
	uint32_t i;

	*evicted = l->used == l->size;
	i = *evicted ? give_up_oldest(l) : l->used++;
	l->nodes[i].hash = hash;
	l->nodes[i].chain = *bucket;
	*bucket = i;
	link_newest(l, i);
	return i;
}

void lru_touch(struct lru *l, uint32_t slot)
{
	if (l->newest == slot)
		return;
	unlink_age(l, slot);
	link_newest(l, slot);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which slot of a fixed table a key is in, and which is given up next: the one that was used
 * longest ago. The caller has the slots themselves, an array of the same size, and compares keys.
 *
 *	hash = lru_hash(l, key, sizeof(key));
 *	for (i = lru_first(l, hash); i != LRU_NONE; i = lru_next(l, i))
 *		if (slots[i] has the key)
 *			break;
 *	if (i == LRU_NONE)
 *		i = lru_take(l, hash, &evicted);
 *	lru_touch(l, i);
 *
 * Keys are chosen by strangers, so the hash is keyed: SipHash-1-3, with a secret of the caller's.
 */
#ifndef SENTINEL_BASE_LRU_H
#define SENTINEL_BASE_LRU_H

#include "user/base/util.h"

#define LRU_NONE UINT32_MAX

struct lru_node;

struct lru {
	uint64_t secret[2];
	struct lru_node *nodes;
	uint32_t *buckets;
	uint32_t buckets_n, size;
	uint32_t used;		 /* slots that hold something: 0..used-1 */
	uint32_t newest, oldest; /* LRU_NONE where nothing is used */
};

/* size: 1 or more slots. 0 or -ENOMEM. */
int lru_init(struct lru *l, uint32_t size, const uint64_t secret[2]) must_check;
void lru_done(struct lru *l);

uint64_t lru_hash(const struct lru *l, const void *key, size_t len);

/* Slots whose keys have this hash. */
uint32_t lru_first(const struct lru *l, uint64_t hash);
uint32_t lru_next(const struct lru *l, uint32_t slot);

/* A slot for a key that is in none, the newest from now on. *evicted: it holds another's content,
 * which is out of the table already and the caller's to look at before it writes its own. */
uint32_t lru_take(struct lru *l, uint64_t hash, bool *evicted);

void lru_touch(struct lru *l, uint32_t slot);

#endif

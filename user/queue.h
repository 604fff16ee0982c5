/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the thread that drains the rings to the thread that decodes and writes: raw records in
 * blocks of 1 MiB out of a bounded pool. The reader never waits for the writer; where the pool is
 * empty a record is dropped, counted, and becomes an EV_GAP.
 *
 * The last QUEUE_RESERVE blocks are kept for records that explain others (exec, connect, ...): a
 * flood of packets can't push those out.
 */
#ifndef SENTINEL_QUEUE_H
#define SENTINEL_QUEUE_H

#include "user/base/util.h"

#define QUEUE_BLOCK_BYTES (1u << 20)
#define QUEUE_RESERVE 16

struct queue_block {
	struct queue_block *next;
	uint32_t used;
	_Alignas(8) char bytes[QUEUE_BLOCK_BYTES];
};

struct queue_item { /* in a block, 8-aligned, followed by len bytes */
	uint32_t len;
	uint32_t number; /* counts what was put, modulo 2^32: the order of arrival */
};

struct queue;

/* max_blocks bounds the memory: 1 MiB each, made when first needed. */
int queue_new(struct queue **ret, uint32_t max_blocks) must_check;
void queue_free(struct queue *q);

/* Reader's side. put() copies one record into the reader's own block: time_ns is when it was made,
 * explains whether it may use the reserve. publish() hands over what was put since, and counts one
 * drain as done. */
void queue_put(struct queue *q, const void *rec, size_t len, uint64_t time_ns, bool explains);
void queue_publish(struct queue *q);
void queue_end(struct queue *q); /* nothing follows */

/* Drains published so far; any thread. */
uint64_t queue_drains(struct queue *q);

/* Writer's side: waits up to timeout_ms, then answers the published blocks (a list, NULL when there
 * are none), how many drains they end, records dropped since the last call and the time of
 * the oldest of them. The
 * caller gives them back. Answers false at the end. */
struct queue_batch {
	struct queue_block *blocks;
	uint64_t drains; /* total since the start */
	uint64_t dropped, dropped_from_ns;
};
bool queue_take(struct queue *q, int timeout_ms, struct queue_batch *ret);
void queue_give_back(struct queue *q, struct queue_block *blocks);

#endif

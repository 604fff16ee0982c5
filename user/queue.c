// SPDX-License-Identifier: Apache-2.0
#include "user/queue.h"

#include <pthread.h>
#include <time.h>

struct queue {
	/* the reader's own */
	struct queue_block *current;
	uint32_t number;
	uint64_t dropped, dropped_from_ns;
	bool reserve_only; /* as of the last block taken */

	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct queue_block *head, **tail; /* published */
	struct queue_block *spare;
	uint32_t blocks, spares, max_blocks;
	uint64_t drains, pub_dropped, pub_dropped_from_ns;
	bool ended;
};

int queue_new(struct queue **ret, uint32_t max_blocks)
{
	struct queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;

	if (!q)
		return -ENOMEM;
	q->tail = &q->head;
	q->max_blocks = max_blocks;
	(void)pthread_mutex_init(&q->lock, NULL);
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&q->wake, &attr);
	(void)pthread_condattr_destroy(&attr);
	*ret = q;
	return 0;
}

static void free_list(struct queue_block *b)
{
	while (b) {
		struct queue_block *next = b->next;

		free(b);
		b = next;
	}
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	free(q->current);
	free_list(q->head);
	free_list(q->spare);
	(void)pthread_cond_destroy(&q->wake);
	(void)pthread_mutex_destroy(&q->lock);
	free(q);
}

static void append_current(struct queue *q)
{
	q->current->next = NULL;
	*q->tail = q->current;
	q->tail = &q->current->next;
	q->current = NULL;
}

/* A block for the reader, NULL where there is none that this record may use. */
static struct queue_block *block_get(struct queue *q, bool explains)
{
	struct queue_block *b = NULL;
	uint32_t free_blocks;

	pthread_mutex_lock(&q->lock);
	if (q->current)
		append_current(q);
	free_blocks = q->spares + q->max_blocks - q->blocks;
	q->reserve_only = free_blocks <= QUEUE_RESERVE;
	if (q->spare && (explains || !q->reserve_only)) {
		b = q->spare;
		q->spare = b->next;
		q->spares--;
	} else if (q->blocks < q->max_blocks && (explains || !q->reserve_only)) {
		b = malloc(sizeof(*b));
		q->blocks += b != NULL;
	}
	pthread_mutex_unlock(&q->lock);
	if (b)
		b->used = 0;
	return b;
}

static void drop(struct queue *q, uint64_t time_ns)
{
	if (!q->dropped++ || time_ns < q->dropped_from_ns)
		q->dropped_from_ns = time_ns;
}

void queue_put(struct queue *q, const void *rec, size_t len, uint64_t time_ns, bool explains)
{
	size_t need = sizeof(struct queue_item) + ((len + 7) & ~(size_t)7);
	struct queue_item *item;

	q->number++;
	if (need > QUEUE_BLOCK_BYTES) {
		drop(q, time_ns);
		return;
	}
	if (!q->current || QUEUE_BLOCK_BYTES - q->current->used < need)
		q->current = block_get(q, explains);
	else if (q->reserve_only && !explains) {
		drop(q, time_ns); /* the block in hand is of the reserve */
		return;
	}
	if (!q->current) {
		drop(q, time_ns);
		return;
	}
	item = (struct queue_item *)(q->current->bytes + q->current->used);
	*item = (struct queue_item){ .len = (uint32_t)len, .number = q->number };
	memcpy(item + 1, rec, len);
	q->current->used += (uint32_t)need;
}

void queue_publish(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	if (q->current && q->current->used)
		append_current(q);
	if (q->dropped && (!q->pub_dropped || q->dropped_from_ns < q->pub_dropped_from_ns))
		q->pub_dropped_from_ns = q->dropped_from_ns;
	q->pub_dropped += q->dropped;
	q->dropped = 0;
	q->drains++;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ended = true;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

uint64_t queue_drains(struct queue *q)
{
	uint64_t n;

	pthread_mutex_lock(&q->lock);
	n = q->drains;
	pthread_mutex_unlock(&q->lock);
	return n;
}

bool queue_take(struct queue *q, int timeout_ms, struct queue_batch *ret)
{
	struct timespec until;
	bool more;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)timeout_ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;

	pthread_mutex_lock(&q->lock);
	while (!q->head && !q->ended && !q->pub_dropped)
		if (pthread_cond_timedwait(&q->wake, &q->lock, &until))
			break;
	*ret = (struct queue_batch){ .blocks = q->head,
				     .drains = q->drains,
				     .dropped = q->pub_dropped,
				     .dropped_from_ns = q->pub_dropped_from_ns };
	q->head = NULL;
	q->tail = &q->head;
	q->pub_dropped = 0;
	more = ret->blocks || ret->dropped || !q->ended;
	pthread_mutex_unlock(&q->lock);
	return more;
}

void queue_give_back(struct queue *q, struct queue_block *blocks)
{
	pthread_mutex_lock(&q->lock);
	while (blocks) {
		struct queue_block *next = blocks->next;

		blocks->next = q->spare;
		q->spare = blocks;
		q->spares++;
		blocks = next;
	}
	pthread_mutex_unlock(&q->lock);
}

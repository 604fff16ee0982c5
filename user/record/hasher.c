// SPDX-License-Identifier: Apache-2.0
#include "user/record/hasher.h"

#include <pthread.h>

#include "user/record/digest.h"

/* Below, waking a thread costs more than it saves. */
#define PIECE_MIN (64u << 10)

struct hasher {
	struct digest *digest; /* the thread's alone while at < end */
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t more, idle;
	const uint8_t *at, *end; /* what is still to be hashed */
	bool stop;
	int err; /* the first */
};

static void *work(void *arg)
{
	struct hasher *h = arg;

	(void)pthread_mutex_lock(&h->lock);
	for (;;) {
		size_t len = (size_t)(h->end - h->at);
		int err;

		if (!len && h->stop)
			break;
		if (!len) {
			(void)pthread_cond_wait(&h->more, &h->lock);
			continue;
		}
		(void)pthread_mutex_unlock(&h->lock);
		err = digest_add(h->digest, h->at, len);
		(void)pthread_mutex_lock(&h->lock);
		h->err = h->err ? h->err : err;
		h->at += len;
		if (h->at == h->end)
			(void)pthread_cond_signal(&h->idle);
	}
	(void)pthread_mutex_unlock(&h->lock);
	return NULL;
}

int hasher_new(struct hasher **ret)
{
	struct hasher *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	err = digest_new(&h->digest);
	if (err) {
		free(h);
		return err;
	}
	(void)pthread_mutex_init(&h->lock, NULL);
	(void)pthread_cond_init(&h->more, NULL);
	(void)pthread_cond_init(&h->idle, NULL);
	*ret = h;
	return 0;
}

void hasher_free(struct hasher *h)
{
	if (!h)
		return;
	if (h->threaded) {
		(void)pthread_mutex_lock(&h->lock);
		h->stop = true;
		(void)pthread_cond_signal(&h->more);
		(void)pthread_mutex_unlock(&h->lock);
		(void)pthread_join(h->thread, NULL);
	}
	(void)pthread_cond_destroy(&h->idle);
	(void)pthread_cond_destroy(&h->more);
	(void)pthread_mutex_destroy(&h->lock);
	digest_free(h->digest);
	free(h);
}

int hasher_add(struct hasher *h, const uint8_t *data, size_t len)
{
	if (!h->threaded && len >= PIECE_MIN)
		h->threaded = !pthread_create(&h->thread, NULL, work, h);
	if (!h->threaded)
		return digest_add(h->digest, data, len);
	(void)pthread_mutex_lock(&h->lock);
	if (h->at == h->end)
		h->at = data;
	h->end = data + len;
	(void)pthread_cond_signal(&h->more);
	(void)pthread_mutex_unlock(&h->lock);
	return 0;
}

int hasher_wait(struct hasher *h)
{
	int err;

	(void)pthread_mutex_lock(&h->lock);
	while (h->at != h->end)
		(void)pthread_cond_wait(&h->idle, &h->lock);
	err = h->err;
	(void)pthread_mutex_unlock(&h->lock);
	return err;
}

int hasher_now(struct hasher *h, uint8_t ret[EV_DIGEST_BYTES])
{
	int err = hasher_wait(h);

	return err ? err : digest_now(h->digest, ret);
}

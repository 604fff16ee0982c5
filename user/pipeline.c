// SPDX-License-Identifier: Apache-2.0
#include "user/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>

#include "user/attribute/attribute.h"
#include "user/base/log.h"
#include "user/decode/decode.h"
#include "user/judge/correlate.h"
#include "user/queue.h"
#include "user/record/capture.h"

#define TICK_MS 2	     /* of the reader: prototype.md, +150 instead of +450 ns a packet */
#define QUEUE_BLOCKS_MAX 256 /* 256 MiB: 1.7 million records a second for most of a second */

struct pipeline {
	struct sense *sense;
	struct queue *queue;
	pthread_t reader, writer;
	bool reader_runs, writer_runs;
	atomic_bool stop_reader;
	_Atomic uint64_t window_end_ns;
	_Atomic int error;

	/* the run's log, under the lock */
	pthread_mutex_t lock;
	pthread_cond_t synced;
	struct ev *log;
	uint32_t log_n, log_cap;
	uint64_t log_done, log_total; /* entries accepted; entries ever added */
	uint64_t drains_done;	      /* drains whose records are accepted */

	/* the writer's own */
	struct decode *decode;
	struct attribute attribute;
	struct capture_writer *capture;
	struct correlate *correlate;
	struct decode_stats stats; /* as of the last gap reported */
	const struct queue_item **sorted;
	uint32_t sorted_n, sorted_cap;
};

/* ---- writer ---- */

static void fail(struct pipeline *p, int err)
{
	int none = 0;

	if (err)
		(void)atomic_compare_exchange_strong(&p->error, &none, err);
}

static int judge_accepted(void *arg, const struct ev *ev)
{
	struct pipeline *p = arg;

	return correlate_push(p->correlate, ev);
}

static void accept_ev(struct pipeline *p, const struct ev *ev)
{
	if (!atomic_load(&p->error))
		fail(p, capture_put(p->capture, ev, judge_accepted, p));
}

static int decoded(void *arg, const struct ev *borrowed)
{
	struct pipeline *p = arg;
	struct ev ev = *borrowed;

	ev.owner = attribute_push(&p->attribute, &ev);
	accept_ev(p, &ev);
	return 0;
}

static void accept_log(struct pipeline *p, const struct ev *ev)
{
	if (ev->type == EV_LANE)
		fail(p, attribute_lane(&p->attribute, &ev->lane_made));
	if (ev->type == EV_TRIAL)
		fail(p, attribute_trial(&p->attribute, &ev->trial_new));
	accept_ev(p, ev);
}

/* Takes the log as it is now, before the records of the batch in hand: so an entry comes before
 * every record that was made after it was logged. */
static void drain_log(struct pipeline *p)
{
	cleanup_free struct ev *log = NULL;
	uint32_t n;

	pthread_mutex_lock(&p->lock);
	log = TAKE_PTR(p->log);
	n = p->log_n;
	p->log_n = p->log_cap = 0;
	pthread_mutex_unlock(&p->lock);
	for (uint32_t i = 0; i < n; i++)
		accept_log(p, &log[i]);
	pthread_mutex_lock(&p->lock);
	p->log_done += n;
	pthread_mutex_unlock(&p->lock);
}

static uint64_t item_time(const struct queue_item *item)
{
	return item->len >= sizeof(struct snt_hdr) ? ((const struct snt_hdr *)(item + 1))->ktime_ns
						   : 0;
}

/* By time; what has one time keeps its order of arrival, since the chunks of a packet follow each
 * other. */
static int by_time(const void *a, const void *b)
{
	const struct queue_item *x = *(const struct queue_item *const *)a;
	const struct queue_item *y = *(const struct queue_item *const *)b;
	uint64_t tx = item_time(x), ty = item_time(y);

	if (tx != ty)
		return tx < ty ? -1 : 1;
	return (int32_t)(x->number - y->number);
}

static bool sort_room(struct pipeline *p)
{
	const struct queue_item **more;
	uint32_t cap = p->sorted_cap ? 2 * p->sorted_cap : 4096;

	if (p->sorted_n < p->sorted_cap)
		return true;
	more = reallocarray(p->sorted, cap, sizeof(*more));
	if (!more)
		return false;
	p->sorted = more;
	p->sorted_cap = cap;
	return true;
}

static void sort_batch(struct pipeline *p, struct queue_block *blocks)
{
	p->sorted_n = 0;
	for (struct queue_block *b = blocks; b; b = b->next) {
		uint32_t at = 0;

		while (at < b->used) {
			const struct queue_item *item = (const struct queue_item *)(b->bytes + at);

			if (!sort_room(p)) {
				fail(p, -ENOMEM);
				return;
			}
			p->sorted[p->sorted_n++] = item;
			at += (uint32_t)sizeof(*item) + ((item->len + 7) & ~7u);
		}
	}
	if (p->sorted_n)
		qsort(p->sorted, p->sorted_n, sizeof(*p->sorted), by_time);
}

static void log_gap(struct pipeline *p, const char *stage, uint64_t count, uint64_t from_ns)
{
	struct ev ev = { .type = EV_GAP, .time_ns = mono_ns() };

	if (!count)
		return;
	(void)str_copy(ev.gap.stage, sizeof(ev.gap.stage), stage);
	ev.gap.count = count;
	ev.gap.from_ns = from_ns ? from_ns : ev.time_ns;
	accept_ev(p, &ev);
}

/* What decode could not make an event of is lost to the judge: say so where it stands. */
static void report_decode_loss(struct pipeline *p, uint64_t from_ns)
{
	struct decode_stats now;

	decode_stats(p->decode, &now);
	log_gap(p, "decode", now.malformed + now.unknown - p->stats.malformed - p->stats.unknown,
		from_ns);
	p->stats = now;
}

static void write_batch(struct pipeline *p, const struct queue_batch *batch)
{
	uint64_t from_ns;

	drain_log(p);
	log_gap(p, "queue", batch->dropped, batch->dropped_from_ns);
	sort_batch(p, batch->blocks);
	from_ns = p->sorted_n ? item_time(p->sorted[0]) : 0;
	for (uint32_t i = 0; i < p->sorted_n; i++) {
		int err = decode_push(p->decode, p->sorted[i] + 1, p->sorted[i]->len);

		if (err != -EBADMSG)
			fail(p, err);
	}
	report_decode_loss(p, from_ns);
	if (!atomic_load(&p->error))
		fail(p, capture_tick(p->capture, mono_ns(), judge_accepted, p));
	atomic_store(&p->window_end_ns, correlate_window_end(p->correlate));
}

static void *writer_main(void *arg)
{
	struct pipeline *p = arg;
	struct queue_batch batch;

	while (queue_take(p->queue, TICK_MS, &batch)) {
		write_batch(p, &batch);
		queue_give_back(p->queue, batch.blocks);
		pthread_mutex_lock(&p->lock);
		p->drains_done = batch.drains;
		pthread_cond_broadcast(&p->synced);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

/* ---- reader ---- */

/* What explains others must not be pushed out by a flood of what is explained. */
static bool explains(const struct snt_hdr *h)
{
	return h->type != SNT_EV_PACKET && h->type != SNT_EV_DROP && h->type != SNT_EV_SEND;
}

static void from_ring(void *arg, const void *rec, size_t len)
{
	const struct snt_hdr *h = rec;

	if (len < sizeof(*h))
		queue_put(arg, rec, len, mono_ns(), false); /* decode counts it as malformed */
	else
		queue_put(arg, rec, len, h->ktime_ns, explains(h));
}

static void *reader_main(void *arg)
{
	struct pipeline *p = arg;
	bool last;

	do {
		last = atomic_load(&p->stop_reader);
		if (!last)
			(void)!sense_wait(p->sense, TICK_MS);
		(void)sense_drain(p->sense, from_ring, p->queue);
		queue_publish(p->queue);
	} while (!last);
	queue_end(p->queue);
	return NULL;
}

/* ---- life ---- */

static const char *reason_name(void *arg, uint32_t reason)
{
	return sense_drop_reason(arg, reason);
}

static bool symbol(void *arg, uint64_t addr, char ret[64])
{
	return sense_symbol(arg, addr, ret);
}

static int build(struct pipeline *p, const char *dir, const struct ev *begin, struct diag *d)
{
	struct decode_opts names = { .reason_name = reason_name,
				     .symbol = symbol,
				     .names_arg = p->sense };
	int err;

	err = queue_new(&p->queue, QUEUE_BLOCKS_MAX);
	if (!err)
		err = decode_new(&p->decode, &names, decoded, p);
	if (!err)
		err = attribute_init(&p->attribute);
	if (!err)
		err = correlate_new(&p->correlate);
	if (!err)
		err = capture_create(&p->capture, dir, d);
	if (!err)
		err = capture_put(p->capture, begin, judge_accepted, p);
	return err;
}

int pipeline_new(struct pipeline **ret, struct sense *s, const char *dir, const struct ev *begin,
		 struct diag *d)
{
	struct pipeline *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->sense = s;
	(void)pthread_mutex_init(&p->lock, NULL);
	(void)pthread_cond_init(&p->synced, NULL);
	(void)diag_set(d, 0, dir, 0, 0, "can't set up the record of the run");
	err = build(p, dir, begin, d);
	if (err) {
		pipeline_free(p);
		return err;
	}
	*ret = p;
	return 0;
}

int pipeline_start(struct pipeline *p)
{
	int err = pthread_create(&p->writer, NULL, writer_main, p);

	if (err)
		return -err;
	p->writer_runs = true;
	err = pthread_create(&p->reader, NULL, reader_main, p);
	p->reader_runs = !err;
	if (err)
		queue_end(p->queue); /* the writer has nobody to wait for */
	return -err;
}

int pipeline_log(struct pipeline *p, const struct ev *ev)
{
	int err = 0;

	pthread_mutex_lock(&p->lock);
	if (p->log_n == p->log_cap) {
		uint32_t cap = p->log_cap ? 2 * p->log_cap : 16;
		struct ev *more = reallocarray(p->log, cap, sizeof(*more));

		if (more) {
			p->log = more;
			p->log_cap = cap;
		} else {
			err = -ENOMEM;
		}
	}
	if (!err) {
		p->log[p->log_n] = *ev;
		if (!ev->time_ns)
			p->log[p->log_n].time_ns = mono_ns();
		p->log_n++;
		p->log_total++;
	}
	pthread_mutex_unlock(&p->lock);
	return err;
}

uint64_t pipeline_log_waiting(struct pipeline *p)
{
	uint64_t n;

	pthread_mutex_lock(&p->lock);
	n = p->log_total - p->log_done;
	pthread_mutex_unlock(&p->lock);
	return n;
}

void pipeline_sync(struct pipeline *p)
{
	uint64_t log, drains;

	/* The drain in progress may have passed a ring already: the one after it has not. */
	drains = queue_drains(p->queue) + 2;
	pthread_mutex_lock(&p->lock);
	log = p->log_total;
	while ((p->log_done < log || p->drains_done < drains) && p->reader_runs && p->writer_runs)
		pthread_cond_wait(&p->synced, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

uint64_t pipeline_window_end(const struct pipeline *p)
{
	return atomic_load(&p->window_end_ns);
}

int pipeline_error(const struct pipeline *p)
{
	return atomic_load(&p->error);
}

void pipeline_drain(struct pipeline *p)
{
	if (p->reader_runs) {
		atomic_store(&p->stop_reader, true);
		(void)pthread_join(p->reader, NULL);
		p->reader_runs = false;
	}
	if (p->writer_runs) {
		(void)pthread_join(p->writer, NULL);
		p->writer_runs = false;
	}
}

uint64_t pipeline_missing(const struct pipeline *p)
{
	struct decode_stats s;

	decode_stats(p->decode, &s);
	return s.missing;
}

int pipeline_finish(struct pipeline *p, const struct ev *end, struct run_result *ret)
{
	int err;

	pipeline_drain(p);
	fail(p, decode_flush(p->decode));
	report_decode_loss(p, 0);
	drain_log(p);
	accept_ev(p, end);
	err = capture_close(p->capture, NULL);
	fail(p, err);
	if (atomic_load(&p->error))
		return atomic_load(&p->error);
	return correlate_finish(p->correlate, EVIDENCE_WHOLE, ret);
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	pipeline_drain(p);
	capture_free(p->capture);
	correlate_free(p->correlate);
	attribute_done(&p->attribute);
	decode_free(p->decode);
	queue_free(p->queue);
	free(p->sorted);
	free(p->log);
	(void)pthread_cond_destroy(&p->synced);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

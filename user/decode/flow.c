// SPDX-License-Identifier: Apache-2.0
#include "user/decode/flow.h"

#define NONE UINT32_MAX

struct flow_key {
	uint32_t hook, lane, ifindex;
	uint16_t sport, dport;
	uint8_t src[16], dst[16];
};
_Static_assert(sizeof(struct flow_key) == 48, "no padding: keys are compared and hashed as bytes");

struct flow {
	struct flow_key key;
	uint32_t chain;	       /* next in the bucket */
	uint32_t newer, older; /* neighbours in use */
	bool busy;
	bool synced;	/* next is known */
	bool has_isn;	/* ... from a SYN, else from the first segment that was seen */
	bool carried;	/* it had payload */
	bool closed;	/* FIN or RST was seen */
	uint32_t isn;	/* of the SYN; else number of the first byte that was seen */
	uint32_t next;	/* number of the byte expected */
	uint32_t early; /* blocks of bytes that came too early, in order of their numbers */
	uint32_t early_n;
	uint64_t state[STREAM_STATE_MAX / sizeof(uint64_t)];
};

struct block {
	uint32_t link, seq, len;
	uint8_t data[STREAM_BLOCK];
};

/* RFC 9293 3.4: numbers are compared modulo 2^32. */
static int32_t seq_diff(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

int flows_init(struct flows *f, const struct stream_opts *o, struct stream_stats *stats, flow_fn fn,
	       void *arg)
{
	*f = (struct flows){
		.flows_n = o->flows,
		.flow_blocks = o->flow_blocks,
		.newest = NONE,
		.oldest = 0,
		.stats = stats,
		.fn = fn,
		.arg = arg,
		.buckets_n = 1,
	};
	while (f->buckets_n < o->flows)
		f->buckets_n *= 2;
	f->flows = calloc(o->flows, sizeof(*f->flows));
	f->buckets = calloc(f->buckets_n, sizeof(*f->buckets));
	f->blocks = calloc(o->blocks, sizeof(*f->blocks));
	if (!f->flows || !f->buckets || !f->blocks) {
		flows_done(f);
		return -ENOMEM;
	}
	memset(f->buckets, 0xff, f->buckets_n * sizeof(*f->buckets));
	for (uint32_t i = 0; i < o->flows; i++) { /* all in one line, idle */
		f->flows[i].newer = i + 1 < o->flows ? i + 1 : NONE;
		f->flows[i].older = i ? i - 1 : NONE;
	}
	f->newest = o->flows - 1;
	for (uint32_t i = 0; i < o->blocks; i++)
		f->blocks[i].link = i + 1 < o->blocks ? i + 1 : NONE;
	return 0;
}

void flows_done(struct flows *f)
{
	free(f->flows);
	free(f->buckets);
	free(f->blocks);
	f->flows = NULL;
	f->buckets = NULL;
	f->blocks = NULL;
}

/* ---- the table ---- */

static void unlink_age(struct flows *f, struct flow *w)
{
	if (w->newer != NONE)
		f->flows[w->newer].older = w->older;
	else
		f->newest = w->older;
	if (w->older != NONE)
		f->flows[w->older].newer = w->newer;
	else
		f->oldest = w->newer;
}

static void make_newest(struct flows *f, struct flow *w)
{
	uint32_t i = (uint32_t)(w - f->flows);

	if (f->newest == i)
		return;
	unlink_age(f, w);
	w->newer = NONE;
	w->older = f->newest;
	f->flows[f->newest].newer = i;
	f->newest = i;
}

/* What is over makes room first. */
static void make_oldest(struct flows *f, struct flow *w)
{
	uint32_t i = (uint32_t)(w - f->flows);

	if (f->oldest == i)
		return;
	unlink_age(f, w);
	w->older = NONE;
	w->newer = f->oldest;
	f->flows[f->oldest].older = i;
	f->oldest = i;
}

static uint32_t *bucket_of(struct flows *f, const struct flow_key *key)
{
	uint64_t words[sizeof(*key) / 8], h = 0x9e3779b97f4a7c15ull;

	memcpy(words, key, sizeof(*key));
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		h = (h ^ words[i]) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	return &f->buckets[h & (f->buckets_n - 1)];
}

static void free_early(struct flows *f, struct flow *w)
{
	while (w->early_n) {
		struct block *b = &f->blocks[w->early];
		uint32_t next = b->link;

		b->link = f->free_block;
		f->free_block = w->early;
		w->early = next;
		w->early_n--;
	}
}

static void evict(struct flows *f, struct flow *w)
{
	uint32_t *link = bucket_of(f, &w->key);

	while (&f->flows[*link] != w)
		link = &f->flows[*link].chain;
	*link = w->chain;
	if (w->carried && (!w->closed || w->early_n))
		f->stats->flows_evicted++;
	free_early(f, w);
}

static struct flow *get_flow(struct flows *f, const struct flow_key *key)
{
	uint32_t *bucket = bucket_of(f, key);
	struct flow *w;

	for (uint32_t i = *bucket; i != NONE; i = w->chain) {
		w = &f->flows[i];
		if (memcmp(&w->key, key, sizeof(*key)) == 0)
			return w;
	}
	w = &f->flows[f->oldest];
	if (w->busy)
		evict(f, w);
	memset(w->state, 0, sizeof(w->state));
	w->key = *key;
	w->busy = true;
	w->synced = w->has_isn = w->carried = w->closed = false;
	w->early_n = 0;
	w->chain = *bucket;
	*bucket = (uint32_t)(w - f->flows);
	return w;
}

/* ---- a stream ---- */

/* From here on the stream is another one: what was carried along means nothing any more. */
static void jump(struct flow *w, uint32_t seq)
{
	w->next = seq;
	memset(w->state, 0, sizeof(w->state));
}

/* Bytes that begin at or before what is expected; wire is how many there were before the record
 * was cut. */
static void deliver(struct flows *f, struct flow *w, uint32_t seq, const uint8_t *data,
		    uint32_t len, uint32_t wire)
{
	uint32_t old = w->next - seq;

	if (old >= wire) {
		f->stats->duplicate_bytes += wire;
		return;
	}
	f->stats->duplicate_bytes += old;
	w->carried = true;
	if (old < len)
		f->fn(f->arg, data + old, len - old, w->state);
	w->next = seq + wire;
	if (len < wire)
		jump(w, w->next);
}

static void deliver_early(struct flows *f, struct flow *w)
{
	while (w->early_n) {
		uint32_t i = w->early;
		struct block *b = &f->blocks[i];

		if (seq_diff(b->seq, w->next) > 0)
			return;
		deliver(f, w, b->seq, b->data, b->len, b->len);
		w->early = b->link;
		w->early_n--;
		b->link = f->free_block;
		f->free_block = i;
	}
}

/* False where no block is to be had. */
static bool keep_block(struct flows *f, struct flow *w, uint32_t seq, const uint8_t *data,
		       uint32_t len)
{
	uint32_t *link = &w->early;
	uint32_t i = f->free_block;
	struct block *b;

	for (uint32_t n = 0; n < w->early_n; n++) {
		b = &f->blocks[*link];
		if (seq_diff(b->seq, seq) > 0)
			break;
		if (b->seq == seq && b->len >= len) {
			f->stats->duplicate_bytes += len;
			return true;
		}
		link = &b->link;
	}
	if (i == NONE || w->early_n == f->flow_blocks)
		return false;
	b = &f->blocks[i];
	f->free_block = b->link;
	b->link = *link;
	b->seq = seq;
	b->len = len;
	memcpy(b->data, data, len);
	*link = i;
	w->early_n++;
	return true;
}

/* What is missing is given up: on with the first bytes that wait behind it, or with seq. */
static void skip_hole(struct flows *f, struct flow *w, uint32_t seq)
{
	uint32_t to = seq;

	if (w->early_n && seq_diff(f->blocks[w->early].seq, seq) < 0)
		to = f->blocks[w->early].seq;
	f->stats->holes++;
	jump(w, to);
	deliver_early(f, w);
}

/* Payload from number seq on. Kept while a hole lies before it and there is room, else the hole is
 * skipped; each skip moves on or empties a block, so this ends. */
static void take_bytes(struct flows *f, struct flow *w, uint32_t seq, const uint8_t *data,
		       uint32_t len, uint32_t wire)
{
	while (seq_diff(seq, w->next) > 0) {
		uint32_t n = MIN(len, (uint32_t)STREAM_BLOCK);

		if (!len)
			return;
		if (!keep_block(f, w, seq, data, n)) {
			skip_hole(f, w, seq);
			continue;
		}
		seq += n;
		data += n;
		len -= n;
		wire -= n;
	}
	if (wire)
		deliver(f, w, seq, data, len, wire);
	deliver_early(f, w);
}

/* A SYN says where the stream begins: again (a retransmission), late, or anew. */
static void take_syn(struct flows *f, struct flow *w, uint32_t isn)
{
	if (w->synced && w->has_isn && w->isn == isn)
		return;
	if (w->synced && !w->has_isn && w->isn == isn + 1) {
		w->has_isn = true;
		w->isn = isn;
		return;
	}
	if (w->synced) {
		if (w->carried && !w->closed)
			f->stats->restarts++;
		free_early(f, w);
	}
	w->synced = w->has_isn = true;
	w->carried = w->closed = false;
	w->isn = isn;
	jump(w, isn + 1);
}

/* The beginning was not seen: what lies before the first byte that was, came too late. */
static void check_start(struct flows *f, struct flow *w, uint32_t seq)
{
	if (!w->synced) {
		w->synced = true;
		w->isn = seq;
		jump(w, seq);
	} else if (!w->has_isn && seq_diff(seq, w->isn) < 0) {
		w->isn = seq;
		f->stats->holes++;
	}
}

void flows_push(struct flows *f, const struct ev *ev, const struct packet *p)
{
	struct flow_key key = {
		.hook = ev->hook,
		.lane = ev->lane,
		.ifindex = ev->packet.ifindex,
		.sport = p->sport,
		.dport = p->dport,
	};
	uint32_t seq = p->tcp_seq;
	struct flow *w;

	memcpy(key.src, p->src, sizeof(key.src));
	memcpy(key.dst, p->dst, sizeof(key.dst));
	w = get_flow(f, &key);
	make_newest(f, w);
	if (p->tcp_flags & TCP_FLAG_SYN) {
		take_syn(f, w, seq);
		seq++; /* the SYN has a number of its own */
	}
	if (p->wire_len) {
		check_start(f, w, seq);
		take_bytes(f, w, seq, p->payload, p->payload_len, p->wire_len);
	}
	if (p->tcp_flags & (TCP_FLAG_FIN | TCP_FLAG_RST))
		w->closed = true;
	if (w->closed && !w->early_n)
		make_oldest(f, w);
}

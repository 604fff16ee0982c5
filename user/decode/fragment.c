// SPDX-License-Identifier: Apache-2.0
#include "user/decode/fragment.h"

#include <sys/socket.h>

#define FRAGMENT_UNIT 8 /* offsets are told in these */
#define FRAGMENT_BYTES_MAX 65536
#define FRAGMENT_UNITS_MAX (FRAGMENT_BYTES_MAX / FRAGMENT_UNIT)

struct fragment_key {
	uint32_t hook, lane, ifindex, family;
	uint32_t id, protocol;
	uint8_t src[16], dst[16];
};
_Static_assert(sizeof(struct fragment_key) == 56, "no padding: keys are compared as bytes");

struct fragment_queue {
	bool busy;
	struct fragment_key key;
	uint64_t first_ns;
	uint32_t total; /* bytes of the whole; 0 = the last part is not there yet */
	uint32_t end;	/* of what is there */
	uint32_t units; /* that are there */
	struct packet first;
	uint64_t have[FRAGMENT_UNITS_MAX / 64];
	uint8_t data[FRAGMENT_BYTES_MAX];
};

int fragments_init(struct fragments *f, uint32_t n, uint64_t wait_ns, struct stream_stats *stats)
{
	*f = (struct fragments){ .n = n, .wait_ns = wait_ns, .stats = stats };
	f->queues = calloc(n, sizeof(*f->queues));
	return f->queues ? 0 : -ENOMEM;
}

void fragments_done(struct fragments *f)
{
	free(f->queues);
	f->queues = NULL;
}

static struct fragment_key key_of(const struct ev *ev, const struct packet *p)
{
	struct fragment_key k = {
		.hook = ev->hook,
		.lane = ev->lane,
		.ifindex = ev->packet.ifindex,
		.family = p->family,
		.id = p->frag_id,
		/* RFC 791: id, addresses and protocol; RFC 8200: id and addresses */
		.protocol = p->family == AF_INET ? p->protocol : 0,
	};

	memcpy(k.src, p->src, sizeof(k.src));
	memcpy(k.dst, p->dst, sizeof(k.dst));
	return k;
}

static void expire(struct fragments *f, uint64_t now_ns)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct fragment_queue *q = &f->queues[i];

		if (!q->busy || now_ns < q->first_ns || now_ns - q->first_ns <= f->wait_ns)
			continue;
		q->busy = false;
		f->stats->fragments_expired++;
	}
}

/* Its own queue, else a free one, else the oldest. */
static struct fragment_queue *get_queue(struct fragments *f, const struct fragment_key *key,
					uint64_t now_ns)
{
	struct fragment_queue *pick = &f->queues[0];

	for (uint32_t i = 0; i < f->n; i++) {
		struct fragment_queue *q = &f->queues[i];

		if (q->busy && memcmp(&q->key, key, sizeof(*key)) == 0)
			return q;
		if (pick->busy && (!q->busy || q->first_ns < pick->first_ns))
			pick = q;
	}
	if (pick->busy)
		f->stats->fragments_evicted++;
	memset(pick, 0, offsetof(struct fragment_queue, data));
	pick->busy = true;
	pick->key = *key;
	pick->first_ns = now_ns;
	return pick;
}

static bool has_unit(const struct fragment_queue *q, uint32_t u)
{
	return q->have[u / 64] >> (u % 64) & 1;
}

/* Units of [from, to) that are there already. */
static uint32_t count_units(const struct fragment_queue *q, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t u = from; u < to; u++)
		n += has_unit(q, u);
	return n;
}

/* RFC 8200 4.5: all parts but the last are multiples of 8 bytes, and nothing lies behind the last.
 */
static bool fits(const struct fragment_queue *q, const struct packet *part)
{
	uint32_t end = part->frag_offset + part->l4_len;

	if (part->truncated || !part->l4_len || end > FRAGMENT_BYTES_MAX - 1)
		return false;
	if (part->frag_more)
		return part->l4_len % FRAGMENT_UNIT == 0 && (!q->total || end <= q->total);
	return q->total ? end == q->total : end >= q->end;
}

/* False where it overlaps another part. Linux (net/ipv4/inet_fragment.c) takes a copy of what is
 * there already, and throws the whole packet away for any other overlap, as RFC 5722 asks. */
static bool add(struct fragments *f, struct fragment_queue *q, const struct packet *part)
{
	uint32_t from = part->frag_offset / FRAGMENT_UNIT;
	uint32_t end = part->frag_offset + part->l4_len;
	uint32_t to = (end + FRAGMENT_UNIT - 1) / FRAGMENT_UNIT;
	uint32_t there = count_units(q, from, to);

	if (there) {
		f->stats->duplicate_bytes += part->l4_len;
		return there == to - from &&
		       memcmp(q->data + part->frag_offset, part->l4, part->l4_len) == 0;
	}
	memcpy(q->data + part->frag_offset, part->l4, part->l4_len);
	for (uint32_t u = from; u < to; u++)
		q->have[u / 64] |= 1ull << (u % 64);
	q->units += to - from;
	q->end = MAX(q->end, end);
	if (!part->frag_more)
		q->total = end;
	if (!part->frag_offset)
		q->first = *part;
	return true;
}

static bool is_complete(const struct fragment_queue *q)
{
	return q->total && q->units == (q->total + FRAGMENT_UNIT - 1) / FRAGMENT_UNIT;
}

bool fragments_push(struct fragments *f, const struct ev *ev, const struct packet *part,
		    struct packet *whole)
{
	struct fragment_key key = key_of(ev, part);
	struct fragment_queue *q;

	expire(f, ev->time_ns);
	q = get_queue(f, &key, ev->time_ns);
	if (!fits(q, part) || !add(f, q, part)) {
		f->stats->fragments_refused++;
		return false;
	}
	if (!is_complete(q))
		return false;
	q->busy = false;
	*whole = q->first; /* of IPv6 it is the first part's next header that counts */
	whole->l4 = q->data;
	whole->l4_len = q->total;
	return packet_parse_l4(whole) == 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/decode/assemble.h"

#include "user/decode/decode.h"

#define PACKET_BYTES_MAX (SNT_PKT_CHUNKS_MAX * SNT_PKT_DATA_LARGE)

struct assembly {
	bool busy;
	bool hole; /* what comes now has no place: only the end of the packet is waited for */
	uint64_t pkt_id;
	uint64_t last_ns; /* of its youngest chunk */
	struct ev ev;	  /* of its oldest chunk; packet.data_len = how much of data is filled */
	uint8_t data[PACKET_BYTES_MAX];
};

int assemble_init(struct assemble *a, ev_sink_fn sink, void *arg)
{
	*a = (struct assemble){ .sink = sink, .arg = arg };
	a->slots = calloc(DECODE_PACKETS_MAX, sizeof(*a->slots));
	return a->slots ? 0 : -ENOMEM;
}

void assemble_done(struct assemble *a)
{
	free(a->slots);
	a->slots = NULL;
}

static int finish(struct assemble *a, struct assembly *s)
{
	struct ev_packet *p = &s->ev.packet;

	s->busy = false;
	a->busy--;
	if (s->hole || p->data_len < p->len)
		s->ev.flags |= SNT_F_TRUNCATED;
	s->ev.flags &= ~SNT_F_MORE;
	p->data = s->data;
	return a->sink(a->arg, &s->ev);
}

static int finish_cut(struct assemble *a, struct assembly *s)
{
	s->hole = true;
	a->cut++;
	return finish(a, s);
}

static struct assembly *find(struct assemble *a, const struct ev *ev)
{
	for (size_t i = 0; a->busy && i < DECODE_PACKETS_MAX; i++) {
		struct assembly *s = &a->slots[i];

		if (s->busy && s->ev.hook == ev->hook && s->ev.cpu == ev->cpu)
			return s;
	}
	return NULL;
}

/* A free slot, else that of the packet that heard nothing for longest. */
static int take_slot(struct assemble *a, struct assembly **ret)
{
	struct assembly *oldest = &a->slots[0];
	int err = 0;

	for (size_t i = 0; i < DECODE_PACKETS_MAX; i++) {
		struct assembly *s = &a->slots[i];

		if (!s->busy) {
			*ret = s;
			return 0;
		}
		if (s->last_ns < oldest->last_ns)
			oldest = s;
	}
	a->evicted++;
	err = finish_cut(a, oldest);
	*ret = oldest;
	return err;
}

static void begin(struct assemble *a, struct assembly *s, const struct ev *ev, uint64_t pkt_id)
{
	s->busy = true;
	s->hole = false;
	s->pkt_id = pkt_id;
	s->ev = *ev;
	s->ev.packet.data_len = 0;
	a->busy++;
}

static void add(struct assembly *s, const struct ev *ev, uint32_t offset)
{
	struct ev_packet *p = &s->ev.packet;

	s->last_ns = ev->time_ns;
	s->ev.flags |= ev->flags & (SNT_F_TRUNCATED | SNT_F_PARTIAL);
	if (s->hole || offset != p->data_len || ev->packet.data_len > PACKET_BYTES_MAX - offset) {
		s->hole = true;
		return;
	}
	memcpy(s->data + offset, ev->packet.data, ev->packet.data_len);
	p->data_len += ev->packet.data_len;
}

int assemble_push(struct assemble *a, const struct ev *ev, uint64_t pkt_id, uint32_t offset)
{
	struct assembly *s = find(a, ev);
	int err = 0, err2;

	if (s && s->pkt_id != pkt_id) {
		err = finish_cut(a, s);
		s = NULL;
	}
	if (!s) {
		err2 = take_slot(a, &s);
		err = err ? err : err2;
		begin(a, s, ev, pkt_id);
	}
	add(s, ev, offset);
	if (ev->flags & SNT_F_MORE)
		return err;
	err2 = s->hole ? finish_cut(a, s) : finish(a, s);
	return err ? err : err2;
}

int assemble_expire(struct assemble *a, uint32_t hook, uint64_t now_ns,
		    bool (*same_ring)(uint32_t, uint32_t))
{
	int err = 0, err2;

	for (size_t i = 0; a->busy && i < DECODE_PACKETS_MAX; i++) {
		struct assembly *s = &a->slots[i];

		if (!s->busy || !same_ring(s->ev.hook, hook) || now_ns < s->last_ns ||
		    now_ns - s->last_ns <= DECODE_WAIT_NS)
			continue;
		err2 = finish_cut(a, s);
		err = err ? err : err2;
	}
	return err;
}

int assemble_flush(struct assemble *a)
{
	int err = 0, err2;

	for (size_t i = 0; a->busy && i < DECODE_PACKETS_MAX; i++) {
		if (!a->slots[i].busy)
			continue;
		err2 = finish_cut(a, &a->slots[i]);
		err = err ? err : err2;
	}
	return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/decode/decode.h"

#include "user/decode/assemble.h"
#include "user/decode/fields.h"
#include "user/decode/sequence.h"

struct decode {
	struct decode_opts opts;
	struct decode_stats stats;
	struct assemble assemble;
	struct sequence sequence;
	ev_sink_fn sink;
	void *arg;
};

/* Everything leaves through here, also what assemble.c finishes. */
static int emit(void *arg, const struct ev *ev)
{
	struct decode *d = arg;

	d->stats.events++;
	return d->sink(d->arg, ev);
}

int decode_new(struct decode **ret, const struct decode_opts *o, ev_sink_fn sink, void *arg)
{
	struct decode *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	if (assemble_init(&d->assemble, emit, d) < 0) {
		free(d);
		return -ENOMEM;
	}
	if (o)
		d->opts = *o;
	d->sink = sink;
	d->arg = arg;
	*ret = d;
	return 0;
}

void decode_free(struct decode *d)
{
	if (!d)
		return;
	assemble_done(&d->assemble);
	free(d);
}

static int refuse(struct decode *d)
{
	d->stats.malformed++;
	return -EBADMSG;
}

static bool is_packet_hook(uint32_t hook)
{
	return hook >= SNT_HOOK_WORLD && hook <= SNT_HOOK_CG_INGRESS;
}

static bool same_ring(uint32_t a, uint32_t b)
{
	return snt_ring_of(a) == snt_ring_of(b);
}

static int read_header(struct snt_hdr *ret, const void *rec, size_t len)
{
	if (len < sizeof(*ret))
		return -EBADMSG;
	memcpy(ret, rec, sizeof(*ret));
	if (ret->schema != SNT_SCHEMA || ret->len < sizeof(*ret) || ret->len > len ||
	    ret->hook == SNT_HOOK_NONE || ret->hook >= SNT_HOOK_MAX || ret->slot >= SNT_SLOT_MAX ||
	    ret->cpu >= DECODE_CPUS_MAX)
		return -EBADMSG;
	return 0;
}

static int packet_fields(struct ev *ev, const struct snt_hdr *h, const void *rec,
			 struct snt_packet *r)
{
	struct ev_packet *e = &ev->packet;

	if (h->len < sizeof(*r) || !is_packet_hook(h->hook))
		return -EBADMSG;
	memcpy(r, rec, sizeof(*r));
	if (r->data_len > h->len - sizeof(*r) || r->offset > r->len ||
	    r->data_len > r->len - r->offset || r->l2_len > r->len)
		return -EBADMSG;
	fields_task(&e->owner, &r->owner);
	e->cookie = r->cookie;
	e->ifindex = r->ifindex;
	e->len = r->len;
	e->gso_segs = r->gso_segs;
	e->gso_size = r->gso_size;
	e->eth_proto = r->eth_proto;
	e->l2_len = r->l2_len;
	e->outbound = h->hook != SNT_HOOK_CG_INGRESS;
	e->data_len = r->data_len;
	e->data = (const uint8_t *)rec + offsetof(struct snt_packet, data);
	return 0;
}

static int push_packet(struct decode *d, struct ev *ev, const struct snt_hdr *h, const void *rec)
{
	struct snt_packet r;
	int err;

	err = packet_fields(ev, h, rec, &r);
	if (err < 0)
		return refuse(d);
	if (r.offset || (h->flags & SNT_F_MORE) || d->assemble.busy)
		return assemble_push(&d->assemble, ev, r.pkt_id, r.offset);
	if (r.data_len < r.len)
		ev->flags |= SNT_F_TRUNCATED;
	return emit(d, ev); /* the common case: one record, no copy */
}

static int push_body(struct decode *d, struct ev *ev, const struct snt_hdr *h, const void *rec)
{
	int err;

	if (h->type == SNT_EV_PACKET)
		return push_packet(d, ev, h, rec);
	err = fields_body(ev, h, rec, &d->opts);
	if (err == -ENOENT) {
		d->stats.unknown++;
		return 0;
	}
	return err < 0 ? refuse(d) : emit(d, ev);
}

int decode_push(struct decode *d, const void *rec, size_t len)
{
	struct snt_hdr h;
	struct ev ev;
	int err, err2;

	d->stats.records++;
	if (read_header(&h, rec, len) < 0)
		return refuse(d);
	sequence_note(&d->sequence, h.hook, h.cpu, h.cpu_seq);
	err = assemble_expire(&d->assemble, h.hook, h.ktime_ns, same_ring);
	fields_header(&ev, &h);
	err2 = push_body(d, &ev, &h, rec);
	return err2 ? err2 : err;
}

int decode_flush(struct decode *d)
{
	return assemble_flush(&d->assemble);
}

void decode_stats(const struct decode *d, struct decode_stats *ret)
{
	*ret = d->stats;
	ret->cut = d->assemble.cut;
	ret->evicted = d->assemble.evicted;
	ret->missing = sequence_missing(&d->sequence);
}

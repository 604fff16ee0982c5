// SPDX-License-Identifier: Apache-2.0
#include "user/decode/stream.h"

#include <netinet/in.h>

#include "user/decode/flow.h"
#include "user/decode/fragment.h"

struct stream {
	struct fragments fragments;
	struct flows flows;
	struct stream_stats stats;
	stream_fn fn;
	void *arg;
	/* of the record at work */
	const struct ev *ev;
	const struct packet *packet;
	int err; /* the callback's first */
};

static void emit(struct stream *s, enum stream_kind kind, const uint8_t *data, size_t len,
		 void *state)
{
	struct stream_piece piece = {
		.kind = kind,
		.ev = s->ev,
		.packet = s->packet,
		.data = data,
		.len = len,
		.state = state,
	};

	if (!s->err)
		s->err = s->fn(s->arg, &piece);
}

/* What stands alone carries nothing along. */
static void emit_alone(struct stream *s, enum stream_kind kind, const uint8_t *data, size_t len)
{
	uint64_t state[STREAM_STATE_MAX / sizeof(uint64_t)] = { 0 };

	emit(s, kind, data, len, state);
}

static void flow_bytes(void *arg, const uint8_t *data, size_t len, void *state)
{
	struct stream *s = arg;

	s->stats.pieces++;
	emit(s, STREAM_TCP, data, len, state);
}

int stream_new(struct stream **ret, const struct stream_opts *o, stream_fn fn, void *arg)
{
	struct stream_opts opts = o ? *o : (struct stream_opts){ 0 };
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	opts.flows = opts.flows ? opts.flows : 4096;
	opts.blocks = opts.blocks ? opts.blocks : 2048;
	opts.flow_blocks = opts.flow_blocks ? opts.flow_blocks : 256;
	opts.fragments = opts.fragments ? opts.fragments : 32;
	opts.fragment_ns = opts.fragment_ns ? opts.fragment_ns : 60 * NSEC_PER_SEC;
	s->fn = fn;
	s->arg = arg;
	if (flows_init(&s->flows, &opts, &s->stats, flow_bytes, s) < 0 ||
	    fragments_init(&s->fragments, opts.fragments, opts.fragment_ns, &s->stats) < 0) {
		stream_free(s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	fragments_done(&s->fragments);
	flows_done(&s->flows);
	free(s);
}

static void push_whole(struct stream *s, const struct packet *p)
{
	s->packet = p;
	if (p->protocol == IPPROTO_TCP && p->transport) {
		flows_push(&s->flows, s->ev, p);
	} else if (p->payload_len) {
		s->stats.datagrams++;
		emit_alone(s, STREAM_DATAGRAM, p->payload, p->payload_len);
	}
}

static bool is_cut(const struct ev *ev)
{
	return (ev->flags & SNT_F_TRUNCATED) || ev->packet.data_len < ev->packet.len;
}

static void push_frame(struct stream *s, const struct ev_packet *e)
{
	struct packet p, whole;
	int err = packet_parse(e->data, e->data_len, e->l2_len, e->eth_proto, &p);

	s->packet = err < 0 ? NULL : &p;
	emit_alone(s, STREAM_FRAME, e->data, e->data_len);
	/* Shorter than its IP header says although nothing was cut: every stack throws it away, so
	 * it must not take the place of the real bytes of a stream. */
	if (err < 0 || (p.truncated && !is_cut(s->ev)))
		s->stats.malformed++;
	else if (!p.fragment)
		push_whole(s, &p);
	else if (fragments_push(&s->fragments, s->ev, &p, &whole))
		push_whole(s, &whole);
	s->packet = NULL; /* it lived here */
}

int stream_push(struct stream *s, const struct ev *ev)
{
	if (ev->type != EV_PACKET)
		return 0;
	s->stats.frames++;
	if (is_cut(ev))
		s->stats.truncated++;
	s->ev = ev;
	s->err = 0;
	push_frame(s, &ev->packet);
	s->ev = NULL;
	return s->err;
}

void stream_stats(const struct stream *s, struct stream_stats *ret)
{
	*ret = s->stats;
}

uint64_t stream_lost(const struct stream *s)
{
	const struct stream_stats *t = &s->stats;

	return t->truncated + t->flows_evicted + t->holes + t->fragments_evicted +
	       t->fragments_refused;
}

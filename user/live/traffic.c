// SPDX-License-Identifier: Apache-2.0
#include "user/live/traffic.h"

#include <netinet/in.h>

#include "user/decode/server_name.h"
#include "user/live/carry.h"

#define PORT_DNS 53
#define PORT_MDNS 5353
#define PORT_LLMNR 5355

struct traffic {
	struct stream *stream;
	struct flow_table flows;
	struct names names;
	struct carry carry;
	struct traffic_totals totals;
	enum direction direction; /* of the record at work */
	flow_evicted_fn evicted;
	void *arg;
};

/* Carried along a TCP stream. */
struct stream_state {
	uint8_t done;  /* its names are found, or never will be */
	uint32_t skip; /* bytes of a DNS message that is too long */
	struct carry_ref left;
};
_Static_assert(sizeof(struct stream_state) <= STREAM_STATE_MAX, "it fits beside a stream");

/* ---- names of destinations ---- */

static void name_by_dns(const struct traffic *t, struct flow_row *row)
{
	const struct dns_name *name;

	if (row->named == FLOW_NAMED_TLS || row->named == FLOW_NAMED_HTTP)
		return;
	name = names_find(&t->names, row->destination);
	if (name)
		flow_row_name(row, FLOW_NAMED_DNS, name->wire, name->len);
}

static void flow_evicted(void *arg, const struct flow_row *row)
{
	struct traffic *t = arg;
	struct flow_row named = *row;

	if (!t->evicted)
		return;
	if (named.named == FLOW_NAMED_NOT)
		name_by_dns(t, &named);
	t->evicted(t->arg, &named);
}

/* ---- frames ---- */

static void count_frame(struct traffic *t, const struct stream_piece *piece)
{
	const struct ev_packet *e = &piece->ev->packet;
	struct traffic_totals *s = &t->totals;
	uint64_t now = piece->ev->time_ns;
	struct flow_row *row;

	s->first_ns = s->frames ? MIN(s->first_ns, now) : now;
	s->last_ns = s->frames ? MAX(s->last_ns, now) : now;
	s->frames++;
	s->bytes += e->len;
	s->cut += e->data_len < e->len;
	if (!piece->packet) {
		s->malformed++;
		return;
	}
	if (!piece->packet->family) {
		s->not_ip++;
		return;
	}
	row = flow_table_add(&t->flows, piece->packet, piece->ev, t->direction);
	/* The name that the address had when the flow began: it may get another later. */
	if (row->sent.frames + row->received.frames == 1)
		name_by_dns(t, row);
}

/* ---- messages ---- */

static bool has_port(const struct packet *p, uint16_t port)
{
	return p->sport == port || p->dport == port;
}

static void take_datagram(struct traffic *t, const struct stream_piece *piece)
{
	const struct packet *p = piece->packet;

	if (p->protocol != IPPROTO_UDP || !p->transport)
		return;
	if (has_port(p, PORT_DNS) || has_port(p, PORT_MDNS) || has_port(p, PORT_LLMNR))
		names_push(&t->names, piece->data, piece->len, piece->ev->time_ns);
}

/* RFC 1035 4.2.2: each message stands behind its length. Answers how many bytes were taken. */
static size_t take_messages(struct traffic *t, struct stream_state *state, const uint8_t *data,
			    size_t len, uint64_t now)
{
	size_t at = 0;

	while (len - at >= 2) {
		size_t message = 2 + (size_t)(data[at] << 8 | data[at + 1]);

		if (message > CARRY_BYTES) {
			t->totals.messages_lost++;
			state->skip = (uint32_t)(message - (len - at));
			return len;
		}
		if (message > len - at)
			break;
		names_push(&t->names, data + at + 2, message - 2, now);
		at += message;
	}
	return at;
}

static void take_dns_stream(struct traffic *t, struct stream_state *state,
			    const struct stream_piece *piece)
{
	const uint8_t *at = piece->data, *end = at + piece->len, *data;
	size_t skip, fresh, len, taken;

	while (at < end) {
		skip = MIN((size_t)state->skip, (size_t)(end - at));
		state->skip -= (uint32_t)skip;
		at += skip;
		fresh = MIN((size_t)(end - at), carry_room(&t->carry, &state->left));
		len = fresh;
		data = carry_join(&t->carry, &state->left, at, &len);
		taken = take_messages(t, state, data, len, piece->ev->time_ns);
		carry_keep(&t->carry, &state->left, data + taken, len - taken);
		at += fresh;
	}
}

static void name_destination(struct traffic *t, const struct packet *p,
			     const struct server_name *name)
{
	struct flow_row *row = flow_table_find(&t->flows, p);

	if (!row || row->destination_port != p->dport || memcmp(row->destination, p->dst, 16))
		return; /* it is the destination that says whom it means */
	flow_row_name(row, name->from == SERVER_NAME_TLS ? FLOW_NAMED_TLS : FLOW_NAMED_HTTP,
		      name->name, name->len);
}

static void take_server_name(struct traffic *t, struct stream_state *state,
			     const struct stream_piece *piece)
{
	size_t len = MIN(piece->len, carry_room(&t->carry, &state->left));
	const uint8_t *data = carry_join(&t->carry, &state->left, piece->data, &len);
	struct server_name name;
	int err = server_name_find(data, len, &name);

	if (err == -EAGAIN && len < CARRY_BYTES) {
		carry_keep(&t->carry, &state->left, data, len);
		return;
	}
	if (err > 0)
		name_destination(t, piece->packet, &name);
	t->totals.messages_lost += err == -EAGAIN;
	carry_drop(&t->carry, &state->left);
	state->done = true;
}

static void take_stream(struct traffic *t, const struct stream_piece *piece)
{
	struct stream_state *state = piece->state;

	if (state->done)
		return;
	if (carry_lost(&t->carry, &state->left)) {
		/* from here on nobody knows where a message begins */
		state->done = true;
		return;
	}
	if (has_port(piece->packet, PORT_DNS))
		take_dns_stream(t, state, piece);
	else
		take_server_name(t, state, piece);
}

static int take_piece(void *arg, const struct stream_piece *piece)
{
	struct traffic *t = arg;

	switch (piece->kind) {
	case STREAM_FRAME:
		count_frame(t, piece);
		break;
	case STREAM_DATAGRAM:
		take_datagram(t, piece);
		break;
	case STREAM_TCP:
		take_stream(t, piece);
		break;
	}
	return 0;
}

/* ---- the whole ---- */

static uint32_t or_default(uint32_t n, uint32_t usual)
{
	return n ? n : usual;
}

int traffic_new(struct traffic **ret, const struct traffic_opts *o)
{
	struct traffic_opts opts = o ? *o : (struct traffic_opts){ 0 };
	struct traffic *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->evicted = opts.evicted;
	t->arg = opts.arg;
	if (flow_table_init(&t->flows, or_default(opts.flows, 32768), opts.secret, flow_evicted,
			    t) ||
	    names_init(&t->names, or_default(opts.questions, 8192),
		       or_default(opts.addresses, 8192), opts.secret) ||
	    carry_init(&t->carry, or_default(opts.carries, 64)) ||
	    stream_new(&t->stream, &opts.stream, take_piece, t)) {
		traffic_free(t);
		return -ENOMEM;
	}
	*ret = t;
	return 0;
}

void traffic_free(struct traffic *t)
{
	if (!t)
		return;
	stream_free(t->stream);
	carry_done(&t->carry);
	names_done(&t->names);
	flow_table_done(&t->flows);
	free(t);
}

int traffic_push(struct traffic *t, const struct ev *ev, enum direction direction)
{
	t->direction = direction;
	return stream_push(t->stream, ev);
}

void traffic_totals(const struct traffic *t, struct traffic_totals *ret)
{
	struct stream_stats s;

	stream_stats(t->stream, &s);
	*ret = t->totals;
	ret->flows = t->flows.stats;
	ret->names = t->names.stats;
	ret->streams_lost = stream_lost(t->stream) - s.truncated;
	ret->messages_lost += t->carry.evicted;
}

uint32_t traffic_flows(const struct traffic *t)
{
	return flow_table_count(&t->flows);
}

const struct flow_row *traffic_flow(struct traffic *t, uint32_t i)
{
	struct flow_row *row = flow_table_row(&t->flows, i);

	if (row->named == FLOW_NAMED_NOT)
		name_by_dns(t, row);
	return row;
}

const struct names *traffic_names(const struct traffic *t)
{
	return &t->names;
}

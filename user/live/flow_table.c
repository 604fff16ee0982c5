// SPDX-License-Identifier: Apache-2.0
#include "user/live/flow_table.h"

#include <netinet/in.h>
#include <sys/socket.h>

#define WELL_KNOWN_PORTS 1024

/* Both ways are one: a is the side that compares lower. */
struct flow_key {
	uint8_t a[16], b[16];
	uint16_t a_port, b_port;
	uint8_t protocol, v6;
	uint16_t zero;
};
_Static_assert(sizeof(struct flow_key) == 40, "no padding: keys are hashed as bytes");

struct ports {
	uint16_t src, dst;
};

/* The ports of a packet in pieces, which only its first has. */
struct flow_fragment {
	uint8_t src[16], dst[16];
	uint32_t id;
	uint8_t protocol;
	bool v6, used;
	struct ports ports;
};

int flow_table_init(struct flow_table *t, uint32_t rows, const uint64_t secret[2],
		    flow_evicted_fn evicted, void *arg)
{
	*t = (struct flow_table){ .evicted = evicted, .arg = arg };
	t->rows = calloc(rows, sizeof(*t->rows));
	t->fragments = calloc(FLOW_FRAGMENTS, sizeof(*t->fragments));
	if (!t->rows || !t->fragments || lru_init(&t->lru, rows, secret)) {
		flow_table_done(t);
		return -ENOMEM;
	}
	return 0;
}

void flow_table_done(struct flow_table *t)
{
	lru_done(&t->lru);
	free(t->rows);
	free(t->fragments);
	t->rows = NULL;
	t->fragments = NULL;
}

/* ---- ports ---- */

static bool has_ports(const struct packet *p)
{
	return p->protocol == IPPROTO_TCP || p->protocol == IPPROTO_UDP ||
	       p->protocol == IPPROTO_UDPLITE;
}

/* They stand first, and may be there where the rest of the header is not. */
static bool read_ports(const struct packet *p, struct ports *ret)
{
	if (!has_ports(p) || p->frag_offset || p->l4_len < 4)
		return false;
	*ret = (struct ports){ .src = (uint16_t)(p->l4[0] << 8 | p->l4[1]),
			       .dst = (uint16_t)(p->l4[2] << 8 | p->l4[3]) };
	return true;
}

static struct flow_fragment *find_fragment(const struct flow_table *t, const struct packet *p)
{
	for (size_t i = 0; i < FLOW_FRAGMENTS; i++) {
		struct flow_fragment *f = &t->fragments[i];

		if (f->used && f->id == p->frag_id && f->protocol == p->protocol &&
		    f->v6 == (p->family == AF_INET6) && !memcmp(f->src, p->src, 16) &&
		    !memcmp(f->dst, p->dst, 16))
			return f;
	}
	return NULL;
}

static void keep_fragment(struct flow_table *t, const struct packet *p, struct ports ports)
{
	struct flow_fragment *f = find_fragment(t, p);

	if (!f)
		f = &t->fragments[t->next_fragment++ % FLOW_FRAGMENTS];
	*f = (struct flow_fragment){ .id = p->frag_id,
				     .protocol = p->protocol,
				     .v6 = p->family == AF_INET6,
				     .used = true,
				     .ports = ports };
	memcpy(f->src, p->src, 16);
	memcpy(f->dst, p->dst, 16);
}

/* Where they are not in the packet, not even in its first part, they are 0. */
static struct ports ports_of(const struct flow_table *t, const struct packet *p)
{
	const struct flow_fragment *f;
	struct ports ports = { 0, 0 };

	if (read_ports(p, &ports) || !p->fragment || !has_ports(p))
		return ports;
	f = find_fragment(t, p);
	return f ? f->ports : ports;
}

/* The first part of a packet tells the ports to those that follow. */
static void note_fragment(struct flow_table *t, const struct packet *p)
{
	struct ports ports;

	if (!p->fragment || !has_ports(p))
		return;
	if (read_ports(p, &ports))
		keep_fragment(t, p, ports);
	else if (!find_fragment(t, p))
		t->stats.stray_fragments++;
}

/* ---- rows ---- */

static struct flow_key key_of(const struct packet *p, struct ports ports)
{
	struct flow_key k = { .protocol = p->protocol, .v6 = p->family == AF_INET6 };
	int order = memcmp(p->src, p->dst, 16);
	bool src_first = order < 0 || (order == 0 && ports.src <= ports.dst);

	memcpy(k.a, src_first ? p->src : p->dst, 16);
	memcpy(k.b, src_first ? p->dst : p->src, 16);
	k.a_port = src_first ? ports.src : ports.dst;
	k.b_port = src_first ? ports.dst : ports.src;
	return k;
}

static bool sent_by_source(const struct flow_row *r, const struct packet *p, struct ports ports)
{
	return r->source_port == ports.src && r->destination_port == ports.dst &&
	       !memcmp(r->source, p->src, 16) && !memcmp(r->destination, p->dst, 16);
}

static bool same_flow(const struct flow_row *r, const struct packet *p, struct ports ports)
{
	if (r->protocol != p->protocol || r->v6 != (p->family == AF_INET6))
		return false;
	return sent_by_source(r, p, ports) ||
	       (r->source_port == ports.dst && r->destination_port == ports.src &&
		!memcmp(r->source, p->dst, 16) && !memcmp(r->destination, p->src, 16));
}

static uint32_t find_row(const struct flow_table *t, uint64_t hash, const struct packet *p,
			 struct ports ports)
{
	uint32_t i = lru_first(&t->lru, hash);

	while (i != LRU_NONE && !same_flow(&t->rows[i], p, ports))
		i = lru_next(&t->lru, i);
	return i;
}

static enum flow_source source_by(const struct packet *p, struct ports ports)
{
	if (p->protocol == IPPROTO_TCP && p->transport && (p->tcp_flags & TCP_FLAG_SYN))
		return FLOW_SOURCE_SYN;
	if (ports.src < WELL_KNOWN_PORTS && ports.dst >= WELL_KNOWN_PORTS)
		return FLOW_SOURCE_PORT;
	return FLOW_SOURCE_FIRST;
}

static struct flow_row begin(const struct packet *p, struct ports ports, uint64_t time_ns)
{
	struct flow_row r = {
		.v6 = p->family == AF_INET6,
		.protocol = p->protocol,
		.icmp_type = p->icmp_type,
		.icmp_code = p->icmp_code,
		.source_by = source_by(p, ports),
		.first_ns = time_ns,
		.last_ns = time_ns,
	};
	bool answer = r.source_by == FLOW_SOURCE_PORT ||
		      (r.source_by == FLOW_SOURCE_SYN && (p->tcp_flags & TCP_FLAG_ACK));

	memcpy(r.source, answer ? p->dst : p->src, 16);
	memcpy(r.destination, answer ? p->src : p->dst, 16);
	r.source_port = answer ? ports.dst : ports.src;
	r.destination_port = answer ? ports.src : ports.dst;
	return r;
}

static struct flow_row *get_row(struct flow_table *t, const struct packet *p, struct ports ports,
				uint64_t time_ns)
{
	struct flow_key key = key_of(p, ports);
	uint64_t hash = lru_hash(&t->lru, &key, sizeof(key));
	uint32_t i = find_row(t, hash, p, ports);
	struct flow_row *r;
	bool evicted;

	if (i != LRU_NONE) {
		lru_touch(&t->lru, i);
		return &t->rows[i];
	}
	i = lru_take(&t->lru, hash, &evicted);
	r = &t->rows[i];
	t->stats.flows++;
	if (evicted) {
		t->stats.evicted++;
		t->stats.evicted_frames += r->sent.frames + r->received.frames;
		t->stats.evicted_bytes += r->sent.bytes + r->received.bytes;
		if (t->evicted)
			t->evicted(t->arg, r);
	}
	*r = begin(p, ports, time_ns);
	return r;
}

/* A packet that is forwarded is recorded when it comes, and again when it goes. */
static void note_direction(struct flow_row *r, bool sent, enum direction direction)
{
	if (direction == DIRECTION_UNKNOWN)
		return;
	if (!sent)
		direction = direction == DIRECTION_IN ? DIRECTION_OUT : DIRECTION_IN;
	if (r->direction == DIRECTION_UNKNOWN)
		r->direction = direction;
	else
		r->passes |= r->direction != direction;
}

/* Bytes behind the transport header, also where that was not recorded whole. */
static uint32_t payload_of(const struct packet *p)
{
	uint32_t header = 0;

	if (p->transport || p->frag_offset || !has_ports(p))
		return p->wire_len;
	if (p->protocol != IPPROTO_TCP)
		header = 8;
	else
		header = p->l4_len > 12 ? (p->l4[12] >> 4) * 4u : 20;
	return p->wire_len - MIN(header, p->wire_len);
}

struct flow_row *flow_table_add(struct flow_table *t, const struct packet *p, const struct ev *ev,
				enum direction direction)
{
	struct ports ports = ports_of(t, p);
	struct flow_row *r = get_row(t, p, ports, ev->time_ns);
	bool sent = sent_by_source(r, p, ports);
	struct flow_side *side = sent ? &r->sent : &r->received;

	note_fragment(t, p);
	side->frames++;
	side->bytes += ev->packet.len;
	side->payload += payload_of(p);
	if (p->protocol == IPPROTO_TCP)
		side->tcp_flags |= p->tcp_flags;
	r->first_ns = MIN(r->first_ns, ev->time_ns);
	r->last_ns = MAX(r->last_ns, ev->time_ns);
	if (!r->owner.pid)
		r->owner = ev->packet.owner;
	note_direction(r, sent, direction);
	return r;
}

struct flow_row *flow_table_find(struct flow_table *t, const struct packet *p)
{
	struct ports ports = ports_of(t, p);
	struct flow_key key = key_of(p, ports);
	uint32_t i = find_row(t, lru_hash(&t->lru, &key, sizeof(key)), p, ports);

	return i == LRU_NONE ? NULL : &t->rows[i];
}

uint32_t flow_table_count(const struct flow_table *t)
{
	return t->lru.used;
}

struct flow_row *flow_table_row(struct flow_table *t, uint32_t i)
{
	return &t->rows[i];
}

void flow_row_name(struct flow_row *row, enum flow_named named, const uint8_t *name, size_t len)
{
	row->named = named;
	row->name_len = (uint8_t)MIN(len, (size_t)FLOW_NAME_MAX);
	memcpy(row->name, name, row->name_len);
}

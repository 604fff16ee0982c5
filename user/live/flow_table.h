/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who talked with whom: one row for each pair of addresses, ports and protocol, both ways in one. A
 * table of fixed size; the flow that was idle longest makes room, and is handed out before it goes:
 *
 *	frames = those of the rows that are there + those of evicted rows
 */
#ifndef SENTINEL_LIVE_FLOW_TABLE_H
#define SENTINEL_LIVE_FLOW_TABLE_H

#include "user/base/direction.h"
#include "user/base/lru.h"
#include "user/decode/ev.h"
#include "user/decode/packet.h"

#define FLOW_NAME_MAX 255

/* How it is known which side is the source, the one that began. */
enum flow_source {
	FLOW_SOURCE_SYN,   /* it sent the SYN, or was answered by SYN and ACK */
	FLOW_SOURCE_FIRST, /* its packet was the first that was seen */
	FLOW_SOURCE_PORT,  /* the first was from a well-known port: an answer, to what was not seen
			    */
};

/* Who named the destination. */
enum flow_named {
	FLOW_NAMED_NOT = 0,
	FLOW_NAMED_DNS,	 /* an answer of the DNS, before the flow's last frame; as on the wire */
	FLOW_NAMED_TLS,	 /* the source, in its hello; as it was sent */
	FLOW_NAMED_HTTP, /* ... in its request */
};

struct flow_side {
	uint64_t frames;
	uint64_t bytes; /* of whole frames, link headers included, as they were before they were
			 * cut for the capture */
	uint64_t
		payload; /* of them, bytes behind the transport header: sent again, counted again */
	uint8_t tcp_flags; /* all that were seen */
};

struct flow_row {
	uint8_t source[16], destination[16]; /* IPv4 as v4-mapped */
	bool v6;			     /* of the IP header */
	uint8_t protocol;
	uint16_t source_port, destination_port; /* TCP and UDP; 0: also where not known */
	uint8_t icmp_type, icmp_code;		/* of the first frame */
	enum flow_source source_by;
	enum direction direction; /* of what the source sends */
	bool passes;		  /* seen coming and going: it was only forwarded */
	uint64_t first_ns, last_ns;
	struct flow_side sent, received; /* by the source */
	struct ev_task owner;		 /* of the first frame that has one; hostile */
	enum flow_named named;
	uint8_t name_len;
	uint8_t name[FLOW_NAME_MAX]; /* hostile */
};

struct flow_table_stats {
	uint64_t flows;	  /* begun */
	uint64_t evicted; /* of these, made room */
	uint64_t evicted_frames, evicted_bytes;
	uint64_t stray_fragments; /* whose first part was not seen: rows without ports */
};

/* A row that makes room, borrowed for the call. */
typedef void (*flow_evicted_fn)(void *arg, const struct flow_row *row);

#define FLOW_FRAGMENTS 64 /* packets in pieces whose ports are remembered */

struct flow_fragment;

struct flow_table {
	struct lru lru;
	struct flow_row *rows;
	struct flow_fragment *fragments;
	uint32_t next_fragment;
	struct flow_table_stats stats;
	flow_evicted_fn evicted; /* may be NULL */
	void *arg;
};

/* rows: 1 or more. 0 or -ENOMEM. */
int flow_table_init(struct flow_table *t, uint32_t rows, const uint64_t secret[2],
		    flow_evicted_fn evicted, void *arg) must_check;
void flow_table_done(struct flow_table *t);

/* A frame, borrowed, with a packet of IP in it (p->family). The row that it counts in, borrowed
 * until the next call. */
struct flow_row *flow_table_add(struct flow_table *t, const struct packet *p, const struct ev *ev,
				enum direction direction);

/* The row that such a packet counts in; NULL: there is none. */
struct flow_row *flow_table_find(struct flow_table *t, const struct packet *p);

/* In no order; borrowed. */
uint32_t flow_table_count(const struct flow_table *t);
struct flow_row *flow_table_row(struct flow_table *t, uint32_t i);

/* Cuts a name that is longer than FLOW_NAME_MAX. */
void flow_row_name(struct flow_row *row, enum flow_named named, const uint8_t *name, size_t len);

#endif

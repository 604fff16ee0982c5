/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of a packet, put together. Bounded: DECODE_PACKETS_MAX buffers, made once. */
#ifndef SENTINEL_ASSEMBLE_H
#define SENTINEL_ASSEMBLE_H

#include "user/base/util.h"
#include "user/decode/ev.h"

struct assembly;

struct assemble {
	struct assembly *slots;
	uint32_t busy;	  /* slots in use */
	uint64_t cut;	  /* packets handed over incomplete */
	uint64_t evicted; /* ... of those, for want of a slot */
	ev_sink_fn sink;
	void *arg;
};

int assemble_init(struct assemble *a, ev_sink_fn sink, void *arg) must_check;
void assemble_done(struct assemble *a);

/* A chunk: ev describes it (ev->packet.data borrowed), offset is where its bytes stand in the
 * packet. Hands over what it completes, or finds incomplete. What the sink answered. */
int assemble_push(struct assemble *a, const struct ev *ev, uint64_t pkt_id,
		  uint32_t offset) must_check;

/* hook's ring has come to now_ns: hands over what waited for longer than DECODE_WAIT_NS. same_ring
 * says whether two hooks write to one ring, for only within a ring order means anything. */
int assemble_expire(struct assemble *a, uint32_t hook, uint64_t now_ns,
		    bool (*same_ring)(uint32_t, uint32_t)) must_check;

/* Hands over everything that is left. */
int assemble_flush(struct assemble *a) must_check;

#endif

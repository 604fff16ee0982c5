/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second stage: a record of the rings, as bpf/events.h lays it out, to a struct ev.
 *
 * Chunks of one packet (same hook, CPU and pkt_id) are put together before the packet is handed
 * over. They follow each other on their CPU, so a packet is over when its last chunk came, when
 * another packet of that hook and CPU begins, or, should neither come, when its ring's own time has
 * moved on by DECODE_WAIT_NS. A packet of which a chunk is missing carries what lies before the
 * hole, SNT_F_TRUNCATED, and is counted.
 *
 * Pure: no clock, descriptor, log or global; the same records give the same events.
 */
#ifndef SENTINEL_DECODE_H
#define SENTINEL_DECODE_H

#include "user/base/util.h"
#include "user/decode/ev.h"

#define DECODE_CPUS_MAX 1024  /* records of CPUs above are malformed */
#define DECODE_PACKETS_MAX 64 /* packets put together at once; W needs one per CPU at work */
/* How long an unfinished packet is waited for: longer than a hypervisor holds up a CPU between two
 * chunks. It costs nothing to wait, for what is waited for is lost already. */
#define DECODE_WAIT_NS NSEC_PER_SEC

struct decode_opts {
	/* Name of an enum skb_drop_reason, borrowed; NULL where it has none. NULL: no names. */
	const char *(*reason_name)(void *arg, uint32_t reason);
	/* The kernel function that holds addr; false where not known. NULL: no names. */
	bool (*symbol)(void *arg, uint64_t addr, char ret[64]);
	void *names_arg;
};

struct decode_stats {
	uint64_t records;   /* pushed */
	uint64_t events;    /* handed to the sink */
	uint64_t malformed; /* refused with -EBADMSG */
	uint64_t unknown;   /* of a type that this version does not know: skipped */
	uint64_t cut;	    /* packets handed over with a chunk missing */
	uint64_t evicted;   /* ... of those, for want of an assembly buffer */
	uint64_t missing;   /* sequence numbers that no record had, over all rings and CPUs */
};

struct decode;

/* The caller owns *ret: decode_free(). o may be NULL. 0 or -ENOMEM. */
int decode_new(struct decode **ret, const struct decode_opts *o, ev_sink_fn sink,
	       void *arg) must_check;

/* NULL is fine. What is unfinished is dropped: decode_flush() first. */
void decode_free(struct decode *d);

/* One record, borrowed. 0; -EBADMSG where it is malformed (counted, nothing emitted); else what the
 * sink answered. ev.id, lane and trial are left 0. */
int decode_push(struct decode *d, const void *rec, size_t len) must_check;

/* Hands over every unfinished packet: at the end, after the last drain. */
int decode_flush(struct decode *d) must_check;

/* missing is what is missing now: a record that overtook another on its CPU makes it 1 for a
 * moment, so read it after the last drain. */
void decode_stats(const struct decode *d, struct decode_stats *ret);

#endif

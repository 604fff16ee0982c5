/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What traffic there is, out of packet records one after the other: flows, the names that were
 *asked for, and the names of destinations. Pure and bounded: no clock, descriptor, log or global,
 *and memory that depends on the options alone. What had to be given up is counted.
 *
 *	frames = sum of the flows' + of evicted flows' + not IP + malformed
 *
 * A frame that was recorded at two interfaces counts twice, as it does in tshark's conversations.
 * Names are only looked for where they are in the clear: DNS at ports 53, 5353 (multicast) and 5355
 * (LLMNR), TLS hellos, HTTP/1 requests.
 */
#ifndef SENTINEL_LIVE_TRAFFIC_H
#define SENTINEL_LIVE_TRAFFIC_H

#include "user/decode/ev.h"
#include "user/decode/stream.h"
#include "user/live/flow_table.h"
#include "user/live/names.h"

struct traffic_opts {
	uint32_t flows;	    /* rows; 0 = 32768 */
	uint32_t questions; /* rows; 0 = 8192 */
	uint32_t addresses; /* rows; 0 = 8192 */
	uint32_t carries;   /* streams that wait for the rest of a message; 0 = 64 */
	struct stream_opts stream;
	uint64_t secret[2];	 /* random where strangers choose the traffic */
	flow_evicted_fn evicted; /* a flow that makes room, named as traffic_flow() would */
	void *arg;
};

struct traffic_totals {
	uint64_t frames, bytes; /* bytes as flow_side's */
	uint64_t first_ns, last_ns;
	uint64_t not_ip;
	uint64_t malformed; /* no well-formed packet in it */
	uint64_t cut;	    /* of which not all bytes are in the record */
	struct flow_table_stats flows;
	struct names_stats names;
	/* of what names were looked for in: loss means that some may be missing */
	uint64_t streams_lost;	/* holes, streams and unfinished packets given up */
	uint64_t messages_lost; /* longer than a buffer, or their buffer was needed elsewhere */
};

struct traffic;

/* The caller owns *ret: traffic_free(). o may be NULL. 0 or -ENOMEM. */
int traffic_new(struct traffic **ret, const struct traffic_opts *o) must_check;
void traffic_free(struct traffic *t); /* NULL is fine */

/* An EV_PACKET, borrowed; other events are ignored. Its time may be of any clock, its `outbound` is
 * not looked at. 0 or -ENOMEM. */
int traffic_push(struct traffic *t, const struct ev *ev, enum direction direction) must_check;

void traffic_totals(const struct traffic *t, struct traffic_totals *ret);

/* The flows that are there, in no order, with the name of their destination as far as it is known
 * by now. Borrowed until the next push. */
uint32_t traffic_flows(const struct traffic *t);
const struct flow_row *traffic_flow(struct traffic *t, uint32_t i);

/* The names that were asked for. */
const struct names *traffic_names(const struct traffic *t);

#endif

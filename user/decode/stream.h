/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one vantage saw, as the bytes that a receiver would have got: fragments of IPv4 and IPv6 put
 * together, TCP in order, so that cutting a token in two hides nothing.
 *
 * For each packet record the callback gets, in this order:
 *   STREAM_FRAME     the whole frame as recorded, headers and trailers included, once
 *   STREAM_DATAGRAM  the payload of UDP, ICMP and every other protocol, after reassembly
 *   STREAM_TCP	      the next bytes of a TCP stream, as often as there are some
 * A retransmission is no new piece of a stream, but it is a frame again.
 *
 * Bounded and timed by the events' own time. The flow that was idle longest makes room, a closed
 * one before a live one. Whatever had to be given up is counted: stream_lost() != 0 is loss.
 * What a receiver would have thrown away itself, e.g. fragments that are never completed, is
 * counted apart. Where copies of the same bytes differ the first is taken; checksums are not looked
 * at. So a sender of its own packets can hide a token that it cuts in two behind forged copies of
 * the parts; a token in one piece shows in its frame all the same.
 */
#ifndef SENTINEL_STREAM_H
#define SENTINEL_STREAM_H

#include "user/base/util.h"
#include "user/decode/ev.h"
#include "user/decode/packet.h"

#define STREAM_STATE_MAX 64 /* bytes of the user's own that a flow can carry */

struct stream_opts {
	uint32_t flows;	      /* TCP flows at once, each direction; 0 = 4096 */
	uint32_t blocks;      /* of STREAM_BLOCK bytes for what came too early; 0 = 2048 */
	uint32_t flow_blocks; /* ... of those for one flow at most; 0 = 256 */
	uint32_t fragments;   /* packets put together at once; 0 = 32 */
	uint64_t fragment_ns; /* how long a fragment waits; 0 = 60 s, RFC 8200 section 4.5 */
};
#define STREAM_BLOCK 2048

enum stream_kind { STREAM_FRAME, STREAM_DATAGRAM, STREAM_TCP };

struct stream_piece {
	enum stream_kind kind;
	const struct ev *ev; /* the record that completed it; its id names the piece */
	const struct packet
		*packet;     /* of that record; NULL where the frame is no well-formed packet */
	const uint8_t *data; /* borrowed for the call */
	size_t len;
	void *state; /* STREAM_STATE_MAX bytes, 8-aligned: zeroed when a flow begins or had a hole,
		      * and carried along it; for the other kinds zeroed for each piece */
};
typedef int (*stream_fn)(void *arg, const struct stream_piece *p);

struct stream_stats {
	uint64_t frames, datagrams, pieces;
	uint64_t malformed; /* frames that packet_parse() refused, or shorter than they say: no
			     * stack would take them, so they are STREAM_FRAME alone */
	/* loss */
	uint64_t truncated;	    /* records whose end is missing */
	uint64_t flows_evicted;	    /* live flows that had carried bytes */
	uint64_t holes;		    /* gaps of a flow skipped, with too much waiting behind them */
	uint64_t fragments_evicted; /* unfinished packets that made room */
	uint64_t fragments_refused; /* fragments that can't be part of their packet, or overlap */
	/* no loss: a receiver would not have got it either */
	uint64_t fragments_expired; /* unfinished packets that nothing more came for */
	uint64_t duplicate_bytes;   /* retransmissions and overlaps */
	uint64_t restarts;	    /* a SYN with a new number began a live flow anew */
};

struct stream;

/* The caller owns *ret: stream_free(). o may be NULL. 0 or -ENOMEM. */
int stream_new(struct stream **ret, const struct stream_opts *o, stream_fn fn,
	       void *arg) must_check;
void stream_free(struct stream *s); /* NULL is fine */

/* An EV_PACKET, borrowed; other events are ignored. Flows are told apart by hook, lane, interface,
 * addresses and ports. 0, or what the callback answered (the rest of the record is dropped then).
 */
int stream_push(struct stream *s, const struct ev *ev) must_check;

void stream_stats(const struct stream *s, struct stream_stats *ret);
uint64_t stream_lost(const struct stream *s); /* sum of the loss counters */

#endif

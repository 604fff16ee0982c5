/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record as one pcapng block, and back. A packet's block:
 *
 *   enhanced packet: interface of (hook, lane), CLOCK_REALTIME, captured and original length
 *     SLL2 header, 20 bytes, big-endian: protocol 16, reserved 16, ifindex 32, ARPHRD 16,
 *       packet type 8, address length 8, address 64
 *     the packet from its network header
 *     opt_comment = JSON, epb_flags = direction, epb_packetid = record number
 *
 * Any other record's is a journal export: __REALTIME_TIMESTAMP (us), MESSAGE, SENTINEL=JSON.
 */
#ifndef SENTINEL_RECORD_BLOCK_H
#define SENTINEL_RECORD_BLOCK_H

#include "user/base/json_out.h"
#include "user/base/util.h"
#include "user/decode/ev.h"
#include "user/record/pcapng.h"
#include "user/record/segment.h"

/* What run.begin says that blocks depend on. */
struct block_context {
	uint64_t to_realtime_ns; /* to add to CLOCK_MONOTONIC, modulo 2^64 */
	uint32_t lanes;
};

/* -EINVAL where ev is no EV_RUN_BEGIN, or has more lanes than there can be. */
int block_context_init(struct block_context *c, const struct ev *ev) must_check;

/* Appends ev's block, as record number id. json is scratch. -EINVAL for an event that can't be
 * written, -ENOBUFS without room, -ENOMEM; nothing was appended then. A packet's link header is
 * left out, its source MAC goes into the SLL2 header. */
int block_write(struct pcapng_out *o, struct json_out *json, const struct block_context *c,
		const struct ev *ev, uint64_t id) must_check;

/* Reads a record; ret and its data borrow from b. -EBADMSG where the block is no record of ours, or
 * what it says outside the JSON is not what the JSON says. ret is all zero before the first, and
 * serves one record after the other (evjson_reread()). */
int block_read(struct ev *ret, const struct block_context *c,
	       const struct pcapng_block *b) must_check;

/* The record at the head of a segment, which is no event. */
void block_write_segment(struct pcapng_out *o, const struct segment *s, uint64_t realtime_ns);
int block_read_segment(struct segment *ret, const struct pcapng_block *b) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Fragments of IPv4 (RFC 791 3.2) and IPv6 (RFC 8200 4.5), put together. Part of stream.c. */
#ifndef SENTINEL_FRAGMENT_H
#define SENTINEL_FRAGMENT_H

#include "user/base/util.h"
#include "user/decode/stream.h"

struct fragment_queue;

struct fragments {
	struct fragment_queue *queues;
	uint32_t n;
	uint64_t wait_ns;
	struct stream_stats *stats; /* borrowed: fragments_*, duplicate_bytes are counted there */
};

int fragments_init(struct fragments *f, uint32_t n, uint64_t wait_ns,
		   struct stream_stats *stats) must_check;
void fragments_done(struct fragments *f);

/* A fragment of the record ev. True where it completed its packet: whole describes it then, with l4
 * borrowed until the next call. */
bool fragments_push(struct fragments *f, const struct ev *ev, const struct packet *part,
		    struct packet *whole);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* TCP streams in order (RFC 9293 3.10.7.4, as a bystander). Part of stream.c. */
#ifndef SENTINEL_FLOW_H
#define SENTINEL_FLOW_H

#include "user/base/util.h"
#include "user/decode/stream.h"

/* The next bytes of a flow. */
typedef void (*flow_fn)(void *arg, const uint8_t *data, size_t len, void *state);

struct flow;
struct block;

struct flows {
	struct flow *flows;
	uint32_t *buckets; /* heads of the hash chains */
	uint32_t buckets_n, flows_n, flow_blocks;
	struct block *blocks;
	uint32_t free_block;
	uint32_t newest, oldest;    /* flows by when they were last used */
	struct stream_stats *stats; /* borrowed */
	flow_fn fn;
	void *arg;
};

/* The sizes of o are all given. */
int flows_init(struct flows *f, const struct stream_opts *o, struct stream_stats *stats, flow_fn fn,
	       void *arg) must_check;
void flows_done(struct flows *f);

/* A segment: p->transport is true and p->protocol TCP. */
void flows_push(struct flows *f, const struct ev *ev, const struct packet *p);

#endif

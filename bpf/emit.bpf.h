/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counting and emitting. Every program that gets past the gate counts itself in exactly one `seen`
 * and exactly one of the outcomes, so that seen = delivered + ring_full + oversized + map_full +
 * filtered. Atomic, since a program can interrupt another one on the same CPU.
 */
#ifndef SNT_EMIT_BPF_H
#define SNT_EMIT_BPF_H

#include "bpf/maps.bpf.h"

#define count_up(field) ((void)__sync_fetch_and_add(&(field), 1))

/* n, where 1 <= n <= size, a power of two: says so to the verifier in one register, which compares
 * don't, since the compiler makes them on copies. */
static __always_inline __u64 within(__u64 n, __u64 size)
{
	asm volatile("" : "+r"(n));
	return ((n - 1) & (size - 1)) + 1;
}

static __always_inline struct snt_count *count_of(__u32 hook, __u32 slot)
{
	__u32 key = hook * SNT_SLOT_MAX + (slot & (SNT_SLOT_MAX - 1));

	return bpf_map_lookup_elem(&snt_counts, &key);
}

/* It is somebody's: NULL only where the map is broken. */
static __always_inline struct snt_count *count_seen(__u32 hook, __u32 slot)
{
	struct snt_count *c = count_of(hook, slot);

	if (c)
		count_up(c->seen);
	return c;
}

/* It is nobody's whom we watch. */
static __always_inline void count_filtered(__u32 hook)
{
	struct snt_count *c = count_of(hook, SNT_SLOT_NONE);

	if (c) {
		count_up(c->seen);
		count_up(c->filtered);
	}
}

static __always_inline __u64 next_of(__u32 key)
{
	__u64 *n = bpf_map_lookup_elem(&snt_seqs, &key);

	return n ? __sync_fetch_and_add(n, 1) : 0;
}

static __always_inline __u64 next_pkt_id(__u32 hook)
{
	return next_of(SNT_RING_MAX + hook);
}

/* hook must be known at build time: the verifier wants one map per call. */
static __always_inline void *ring_map(__u32 hook)
{
	switch (snt_ring_of(hook)) {
	case SNT_RING_WORLD:
		return &rb_world;
	case SNT_RING_PACKET:
		return &rb_packet;
	default:
		return &rb_life;
	}
}

/* Reserves a record of a size known at build time and numbers it, whether there is room or not.
 * Fills schema, type, hook, len, cpu and cpu_seq; zeroes the rest of the header. NULL: no room. */
static __always_inline void *emit_begin(__u32 hook, __u32 type, __u64 size)
{
	__u64 seq = next_of(snt_ring_of(hook));
	struct snt_hdr *h = bpf_ringbuf_reserve(ring_map(hook), size, 0);

	if (!h)
		return NULL;
	h->schema = SNT_SCHEMA;
	h->type = type;
	h->hook = hook;
	h->slot = 0;
	h->len = size;
	h->flags = 0;
	h->cpu = bpf_get_smp_processor_id();
	h->_pad = 0;
	h->ktime_ns = bpf_ktime_get_ns();
	h->cpu_seq = seq;
	h->cgroup_id = 0;
	h->netns_cookie = 0;
	h->mark = 0;
	return h;
}

/* Hands the record over. The reader looks by itself every tick; it is woken only where much is
 * queued, since a wake-up costs more than all the rest. */
static __always_inline void emit_end(__u32 hook, void *rec)
{
	__u64 queued = bpf_ringbuf_query(ring_map(hook), BPF_RB_AVAIL_DATA);
	__u32 enough = snt_wake_bytes[snt_ring_of(hook)];

	bpf_ringbuf_submit(rec, queued >= enough ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

#endif

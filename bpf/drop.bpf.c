// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where and why a packet died.
 *
 * Hook:   tp_btf kfree_skb.
 * Why:    the one place that names the reason and the function, in every namespace of the rig:
 *         "by what" of a verdict (DESIGN.md 3.6).
 * Blind:  what was refused before there was a packet (route, seccomp, address hooks); the owner,
 *         once the packet was forwarded; payload that lies in page fragments, so that a TCP segment
 *         shows its headers only. A drop proves nothing about what comes after: TCP sends again.
 * Floor:  5.17 (a reason); optional.
 * Cost:   35 ns per freed packet of anybody, 250 ns for one of ours.
 */
#include "bpf/emit.bpf.h"
#include "bpf/owner.bpf.h"

#include <bpf/bpf_endian.h>

static __always_inline bool caller_tells(__u64 location)
{
	for (int i = 0; i < SNT_CALLERS_MAX; i++)
		if (location - snt_caller_start[i] < snt_caller_bytes[i])
			return true;
	return false;
}

/* Of what every machine has all day (hooks.md answer b)? */
static __always_inline bool drop_is_dull(__u32 reason, __u64 location)
{
	__u8 worth = SNT_REASON_TELLS;

	if (reason < SNT_REASONS_MAX)
		worth = snt_reasons[reason];
	return worth == SNT_REASON_DULL || (worth == SNT_REASON_UNNAMED && !caller_tells(location));
}

/* In one of the rig's namespaces? Inode number 0: the packet had no device (any more), or the field
 * was in other use. */
static __always_inline __u32 drop_netns(struct sk_buff *skb, struct sock *sk)
{
	__u32 inum = BPF_CORE_READ(skb, dev, nd_net.net, ns.inum);

	return inum ?: BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
}

static __always_inline void drop_head(struct snt_drop *r, struct sk_buff *skb)
{
	unsigned char *head = BPF_CORE_READ(skb, head);
	__u64 start = BPF_CORE_READ(skb, network_header);
	__u64 tail = BPF_CORE_READ(skb, tail);
	__u64 n;

	r->head_len = 0;
	if (!start || start >= tail) /* 0 or 0xffff: never set */
		return;
	n = tail - start;
	asm volatile("" : "+r"(n));
	if (n > SNT_DROP_HEAD_MAX)
		n = SNT_DROP_HEAD_MAX;
	if (bpf_probe_read_kernel(r->head, n, head + start))
		r->h.flags |= SNT_F_PARTIAL;
	else
		r->head_len = n;
}

static __always_inline void drop_emit(struct sk_buff *skb, __u64 location, __u32 reason,
				      __u32 netns, const struct who *w, const struct snt_owner *o,
				      struct snt_count *c)
{
	struct snt_drop *r = emit_begin(SNT_HOOK_KFREE_SKB, SNT_EV_DROP, sizeof(*r));
	struct sock *sk;

	/* Nothing between the reserve and this: 6.1 loses sight of the record else. */
	if (!r) {
		count_up(c->ring_full);
		return;
	}
	sk = BPF_CORE_READ(skb, sk);
	who_fill(&r->h, w);
	r->h.flags = o ? SNT_F_OWNER : 0;
	r->h.cgroup_id = o ? o->cgroup_id : 0;
	owner_task(&r->owner, o);
	r->cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	r->location = location;
	r->reason = reason;
	r->ifindex = BPF_CORE_READ(skb, dev, ifindex);
	r->netns = netns;
	r->eth_proto = bpf_ntohs(BPF_CORE_READ(skb, protocol));
	r->len = BPF_CORE_READ(skb, len);
	__builtin_memset(r->head, 0, sizeof(r->head));
	drop_head(r, skb);
	emit_end(SNT_HOOK_KFREE_SKB, r);
	count_up(c->delivered);
}

SEC("?tp_btf/kfree_skb")
int snt_kfree_skb(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	__u64 location = ctx[1];
	__u32 reason = ctx[2], netns, *slot;
	struct snt_owner *o = NULL;
	struct who w = {};
	struct snt_count *c;
	struct sock *sk;

	if (gate_closed())
		return 0;
	if (drop_is_dull(reason, location)) {
		count_filtered(SNT_HOOK_KFREE_SKB);
		return 0;
	}
	sk = skb->sk;
	if (sk)
		o = bpf_sk_storage_get(&snt_owners, sk, NULL, 0);
	netns = drop_netns(skb, sk);
	slot = bpf_map_lookup_elem(&snt_drop_netns, &netns);
	if (slot)
		w.slot = *slot;
	if (!owner_who(&w, o) && !slot) {
		count_filtered(SNT_HOOK_KFREE_SKB);
		return 0;
	}
	w.netns_cookie = BPF_CORE_READ(skb, dev, nd_net.net, net_cookie);
	c = count_seen(SNT_HOOK_KFREE_SKB, w.slot);
	if (c)
		drop_emit(skb, location, reason, netns, &w, o, c);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: every IP packet of every socket below the cgroup v2 root, on its way out and in.
 *
 * Hook:   cgroup_skb egress and ingress on the root of cgroup v2.
 * Why:    the only packet hook that knows the socket's cgroup, shows loopback traffic, and follows
 *         a process that enters another network namespace. On the root, since several platforms
 *         leave the cgroup that they were started in.
 * Blind:  AF_PACKET, AF_XDP, packets that the kernel makes by itself (RST, ICMP errors, ARP), and
 *         sockets made before the cgroup was watched. "Seen here" is not "left": it runs before the
 *         host's forward rules, and other programs may deny.
 * Floor:  5.15. The namespace's cookie can be had here since 6.13 only; before that, the variants
 *         with _d know a box by its device instead, and so not by its loopback.
 * Cost:   about 30 ns for a packet that is not ours, 150 ns for one that is.
 */
#include "bpf/packet.bpf.h"

/* By the socket's owner, else by the socket's cgroup. */
static __always_inline bool who_skb(struct who *w, struct __sk_buff *skb, struct snt_owner *o)
{
	w->mark = 0;
	w->slot = SNT_SLOT_NONE;
	w->netns_cookie = 0;
	if (owner_who(w, o))
		return true;
	if (!snt_run_cgroup || bpf_skb_ancestor_cgroup_id(skb, snt_run_level) != snt_run_cgroup)
		return false;
	w->slot = slot_of_cgroup(bpf_skb_ancestor_cgroup_id(skb, snt_run_level + 1));
	return true;
}

static __always_inline void skb_emit(struct __sk_buff *skb, __u32 hook, const struct who *w,
				     struct snt_owner *o)
{
	struct packet p = { .slot = w->slot, .netns_cookie = w->netns_cookie };
	struct snt_count *c = count_seen(hook, w->slot);

	p.flags = packet_owner_flags(skb, o, true);
	if (c)
		packet_head(skb, hook, &p, c);
}

static __always_inline void skb_by_cookie(struct __sk_buff *skb, __u32 hook)
{
	struct snt_owner *o = packet_owner(skb);
	__u64 cookie = bpf_get_netns_cookie(skb);
	struct who w;

	if (who_skb(&w, skb, o))
		w.netns_cookie = cookie;
	else if (!who_by_netns(&w, cookie)) {
		count_filtered(hook);
		return;
	}
	skb_emit(skb, hook, &w, o);
}

static __always_inline void skb_by_dev(struct __sk_buff *skb, __u32 hook)
{
	struct snt_owner *o = packet_owner(skb);
	struct snt_dev *dev = packet_dev(skb);
	struct who w;
	bool ours = who_skb(&w, skb, o);

	if (!ours && (!dev || !dev->is_box)) {
		count_filtered(hook);
		return;
	}
	if (dev) {
		w.netns_cookie = dev->netns_cookie;
		if (!ours)
			w.slot = dev->slot;
	}
	skb_emit(skb, hook, &w, o);
}

SEC("?cgroup_skb/egress")
int snt_cg_egress(struct __sk_buff *skb)
{
	if (!gate_closed())
		skb_by_cookie(skb, SNT_HOOK_CG_EGRESS);
	return 1;
}

SEC("?cgroup_skb/ingress")
int snt_cg_ingress(struct __sk_buff *skb)
{
	if (!gate_closed())
		skb_by_cookie(skb, SNT_HOOK_CG_INGRESS);
	return 1;
}

SEC("?cgroup_skb/egress")
int snt_cg_egress_d(struct __sk_buff *skb)
{
	if (!gate_closed())
		skb_by_dev(skb, SNT_HOOK_CG_EGRESS);
	return 1;
}

SEC("?cgroup_skb/ingress")
int snt_cg_ingress_d(struct __sk_buff *skb)
{
	if (!gate_closed())
		skb_by_dev(skb, SNT_HOOK_CG_INGRESS);
	return 1;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * W, the authority on "escaped".
 *
 * Hook:   tcx (else clsact) ingress of the world end of host-world.
 * Why:    behind every enforcement point of box and host, in front of the collector; no way to send
 *         passes it by (hooks.md section 1: the HTC column).
 * Blind:  the socket and its owner (forwarding orphans the packet); a VLAN tag, of which only
 *         its presence is told; what leaves by no device of the lane.
 * Floor:  5.15: bounded loops, ring buffer, clsact; tcx needs 6.6.
 * Cost:   about 110 ns for a small packet, 300 ns for 1.5 KB, and no more than 34 reserves for one
 *         of 64 KiB. Only on the lane's own device.
 */
#include "bpf/packet.bpf.h"

/* A function of its own for the verifier: checked once instead of once per turn of the loop. */
__noinline int world_chunk(struct __sk_buff *skb, struct packet *p, __u32 offset)
{
	__u32 left;

	if (!p)
		return PACKET_UNREADABLE;
	left = skb->len - offset;
	if (left > SNT_PKT_DATA_LARGE)
		left = SNT_PKT_DATA_LARGE;
	return packet_copy(skb, p, SNT_HOOK_WORLD, offset, left);
}

/* Every byte of it. One outcome for the whole packet, the worst of its chunks. */
static __always_inline void world_packet(struct __sk_buff *skb, struct packet *p,
					 struct snt_count *c)
{
	__u32 len = skb->len, flags = p->flags, offset = 0;
	bool cut = len > SNT_PKT_CHUNKS_MAX * SNT_PKT_DATA_LARGE;
	int sent = PACKET_SENT;

	for (int i = 0; i < SNT_PKT_CHUNKS_MAX; i++) {
		bool last = i == SNT_PKT_CHUNKS_MAX - 1 || len - offset <= SNT_PKT_DATA_LARGE;

		if (!last)
			p->flags = flags | SNT_F_MORE;
		else
			p->flags = flags | (cut ? SNT_F_TRUNCATED : 0);
		sent |= world_chunk(skb, p, offset);
		if (last)
			break;
		offset += SNT_PKT_DATA_LARGE;
	}
	if (sent & PACKET_NO_ROOM)
		count_up(c->ring_full);
	else if (cut || sent)
		count_up(c->oversized);
	else
		count_up(c->delivered);
}

SEC("tc")
int snt_world(struct __sk_buff *skb)
{
	struct packet p = { .l2_len = ETH_HLEN };
	struct snt_dev *dev;
	struct snt_count *c;

	if (gate_closed())
		return TCX_NEXT;
	dev = packet_dev(skb);
	if (!dev) {
		count_filtered(SNT_HOOK_WORLD);
		return TCX_NEXT;
	}
	p.slot = dev->slot;
	p.netns_cookie = dev->netns_cookie;
	p.flags = packet_tc_flags(skb, false);
	p.pkt_id = next_pkt_id(SNT_HOOK_WORLD);
	c = count_seen(SNT_HOOK_WORLD, p.slot);
	if (c)
		world_packet(skb, &p, c);
	return TCX_NEXT;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";

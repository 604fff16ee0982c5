/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packet records, for the tc hooks and cgroup_skb alike. Bytes are copied as they are: no header is
 * parsed in the kernel.
 */
#ifndef SNT_PACKET_BPF_H
#define SNT_PACKET_BPF_H

#include "bpf/emit.bpf.h"
#include "bpf/owner.bpf.h"

#include <bpf/bpf_endian.h>

#define ETH_HLEN 14 /* linux/if_ether.h has it too, with much that clashes */

/* "No opinion, ask the next": TCX_NEXT of 6.6, TC_ACT_UNSPEC of clsact. */
#define TCX_NEXT -1

/* What all records of one packet have in common. */
struct packet {
	__u64 pkt_id;
	__u64 netns_cookie;
	__u32 slot;
	__u32 l2_len;
	__u32 flags;
};

static __always_inline struct snt_owner *packet_owner(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	return sk ? bpf_sk_storage_get(&snt_owners, sk, NULL, 0) : NULL;
}

/* At A a packet whose socket has no owner is a stranger's, or the kernel's own. */
static __always_inline __u32 packet_owner_flags(struct __sk_buff *skb, const struct snt_owner *o,
						bool at_a)
{
	struct bpf_sock *sk = skb->sk;
	__u32 flags = 0;

	if (sk && bpf_sk_fullsock(sk))
		flags |= SNT_F_FULLSOCK;
	if (o)
		flags |= SNT_F_OWNER;
	else if (at_a)
		flags |= SNT_F_FOREIGN;
	return flags;
}

/* At tc. The device takes the outermost VLAN tag out of the bytes: 12 bits that hold no token, but
 * a frame to another network than it seems. */
static __always_inline __u32 packet_tc_flags(struct __sk_buff *skb, bool at_a)
{
	__u32 flags = packet_owner_flags(skb, packet_owner(skb), at_a);

	return skb->vlan_present ? flags | SNT_F_VLAN : flags;
}

static __always_inline void packet_fill(struct snt_packet *r, struct __sk_buff *skb,
					const struct packet *p)
{
	struct snt_owner *o = packet_owner(skb);

	r->h.slot = p->slot;
	r->h.flags = p->flags;
	r->h.cgroup_id = bpf_skb_cgroup_id(skb);
	r->h.netns_cookie = p->netns_cookie;
	r->h.mark = o ? o->mark : 0;
	owner_task(&r->owner, o);
	r->cookie = bpf_get_socket_cookie(skb);
	r->pkt_id = p->pkt_id;
	r->ifindex = skb->ifindex;
	r->len = skb->len;
	r->gso_segs = skb->gso_segs;
	r->gso_size = skb->gso_size;
	r->eth_proto = bpf_ntohs(skb->protocol);
	r->l2_len = p->l2_len;
}

/* What came of a record; bits, so that those of several chunks add up without a branch. */
#define PACKET_SENT 0
#define PACKET_NO_ROOM 1
#define PACKET_UNREADABLE 2

/* One record with n <= size bytes from offset on, in a record for size bytes. */
static __always_inline int packet_record(struct __sk_buff *skb, const struct packet *p, __u32 hook,
					 __u32 offset, __u64 n, __u32 size)
{
	struct snt_packet *r;
	int sent = PACKET_SENT;

	r = emit_begin(hook, SNT_EV_PACKET, sizeof(*r) + size);
	if (!r)
		return PACKET_NO_ROOM;
	packet_fill(r, skb, p);
	r->offset = offset;
	r->data_len = n;
	if (n && bpf_skb_load_bytes(skb, offset, r->data, within(n, size))) {
		r->h.flags |= SNT_F_PARTIAL;
		r->data_len = 0;
		sent = PACKET_UNREADABLE;
	}
	emit_end(hook, r);
	return sent;
}

/* In the smallest of the three sizes that holds n bytes. */
static __always_inline int packet_copy(struct __sk_buff *skb, const struct packet *p, __u32 hook,
				       __u32 offset, __u32 n)
{
	if (n <= SNT_PKT_DATA_SMALL)
		return packet_record(skb, p, hook, offset, n, SNT_PKT_DATA_SMALL);
	if (n <= SNT_PKT_DATA_MEDIUM)
		return packet_record(skb, p, hook, offset, n, SNT_PKT_DATA_MEDIUM);
	return packet_record(skb, p, hook, offset, n, SNT_PKT_DATA_LARGE);
}

/* One record with the head of the packet: every hook but W. */
static __always_inline void packet_head(struct __sk_buff *skb, __u32 hook, struct packet *p,
					struct snt_count *c)
{
	__u32 n = skb->len;

	if (n > snt_snapshot) {
		n = snt_snapshot;
		p->flags |= SNT_F_TRUNCATED;
	}
	p->pkt_id = next_pkt_id(hook);
	if (packet_copy(skb, p, hook, 0, n) == PACKET_NO_ROOM)
		count_up(c->ring_full);
	else
		count_up(c->delivered);
}

/* The lane of the device that a tc program runs on, NULL where it has none (any more). */
static __always_inline struct snt_dev *packet_dev(struct __sk_buff *skb)
{
	__u32 ifindex = skb->ifindex;

	return bpf_map_lookup_elem(&snt_devs, &ifindex);
}

/* B and box: filter, gather, emit. */
static __always_inline void packet_at_dev(struct __sk_buff *skb, __u32 hook, bool at_a)
{
	struct snt_dev *dev = packet_dev(skb);
	struct packet p = { .l2_len = ETH_HLEN };
	struct snt_count *c;

	if (!dev) {
		count_filtered(hook);
		return;
	}
	p.slot = dev->slot;
	p.netns_cookie = dev->netns_cookie;
	p.flags = packet_tc_flags(skb, at_a);
	c = count_seen(hook, p.slot);
	if (c)
		packet_head(skb, hook, &p, c);
}

#endif

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * B, the authority on "left the sandbox", and the sandbox's own end of the same link.
 *
 * Hook:   tcx (else clsact) ingress of the host end of box-host; tcx egress of the box end.
 * Why:    B saw every frame of every way to send and of every platform measured, AF_PACKET with
 *         QDISC_BYPASS and AF_XDP included, and the sandbox can't reach it. A frame at B without a
 *         match at the box end was sent below the stack.
 * Blind:  B: an owner where there is no socket (ARP, replies of the kernel) or no storage
 *         (AF_PACKET); the box end: QDISC_BYPASS and AF_XDP. Both: the number in a VLAN tag
 *         (SNT_F_VLAN says that there is one), bytes beyond the snapshot.
 * Floor:  5.15; the packet's socket survives a veth since 4.20. tcx needs 6.6.
 * Cost:   about 150 ns a packet, only on the lane's own devices.
 */
#include "bpf/packet.bpf.h"

SEC("tc")
int snt_boundary(struct __sk_buff *skb)
{
	if (!gate_closed())
		packet_at_dev(skb, SNT_HOOK_BOUNDARY, false);
	return TCX_NEXT;
}

SEC("tc")
int snt_box(struct __sk_buff *skb)
{
	if (!gate_closed())
		packet_at_dev(skb, SNT_HOOK_BOX, true);
	return TCX_NEXT;
}

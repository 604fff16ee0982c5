/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One frame, taken apart: strict, pure, no allocation. Everything points into the frame.
 */
#ifndef SENTINEL_PACKET_H
#define SENTINEL_PACKET_H

#include "user/base/util.h"

#define PACKET_VLAN_MAX 4 /* tags stacked on each other */
#define PACKET_EXT_MAX 8  /* IPv6 extension headers: Linux itself sends at most 5 */

#define TCP_FLAG_FIN 0x01
#define TCP_FLAG_SYN 0x02
#define TCP_FLAG_RST 0x04
#define TCP_FLAG_PSH 0x08
#define TCP_FLAG_ACK 0x10

struct packet {
	uint32_t family;	  /* AF_INET, AF_INET6; 0 where it is not IP (ARP, unknown) */
	uint32_t eth_proto;	  /* behind VLAN tags, host order */
	uint32_t vlans;		  /* number of tags */
	uint8_t src[16], dst[16]; /* IPv4 as v4-mapped */
	uint8_t ttl;		  /* hop limit */
	uint8_t protocol;	  /* IPPROTO_*: what lies behind options and extension headers */
	bool transport; /* the header of protocol (TCP, UDP, ICMP, ICMPv6) was there, whole */
	uint16_t sport, dport; /* TCP, UDP */
	uint8_t tcp_flags;     /* TCP_FLAG_* */
	uint32_t tcp_seq, tcp_ack;
	uint8_t icmp_type, icmp_code;  /* ICMP, ICMPv6 */
	bool fragment;		       /* a part of a packet: the fields below say which */
	bool frag_more;		       /* not the last part */
	uint32_t frag_id, frag_offset; /* offset in bytes of l4 */
	bool truncated;		       /* the frame ends before the packet does */
	uint32_t l4_len;	       /* bytes there behind the IP headers */
	uint32_t payload_len;	       /* bytes there behind the transport header, or all of l4 */
	uint32_t wire_len;	       /* what payload_len would be if nothing had been cut off */
	const uint8_t *l4, *payload;
};

/*
 * data: len bytes of a frame; the network header starts at l2_len (14: an Ethernet header stands
 * before it, whose VLAN tags are followed; 0: none). eth_proto: host order; 0 = as the Ethernet
 * header says. Bytes behind the end that the IP header tells (padding, trailers) are no payload.
 *
 * 0; or -EBADMSG, ret untouched, where the frame is no well-formed packet: shorter than its
 * headers, a header length or version that lies. What is merely unknown (an Ethernet type, a
 * protocol) is well formed. Trust nothing else: checksums are not looked at, since offloading
 * leaves them unfinished. RFC 791, 8200, 9293, 768, 792, 4443; IEEE 802.1Q.
 */
int packet_parse(const uint8_t *data, size_t len, uint32_t l2_len, uint32_t eth_proto,
		 struct packet *ret) must_check;

/*
 * The part above IP, for what was put together from fragments: p->l4, l4_len and protocol are set;
 * walks the extension headers that are left (IPv6), then fills ports, flags and payload. Where a
 * header is not whole, transport stays false and payload is all that is there. 0 or -EBADMSG.
 */
int packet_parse_l4(struct packet *p) must_check;

/* What comes up without anybody meaning it (DESIGN.md 3.5), unless it carries a token. */
enum packet_noise {
	NOISE_NONE = 0,
	NOISE_ARP,
	NOISE_ND, /* neighbour and router discovery, RFC 4861 */
	NOISE_MLD,
	NOISE_IGMP,
	NOISE_ICMP_ERROR, /* sent because of another packet, a part of which it quotes */
	NOISE_MAX
};
enum packet_noise packet_noise(const struct packet *p);

/* TCP without payload: a signal at best, never a token. */
bool packet_is_bare_tcp(const struct packet *p);

#endif

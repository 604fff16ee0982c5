// SPDX-License-Identifier: Apache-2.0
#include "user/decode/packet.h"

#include <linux/if_ether.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* What is left of the frame. Every byte is read through it, so none is read beyond it. */
struct cursor {
	const uint8_t *p;
	size_t left;
	size_t missing; /* bytes that the packet has and the frame has not */
};

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static const uint8_t *take(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if (n > c->left)
		return NULL;
	if (n) { /* an empty frame may have no address at all */
		c->p += n;
		c->left -= n;
	}
	return p;
}

/* The datagram has total bytes from here on; what stands behind them is the link's padding. */
static void limit(struct cursor *c, size_t total, struct packet *p)
{
	if (total > c->left) {
		p->truncated = true;
		c->missing = total - c->left;
	} else {
		c->left = total;
	}
}

static void map_v4(uint8_t out[16], const uint8_t *v4)
{
	memset(out, 0, 10);
	out[10] = out[11] = 0xff;
	memcpy(out + 12, v4, 4);
}

/*
 * 802.1Q, 802.1ad: the type field holds 8100 or 88a8, then
 *	0      2             4
 *	| TCI  | type of the |
 *	|      | payload     |
 */
static int skip_vlans(struct cursor *c, struct packet *p)
{
	while (p->eth_proto == ETH_P_8021Q || p->eth_proto == ETH_P_8021AD) {
		const uint8_t *tag = take(c, 4);

		if (!tag || p->vlans == PACKET_VLAN_MAX)
			return -EBADMSG;
		p->vlans++;
		p->eth_proto = be16(tag + 2);
	}
	return 0;
}

static int parse_link(struct cursor *c, uint32_t l2_len, uint32_t eth_proto, struct packet *p)
{
	const uint8_t *l2 = take(c, l2_len);

	if (!l2)
		return -EBADMSG;
	p->eth_proto = eth_proto;
	if (l2_len < ETH_HLEN)
		return skip_vlans(c, p);
	/* The stack takes the outer tag out of the frame and eth_proto may name what lies behind
	 * it: what the frame itself says comes first. */
	if (be16(l2 + 12) >= ETH_P_802_3_MIN)
		p->eth_proto = be16(l2 + 12);
	return skip_vlans(c, p);
}

/*
 * RFC 791 3.1:
 *	 0       4       8               16                              32
 *	|version|  IHL  |type of service |         total length          |
 *	|        identification          |flags|    fragment offset      |
 *	|     TTL       |   protocol     |           checksum            |
 *	|                            source                              |
 *	|                          destination                           |
 */
static int parse_ipv4(struct cursor *c, struct packet *p)
{
	struct cursor whole = *c;
	const uint8_t *h = take(c, 20);
	size_t header, total;
	uint32_t frag;

	if (!h || h[0] >> 4 != 4)
		return -EBADMSG;
	header = (size_t)(h[0] & 0xf) * 4;
	total = be16(h + 2);
	if (total == 0) /* longer than 64 KiB: BIG TCP, Linux leaves the field empty */
		total = whole.left;
	if (header < 20 || total < header || !take(c, header - 20))
		return -EBADMSG;
	limit(c, total - header, p);

	p->family = AF_INET;
	map_v4(p->src, h + 12);
	map_v4(p->dst, h + 16);
	p->ttl = h[8];
	p->protocol = h[9];
	frag = be16(h + 6);
	p->frag_more = frag & 0x2000;
	p->frag_offset = (frag & 0x1fff) * 8;
	p->frag_id = be16(h + 4);
	p->fragment = p->frag_more || p->frag_offset;
	return 0;
}

/* RFC 8200 4.5: next header, reserved, offset and flags (13 + 2 + 1 bits), identification. */
static void parse_fragment_header(const uint8_t *h, struct packet *p)
{
	uint32_t frag = be16(h + 2);

	p->frag_more = frag & 1;
	p->frag_offset = frag & 0xfff8;
	p->frag_id = be32(h + 4);
	/* An "atomic fragment" (RFC 6946) is a whole packet. */
	p->fragment = p->frag_more || p->frag_offset;
}

/*
 * RFC 8200 4.1: extension headers, each with the type of the next in its first byte and, but for
 * the fragment header, its length in 8-byte units, less one, in its second (AH: in 4-byte units,
 * less two; RFC 4302 2.2). Stops at the first header that is none, at the first fragment header
 * that means a fragment, or where the frame ends.
 */
static int skip_extensions(struct cursor *c, struct packet *p)
{
	for (unsigned int n = 0;; n++) {
		const uint8_t *h = c->p;
		size_t len;

		switch (p->protocol) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_DSTOPTS:
		case IPPROTO_ROUTING:
		case IPPROTO_MH:
			len = c->left < 2 ? 0 : 8 * ((size_t)h[1] + 1);
			break;
		case IPPROTO_AH:
			len = c->left < 2 ? 0 : 4 * ((size_t)h[1] + 2);
			break;
		case IPPROTO_FRAGMENT:
			len = 8;
			break;
		default:
			return 0;
		}
		if (n == PACKET_EXT_MAX)
			return -EBADMSG;
		if (!len || !take(c, len))
			return p->truncated || p->fragment ? 0 : -EBADMSG;
		if (p->protocol == IPPROTO_FRAGMENT)
			parse_fragment_header(h, p);
		p->protocol = h[0];
		if (p->fragment)
			return 0; /* the rest of the chain belongs to the whole packet */
	}
}

/* RFC 8200 3: version, traffic class, flow label (4 bytes), payload length, next header, hop limit,
 * source, destination. */
static int parse_ipv6(struct cursor *c, struct packet *p)
{
	const uint8_t *h = take(c, 40);
	size_t total;

	if (!h || h[0] >> 4 != 6)
		return -EBADMSG;
	total = be16(h + 4);
	if (total) /* 0: jumbogram (RFC 2675), BIG TCP, or nothing */
		limit(c, total, p);
	p->family = AF_INET6;
	memcpy(p->src, h + 8, 16);
	memcpy(p->dst, h + 24, 16);
	p->protocol = h[6];
	p->ttl = h[7];
	return skip_extensions(c, p);
}

/* RFC 9293 3.1: ports, sequence and acknowledgment number, data offset in 4-byte units, flags. */
static int parse_tcp(struct cursor *c, struct packet *p)
{
	const uint8_t *h = c->p;
	size_t header;

	if (c->left < 20)
		return 0;
	header = (size_t)(h[12] >> 4) * 4;
	if (header < 20)
		return -EBADMSG;
	p->sport = be16(h);
	p->dport = be16(h + 2);
	p->tcp_seq = be32(h + 4);
	p->tcp_ack = be32(h + 8);
	p->tcp_flags = h[13];
	if (!take(c, header))
		return p->truncated ? 0 : -EBADMSG;
	p->transport = true;
	return 0;
}

static int parse_udp(struct cursor *c, struct packet *p)
{
	const uint8_t *h = c->p;

	if (c->left < 8)
		return 0;
	p->sport = be16(h);
	p->dport = be16(h + 2);
	(void)take(c, 8);
	p->transport = true;
	return 0; /* its own length says less than IP's: bytes behind it still left */
}

static int parse_icmp(struct cursor *c, struct packet *p)
{
	const uint8_t *h = take(c, 4);

	if (!h)
		return 0;
	p->icmp_type = h[0];
	p->icmp_code = h[1];
	p->transport = true;
	return 0;
}

static int parse_transport(struct cursor *c, struct packet *p)
{
	switch (p->protocol) {
	case IPPROTO_TCP:
		return parse_tcp(c, p);
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return parse_udp(c, p);
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return parse_icmp(c, p);
	default:
		return 0;
	}
}

/* c stands behind the IP headers. */
static int finish(struct cursor *c, struct packet *p)
{
	int err = 0;

	p->l4 = c->p;
	p->l4_len = (uint32_t)c->left;
	if (!p->frag_offset) /* the first part has the ports; the others have no header */
		err = parse_transport(c, p);
	p->payload = c->p;
	p->payload_len = (uint32_t)c->left;
	p->wire_len = p->payload_len + (uint32_t)c->missing;
	/* The first fragment may well end within a header: then the whole packet tells. */
	return p->fragment ? 0 : err;
}

int packet_parse(const uint8_t *data, size_t len, uint32_t l2_len, uint32_t eth_proto,
		 struct packet *ret)
{
	struct cursor c = { data, len, 0 };
	struct packet p = { 0 };
	int err;

	err = parse_link(&c, l2_len, eth_proto, &p);
	if (!err && p.eth_proto == ETH_P_IP)
		err = parse_ipv4(&c, &p);
	else if (!err && p.eth_proto == ETH_P_IPV6)
		err = parse_ipv6(&c, &p);
	if (!err)
		err = finish(&c, &p);
	if (!err)
		*ret = p;
	return err;
}

int packet_parse_l4(struct packet *p)
{
	struct cursor c = { p->l4, p->l4_len, 0 };
	struct packet q = *p;
	int err = 0;

	q.fragment = q.frag_more = q.truncated = q.transport = false;
	q.frag_offset = 0;
	if (q.family == AF_INET6)
		err = skip_extensions(&c, &q);
	if (!err && q.fragment) /* a fragment within a fragment, RFC 8200 4.5: never sent */
		err = -EBADMSG;
	if (!err)
		err = finish(&c, &q);
	if (!err)
		*p = q;
	return err;
}

static enum packet_noise icmpv4_noise(uint8_t type)
{
	switch (type) {
	case 3:	 /* destination unreachable */
	case 4:	 /* source quench */
	case 5:	 /* redirect */
	case 11: /* time exceeded */
	case 12: /* parameter problem */
		return NOISE_ICMP_ERROR;
	case 9: /* router advertisement and solicitation, RFC 1256 */
	case 10:
		return NOISE_ND;
	default:
		return NOISE_NONE;
	}
}

static enum packet_noise icmpv6_noise(uint8_t type)
{
	if (type < 128) /* RFC 4443 2.1: errors have the high bit clear */
		return NOISE_ICMP_ERROR;
	switch (type) {
	case 130: /* RFC 2710 */
	case 131:
	case 132:
	case 143: /* RFC 3810 */
		return NOISE_MLD;
	case 133: /* RFC 4861 4.1 to 4.5 */
	case 134:
	case 135:
	case 136:
	case 137:
		return NOISE_ND;
	default:
		return NOISE_NONE;
	}
}

enum packet_noise packet_noise(const struct packet *p)
{
	if (p->eth_proto == ETH_P_ARP)
		return NOISE_ARP;
	if (p->family == AF_INET && p->protocol == IPPROTO_IGMP)
		return NOISE_IGMP;
	if (!p->transport)
		return NOISE_NONE;
	if (p->family == AF_INET && p->protocol == IPPROTO_ICMP)
		return icmpv4_noise(p->icmp_type);
	if (p->family == AF_INET6 && p->protocol == IPPROTO_ICMPV6)
		return icmpv6_noise(p->icmp_type);
	return NOISE_NONE;
}

bool packet_is_bare_tcp(const struct packet *p)
{
	return p->family && p->protocol == IPPROTO_TCP && p->transport && !p->wire_len;
}

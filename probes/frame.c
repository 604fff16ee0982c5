// SPDX-License-Identifier: Apache-2.0
#include "probes/frame.h"

#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>

#include "probes/checksum.h"

#define ETH sizeof(struct ether_header)

_Static_assert(sizeof(struct ether_arp) == FRAME_ARP_BYTES - ETH, "ARP of IPv4 over Ethernet");
_Static_assert(sizeof(struct iphdr) + sizeof(struct udphdr) == FRAME_HEADERS - ETH, "headers");

static void put_ethernet(uint8_t *out, const uint8_t to[ETH_ALEN], const uint8_t from[ETH_ALEN],
			 uint16_t type)
{
	struct ether_header h = { .ether_type = htons(type) };

	memcpy(h.ether_dhost, to, ETH_ALEN);
	memcpy(h.ether_shost, from, ETH_ALEN);
	memcpy(out, &h, sizeof(h));
}

static bool is_ethernet(const uint8_t *p, size_t len, uint16_t type)
{
	struct ether_header h;

	if (len < sizeof(h))
		return false;
	memcpy(&h, p, sizeof(h));
	return h.ether_type == htons(type);
}

void frame_arp_request(const struct frame_ends *e, uint8_t out[FRAME_ARP_BYTES])
{
	static const uint8_t everybody[ETH_ALEN] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct ether_arp a = { .arp_hrd = htons(ARPHRD_ETHER),
			       .arp_pro = htons(ETHERTYPE_IP),
			       .arp_hln = ETH_ALEN,
			       .arp_pln = sizeof(e->to),
			       .arp_op = htons(ARPOP_REQUEST) };

	put_ethernet(out, everybody, e->from_mac, ETHERTYPE_ARP);
	memcpy(a.arp_sha, e->from_mac, ETH_ALEN);
	memcpy(a.arp_spa, &e->from, sizeof(e->from));
	memcpy(a.arp_tpa, &e->to, sizeof(e->to));
	memcpy(out + ETH, &a, sizeof(a));
}

bool frame_is_arp_reply(const uint8_t *p, size_t len, const struct frame_ends *e,
			uint8_t ret_mac[ETH_ALEN])
{
	struct ether_arp a;

	if (!is_ethernet(p, len, ETHERTYPE_ARP) || len - ETH < sizeof(a))
		return false;
	memcpy(&a, p + ETH, sizeof(a));
	if (a.arp_op != htons(ARPOP_REPLY) || memcmp(a.arp_spa, &e->to, sizeof(e->to)) != 0)
		return false;
	memcpy(ret_mac, a.arp_sha, ETH_ALEN);
	return true;
}

/* RFC 768: over the addresses, protocol and length too; 0 means that there is none. */
static uint16_t udp_checksum(const struct iphdr *ip, const struct udphdr *udp, const void *payload,
			     size_t len)
{
	uint32_t sum = IPPROTO_UDP + ntohs(udp->uh_ulen);
	uint16_t end;

	sum = checksum_add(sum, &ip->saddr, sizeof(ip->saddr));
	sum = checksum_add(sum, &ip->daddr, sizeof(ip->daddr));
	sum = checksum_add(sum, udp, sizeof(*udp));
	end = checksum_end(checksum_add(sum, payload, len));
	return end ? end : 0xffff;
}

size_t frame_udp(const struct frame_ends *e, const void *payload, size_t len, uint8_t *out,
		 size_t n)
{
	struct iphdr ip = { .version = 4,
			    .ihl = sizeof(ip) / 4,
			    .ttl = 64,
			    .protocol = IPPROTO_UDP,
			    .frag_off = htons(IP_DF),
			    .saddr = e->from.s_addr,
			    .daddr = e->to.s_addr };
	struct udphdr udp = { .uh_sport = htons(e->from_port), .uh_dport = htons(e->to_port) };

	if (n < FRAME_HEADERS || len > n - FRAME_HEADERS ||
	    len > UINT16_MAX - sizeof(ip) - sizeof(udp))
		return 0;
	ip.tot_len = htons((uint16_t)(sizeof(ip) + sizeof(udp) + len));
	ip.check = checksum_of(&ip, sizeof(ip));
	udp.uh_ulen = htons((uint16_t)(sizeof(udp) + len));
	udp.uh_sum = udp_checksum(&ip, &udp, payload, len);
	put_ethernet(out, e->to_mac, e->from_mac, ETHERTYPE_IP);
	memcpy(out + ETH, &ip, sizeof(ip));
	memcpy(out + ETH + sizeof(ip), &udp, sizeof(udp));
	memcpy(out + FRAME_HEADERS, payload, len);
	return FRAME_HEADERS + len;
}

const uint8_t *frame_udp_answer(const uint8_t *p, size_t len, const struct frame_ends *e,
				size_t *ret_len)
{
	struct iphdr ip;
	struct udphdr udp;
	size_t at;

	if (!is_ethernet(p, len, ETHERTYPE_IP) || len - ETH < sizeof(ip))
		return NULL;
	memcpy(&ip, p + ETH, sizeof(ip));
	at = ETH + ip.ihl * 4u;
	if (ip.ihl < 5 || ip.protocol != IPPROTO_UDP || ip.saddr != e->to.s_addr ||
	    len < at + sizeof(udp))
		return NULL;
	memcpy(&udp, p + at, sizeof(udp));
	if (udp.uh_sport != htons(e->to_port) || udp.uh_dport != htons(e->from_port))
		return NULL;
	*ret_len = len - at - sizeof(udp);
	return p + at + sizeof(udp);
}

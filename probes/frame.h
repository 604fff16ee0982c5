/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet frames by hand: ARP (RFC 826), and UDP over IPv4. Pure. */
#ifndef SENTINEL_PROBES_FRAME_H
#define SENTINEL_PROBES_FRAME_H

#include <net/ethernet.h>
#include <netinet/in.h>

#include "user/base/util.h"

#define FRAME_HEADERS (sizeof(struct ether_header) + 20 + 8)
#define FRAME_ARP_BYTES (sizeof(struct ether_header) + 28)

struct frame_ends {
	uint8_t from_mac[ETH_ALEN], to_mac[ETH_ALEN];
	struct in_addr from, to;
	uint16_t from_port, to_port; /* host order */
};

/* "Who has e->to? Tell e->from", to everybody on the link. */
void frame_arp_request(const struct frame_ends *e, uint8_t out[FRAME_ARP_BYTES]);

/* Whether these bytes are the answer to that, by whom. */
bool frame_is_arp_reply(const uint8_t *p, size_t len, const struct frame_ends *e,
			uint8_t ret_mac[ETH_ALEN]);

/* The datagram with that payload, into out of size n: its length, 0 where it has no room. */
size_t frame_udp(const struct frame_ends *e, const void *payload, size_t len, uint8_t *out,
		 size_t n);

/* The payload of a datagram that came back: from e->to to e->from_port. NULL where it is none. */
const uint8_t *frame_udp_answer(const uint8_t *p, size_t len, const struct frame_ends *e,
				size_t *ret_len);

#endif

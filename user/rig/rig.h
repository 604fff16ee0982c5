/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rig's plan: addresses, ports and limits. Header only, so that the far side and the probes can
 * use it without linking the rig.
 *
 *          box                         host (router)                       world (far side)
 *   box0 10.117.L.2/30 --- 10.117.L.1/30 bnd0  up0 10.118.L.1/30 --- 10.118.L.2/30 wld0
 *   fd00:117:L::2/64   --- fd00:117:L::1/64    fd00:118:L::1/64  --- fd00:118:L::2/64
 *
 *   203.0.113.0/25,   2001:db8:113::/64     local in world: whoever listens there answers
 *   203.0.113.128/25, 2001:db8:113:1::/64   "deaf": arrives at wld0 and dies there in silence
 *
 *   169.254.169.254, 169.254.170.2, 100.100.100.200, fd00:ec2::254: look-alikes of metadata
 * services in world, each with a deaf twin
 *
 *   in host:  10.117.0.53:53 the lane's resolver; 169.254.169.251:80 a metadata look-alike whose
 *             answers live for one hop
 *   in box:   127.0.0.1:9003, what only the host's own processes may reach
 *
 * L is the lane's number. The far side's prefixes are those of RFC 5737 and RFC 3849: platforms
 * treat loopback, RFC 1918, link-local and 198.18/15 specially (DESIGN.md 9).
 */
#ifndef SENTINEL_RIG_H
#define SENTINEL_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define LANES_MAX 32 /* lane numbers are 1..LANES_MAX; each has a loss slot, so < SNT_SLOT_MAX */

#define RIG_PORT_TCP 9000
#define RIG_PORT_UDP 9001
#define RIG_PORT_DNS 53
#define RIG_PORT_HTTP 80
#define RIG_PORT_HTTPS 443
#define RIG_PORT_LOOPBACK 9003 /* in box; the next one is its deaf twin */
#define RIG_PORT_SIBLING 9005
#define RIG_PORT_CANARY 9 /* discard: nobody listens */

#define RIG_FAR4 "203.0.113.0"	      /* /25: answers */
#define RIG_FAR4_DEAF "203.0.113.128" /* /25 */
#define RIG_FAR4_ALL_PREFIX 24
#define RIG_FAR4_PREFIX 25
#define RIG_FAR6 "2001:db8:113::"
#define RIG_FAR6_DEAF "2001:db8:113:1::"
#define RIG_FAR6_ALL_PREFIX 48
#define RIG_FAR6_PREFIX 64
#define RIG_CANARY4 "203.0.113.1" /* never a trial's own address */

/* Who knows what: each zone's only server. Of the deaf one nobody ever hears. */
#define RIG_ZONE "sentinel.test"
#define RIG_ZONE_SERVER4 "203.0.113.1"
#define RIG_ZONE_DEAF "deaf.test"
#define RIG_ZONE_DEAF_SERVER4 "203.0.113.255"

/* What a platform's policy allows, where its target says so; never a trial's own address. */
#define RIG_ALLOWED_NAME "allowed." RIG_ZONE
#define RIG_ALLOWED4 "203.0.113.127"
#define RIG_ALLOWED6 "2001:db8:113::1"

#define RIG_METADATA4 "169.254.169.254"
#define RIG_METADATA4_DEAF "169.254.169.253"
#define RIG_METADATA_ECS4 "169.254.170.2"
#define RIG_METADATA_ECS4_DEAF "169.254.170.3"
#define RIG_METADATA6 "fd00:ec2::254"
#define RIG_METADATA6_DEAF "fd00:ec2::253"
#define RIG_METADATA_HOP4 "169.254.169.251" /* its deaf twin is the next port */
#define RIG_METADATA_ALIBABA4 "100.100.100.200"
#define RIG_RESOLVER4 "10.117.0.53"
#define RIG_BOX4 "10.117.%u.2" /* of the lane */
/* Where box's canaries say they come from (RFC 5737, routed nowhere): errors and answers about them
 * reach nobody, and are not taken from box's own address's budget of ICMP errors (lane.h). */
#define RIG_CANARY4_SOURCE "192.0.2.1"

/* Interface names; each is alone in its namespace's role, so all lanes share them. */
#define RIG_IF_BOX "box0"
#define RIG_IF_BOUNDARY "bnd0"
#define RIG_IF_UPLINK "up0"
#define RIG_IF_WORLD "wld0"

/*
 * A trial's own destination, so that a packet names its trial even without payload: 16 bytes, IPv4
 * as v4-mapped. family is AF_INET or AF_INET6, deaf chooses the far side that never answers. IPv6
 * addresses are unique for every n; IPv4 has 125 of them and starts again, so that two trials share
 * one only when 124 others lie between them.
 */
static inline void rig_trial_addr(uint8_t ret[16], int family, bool deaf, uint32_t n)
{
	static const uint8_t v4[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 0 };
	static const uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13 };
	uint64_t host = 0x10000ull + n;

	if (family == AF_INET) {
		memcpy(ret, v4, 16);
		ret[15] = (uint8_t)((deaf ? 130 : 2) + n % 125);
		return;
	}
	memcpy(ret, v6, 16);
	ret[7] = deaf ? 1 : 0;
	for (int i = 15; i >= 8; i--, host >>= 8)
		ret[i] = (uint8_t)host;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few things that the rig asks of rtnetlink, each one request and its acknowledgement. Built by
 * libnl-route, but sent here: libnl folds the kernel's errno into a dozen texts ("Unspecific
 * failure"), and we want to show the truth.
 *
 * Addresses are 16 bytes, IPv4 as v4-mapped; a prefix length counts from the family's own first
 * bit. A struct netlink belongs to the namespace in which it was opened, and to one thread at a
 * time. All return 0 or the kernel's -errno.
 */
#ifndef SENTINEL_NETLINK_H
#define SENTINEL_NETLINK_H

#include "user/base/util.h"

struct netlink;

int netlink_open(struct netlink **ret) must_check; /* in the calling thread's namespace */
void netlink_close(struct netlink *n);		   /* NULL is fine */

static inline void cleanup_netlink_(struct netlink *const *n)
{
	netlink_close(*n);
}
#define cleanup_netlink __attribute__((cleanup(cleanup_netlink_)))

struct netlink_veth_end {
	const char *name;
	uint32_t ifindex; /* must be free in its namespace; never 0 */
	uint8_t mac[6];
	int ns_fd; /* where it shall be; -1: the namespace of the netlink */
};
/* Both ends are made down: the kernel refuses IFF_UP in this request (ENOTCONN). */
int netlink_add_veth(struct netlink *n, const struct netlink_veth_end *a,
		     const struct netlink_veth_end *b) must_check;

int netlink_set_up(struct netlink *n, uint32_t ifindex) must_check;

/* Waits until the link is operational: a veth end that came up before its peer carries nothing
 * until the kernel's link watch ran. -ETIMEDOUT after a second. */
int netlink_wait_running(struct netlink *n, uint32_t ifindex) must_check;

/* An IPv6 address is usable at once (no duplicate address detection). */
int netlink_add_addr(struct netlink *n, uint32_t ifindex, const uint8_t addr[16],
		     unsigned int prefix) must_check;

int netlink_add_neigh(struct netlink *n, uint32_t ifindex, const uint8_t addr[16],
		      const uint8_t mac[6]) must_check;

enum netlink_route_kind {
	NETLINK_ROUTE_VIA,	/* through gateway on ifindex */
	NETLINK_ROUTE_LOCAL,	/* ours: every address of it, as if it were on ifindex ("AnyIP") */
	NETLINK_ROUTE_BLACKHOLE /* dropped in silence */
};
struct netlink_route {
	enum netlink_route_kind kind;
	uint8_t dst[16]; /* all zero with prefix 0 and v6 unset: the IPv4 default route */
	unsigned int prefix;
	bool v6;
	uint32_t ifindex;
	const uint8_t *gateway; /* 16 bytes */
};
int netlink_add_route(struct netlink *n, const struct netlink_route *r) must_check;

struct netlink_rule {
	bool v6;
	uint32_t priority;
	const char *iif;	/* NULL: whatever comes in or goes out */
	uint8_t protocol;	/* IPPROTO_*; 0: any */
	uint16_t port, port_to; /* of the destination, where there is a protocol; 0: any */
	uint32_t table;		/* to look in; 0: it is prohibited */
};
/* Deletes the first that matches: priority 0 matches every one. */
int netlink_add_rule(struct netlink *n, const struct netlink_rule *r) must_check;
int netlink_del_rule(struct netlink *n, const struct netlink_rule *r) must_check;

#endif

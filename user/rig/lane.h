/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane: three network namespaces, box - host - world, joined by two veth pairs (rig.h has the
 * plan). The namespaces are anonymous: our CLOEXEC descriptors alone hold them, so whatever ends
 * this process also ends them, their links and the programs attached there, and a sandbox that
 * outlives us has lost its link. The caller's own namespace is never entered or written: all work
 * is done by short-lived threads that have left it.
 */
#ifndef SENTINEL_LANE_H
#define SENTINEL_LANE_H

#include "user/base/diag.h"
#include "user/base/util.h"

struct netlink;

struct lane {
	uint32_t number;	       /* 1..LANES_MAX; 0: not made */
	uint32_t epoch;		       /* the caller's: how often this lane was made */
	int box_ns, host_ns, world_ns; /* CLOEXEC; /proc/PID/fd/N is the path of a namespace */
	/* Interface indexes: unique over the lanes of this process, over two epochs of a lane in a
	 * row, and over processes of one pid namespace. Large and sparse: for hashes, not arrays.
	 */
	uint32_t box_ifindex;				/* box end of box-host */
	uint32_t boundary_ifindex;			/* host end of box-host: vantage B */
	uint32_t host_ifindex;				/* host end of host-world */
	uint32_t world_ifindex;				/* world end of host-world: vantage W */
	uint64_t box_cookie, host_cookie, world_cookie; /* SO_NETNS_COOKIE */
	uint32_t box_inum, host_inum, world_inum;	/* as in /proc/PID/ns/net */
	uint8_t gateway_mac[6]; /* of the boundary: whom a raw frame from box is addressed to */
	bool closed;
	bool ipv6;
	/* private */
	int box_canary, host_canary;		/* UDP sockets */
	struct netlink *box_rules, *host_rules; /* for lane_set_closed() */
};

struct lane_opts {
	bool no_ipv6; /* IPv6 is switched off in all three namespaces */
};

/*
 * Makes lane `number` (1..LANES_MAX), open, and waits until its links carry traffic. o may be NULL.
 * Needs CAP_SYS_ADMIN and CAP_NET_ADMIN. About 4 ms; several at once take longer than one after
 * another, for the kernel's locks. On error -errno, d says which step failed, and *l needs no
 * lane_drop() (which would be harmless).
 */
int lane_make(struct lane *l, uint32_t number, uint32_t epoch, const struct lane_opts *o,
	      struct diag *d) must_check;

/* Closes everything; the kernel removes the namespaces behind our back within about 100 ms. NULL,
 * a zeroed and a half-built lane are fine. */
void lane_drop(struct lane *l);

/*
 * Closed: host takes nothing that comes from box, frames of AF_PACKET too, neither to forward it
 * nor for itself, by a policy rule that answers "administratively prohibited" (IPv4 EHOSTUNREACH,
 * IPv6 EACCES at the sender). In box itself nobody connects to what only its own processes may
 * reach (RIG_PORT_LOOPBACK to RIG_PORT_SIBLING): EACCES. A sender may hear of it late:
 * - TCP usually learns it from its second SYN, a second later. The error for the first one comes
 *   back in the same softirq, while connect() still holds the socket, and tcp_v4_err() then only
 *   notes it.
 * - IPv4 errors are limited by the kernel's global net.ipv4.route.error_burst, which no namespace
 *   can change: five in a row for a source, then one a second.
 * What host itself sends still passes. 0 or -errno, and then nothing has changed.
 */
int lane_set_closed(struct lane *l, bool closed) must_check;

/* A CLOEXEC socket of that namespace, or -errno. A helper thread makes it. */
int lane_socket(int ns_fd, int domain, int type, int protocol) must_check;

/*
 * The canary: one UDP datagram to RIG_CANARY4 port RIG_PORT_CANARY, from box (seen at B, and at W
 * where the lane is open) or from host (seen at W). The one from box has the source address
 * RIG_CANARY4_SOURCE. Never blocks. 0 or -errno. One thread at a time.
 */
int lane_send_from(struct lane *l, bool from_box, const void *data, size_t len) must_check;

#endif

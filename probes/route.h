/* SPDX-License-Identifier: Apache-2.0 */
/* How a frame by hand gets to an IPv4 address: what the kernel would have looked up for us. */
#ifndef SENTINEL_PROBES_ROUTE_H
#define SENTINEL_PROBES_ROUTE_H

#include <netinet/in.h>

#include "user/base/util.h"

struct route {
	int ifindex;
	struct in_addr
		next_hop;      /* the gateway, or the destination itself where it is on the link */
	struct in_addr source; /* 0.0.0.0: none is known */
};

/* Asks the kernel by netlink. 0; -ENETUNREACH and the like where there is no route; -errno where it
 * can't be asked. *ret is untouched then. */
int route_to(struct in_addr to, struct route *ret) must_check;

#endif

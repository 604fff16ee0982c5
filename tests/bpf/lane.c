// SPDX-License-Identifier: Apache-2.0
#include "tests/bpf/lane.h"

#include <fcntl.h>
#include <net/if.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/route.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "user/base/netns.h"
#include "user/base/util.h"

struct lane_step {
	struct test_lane *lane;
	int which;
	int (*fn)(struct test_lane *l, struct nl_sock *nl);
};

static int lane_ns_new(void *arg)
{
	struct lane_step *s = arg;
	struct test_lane *l = s->lane;
	int fd = netns_move_new(), r;

	if (fd < 0)
		return fd;
	l->ns[s->which] = fd;
	r = netns_cookie(&l->cookie[s->which]);
	return r ? r : netns_inum(fd, &l->inum[s->which]);
}

static int lane_in_ns(void *arg)
{
	struct lane_step *s = arg;
	struct nl_sock *nl;
	int r = netns_move(s->lane->ns[s->which]);

	if (r)
		return r;
	nl = nl_socket_alloc();
	if (!nl)
		return -ENOMEM;
	r = nl_connect(nl, NETLINK_ROUTE);
	if (!r)
		r = s->fn(s->lane, nl);
	nl_socket_free(nl);
	return r;
}

static int lane_do(struct test_lane *l, int which,
		   int (*fn)(struct test_lane *l, struct nl_sock *nl))
{
	struct lane_step s = { l, which, fn };

	return netns_run(lane_in_ns, &s);
}

static int lane_veth(struct nl_sock *nl, const char *name, int index, const char *peer_name,
		     int peer_index, int peer_ns)
{
	struct rtnl_link *link = rtnl_link_veth_alloc(), *peer;
	int r;

	if (!link)
		return -ENOMEM;
	peer = rtnl_link_veth_get_peer(link);
	rtnl_link_set_name(link, name);
	rtnl_link_set_ifindex(link, index);
	rtnl_link_set_name(peer, peer_name);
	rtnl_link_set_ifindex(peer, peer_index);
	rtnl_link_set_ns_fd(peer, peer_ns);
	r = rtnl_link_add(nl, link, NLM_F_CREATE | NLM_F_EXCL);
	rtnl_link_put(peer);
	rtnl_link_put(link);
	return r;
}

static int lane_up(struct nl_sock *nl, int index)
{
	struct rtnl_link *old = rtnl_link_alloc(), *new = rtnl_link_alloc();
	int r = -ENOMEM;

	if (old && new) {
		rtnl_link_set_ifindex(old, index);
		rtnl_link_set_flags(new, IFF_UP);
		r = rtnl_link_change(nl, old, new, 0);
	}
	rtnl_link_put(old);
	rtnl_link_put(new);
	return r;
}

static int lane_addr(struct nl_sock *nl, int index, const char *text, int family)
{
	struct rtnl_addr *a = rtnl_addr_alloc();
	struct nl_addr *local = NULL;
	int r = a ? nl_addr_parse(text, family, &local) : -ENOMEM;

	if (!r) {
		rtnl_addr_set_ifindex(a, index);
		rtnl_addr_set_flags(a, IFA_F_NODAD);
		r = rtnl_addr_set_local(a, local);
	}
	if (!r)
		r = rtnl_addr_add(nl, a, 0);
	nl_addr_put(local);
	rtnl_addr_put(a);
	return r;
}

/* via NULL: prohibited. */
static int lane_route(struct nl_sock *nl, const char *to, const char *via, int index)
{
	struct rtnl_route *route = rtnl_route_alloc();
	struct nl_addr *dst = NULL, *gw = NULL;
	int r = route ? nl_addr_parse(to, AF_INET, &dst) : -ENOMEM;

	if (!r)
		r = rtnl_route_set_dst(route, dst);
	if (!r && via) {
		struct rtnl_nexthop *nh = rtnl_route_nh_alloc();

		r = nh ? nl_addr_parse(via, AF_INET, &gw) : -ENOMEM;
		if (!r) {
			rtnl_route_nh_set_ifindex(nh, index);
			rtnl_route_nh_set_gateway(nh, gw);
			rtnl_route_add_nexthop(route, nh);
		}
	} else if (!r) {
		r = rtnl_route_set_type(route, RTN_PROHIBIT);
	}
	if (!r)
		r = rtnl_route_add(nl, route, NLM_F_CREATE);
	nl_addr_put(dst);
	nl_addr_put(gw);
	rtnl_route_put(route);
	return r;
}

static int lane_box(struct test_lane *l, struct nl_sock *nl)
{
	int r = lane_veth(nl, "b0", l->b0, "h0", l->h0, l->ns[NS_HOST]);

	if (!r)
		r = lane_up(nl, 1);
	if (!r)
		r = lane_up(nl, l->b0);
	if (!r)
		r = lane_addr(nl, l->b0, "10.77.0.2/24", AF_INET);
	if (!r)
		r = lane_addr(nl, l->b0, "fd77::2/64", AF_INET6);
	return r;
}

static int lane_box_route(struct test_lane *l, struct nl_sock *nl)
{
	return lane_route(nl, "0.0.0.0/0", "10.77.0.1", l->b0);
}

static int lane_host(struct test_lane *l, struct nl_sock *nl)
{
	cleanup_fd int forward = open("/proc/sys/net/ipv4/ip_forward", O_WRONLY | O_CLOEXEC);
	int r = lane_veth(nl, "h1", l->h1, "w0", l->w0, l->ns[NS_WORLD]);

	if (!r)
		r = lane_up(nl, l->h0);
	if (!r)
		r = lane_up(nl, l->h1);
	if (!r)
		r = lane_addr(nl, l->h0, "10.77.0.1/24", AF_INET);
	if (!r)
		r = lane_addr(nl, l->h0, "fd77::1/64", AF_INET6);
	if (!r)
		r = lane_addr(nl, l->h1, "10.78.0.1/24", AF_INET);
	if (!r)
		r = lane_route(nl, "10.99.0.0/16", NULL, 0);
	if (!r)
		r = forward < 0 ? -errno : write_all(forward, "1", 1);
	return r;
}

static int lane_world(struct test_lane *l, struct nl_sock *nl)
{
	int r = lane_up(nl, 1);

	if (!r)
		r = lane_up(nl, l->w0);
	if (!r)
		r = lane_addr(nl, l->w0, LANE_WORLD_ADDR "/24", AF_INET);
	if (!r)
		r = lane_route(nl, "10.77.0.0/24", "10.78.0.1", l->w0);
	return r;
}

int test_lane_make(struct test_lane *l, int base)
{
	int r = 0;

	*l = (struct test_lane){ .b0 = base, .h0 = base + 1, .h1 = base + 2, .w0 = base + 3 };
	for (int i = 0; i < NS_MAX && !r; i++) {
		struct lane_step s = { l, i, NULL };

		l->ns[i] = -1;
		r = netns_run(lane_ns_new, &s);
	}
	if (!r)
		r = lane_do(l, NS_BOX, lane_box);
	if (!r)
		r = lane_do(l, NS_HOST, lane_host);
	if (!r)
		r = lane_do(l, NS_WORLD, lane_world);
	if (!r)
		r = lane_do(l, NS_BOX, lane_box_route);
	return r;
}

void test_lane_done(struct test_lane *l)
{
	for (int i = 0; i < NS_MAX; i++)
		if (l->ns[i] >= 0)
			(void)close(l->ns[i]);
}

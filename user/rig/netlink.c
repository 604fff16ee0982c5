// SPDX-License-Identifier: Apache-2.0
#include "user/rig/netlink.h"

#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <netlink/route/rule.h>

struct netlink {
	struct nl_sock *sock;
	int error; /* -errno of the last answer */
};

/* Scopes of libnl's objects. */
#define cleanup_nl(type) __attribute__((cleanup(cleanup_##type##_)))
static void cleanup_msg_(struct nl_msg *const *m)
{
	nlmsg_free(*m);
}
static void cleanup_nladdr_(struct nl_addr *const *a)
{
	nl_addr_put(*a);
}
static void cleanup_link_(struct rtnl_link *const *l)
{
	rtnl_link_put(*l);
}
static void cleanup_addr_(struct rtnl_addr *const *a)
{
	rtnl_addr_put(*a);
}
static void cleanup_neigh_(struct rtnl_neigh *const *n)
{
	rtnl_neigh_put(*n);
}
static void cleanup_route_(struct rtnl_route *const *r)
{
	rtnl_route_put(*r);
}
static void cleanup_rule_(struct rtnl_rule *const *r)
{
	rtnl_rule_put(*r);
}

static int on_error(struct sockaddr_nl *from unused_arg, struct nlmsgerr *e, void *arg)
{
	struct netlink *n = arg;

	n->error = e->error;
	return NL_STOP;
}

int netlink_open(struct netlink **ret)
{
	struct netlink *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	errno = 0; /* of the call that failed inside libnl */
	n->sock = nl_socket_alloc();
	if (!n->sock || nl_connect(n->sock, NETLINK_ROUTE) < 0 ||
	    nl_socket_modify_err_cb(n->sock, NL_CB_CUSTOM, on_error, n) < 0) {
		err = errno ? -errno : -EIO;
		netlink_close(n);
		return err;
	}
	*ret = n;
	return 0;
}

void netlink_close(struct netlink *n)
{
	if (!n)
		return;
	nl_socket_free(n->sock);
	free(n);
}

/* built: what libnl's builder answered. Sends msg and waits for its acknowledgement. */
static int transact(struct netlink *n, int built, struct nl_msg *msg)
{
	if (built < 0)
		return built == -NLE_NOMEM ? -ENOMEM : -EINVAL;
	n->error = 0;
	if (nl_send_auto(n->sock, msg) < 0)
		return -EIO;
	if (nl_wait_for_ack(n->sock) < 0)
		return n->error ? n->error : -EIO;
	return 0;
}

/* A new address of libnl from our 16 bytes. */
static struct nl_addr *address(const uint8_t a[16], bool v6, unsigned int prefix)
{
	struct nl_addr *addr =
		v6 ? nl_addr_build(AF_INET6, a, 16) : nl_addr_build(AF_INET, a + 12, 4);

	if (addr)
		nl_addr_set_prefixlen(addr, (int)prefix);
	return addr;
}

static int set_veth_end(struct rtnl_link *link, const struct netlink_veth_end *e)
{
	cleanup_nl(nladdr) struct nl_addr *mac = nl_addr_build(AF_LLC, e->mac, sizeof(e->mac));

	if (!mac)
		return -ENOMEM;
	rtnl_link_set_name(link, e->name);
	rtnl_link_set_ifindex(link, (int)e->ifindex);
	rtnl_link_set_addr(link, mac);
	if (e->ns_fd >= 0)
		rtnl_link_set_ns_fd(link, e->ns_fd);
	return 0;
}

int netlink_add_veth(struct netlink *n, const struct netlink_veth_end *a,
		     const struct netlink_veth_end *b)
{
	cleanup_nl(link) struct rtnl_link *link = rtnl_link_veth_alloc();
	cleanup_nl(msg) struct nl_msg *msg = NULL;
	struct rtnl_link *peer;
	int err;

	if (!link)
		return -ENOMEM;
	peer = rtnl_link_veth_get_peer(link); /* takes a reference */
	err = set_veth_end(link, a);
	if (!err)
		err = set_veth_end(peer, b);
	rtnl_link_put(peer);
	if (err)
		return err;
	err = rtnl_link_build_add_request(link, NLM_F_CREATE | NLM_F_EXCL, &msg);
	return transact(n, err, msg);
}

int netlink_set_up(struct netlink *n, uint32_t ifindex)
{
	cleanup_nl(link) struct rtnl_link *which = rtnl_link_alloc();
	cleanup_nl(link) struct rtnl_link *change = rtnl_link_alloc();
	cleanup_nl(msg) struct nl_msg *msg = NULL;
	int err;

	if (!which || !change)
		return -ENOMEM;
	rtnl_link_set_ifindex(which, (int)ifindex);
	rtnl_link_set_flags(change, IFF_UP);
	err = rtnl_link_build_change_request(which, change, 0, &msg);
	return transact(n, err, msg);
}

int netlink_wait_running(struct netlink *n, uint32_t ifindex)
{
	uint64_t deadline = mono_ns() + NSEC_PER_SEC;

	do {
		struct rtnl_link *link;
		unsigned int flags;

		/* Asking takes the lock under which the link watch works: with IFF_RUNNING its
		 * queue discipline is in place too. */
		if (rtnl_link_get_kernel(n->sock, (int)ifindex, NULL, &link) < 0)
			return n->error ? n->error : -ENODEV;
		flags = rtnl_link_get_flags(link);
		rtnl_link_put(link);
		if (flags & IFF_RUNNING)
			return 0;
		(void)usleep(50);
	} while (mono_ns() < deadline);
	return -ETIMEDOUT;
}

int netlink_add_addr(struct netlink *n, uint32_t ifindex, const uint8_t addr[16],
		     unsigned int prefix)
{
	bool v6 = !addr_is_v4(addr);
	cleanup_nl(nladdr) struct nl_addr *local = address(addr, v6, prefix);
	cleanup_nl(addr) struct rtnl_addr *a = rtnl_addr_alloc();
	cleanup_nl(msg) struct nl_msg *msg = NULL;
	int err;

	if (!local || !a)
		return -ENOMEM;
	rtnl_addr_set_ifindex(a, (int)ifindex);
	if (rtnl_addr_set_local(a, local) < 0)
		return -EINVAL;
	if (v6)
		rtnl_addr_set_flags(a, IFA_F_NODAD);
	err = rtnl_addr_build_add_request(a, NLM_F_CREATE | NLM_F_EXCL, &msg);
	return transact(n, err, msg);
}

int netlink_add_neigh(struct netlink *n, uint32_t ifindex, const uint8_t addr[16],
		      const uint8_t mac[6])
{
	bool v6 = !addr_is_v4(addr);
	cleanup_nl(nladdr) struct nl_addr *dst = address(addr, v6, v6 ? 128 : 32);
	cleanup_nl(nladdr) struct nl_addr *ll = nl_addr_build(AF_LLC, mac, 6);
	cleanup_nl(neigh) struct rtnl_neigh *neigh = rtnl_neigh_alloc();
	cleanup_nl(msg) struct nl_msg *msg = NULL;
	int err;

	if (!dst || !ll || !neigh)
		return -ENOMEM;
	rtnl_neigh_set_ifindex(neigh, (int)ifindex);
	rtnl_neigh_set_lladdr(neigh, ll);
	rtnl_neigh_set_state(neigh, NUD_PERMANENT);
	if (rtnl_neigh_set_dst(neigh, dst) < 0)
		return -EINVAL;
	err = rtnl_neigh_build_add_request(neigh, NLM_F_CREATE | NLM_F_EXCL, &msg);
	return transact(n, err, msg);
}

static int set_next_hop(struct rtnl_route *route, const struct netlink_route *r)
{
	struct rtnl_nexthop *hop = rtnl_route_nh_alloc();

	if (!hop)
		return -ENOMEM;
	rtnl_route_nh_set_ifindex(hop, (int)r->ifindex);
	if (r->gateway) {
		cleanup_nl(nladdr) struct nl_addr *gw =
			address(r->gateway, r->v6, r->v6 ? 128 : 32);

		if (!gw) {
			rtnl_route_nh_free(hop);
			return -ENOMEM;
		}
		rtnl_route_nh_set_gateway(hop, gw);
	}
	rtnl_route_add_nexthop(route, hop); /* the route owns it now */
	return 0;
}

int netlink_add_route(struct netlink *n, const struct netlink_route *r)
{
	static const struct {
		uint8_t type, scope;
		uint32_t table;
	} kinds[] = {
		[NETLINK_ROUTE_VIA] = { RTN_UNICAST, RT_SCOPE_UNIVERSE, RT_TABLE_MAIN },
		[NETLINK_ROUTE_LOCAL] = { RTN_LOCAL, RT_SCOPE_HOST, RT_TABLE_LOCAL },
		[NETLINK_ROUTE_BLACKHOLE] = { RTN_BLACKHOLE, RT_SCOPE_UNIVERSE, RT_TABLE_MAIN },
	};
	cleanup_nl(nladdr) struct nl_addr *dst = address(r->dst, r->v6, r->prefix);
	cleanup_nl(route) struct rtnl_route *route = rtnl_route_alloc();
	cleanup_nl(msg) struct nl_msg *msg = NULL;
	int err;

	if (!dst || !route)
		return -ENOMEM;
	(void)rtnl_route_set_family(route, r->v6 ? AF_INET6 : AF_INET);
	(void)rtnl_route_set_type(route, kinds[r->kind].type);
	rtnl_route_set_scope(route, kinds[r->kind].scope);
	rtnl_route_set_table(route, kinds[r->kind].table);
	rtnl_route_set_protocol(route, RTPROT_STATIC);
	if (rtnl_route_set_dst(route, dst) < 0)
		return -EINVAL;
	if (r->ifindex) {
		err = set_next_hop(route, r);
		if (err)
			return err;
	}
	err = rtnl_route_build_add_request(route, NLM_F_CREATE | NLM_F_EXCL, &msg);
	return transact(n, err, msg);
}

static int fill_rule(struct rtnl_rule *rule, const struct netlink_rule *r)
{
	int err = 0;

	rtnl_rule_set_family(rule, r->v6 ? AF_INET6 : AF_INET);
	rtnl_rule_set_prio(rule, r->priority);
	rtnl_rule_set_action(rule, r->table ? FR_ACT_TO_TBL : FR_ACT_PROHIBIT);
	if (r->table)
		rtnl_rule_set_table(rule, r->table);
	if (r->iif)
		err = rtnl_rule_set_iif(rule, r->iif);
	if (!err && r->protocol)
		err = rtnl_rule_set_ipproto(rule, r->protocol);
	if (!err && r->port)
		err = rtnl_rule_set_dport_range(rule, r->port, r->port_to);
	return err ? -EINVAL : 0;
}

static int change_rule(struct netlink *n, const struct netlink_rule *r, bool add)
{
	cleanup_nl(rule) struct rtnl_rule *rule = rtnl_rule_alloc();
	cleanup_nl(msg) struct nl_msg *msg = NULL;
	int err;

	if (!rule)
		return -ENOMEM;
	err = fill_rule(rule, r);
	if (err)
		return err;
	err = add ? rtnl_rule_build_add_request(rule, NLM_F_CREATE | NLM_F_EXCL, &msg)
		  : rtnl_rule_build_delete_request(rule, 0, &msg);
	return transact(n, err, msg);
}

int netlink_add_rule(struct netlink *n, const struct netlink_rule *r)
{
	return change_rule(n, r, true);
}

int netlink_del_rule(struct netlink *n, const struct netlink_rule *r)
{
	return change_rule(n, r, false);
}

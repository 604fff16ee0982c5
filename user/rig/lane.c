// SPDX-License-Identifier: Apache-2.0
#include "user/rig/lane.h"

#include <arpa/inet.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include "bpf/events.h"
#include "user/base/netns.h"
#include "user/rig/netlink.h"
#include "user/rig/rig.h"

_Static_assert(LANES_MAX < SNT_SLOT_MAX, "each lane has a loss slot, and 0 is nobody's");

#define LO_IFINDEX 1 /* in every namespace */

/* The kernel's own rule for the local table comes before all others, at 0; ours are to come before
 * it, and two at one priority are two rules. */
#define PRIORITY_CLOSED 1
#define PRIORITY_LOCAL 2

enum space { SPACE_BOX = 0, SPACE_HOST, SPACE_WORLD, SPACES };

/* The ends of the two veth pairs; the peer of e is e ^ 1. */
enum end_id { END_BOX = 0, END_BOUNDARY, END_UPLINK, END_WORLD, ENDS };

struct end {
	enum space space;
	const char *name;
	uint32_t ifindex;
	uint8_t mac[6];
	uint8_t addr4[16], addr6[16];
};

/* What is only needed while a lane is being made. */
struct build {
	struct lane *l;
	bool no_ipv6;
	struct diag *d;
	struct end ends[ENDS];
	struct netlink *nl[SPACES];
};

/* ---- sysctls ---- */

#define IN_BOX (1u << SPACE_BOX)
#define IN_HOST (1u << SPACE_HOST)
#define IN_WORLD (1u << SPACE_WORLD)
#define IN_ALL (IN_BOX | IN_HOST | IN_WORLD)
#define OPTIONAL (1u << SPACES) /* need not exist */

struct setting {
	unsigned int where; /* IN_*, OPTIONAL */
	const char *name, *value;
};

/* A new namespace may inherit the machine's values (net.core.devconf_inherit_init_net), so what
 * matters is written, even where it is the kernel's default. */
static const struct setting settings4[] = {
	{ IN_ALL, "ipv4/conf/all/rp_filter", "0" },
	{ IN_ALL, "ipv4/conf/default/rp_filter", "0" },
	{ IN_BOX, "ipv4/ping_group_range", "0 2147483647" },
	{ IN_BOX | IN_WORLD, "ipv4/tcp_fastopen", "3" }, /* both as client and as server */
	{ IN_HOST, "ipv4/ip_forward", "1" },
	{ IN_HOST, "ipv4/icmp_ratelimit", "0" },
	{ IN_WORLD, "ipv4/icmp_echo_ignore_all", "1" }, /* the far side answers, with a proof */
};

/* Written before there are links, so "default" is what they start with. No link-local addresses, no
 * solicitations, and the second multicast report at once: little noise reaches the taps. */
static const struct setting settings6[] = {
	{ IN_ALL, "ipv6/conf/all/disable_ipv6", "0" },
	{ IN_ALL, "ipv6/conf/default/disable_ipv6", "0" },
	{ IN_ALL, "ipv6/conf/default/accept_dad", "0" },
	{ IN_ALL, "ipv6/conf/default/dad_transmits", "0" },
	{ IN_ALL, "ipv6/conf/default/accept_ra", "0" },
	{ IN_ALL, "ipv6/conf/default/autoconf", "0" },
	{ IN_ALL, "ipv6/conf/default/router_solicitations", "0" },
	{ IN_ALL, "ipv6/conf/default/addr_gen_mode", "1" },
	{ IN_ALL, "ipv6/conf/default/mldv2_unsolicited_report_interval", "1" },
	{ IN_HOST, "ipv6/conf/all/forwarding", "1" },
	{ IN_HOST, "ipv6/icmp/ratelimit", "0" },
	{ IN_WORLD, "ipv6/icmp/echo_ignore_all", "1" },
};

/* A kernel without IPv6 has it switched off as wanted. */
static const struct setting settings_no6[] = {
	{ IN_ALL | OPTIONAL, "ipv6/conf/all/disable_ipv6", "1" },
	{ IN_ALL | OPTIONAL, "ipv6/conf/default/disable_ipv6", "1" },
};

static int apply(struct build *b, enum space space, const struct setting *s, size_t n)
{
	int err;

	for (; n; s++, n--) {
		if (!(s->where & (1u << space)))
			continue;
		err = netns_sysctl(s->name, s->value);
		if (err && !(err == -ENOENT && s->where & OPTIONAL))
			return diag_set(b->d, err, NULL, 0, 0, "lane %u: '/proc/sys/net/%s': %s",
					b->l->number, s->name, strerror(-err));
	}
	return 0;
}

static int apply_settings(struct build *b, enum space space)
{
	int err = apply(b, space, settings4, ARRAY_SIZE(settings4));

	if (err)
		return err;
	return b->no_ipv6 ? apply(b, space, settings_no6, ARRAY_SIZE(settings_no6))
			  : apply(b, space, settings6, ARRAY_SIZE(settings6));
}

/* ---- the plan ---- */

static void plan_end(struct build *b, enum end_id id, enum space space, const char *name,
		     uint8_t network, uint8_t host)
{
	const uint8_t lane = (uint8_t)b->l->number;
	struct end *e = &b->ends[id];

	/* 30 bits: process, lane, epoch's parity, end. Bit 30 keeps clear of every index that a
	 * platform's own interfaces are given. */
	e->ifindex = 0x40000000u | ((uint32_t)getpid() & 0x3fffffu) << 8 | (b->l->number - 1) << 3 |
		     (b->l->epoch & 1) << 2 | id;
	e->space = space;
	e->name = name;
	memcpy(e->mac, (uint8_t[6]){ 0x02, 'S' }, 6); /* locally administered, unicast */
	for (int i = 0; i < 4; i++)
		e->mac[2 + i] = (uint8_t)(e->ifindex >> (24 - 8 * i));
	memcpy(e->addr4, (uint8_t[16]){ [10] = 0xff, 0xff, 10, network, lane, host }, 16);
	/* fd00:117:LANE::HOST reads like 10.117.LANE.HOST: the network's digits are hexadecimal. */
	memcpy(e->addr6,
	       (uint8_t[16]){ 0xfd, 0, 0x01, network == 117 ? 0x17 : 0x18, 0, lane, [15] = host },
	       16);
}

static void plan(struct build *b)
{
	struct lane *l = b->l;

	plan_end(b, END_BOX, SPACE_BOX, RIG_IF_BOX, 117, 2);
	plan_end(b, END_BOUNDARY, SPACE_HOST, RIG_IF_BOUNDARY, 117, 1);
	plan_end(b, END_UPLINK, SPACE_HOST, RIG_IF_UPLINK, 118, 1);
	plan_end(b, END_WORLD, SPACE_WORLD, RIG_IF_WORLD, 118, 2);
	l->box_ifindex = b->ends[END_BOX].ifindex;
	l->boundary_ifindex = b->ends[END_BOUNDARY].ifindex;
	l->host_ifindex = b->ends[END_UPLINK].ifindex;
	l->world_ifindex = b->ends[END_WORLD].ifindex;
	memcpy(l->gateway_mac, b->ends[END_BOUNDARY].mac, sizeof(l->gateway_mac));
}

/* ---- steps of making, in the builder's thread ---- */

/* Moves into a new namespace and notes whose it is. */
static int make_space(int *ret_ns, uint32_t *ret_inum, uint64_t *ret_cookie)
{
	int fd = netns_move_new(), err;

	if (fd < 0)
		return fd;
	*ret_ns = fd;
	err = netns_inum(fd, ret_inum);
	return err ? err : netns_cookie(ret_cookie);
}

static int make_canary(enum space space, int *ret_fd)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const struct sockaddr_in from = { .sin_family = AF_INET,
					  .sin_addr.s_addr = inet_addr(RIG_CANARY4_SOURCE) };
	const int on = 1;

	if (fd < 0)
		return -errno;
	/* An address that is not ours needs IP_TRANSPARENT (flowi_flags in ip_route_output). */
	if (space == SPACE_BOX &&
	    (setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on)) < 0 ||
	     bind(fd, (const struct sockaddr *)&from, sizeof(from)) < 0))
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int make_spaces(struct build *b)
{
	struct lane *l = b->l;
	struct {
		int *ns;
		uint32_t *inum;
		uint64_t *cookie;
		int *canary;
	} const spaces[SPACES] = {
		[SPACE_BOX] = { &l->box_ns, &l->box_inum, &l->box_cookie, &l->box_canary },
		[SPACE_HOST] = { &l->host_ns, &l->host_inum, &l->host_cookie, &l->host_canary },
		[SPACE_WORLD] = { &l->world_ns, &l->world_inum, &l->world_cookie, NULL },
	};

	for (enum space s = 0; s < SPACES; s++) {
		int err = make_space(spaces[s].ns, spaces[s].inum, spaces[s].cookie);

		if (!err)
			err = apply_settings(b, s);
		if (!err)
			err = netlink_open(&b->nl[s]);
		if (!err && spaces[s].canary)
			err = make_canary(s, spaces[s].canary);
		if (err)
			return err;
	}
	return 0;
}

static int make_pair(struct build *b, enum end_id id)
{
	const int ns[SPACES] = { b->l->box_ns, b->l->host_ns, b->l->world_ns };
	const struct end *ends[2] = { &b->ends[id], &b->ends[id ^ 1] };
	struct netlink_veth_end pair[2];

	for (int i = 0; i < 2; i++) {
		pair[i] = (struct netlink_veth_end){ .name = ends[i]->name,
						     .ifindex = ends[i]->ifindex,
						     .ns_fd = ns[ends[i]->space] };
		memcpy(pair[i].mac, ends[i]->mac, sizeof(pair[i].mac));
	}
	return netlink_add_veth(b->nl[SPACE_HOST], &pair[0], &pair[1]);
}

static int make_links(struct build *b)
{
	int err = make_pair(b, END_BOX);

	if (!err)
		err = make_pair(b, END_UPLINK);
	for (enum space s = 0; !err && s < SPACES; s++)
		err = netlink_set_up(b->nl[s], LO_IFINDEX);
	for (enum end_id e = 0; !err && e < ENDS; e++)
		err = netlink_set_up(b->nl[b->ends[e].space], b->ends[e].ifindex);
	return err;
}

/* What is asked in host itself; whoever answers there is started later. */
static int make_services(struct build *b)
{
	static const char *const addrs[] = { RIG_RESOLVER4, RIG_METADATA_HOP4 };
	uint8_t addr[16];
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(addrs); i++) {
		err = parse_addr(addrs[i], addr);
		if (!err)
			err = netlink_add_addr(b->nl[SPACE_HOST], LO_IFINDEX, addr, 32);
	}
	return err;
}

static int make_addresses(struct build *b)
{
	int err = make_services(b);

	for (enum end_id e = 0; !err && e < ENDS; e++) {
		const struct end *here = &b->ends[e], *peer = &b->ends[e ^ 1];
		struct netlink *n = b->nl[here->space];

		err = netlink_add_addr(n, here->ifindex, here->addr4, 30);
		if (!err)
			err = netlink_add_neigh(n, here->ifindex, peer->addr4, peer->mac);
		if (err || b->no_ipv6)
			continue;
		err = netlink_add_addr(n, here->ifindex, here->addr6, 64);
		if (!err)
			err = netlink_add_neigh(n, here->ifindex, peer->addr6, peer->mac);
	}
	return err;
}

/* dst by the gateway at the other end of e; dst NULL: the default route. */
static int add_via(struct build *b, enum end_id e, bool v6, const char *dst, unsigned int prefix)
{
	const struct end *here = &b->ends[e], *peer = &b->ends[e ^ 1];
	struct netlink_route r = { .kind = NETLINK_ROUTE_VIA,
				   .v6 = v6,
				   .prefix = prefix,
				   .ifindex = here->ifindex,
				   .gateway = v6 ? peer->addr6 : peer->addr4 };

	if (dst && parse_addr(dst, r.dst) < 0)
		return -EINVAL;
	return netlink_add_route(b->nl[here->space], &r);
}

/* A route that ends in that space: it answers itself, or drops. */
static int add_end(struct build *b, enum space space, enum netlink_route_kind kind, bool v6,
		   const char *dst, unsigned int prefix)
{
	struct netlink_route r = { .kind = kind,
				   .v6 = v6,
				   .prefix = prefix,
				   .ifindex = kind == NETLINK_ROUTE_LOCAL ? LO_IFINDEX : 0 };

	if (parse_addr(dst, r.dst) < 0)
		return -EINVAL;
	return netlink_add_route(b->nl[space], &r);
}

static int make_routes_of(struct build *b, bool v6)
{
	const char *all = v6 ? RIG_FAR6 : RIG_FAR4;
	const char *deaf = v6 ? RIG_FAR6_DEAF : RIG_FAR4_DEAF;
	const unsigned int prefix = v6 ? RIG_FAR6_PREFIX : RIG_FAR4_PREFIX;
	int err = add_via(b, END_BOX, v6, NULL, 0);

	if (!err)
		err = add_via(b, END_UPLINK, v6, all,
			      v6 ? RIG_FAR6_ALL_PREFIX : RIG_FAR4_ALL_PREFIX);
	if (!err)
		err = add_via(b, END_WORLD, v6, NULL, 0);
	if (!err)
		err = add_end(b, SPACE_WORLD, NETLINK_ROUTE_LOCAL, v6, all, prefix);
	if (!err)
		err = add_end(b, SPACE_WORLD, NETLINK_ROUTE_BLACKHOLE, v6, deaf, prefix);
	return err;
}

/* The metadata look-alikes are in world too, each beside its deaf twin. */
static const struct metadata {
	bool v6, deaf;
	const char *addr;
} metadata[] = {
	{ false, false, RIG_METADATA4 },	 { false, true, RIG_METADATA4_DEAF },
	{ false, false, RIG_METADATA_ECS4 },	 { false, true, RIG_METADATA_ECS4_DEAF },
	{ false, false, RIG_METADATA_ALIBABA4 }, { true, false, RIG_METADATA6 },
	{ true, true, RIG_METADATA6_DEAF },
};

static int make_route_metadata(struct build *b, const struct metadata *m)
{
	const unsigned int prefix = m->v6 ? 128 : 32;
	int err = add_via(b, END_UPLINK, m->v6, m->addr, prefix);

	return err ? err
		   : add_end(b, SPACE_WORLD,
			     m->deaf ? NETLINK_ROUTE_BLACKHOLE : NETLINK_ROUTE_LOCAL, m->v6,
			     m->addr, prefix);
}

static int make_routes(struct build *b)
{
	int err = make_routes_of(b, false);

	if (!err)
		err = add_end(b, SPACE_HOST, NETLINK_ROUTE_BLACKHOLE, false, RIG_CANARY4_SOURCE,
			      32);
	if (!err && !b->no_ipv6)
		err = make_routes_of(b, true);
	for (size_t i = 0; !err && i < ARRAY_SIZE(metadata); i++)
		if (!metadata[i].v6 || !b->no_ipv6)
			err = make_route_metadata(b, &metadata[i]);
	return err;
}

/* So that lane_set_closed() has a place before it. The same open or closed. */
static int move_local_rule(struct netlink *n, bool v6)
{
	struct netlink_rule r = { .v6 = v6, .priority = PRIORITY_LOCAL, .table = RT_TABLE_LOCAL };
	int err = netlink_add_rule(n, &r);

	r.priority = 0;
	return err ? err : netlink_del_rule(n, &r);
}

static int make_rules(struct build *b)
{
	static const enum space spaces[] = { SPACE_BOX, SPACE_HOST };
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(spaces); i++) {
		err = move_local_rule(b->nl[spaces[i]], false);
		if (!err && !b->no_ipv6)
			err = move_local_rule(b->nl[spaces[i]], true);
	}
	return err;
}

static int wait_links(struct build *b)
{
	int err = 0;

	for (enum end_id e = 0; !err && e < ENDS; e++)
		err = netlink_wait_running(b->nl[b->ends[e].space], b->ends[e].ifindex);
	return err;
}

static int build_main(void *arg)
{
	static const struct {
		const char *what;
		int (*fn)(struct build *b);
	} steps[] = {
		{ "making network namespaces", make_spaces },
		{ "making veth pairs", make_links },
		{ "setting addresses", make_addresses },
		{ "setting routes", make_routes },
		{ "setting rules", make_rules },
		{ "waiting for the links", wait_links },
	};
	struct build *b = arg;
	int err;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		err = steps[i].fn(b);
		if (!err)
			continue;
		if (b->d && b->d->text[0])
			return err; /* the step knew better */
		return diag_set(b->d, err, NULL, 0, 0, "lane %u: %s: %s", b->l->number,
				steps[i].what, strerror(-err));
	}
	return 0;
}

/* ---- the lane ---- */

static const struct lane lane_none = {
	.box_ns = -1,
	.host_ns = -1,
	.world_ns = -1,
	.box_canary = -1,
	.host_canary = -1,
};

int lane_make(struct lane *l, uint32_t number, uint32_t epoch, const struct lane_opts *o,
	      struct diag *d)
{
	struct build b = { .l = l, .no_ipv6 = o && o->no_ipv6, .d = d };
	int err;

	*l = lane_none;
	if (number < 1 || number > LANES_MAX)
		return diag_set(d, -EINVAL, NULL, 0, 0, "lane %u: numbers are 1 to %d", number,
				LANES_MAX);
	if (d)
		d->text[0] = '\0';
	l->number = number;
	l->epoch = epoch;
	l->ipv6 = !b.no_ipv6;
	plan(&b);
	err = netns_run(build_main, &b);
	if (err && d && !d->text[0])
		(void)diag_set(d, err, NULL, 0, 0, "lane %u: starting a thread: %s", number,
			       strerror(-err));
	l->box_rules = TAKE_PTR(b.nl[SPACE_BOX]);
	l->host_rules = TAKE_PTR(b.nl[SPACE_HOST]);
	for (enum space s = 0; s < SPACES; s++)
		netlink_close(b.nl[s]);
	if (err)
		lane_drop(l);
	return err;
}

void lane_drop(struct lane *l)
{
	if (!l || !l->number)
		return;
	netlink_close(l->box_rules);
	netlink_close(l->host_rules);
	cleanup_fd_(&l->box_canary);
	cleanup_fd_(&l->host_canary);
	cleanup_fd_(&l->box_ns);
	cleanup_fd_(&l->host_ns);
	cleanup_fd_(&l->world_ns);
	*l = lane_none;
}

/* The rules of a closed lane, as many as it needs. */
#define CLOSED_RULES 4
struct closed_rule {
	struct netlink *n;
	struct netlink_rule rule;
};

static size_t closed_rules(const struct lane *l, struct closed_rule ret[CLOSED_RULES])
{
	size_t n = 0;

	for (int v6 = 0; v6 < (l->ipv6 ? 2 : 1); v6++) {
		ret[n++] = (struct closed_rule){
			l->host_rules,
			{ .v6 = v6, .priority = PRIORITY_CLOSED, .iif = RIG_IF_BOUNDARY }
		};
		ret[n++] = (struct closed_rule){ l->box_rules,
						 { .v6 = v6,
						   .priority = PRIORITY_CLOSED,
						   .protocol = IPPROTO_TCP,
						   .port = RIG_PORT_LOOPBACK,
						   .port_to = RIG_PORT_SIBLING } };
	}
	return n;
}

static int set_rule(const struct closed_rule *r, bool there)
{
	return there ? netlink_add_rule(r->n, &r->rule) : netlink_del_rule(r->n, &r->rule);
}

int lane_set_closed(struct lane *l, bool closed)
{
	struct closed_rule rules[CLOSED_RULES];
	size_t n = closed_rules(l, rules), done;
	int err = 0;

	if (l->closed == closed)
		return 0;
	for (done = 0; done < n && !err; done++)
		err = set_rule(&rules[done], closed);
	if (err) {
		for (done--; done > 0; done--)
			(void)!set_rule(&rules[done - 1], !closed);
		return err;
	}
	l->closed = closed;
	return 0;
}

struct socket_call {
	int ns_fd, domain, type, protocol;
};

static int socket_main(void *arg)
{
	const struct socket_call *c = arg;
	int err = netns_move(c->ns_fd), fd;

	if (err)
		return err;
	fd = socket(c->domain, c->type | SOCK_CLOEXEC, c->protocol);
	return fd < 0 ? -errno : fd;
}

int lane_socket(int ns_fd, int domain, int type, int protocol)
{
	struct socket_call c = { ns_fd, domain, type, protocol };

	return netns_run(socket_main, &c);
}

int lane_send_from(struct lane *l, bool from_box, const void *data, size_t len)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(RIG_PORT_CANARY),
					.sin_addr.s_addr = inet_addr(RIG_CANARY4) };
	ssize_t sent;

	/* Not connected: "port unreachable" and "prohibited" must not spoil the next one. */
	sent = sendto(from_box ? l->box_canary : l->host_canary, data, len, MSG_DONTWAIT,
		      (const struct sockaddr *)&to, sizeof(to));
	if (sent < 0)
		return -errno;
	return (size_t)sent == len ? 0 : -EMSGSIZE;
}

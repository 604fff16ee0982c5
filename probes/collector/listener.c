// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/listener.h"

#include <netinet/in.h>
/* behind the C library's, whose types it leaves alone then */
#include <fcntl.h>
#include <linux/icmp.h>
#include <linux/sock_diag.h>
#include <netinet/icmp6.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include "user/rig/rig.h"

#define BACKLOG 1024 /* a full queue costs a caller the second until its SYN is sent again */
/* A burst that finds us logging must fit; 4 MiB is about 5,000 datagrams of a probe's size. */
#define RECEIVE_BUFFER_BYTES (4 << 20)

static const struct {
	int type;
	uint16_t port;
	enum service service;
} ports[] = {
	{ SOCK_STREAM, RIG_PORT_TCP, SERVICE_TEXT },
	{ SOCK_DGRAM, RIG_PORT_UDP, SERVICE_TEXT },
	{ SOCK_DGRAM, RIG_PORT_DNS, SERVICE_DNS },
	{ SOCK_STREAM, RIG_PORT_DNS, SERVICE_DNS },
	{ SOCK_STREAM, RIG_PORT_HTTP, SERVICE_HTTP },
	{ SOCK_STREAM, RIG_PORT_HTTPS, SERVICE_HTTPS },
	{ SOCK_RAW, 0, SERVICE_ECHO },
};
_Static_assert(2 * ARRAY_SIZE(ports) == LISTENER_OWN_MAX, "LISTENER_OWN_MAX");

static const char *proto_of(int family, int type)
{
	if (family == AF_UNIX)
		return "unix";
	if (type == SOCK_RAW)
		return family == AF_INET ? "icmp" : "icmp6";
	return type == SOCK_STREAM ? "tcp" : "udp";
}

void endpoint_from(const struct sockaddr_storage *ss, uint8_t ret_addr[16], uint16_t *ret_port)
{
	static const uint8_t v4_mapped[12] = { [10] = 0xff, [11] = 0xff };
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)ss;
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)ss;

	memset(ret_addr, 0, 16);
	*ret_port = 0;
	if (ss->ss_family == AF_INET) {
		memcpy(ret_addr, v4_mapped, sizeof(v4_mapped));
		memcpy(ret_addr + 12, &v4->sin_addr, 4);
		*ret_port = ntohs(v4->sin_port);
	} else if (ss->ss_family == AF_INET6) {
		memcpy(ret_addr, &v6->sin6_addr, 16);
		*ret_port = ntohs(v6->sin6_port);
	}
}

static int set_on(int fd, int level, int option)
{
	int on = 1;

	return setsockopt(fd, level, option, &on, sizeof(on)) < 0 ? -errno : 0;
}

/* FREEBIND: answers may leave from an address that is local by route alone. */
static int set_family_options(int fd, int family, int type)
{
	int err;

	if (family == AF_INET) {
		err = set_on(fd, IPPROTO_IP, IP_FREEBIND);
		if (!err && type != SOCK_STREAM)
			err = set_on(fd, IPPROTO_IP, IP_PKTINFO);
		return err;
	}
	err = type == SOCK_RAW ? 0 : set_on(fd, IPPROTO_IPV6, IPV6_V6ONLY);
	if (!err)
		err = set_on(fd, IPPROTO_IPV6, IPV6_FREEBIND);
	if (!err && type != SOCK_STREAM)
		err = set_on(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO);
	return err;
}

/* Of all ICMP that comes by, echo requests alone. */
static int set_filter(int fd, int family)
{
	struct icmp_filter v4 = { .data = ~(1u << ICMP_ECHO) };
	struct icmp6_filter v6;
	int ret;

	ICMP6_FILTER_SETBLOCKALL(&v6);
	ICMP6_FILTER_SETPASS(ICMP6_ECHO_REQUEST, &v6);
	ret = family == AF_INET ? setsockopt(fd, SOL_RAW, ICMP_FILTER, &v4, sizeof(v4))
				: setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &v6, sizeof(v6));
	return ret < 0 ? -errno : 0;
}

static int set_type_options(int fd, int type)
{
	int bytes = RECEIVE_BUFFER_BYTES;

	if (type == SOCK_STREAM)
		return set_on(fd, SOL_SOCKET, SO_REUSEADDR);
	/* less than wished for is no error: what then is dropped is counted */
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	return 0;
}

/* TCP Fast Open, from whoever comes, with a cookie or without. Where the kernel doesn't let us
 * (net.ipv4.tcp_fastopen), such a client's data comes behind its handshake. */
static void take_data_in_syn(int fd)
{
	int waiting = BACKLOG;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN, &waiting, sizeof(waiting));
	(void)set_on(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE);
}

static int bind_any(int fd, int family, uint16_t port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int ret = family == AF_INET ? bind(fd, (struct sockaddr *)&v4, sizeof(v4))
				    : bind(fd, (struct sockaddr *)&v6, sizeof(v6));

	return ret < 0 ? -errno : 0;
}

static int open_one(int family, int type, uint16_t port)
{
	int protocol = type != SOCK_RAW ? 0 : family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	cleanup_fd int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
	int err;

	if (fd < 0)
		return -errno;
	err = set_family_options(fd, family, type);
	if (!err)
		err = set_type_options(fd, type);
	if (!err)
		err = type == SOCK_RAW ? set_filter(fd, family) : bind_any(fd, family, port);
	if (!err && type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
		err = -errno;
	if (!err && type == SOCK_STREAM && port == RIG_PORT_TCP)
		take_data_in_syn(fd);
	return err ? err : TAKE_FD(fd);
}

int listeners_open(struct listeners *ret, uint16_t *ret_port)
{
	static const int families[] = { AF_INET, AF_INET6 };

	ret->n = 0;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(ports); i++) {
		int family = families[i % 2], type = ports[i / 2].type;
		int fd = open_one(family, type, ports[i / 2].port);

		if (fd == -EAFNOSUPPORT && family == AF_INET6)
			continue;
		if (fd < 0) {
			listeners_close(ret);
			*ret_port = ports[i / 2].port;
			return fd;
		}
		ret->at[ret->n++] = (struct listener){ .fd = fd,
						       .family = family,
						       .type = type,
						       .service = ports[i / 2].service,
						       .port = ports[i / 2].port,
						       .proto = proto_of(family, type) };
	}
	return 0;
}

static int option_of(int fd, int option, int *ret)
{
	socklen_t len = sizeof(*ret);

	return getsockopt(fd, SOL_SOCKET, option, ret, &len) < 0 ? -errno : 0;
}

/* A socket that has no name has none to print. */
static void path_of(const struct sockaddr_un *un, socklen_t len, char ret[LISTENER_PATH_MAX])
{
	size_t n = len > offsetof(struct sockaddr_un, sun_path)
			   ? len - offsetof(struct sockaddr_un, sun_path)
			   : 0;

	memset(ret, 0, LISTENER_PATH_MAX);
	memcpy(ret, un->sun_path, MIN(n, sizeof(un->sun_path)));
	if (n && !ret[0])
		ret[0] = '@';
}

int listeners_take(struct listeners *l, const struct listener_given *g)
{
	struct listener new = { .fd = g->fd, .service = g->service, .forbidden = true };
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(own);
	int flags = fcntl(g->fd, F_GETFL), listens, err;
	uint8_t unused[16];

	if (l->n == ARRAY_SIZE(l->at))
		return -ENOSPC;
	if (flags < 0 || fcntl(g->fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(g->fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	err = option_of(g->fd, SO_TYPE, &new.type);
	if (!err)
		err = option_of(g->fd, SO_ACCEPTCONN, &listens);
	if (!err && (new.type != SOCK_STREAM || !listens))
		err = -EINVAL;
	if (!err && getsockname(g->fd, (struct sockaddr *)&own, &len) < 0)
		err = -errno;
	if (err)
		return err;
	endpoint_from(&own, unused, &new.port);
	if (own.ss_family == AF_UNIX)
		path_of((struct sockaddr_un *)&own, len, new.path);
	new.family = own.ss_family;
	new.proto = proto_of(own.ss_family, new.type);
	l->at[l->n++] = new;
	return 0;
}

void listeners_close(struct listeners *l)
{
	while (l->n)
		(void)close(l->at[--l->n].fd);
}

union control { /* aligned as CMSG_ macros want it */
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

static void read_asked(struct msghdr *m, uint8_t ret[16])
{
	struct sockaddr_storage to = { .ss_family = AF_UNSPEC };
	uint16_t unused;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			to.ss_family = AF_INET;
			((struct sockaddr_in *)&to)->sin_addr = info.ipi_addr;
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			to.ss_family = AF_INET6;
			((struct sockaddr_in6 *)&to)->sin6_addr = info.ipi6_addr;
		}
	}
	if (to.ss_family != AF_UNSPEC)
		endpoint_from(&to, ret, &unused);
}

/* How long the header is that stands before what came by raw IPv4. */
static size_t header_before(const struct listener *l, const uint8_t *p, size_t len)
{
	size_t header = len ? 4u * (p[0] & 15u) : 0;

	return l->type == SOCK_RAW && l->family == AF_INET ? MIN(header, len) : 0;
}

int listener_receive(const struct listener *l, void *buf, size_t n, struct datagram *ret)
{
	union control control;
	struct iovec iov = { .iov_base = buf, .iov_len = n };
	struct msghdr m = { .msg_name = &ret->peer,
			    .msg_namelen = sizeof(ret->peer),
			    .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	ssize_t got;
	size_t off;

	memset(ret, 0, sizeof(*ret));
	got = recvmsg(l->fd, &m, MSG_DONTWAIT);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	off = header_before(l, buf, (size_t)got);
	ret->data = (uint8_t *)buf + off;
	ret->len = (size_t)got - off;
	ret->peer_len = m.msg_namelen;
	endpoint_from(&ret->peer, ret->ends.src, &ret->ends.sport);
	if (l->type == SOCK_RAW)
		ret->ends.sport = 0; /* IPv6 puts the protocol there */
	ret->ends.dport = l->port;
	read_asked(&m, ret->ends.dst);
	return 1;
}

uint32_t listener_dropped(struct listener *l)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 }, dropped;
	socklen_t len = sizeof(info);

	if (getsockopt(l->fd, SOL_SOCKET, SO_MEMINFO, info, &len) < 0)
		return 0;
	dropped = info[SK_MEMINFO_DROPS] - l->dropped; /* counts on through 2^32 */
	l->dropped = info[SK_MEMINFO_DROPS];
	return dropped;
}

/* The source address that the answer must carry: the one that was asked. */
static void put_source(struct msghdr *m, union control *control, const uint8_t addr[16])
{
	struct cmsghdr *c;

	memset(control, 0, sizeof(*control));
	m->msg_control = control;
	m->msg_controllen = sizeof(*control);
	c = CMSG_FIRSTHDR(m);
	if (addr_is_v4(addr)) {
		struct in_pktinfo info = { .ipi_ifindex = 0 };

		memcpy(&info.ipi_spec_dst, addr + 12, 4);
		c->cmsg_level = IPPROTO_IP;
		c->cmsg_type = IP_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		m->msg_controllen = CMSG_SPACE(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = 0 };

		memcpy(&info.ipi6_addr, addr, 16);
		c->cmsg_level = IPPROTO_IPV6;
		c->cmsg_type = IPV6_PKTINFO;
		c->cmsg_len = CMSG_LEN(sizeof(info));
		m->msg_controllen = CMSG_SPACE(sizeof(info));
		memcpy(CMSG_DATA(c), &info, sizeof(info));
	}
}

bool listener_answer(const struct listener *l, const struct datagram *d, const void *data,
		     size_t len)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)data, .iov_len = len };
	struct msghdr m = { .msg_name = (void *)(uintptr_t)&d->peer,
			    .msg_namelen = d->peer_len,
			    .msg_iov = &iov,
			    .msg_iovlen = 1 };
	union control control;

	put_source(&m, &control, d->ends.dst);
	return sendmsg(l->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

// SPDX-License-Identifier: Apache-2.0
/* Lanes on the real kernel. Needs root; all traffic stays in the lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/if_packet.h>
#include <linux/tcp.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/rig/open_fds.h"
#include "user/base/netns.h"
#include "user/rig/lane.h"
#include "user/rig/netlink.h"
#include "user/rig/rig.h"

#define SOON_MS 1000	/* for what must happen */
#define NEVER_MS 150	/* for what must not */
#define REFUSED_MS 1500 /* for a refused TCP connect: by its second SYN at the latest */

/* ---- helpers ---- */

static void make(struct lane *l, uint32_t number, const struct lane_opts *o)
{
	struct diag d = { 0 };
	int err = lane_make(l, number, 1, o, &d);

	if (err)
		fail_msg("lane %u: %s (%d)", number, d.text, err);
}

static int set_up(void **state)
{
	static struct lane lane;

	make(&lane, 1, NULL);
	*state = &lane;
	return 0;
}

static int tear_down(void **state)
{
	lane_drop(*state);
	return 0;
}

static int in(int ns, int domain, int type, int protocol)
{
	int fd = lane_socket(ns, domain, type, protocol);

	assert_true(fd >= 0);
	return fd;
}

static socklen_t far(struct sockaddr_storage *to, int family, bool deaf, uint32_t n, uint16_t port)
{
	struct sockaddr_in6 *to6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *to4 = (struct sockaddr_in *)to;
	uint8_t addr[16];

	rig_trial_addr(addr, family, deaf, n);
	memset(to, 0, sizeof(*to));
	to->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		memcpy(&to4->sin_addr, addr + 12, 4);
		to4->sin_port = htons(port);
		return sizeof(*to4);
	}
	memcpy(&to6->sin6_addr, addr, 16);
	to6->sin6_port = htons(port);
	return sizeof(*to6);
}

/* A socket in world that receives whatever comes to port. */
static int listener(struct lane *l, int family, int type, uint16_t port)
{
	struct sockaddr_storage any = { .ss_family = (sa_family_t)family };
	int fd = in(l->world_ns, family, type, 0), on = 1;

	/* Both structures have the port in the same place. */
	((struct sockaddr_in *)&any)->sin_port = htons(port);
	if (family == AF_INET6)
		assert_return_code(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)),
				   errno);
	assert_return_code(
		bind(fd, (struct sockaddr *)&any,
		     family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6)),
		errno);
	if (type == SOCK_STREAM)
		assert_return_code(listen(fd, 8), errno);
	return fd;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

static int tap(int ns, uint32_t ifindex)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ALL),
					.sll_ifindex = (int)ifindex };
	int fd = in(ns, AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);

	assert_return_code(bind(fd, (const struct sockaddr *)&at, sizeof(at)), errno);
	return fd;
}

/* Whether a frame with this text goes by in the given direction within ms. */
static bool tap_sees(int fd, bool outgoing, const char *text, int ms)
{
	const uint64_t deadline = mono_ns() + (uint64_t)ms * NSEC_PER_MSEC;
	uint8_t frame[2048];

	while (mono_ns() < deadline) {
		struct sockaddr_ll from;
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, frame, sizeof(frame), 0, (struct sockaddr *)&from, &len);

		if (n < 0)
			(void)readable(fd, 1);
		else if ((from.sll_pkttype == PACKET_OUTGOING) == outgoing &&
			 memmem(frame, (size_t)n, text, strlen(text)))
			return true;
	}
	return false;
}

/* One datagram from box on a connected socket, so that errors come back to it. */
static int send_udp(struct lane *l, int family, bool deaf, uint32_t n, const char *text)
{
	struct sockaddr_storage to;
	socklen_t len = far(&to, family, deaf, n, RIG_PORT_UDP);
	int fd = in(l->box_ns, family, SOCK_DGRAM, 0);

	assert_return_code(connect(fd, (struct sockaddr *)&to, len), errno);
	assert_int_equal(send(fd, text, strlen(text), 0), strlen(text));
	return fd;
}

static void assert_crosses(struct lane *l, int family, const char *text)
{
	cleanup_fd int at = listener(l, family, SOCK_DGRAM, RIG_PORT_UDP);
	cleanup_fd int from = send_udp(l, family, false, 7, text);
	char got[64] = "";

	assert_true(from >= 0);
	assert_true(readable(at, SOON_MS));
	assert_int_equal(recv(at, got, sizeof(got) - 1, 0), strlen(text));
	assert_string_equal(got, text);
}

/* errno of a TCP connect from box (EINPROGRESS: nothing for limit_ms), 0 where it was accepted. */
static int try_connect(struct lane *l, const struct sockaddr_storage *to, socklen_t len,
		       int limit_ms)
{
	cleanup_fd int fd = in(l->box_ns, to->ss_family, SOCK_STREAM, 0);
	const struct timeval limit = { .tv_sec = limit_ms / 1000,
				       .tv_usec = limit_ms % 1000 * 1000 };

	assert_return_code(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)), errno);
	return connect(fd, (const struct sockaddr *)to, len) < 0 ? errno : 0;
}

static int try_tcp(struct lane *l, int family, bool deaf, int limit_ms)
{
	struct sockaddr_storage to;
	socklen_t len = far(&to, family, deaf, 9, RIG_PORT_TCP);

	return try_connect(l, &to, len, limit_ms);
}

static socklen_t address(struct sockaddr_storage *to, const char *text, uint16_t port)
{
	struct sockaddr_in6 *to6 = (struct sockaddr_in6 *)to;
	struct sockaddr_in *to4 = (struct sockaddr_in *)to;
	bool v6 = strchr(text, ':');

	memset(to, 0, sizeof(*to));
	to->ss_family = v6 ? AF_INET6 : AF_INET;
	to4->sin_port = htons(port); /* both structures have it in the same place */
	assert_int_equal(inet_pton(to->ss_family, text,
				   v6 ? (void *)&to6->sin6_addr : (void *)&to4->sin_addr),
			 1);
	return v6 ? sizeof(*to6) : sizeof(*to4);
}

static int try_at(struct lane *l, const char *text, uint16_t port, int limit_ms)
{
	struct sockaddr_storage to;
	socklen_t len = address(&to, text, port);

	return try_connect(l, &to, len, limit_ms);
}

/* Who listens at that address of that namespace. */
static int serve_at(int ns, int type, const char *text, uint16_t port)
{
	struct sockaddr_storage at;
	socklen_t len = address(&at, text, port);
	int fd = in(ns, at.ss_family, type, 0), on = 1;

	if (at.ss_family == AF_INET6)
		assert_return_code(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)),
				   errno);
	assert_return_code(bind(fd, (struct sockaddr *)&at, len), errno);
	if (type == SOCK_STREAM)
		assert_return_code(listen(fd, 8), errno);
	return fd;
}

static uint16_t checksum(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t sum = 0;

	for (size_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

/* The same datagram as a frame of our own making: no route, no rule and no cgroup hook of box. */
static void send_raw(struct lane *l, const char *text)
{
	cleanup_fd int fd = tap(l->box_ns, l->box_ifindex);
	struct {
		struct ether_header eth;
		struct iphdr ip;
		struct udphdr udp;
		char text[64];
	} __attribute__((packed))
	frame = { .eth.ether_type = htons(ETHERTYPE_IP),
		  .ip = { .version = 4,
			  .ihl = 5,
			  .ttl = 64,
			  .protocol = IPPROTO_UDP,
			  .saddr = inet_addr("10.117.1.9"),
			  .daddr = inet_addr("203.0.113.9") },
		  .udp = { .source = htons(4000), .dest = htons(RIG_PORT_UDP) } };
	const size_t n = strlen(text);
	struct iphdr ip;

	memcpy(frame.eth.ether_dhost, l->gateway_mac, 6);
	memcpy(frame.eth.ether_shost, (uint8_t[6]){ 2, 0, 0, 0, 0, 1 }, 6);
	memcpy(frame.text, text, n);
	frame.udp.len = htons((uint16_t)(sizeof(frame.udp) + n));
	frame.ip.tot_len = htons((uint16_t)(sizeof(frame.ip) + sizeof(frame.udp) + n));
	ip = frame.ip;
	frame.ip.check = checksum(&ip, sizeof(ip));
	assert_true(send(fd, &frame, sizeof(frame) - sizeof(frame.text) + n, 0) > 0);
}

/* ---- making ---- */

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void test_make_and_drop(void **state unused_arg)
{
	double ms[20];

	for (size_t i = 0; i < ARRAY_SIZE(ms); i++) {
		uint64_t start = mono_ns();
		struct lane l;

		make(&l, 1 + (uint32_t)i % LANES_MAX, NULL);
		ms[i] = (double)(mono_ns() - start) / 1e6;
		assert_true(l.box_cookie && l.host_cookie && l.world_cookie);
		assert_true(l.box_cookie != l.host_cookie && l.host_cookie != l.world_cookie);
		assert_true(l.box_inum != l.host_inum && l.host_inum != l.world_inum);
		assert_int_equal(fcntl(l.box_ns, F_GETFD), FD_CLOEXEC);
		assert_int_equal(fcntl(l.host_ns, F_GETFD), FD_CLOEXEC);
		assert_int_equal(fcntl(l.world_ns, F_GETFD), FD_CLOEXEC);
		lane_drop(&l);
		lane_drop(&l);
	}
	qsort(ms, ARRAY_SIZE(ms), sizeof(ms[0]), by_value);
	print_message("lane: median %.2f ms, slowest %.2f ms\n", ms[10], ms[19]);
}

static void test_refused(void **state unused_arg)
{
	struct lane zeroed = { 0 }, l;
	struct diag d;

	assert_int_equal(lane_make(&l, 0, 1, NULL, &d), -EINVAL);
	assert_int_equal(lane_make(&l, LANES_MAX + 1, 1, NULL, &d), -EINVAL);
	assert_non_null(strstr(d.text, "numbers are"));
	lane_drop(&l);
	lane_drop(&zeroed);
	lane_drop(NULL);
}

/* Fails at each descriptor in turn: says why, and keeps nothing. */
static void test_half_built(void **state unused_arg)
{
	const unsigned int before = open_fds();
	struct rlimit limit, tight;
	unsigned int failures = 0;
	int err;

	assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
	tight = limit;
	tight.rlim_cur = 3;
	do {
		struct diag d = { 0 };
		struct lane l;

		assert_return_code(setrlimit(RLIMIT_NOFILE, &tight), errno);
		err = lane_make(&l, 5, 1, NULL, &d);
		assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
		if (err)
			assert_true(strstr(d.text, "lane 5: ") == d.text && ++failures);
		lane_drop(&l);
		assert_int_equal(open_fds(), before);
	} while (err && ++tight.rlim_cur < 64);
	assert_int_equal(err, 0);
	assert_true(failures >= 8);
}

/* Indexes tell lanes, epochs in a row and processes apart. */
static void test_ifindexes(void **state unused_arg)
{
	struct lane a, b, c, other;
	int pipe_fds[2], status;
	uint32_t index = 0;
	pid_t pid;

	make(&a, 1, NULL);
	make(&b, 2, NULL);
	assert_int_equal(lane_make(&c, 1, 2, NULL, NULL), 0);
	assert_int_not_equal(a.world_ifindex, b.world_ifindex);
	assert_int_not_equal(a.world_ifindex, c.world_ifindex);
	assert_int_not_equal(a.boundary_ifindex, a.host_ifindex);

	assert_return_code(pipe2(pipe_fds, O_CLOEXEC), errno);
	pid = fork();
	if (pid == 0) {
		if (lane_make(&other, 1, 1, NULL, NULL) < 0)
			_exit(1);
		_exit(write_all(pipe_fds[1], &other.world_ifindex, sizeof(index)) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(pipe_fds[0], &index, sizeof(index)), sizeof(index));
	assert_int_not_equal(a.world_ifindex, index);
	(void)close(pipe_fds[0]);
	(void)close(pipe_fds[1]);
	lane_drop(&a);
	lane_drop(&b);
	lane_drop(&c);
}

static void test_trial_addresses(void **state unused_arg)
{
	char text[ADDR_TEXT_MAX];
	uint8_t a[16];

	for (uint32_t n = 0; n < 300; n++) {
		rig_trial_addr(a, AF_INET, false, n);
		assert_in_range(a[15], 2, 126);
		rig_trial_addr(a, AF_INET, true, n);
		assert_in_range(a[15], 130, 254);
	}
	rig_trial_addr(a, AF_INET, false, 0);
	assert_string_equal(addr_text(a, text), "203.0.113.2");
	rig_trial_addr(a, AF_INET6, false, 0x12345);
	assert_string_equal(addr_text(a, text), "2001:db8:113::2:2345");
	rig_trial_addr(a, AF_INET6, true, UINT32_MAX);
	assert_string_equal(addr_text(a, text), "2001:db8:113:1:0:1:0:ffff");
}

/* ---- traffic ---- */

static void test_open(void **state)
{
	cleanup_fd int tcp4 = listener(*state, AF_INET, SOCK_STREAM, RIG_PORT_TCP);
	cleanup_fd int tcp6 = listener(*state, AF_INET6, SOCK_STREAM, RIG_PORT_TCP);

	assert_true(tcp4 >= 0 && tcp6 >= 0);
	assert_crosses(*state, AF_INET, "four");
	assert_crosses(*state, AF_INET6, "six");
	assert_int_equal(try_tcp(*state, AF_INET, false, REFUSED_MS), 0);
	assert_int_equal(try_tcp(*state, AF_INET6, false, REFUSED_MS), 0);
}

static void assert_udp_refused(struct lane *l, int family, const char *text, int want)
{
	cleanup_fd int fd = send_udp(l, family, false, 8, text);
	char byte;

	assert_true(readable(fd, SOON_MS));
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, want);
}

static void test_closed(void **state)
{
	struct lane *l = *state;
	cleanup_fd int w = tap(l->world_ns, l->world_ifindex);
	cleanup_fd int b = tap(l->host_ns, l->boundary_ifindex);

	send_raw(l, "raw-open");
	assert_true(tap_sees(w, false, "raw-open", SOON_MS));

	for (int round = 0; round < 2; round++) {
		assert_int_equal(lane_set_closed(l, true), 0);
		assert_int_equal(lane_set_closed(l, true), 0);
		assert_udp_refused(l, AF_INET, "udp4-closed", EHOSTUNREACH);
		assert_udp_refused(l, AF_INET6, "udp6-closed", EACCES);
		assert_int_equal(try_tcp(l, AF_INET, false, REFUSED_MS), EHOSTUNREACH);
		assert_int_equal(try_tcp(l, AF_INET6, false, REFUSED_MS), EACCES);
		send_raw(l, "raw-closed");
		assert_true(tap_sees(b, false, "udp4-closed", SOON_MS));
		assert_true(tap_sees(b, false, "udp6-closed", SOON_MS));
		assert_true(tap_sees(b, false, "raw-closed", SOON_MS));
		assert_false(tap_sees(w, false, "-closed", NEVER_MS));

		assert_int_equal(lane_set_closed(l, false), 0);
		assert_crosses(l, AF_INET, "four again");
		assert_crosses(l, AF_INET6, "six again");
		send_raw(l, "raw-again");
		assert_true(tap_sees(w, false, "raw-again", SOON_MS));
	}
}

/* What is sent to the deaf far side arrives at W, and nothing at all comes back. */
static void test_deaf(void **state)
{
	struct lane *l = *state;
	cleanup_fd int w = tap(l->world_ns, l->world_ifindex);
	cleanup_fd int four = send_udp(l, AF_INET, true, 3, "deaf-four");
	cleanup_fd int six = send_udp(l, AF_INET6, true, 3, "deaf-six");

	assert_true(tap_sees(w, false, "deaf-four", SOON_MS));
	assert_true(tap_sees(w, false, "deaf-six", SOON_MS));
	assert_false(tap_sees(w, true, "deaf-", NEVER_MS)); /* an ICMP error would quote it */
	assert_false(readable(four, 0));
	assert_false(readable(six, 0));
	assert_int_equal(try_tcp(l, AF_INET, true, NEVER_MS), EINPROGRESS);
	assert_int_equal(try_tcp(l, AF_INET6, true, NEVER_MS), EINPROGRESS);
}

/* Each look-alike of a metadata service can be had in world, and its twin swallows what it gets. */
static void test_metadata(void **state)
{
	static const struct {
		int family;
		const char *answers, *deaf;
	} services[] = {
		{ AF_INET, RIG_METADATA4, RIG_METADATA4_DEAF },
		{ AF_INET, RIG_METADATA_ECS4, RIG_METADATA_ECS4_DEAF },
		{ AF_INET, RIG_METADATA_ALIBABA4, NULL },
		{ AF_INET6, RIG_METADATA6, RIG_METADATA6_DEAF },
	};
	struct lane *l = *state;
	cleanup_fd int four = listener(l, AF_INET, SOCK_STREAM, RIG_PORT_HTTP);
	cleanup_fd int six = listener(l, AF_INET6, SOCK_STREAM, RIG_PORT_HTTP);

	assert_true(four >= 0 && six >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		bool v6 = services[i].family == AF_INET6;

		assert_int_equal(try_at(l, services[i].answers, RIG_PORT_HTTP, SOON_MS), 0);
		if (services[i].deaf)
			assert_int_equal(try_at(l, services[i].deaf, RIG_PORT_HTTP, NEVER_MS),
					 EINPROGRESS);
		assert_int_equal(lane_set_closed(l, true), 0);
		assert_int_equal(try_at(l, services[i].answers, RIG_PORT_HTTP, REFUSED_MS),
				 v6 ? EACCES : EHOSTUNREACH);
		assert_int_equal(lane_set_closed(l, false), 0);
	}
}

/* Of a closed lane nothing reaches host itself either; what host says it still can. */
static void test_host_services(void **state)
{
	struct lane *l = *state;
	cleanup_fd int resolver = serve_at(l->host_ns, SOCK_DGRAM, RIG_RESOLVER4, RIG_PORT_DNS);
	cleanup_fd int hop = serve_at(l->host_ns, SOCK_STREAM, RIG_METADATA_HOP4, RIG_PORT_HTTP);
	cleanup_fd int any6 = serve_at(l->host_ns, SOCK_STREAM, "::", RIG_PORT_HTTP);
	cleanup_fd int box = in(l->box_ns, AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_storage to;
	socklen_t len = address(&to, RIG_RESOLVER4, RIG_PORT_DNS);
	char byte;

	assert_true(hop >= 0 && any6 >= 0);
	assert_return_code(connect(box, (struct sockaddr *)&to, len), errno);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(send(box, "q", 1, 0), 1);
		assert_true(readable(resolver, SOON_MS));
		assert_int_equal(recv(resolver, &byte, 1, 0), 1);
		assert_int_equal(try_at(l, RIG_METADATA_HOP4, RIG_PORT_HTTP, SOON_MS), 0);
		assert_int_equal(try_at(l, RIG_METADATA_HOP4, RIG_PORT_HTTP + 1, SOON_MS),
				 ECONNREFUSED);
		assert_int_equal(try_at(l, "fd00:117:1::1", RIG_PORT_HTTP, SOON_MS), 0);

		assert_int_equal(lane_set_closed(l, true), 0);
		assert_int_equal(send(box, "q", 1, 0), 1);
		assert_true(readable(box, SOON_MS));
		assert_int_equal(recv(box, &byte, 1, 0), -1);
		assert_int_equal(errno, EHOSTUNREACH);
		assert_false(readable(resolver, NEVER_MS));
		assert_int_equal(try_at(l, RIG_METADATA_HOP4, RIG_PORT_HTTP, REFUSED_MS),
				 EHOSTUNREACH);
		assert_int_equal(try_at(l, "fd00:117:1::1", RIG_PORT_HTTP, REFUSED_MS), EACCES);
		assert_int_equal(lane_set_closed(l, false), 0);
	}
}

/* ... nor does anybody in box connect to what only its own processes may reach. */
static void test_box_services(void **state)
{
	struct lane *l = *state;
	cleanup_fd int loopback = serve_at(l->box_ns, SOCK_STREAM, "127.0.0.1", RIG_PORT_LOOPBACK);
	cleanup_fd int sibling = serve_at(l->box_ns, SOCK_STREAM, "0.0.0.0", RIG_PORT_SIBLING);
	cleanup_fd int six = serve_at(l->box_ns, SOCK_STREAM, "::1", RIG_PORT_LOOPBACK);
	cleanup_fd int next = serve_at(l->box_ns, SOCK_STREAM, "127.0.0.1", RIG_PORT_SIBLING + 1);

	assert_true(loopback >= 0 && sibling >= 0 && six >= 0 && next >= 0);
	for (int closed = 0; closed < 2; closed++) {
		const int want = closed ? EACCES : 0;

		assert_int_equal(lane_set_closed(l, closed), 0);
		assert_int_equal(try_at(l, "127.0.0.1", RIG_PORT_LOOPBACK, SOON_MS), want);
		assert_int_equal(try_at(l, "10.117.1.2", RIG_PORT_SIBLING, SOON_MS), want);
		assert_int_equal(try_at(l, "::1", RIG_PORT_LOOPBACK, SOON_MS), want);
		assert_int_equal(try_at(l, "127.0.0.1", RIG_PORT_LOOPBACK + 1, SOON_MS),
				 closed ? EACCES : ECONNREFUSED);
		assert_int_equal(try_at(l, "127.0.0.1", RIG_PORT_SIBLING + 1, SOON_MS), 0);
	}
	assert_int_equal(lane_set_closed(l, false), 0);
}

/* Whoever is in box may open a ping socket, and put data into a SYN. */
static void test_privileges_of_box(void **state)
{
	enum { TRIES = 2 }; /* the first is given the cookie */
	struct lane *l = *state;
	cleanup_fd int ping = in(l->box_ns, AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
	cleanup_fd int at = listener(l, AF_INET, SOCK_STREAM, RIG_PORT_TCP);
	struct sockaddr_storage to;
	socklen_t len = far(&to, AF_INET, false, 9, RIG_PORT_TCP);
	const int queue = 8;

	assert_true(ping >= 0);
	assert_return_code(setsockopt(at, IPPROTO_TCP, TCP_FASTOPEN, &queue, sizeof(queue)), errno);
	for (int i = 0; i < TRIES; i++) {
		cleanup_fd int fd = in(l->box_ns, AF_INET, SOCK_STREAM, 0), peer = -1;
		socklen_t size = sizeof(struct tcp_info);
		struct tcp_info info;
		char byte;

		assert_int_equal(sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, len), 1);
		assert_true(readable(at, SOON_MS));
		peer = accept4(at, NULL, NULL, SOCK_CLOEXEC);
		assert_int_equal(recv(peer, &byte, 1, 0), 1);
		assert_return_code(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size), errno);
		assert_int_equal(info.tcpi_options & TCPI_OPT_SYN_DATA, i ? TCPI_OPT_SYN_DATA : 0);
	}
}

static void test_no_ipv6(void **state unused_arg)
{
	const struct lane_opts o = { .no_ipv6 = true };
	struct sockaddr_storage to;
	socklen_t len = far(&to, AF_INET6, false, 1, RIG_PORT_UDP);
	cleanup_fd int fd = -1;
	struct lane l;

	make(&l, 3, &o);
	assert_crosses(&l, AF_INET, "four alone");
	assert_int_equal(lane_set_closed(&l, true), 0);
	assert_int_equal(lane_set_closed(&l, false), 0);
	fd = in(l.box_ns, AF_INET6, SOCK_DGRAM, 0);
	assert_int_equal(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, len), -1);
	assert_true(errno == ENETUNREACH || errno == EADDRNOTAVAIL);
	lane_drop(&l);
}

static void test_canary(void **state)
{
	enum { ROUNDS = 200 };
	struct lane *l = *state;
	cleanup_fd int w = tap(l->world_ns, l->world_ifindex);
	cleanup_fd int b = tap(l->host_ns, l->boundary_ifindex);
	uint64_t start;

	assert_int_equal(lane_send_from(l, true, "canary-1", 8), 0);
	assert_true(tap_sees(b, false, "canary-1", SOON_MS));
	assert_true(tap_sees(w, false, "canary-1", SOON_MS));
	assert_int_equal(lane_send_from(l, false, "canary-2", 8), 0);
	assert_true(tap_sees(w, false, "canary-2", SOON_MS));

	assert_int_equal(lane_set_closed(l, true), 0);
	assert_int_equal(lane_send_from(l, true, "canary-3", 8), 0);
	assert_true(tap_sees(b, false, "canary-3", SOON_MS));
	assert_int_equal(lane_send_from(l, false, "canary-4", 8), 0);
	assert_true(tap_sees(w, false, "canary-4", SOON_MS));
	assert_false(tap_sees(w, false, "canary-3", NEVER_MS));

	/* Canaries leave box's budget of errors alone. */
	for (int i = 0; i < 20; i++)
		assert_int_equal(lane_send_from(l, true, "canary-5", 8), 0);
	assert_int_equal(try_tcp(l, AF_INET, false, REFUSED_MS), EHOSTUNREACH);

	start = mono_ns();
	for (int i = 0; i < ROUNDS; i++)
		assert_int_equal(lane_send_from(l, i & 1, "canary-n", 8), 0);
	print_message("canary: %.1f us\n", (double)(mono_ns() - start) / 1e3 / ROUNDS);
}

/* ---- ending ---- */

/* Who still sits in a box whose lane is gone has no link any more. */
static void test_orphan_fails_closed(void **state unused_arg)
{
	const uint64_t start = mono_ns();
	struct sockaddr_storage to;
	socklen_t len = far(&to, AF_INET, false, 1, RIG_PORT_UDP);
	struct lane l;
	cleanup_fd int fd = -1;

	make(&l, 4, NULL);
	fd = in(l.box_ns, AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, len), 1);
	lane_drop(&l);
	while (sendto(fd, "x", 1, 0, (struct sockaddr *)&to, len) == 1) {
		assert_true(mono_ns() - start < SOON_MS * NSEC_PER_MSEC);
		(void)usleep(1000);
	}
	assert_int_equal(errno, ENETUNREACH);
}

#define KILLED_LANES 4
#define WITNESSES (3 * KILLED_LANES)

static int space_main(void *arg)
{
	struct netlink **n = arg;
	int fd = netns_move_new();

	if (fd >= 0 && netlink_open(n) < 0)
		return -1;
	return fd;
}

static bool has_link(int sock, const char *name)
{
	struct ifreq r = { 0 };

	(void)str_copy(r.ifr_name, sizeof(r.ifr_name), name);
	return ioctl(sock, SIOCGIFINDEX, &r) == 0;
}

/* A veth into each namespace of another process: it vanishes when that namespace does. */
static void add_witnesses(struct netlink *n, int pidfd, const struct lane *lanes)
{
	for (int i = 0; i < WITNESSES; i++) {
		const struct lane *l = &lanes[i / 3];
		const int theirs[3] = { l->box_ns, l->host_ns, l->world_ns };
		struct netlink_veth_end here = { .ifindex = 100u + (uint32_t)i, .ns_fd = -1 };
		struct netlink_veth_end there = { .name = "witness", .ifindex = 7 };
		char name[IFNAMSIZ];

		(void)str_format(name, sizeof(name), "witness%d", i);
		here.name = name;
		memcpy(here.mac, (uint8_t[6]){ 2, 0, 0, 0, 1, (uint8_t)i }, 6);
		memcpy(there.mac, (uint8_t[6]){ 2, 0, 0, 0, 2, (uint8_t)i }, 6);
		there.ns_fd = pidfd_getfd(pidfd, theirs[i % 3], 0);
		assert_true(there.ns_fd >= 0);
		assert_int_equal(netlink_add_veth(n, &here, &there), 0);
		(void)close(there.ns_fd);
	}
}

static int count_witnesses(int sock)
{
	int n = 0;

	for (int i = 0; i < WITNESSES; i++) {
		char name[IFNAMSIZ];

		(void)str_format(name, sizeof(name), "witness%d", i);
		n += has_link(sock, name);
	}
	return n;
}

static void test_sigkill(void **state unused_arg)
{
	struct lane lanes[KILLED_LANES];
	struct netlink *n = NULL;
	int fds[2], pidfd, space, sock;
	uint64_t start;
	pid_t pid;

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	pid = fork();
	if (pid == 0) {
		for (uint32_t i = 0; i < KILLED_LANES; i++)
			if (lane_make(&lanes[i], i + 1, 1, NULL, NULL) < 0)
				_exit(1);
		if (write_all(fds[1], lanes, sizeof(lanes)) < 0)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(fds[1]);
	assert_int_equal(read(fds[0], lanes, sizeof(lanes)), sizeof(lanes));
	(void)close(fds[0]);

	space = netns_run(space_main, &n);
	assert_true(space >= 0);
	pidfd = pidfd_open(pid, 0);
	assert_true(pidfd >= 0);
	add_witnesses(n, pidfd, lanes);
	sock = in(space, AF_INET, SOCK_DGRAM, 0);
	assert_int_equal(count_witnesses(sock), WITNESSES);

	assert_return_code(kill(pid, SIGKILL), errno);
	start = mono_ns();
	while (count_witnesses(sock)) {
		assert_true(mono_ns() - start < NSEC_PER_SEC);
		(void)usleep(1000);
	}
	print_message("SIGKILL: %d namespaces gone after %.0f ms\n", WITNESSES,
		      (double)(mono_ns() - start) / 1e6);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	netlink_close(n);
	(void)close(sock);
	(void)close(space);
	(void)close(pidfd);
}

/* ---- the machine's own namespace ---- */

static FILE *snapshot_out; /* nftw() hands no argument through */

static int print_sysctl(const char *path, const struct stat *st unused_arg, int type,
			struct FTW *at unused_arg)
{
	cleanup_fd int fd = -1;
	char text[4096];
	ssize_t n;

	/* Counts connections of the machine at this moment. */
	if (type != FTW_F || strstr(path, "nf_conntrack_count"))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text));
	(void)fprintf(snapshot_out, "%s: %.*s\n", path, n > 0 ? (int)n : 0, text);
	return 0;
}

static void print_command(const char *command)
{
	FILE *f = popen(command, "re");
	char line[4096];

	assert_non_null(f);
	(void)fprintf(snapshot_out, "$ %s\n", command);
	while (fgets(line, sizeof(line), f))
		(void)fputs(line, snapshot_out);
	(void)pclose(f);
}

/* Everything about the caller's network namespace that a rig could have changed. */
static char *snapshot(void)
{
	char *text = NULL;
	size_t len = 0;

	snapshot_out = open_memstream(&text, &len);
	assert_non_null(snapshot_out);
	print_command("readlink /proc/self/ns/net");
	print_command("ip -d link");
	print_command("ip addr");
	print_command("ip route show table all");
	print_command("ip -6 route show table all");
	print_command("ip rule; ip -6 rule");
	print_command("ip netns");
	print_command("command -v nft >/dev/null && nft list ruleset");
	assert_int_equal(nftw("/proc/sys/net", print_sysctl, 16, FTW_PHYS), 0);
	assert_int_equal(fclose(snapshot_out), 0);
	assert_true(len > 10000);
	return text;
}

static void test_host_untouched(void **state unused_arg)
{
	cleanup_free char *before = snapshot(), *during = NULL, *after = NULL;
	struct lane lanes[3];

	for (uint32_t i = 0; i < ARRAY_SIZE(lanes); i++)
		make(&lanes[i], i + 1, NULL);
	assert_int_equal(lane_set_closed(&lanes[0], true), 0);
	assert_crosses(&lanes[1], AF_INET, "four");
	during = snapshot();
	for (uint32_t i = 0; i < ARRAY_SIZE(lanes); i++)
		lane_drop(&lanes[i]);
	after = snapshot();
	assert_string_equal(before, during);
	assert_string_equal(before, after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trial_addresses),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_make_and_drop),
		cmocka_unit_test(test_half_built),
		cmocka_unit_test(test_ifindexes),
		cmocka_unit_test_setup_teardown(test_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_closed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_deaf, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_canary, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_metadata, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_host_services, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_box_services, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_privileges_of_box, set_up, tear_down),
		cmocka_unit_test(test_no_ipv6),
		cmocka_unit_test(test_orphan_fails_closed),
		cmocka_unit_test(test_sigkill),
		cmocka_unit_test(test_host_untouched),
	};

	if (geteuid() != 0) {
		(void)fprintf(stderr, "skipped: root is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

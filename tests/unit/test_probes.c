// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of the probes, each against the real far side or against a server that misbehaves,
 * in a network namespace of their own. Needs CAP_SYS_ADMIN for that: skipped without.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "probes/attempt.h"
#include "probes/collector/collector.h"
#include "probes/checksum.h"
#include "probes/frame.h"
#include "probes/resolv_conf.h"
#include "tests/unit/random.h"
#include "user/base/planted.h"

#define H32 "00112233445566778899aabbccddeeff"
#define ASKED "127.0.0.77"
#define SHORT_MS 200

static const uint8_t key[MAC_BYTES] = { 42 };
static bool no_namespace;
static pid_t far_side;

static const struct probe_case {
	const char *name;
	probe_fn fn;
	const char *to;
} cases[] = {
	{ "tcp-connect", probe_tcp_connect, ASKED },
	{ "tcp6-connect", probe_tcp_connect, "::1" },
	{ "mapped-ipv6", probe_tcp_connect, ASKED },
	{ "tcp-fastopen", probe_tcp_fastopen, ASKED },
	{ "io-uring-connect", probe_io_uring_connect, ASKED },
	{ "udp-send", probe_udp_send, ASKED },
	{ "udp-sendmsg", probe_udp_sendmsg, ASKED },
	{ "udp-sendmmsg", probe_udp_sendmmsg, ASKED },
	{ "udp-write", probe_udp_write, ASKED },
	{ "dns-udp-direct", probe_dns_udp_direct, ASKED },
	{ "dns-tcp-direct", probe_dns_tcp_direct, ASKED },
	{ "http-post-direct", probe_http_post_direct, ASKED },
	{ "https-post", probe_https_post, ASKED },
	{ "http-post-proxy", probe_http_post_proxy, ASKED },
	{ "icmp-echo", probe_icmp_echo, ASKED },
	{ "packet-socket", probe_packet_socket, ASKED },
};

static bool is_stream(const struct probe_case *c)
{
	enum channel channel = probe_manifest_find(c->name)->p.channel;

	return channel == CHANNEL_TCP || channel == CHANNEL_DNS_TCP || channel == CHANNEL_PROXY;
}

static bool has_port(const struct probe_case *c)
{
	return probe_manifest_find(c->name)->port;
}

static int set_sysctl(const char *path, const char *value)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : write_all(fd, value, strlen(value));
}

static int loopback_up(void)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &r) < 0 ? -errno : 0;
}

/* Nobody reads its log: quiet. */
static void be_far_side(int ready_fd)
{
	struct collector_opts o = { .log_fd = ready_fd, .quiet = true };
	struct collector *c;
	uint16_t port;

	memcpy(o.key, key, sizeof(key));
	if (collector_new(&o, &c, &port))
		_exit(1);
	_exit(collector_run(c) ? 1 : 0);
}

static int start_far_side(void **state unused_arg)
{
	char line[64];
	int fd[2];

	no_namespace = unshare(CLONE_NEWNET) < 0;
	if (no_namespace) {
		print_message("skipped: a network namespace cannot be made: %s\n", strerror(errno));
		return 0;
	}
	if (loopback_up() || set_sysctl("/proc/sys/net/ipv4/icmp_echo_ignore_all", "1") ||
	    pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	far_side = fork();
	if (!far_side)
		be_far_side(fd[1]);
	(void)close(fd[1]);
	return read(fd[0], line, sizeof(line)) > 0 ? 0 : -1; /* {"ready":true} */
}

static int stop_far_side(void **state unused_arg)
{
	if (far_side > 0 && (kill(far_side, SIGKILL) || waitpid(far_side, NULL, 0) != far_side))
		return -1;
	return 0;
}

/* To another port and within another time where they are not 0. */
static void attempt(const struct probe_case *c, uint16_t port, uint64_t ms,
		    struct probe_outcome *ret)
{
	struct probe_attempt a = { .manifest = probe_manifest_find(c->name), .token = H32 };

	a.port = port ? port : (uint16_t)a.manifest->port;
	assert_int_equal(parse_addr(c->to, a.to), 0);
	a.deadline_ns = mono_ns() + (ms ? ms : 5000) * NSEC_PER_MSEC;
	memset(ret, 0, sizeof(*ret));
	c->fn(&a, ret);
}

/* A namespace that is new has no ping sockets for anybody: raw ones have done it so far. */
static void test_ping_sockets(void **state unused_arg)
{
	static const struct probe_case c = { "icmp-echo", probe_icmp_echo, ASKED };
	struct probe_outcome o;
	uint64_t before = mono_ns();

	if (no_namespace)
		skip();
	assert_int_equal(set_sysctl("/proc/sys/net/ipv4/ping_group_range", "0 0"), 0);
	attempt(&c, 0, 0, &o);
	assert_string_equal(o.view, "answered");
	assert_true(mono_ns() - before < NSEC_PER_SEC);
	assert_int_equal(set_sysctl("/proc/sys/net/ipv4/icmp_echo_ignore_all", "0"), 0);
	attempt(&c, 0, SHORT_MS, &o); /* the kernel's own reply comes first, and then ours */
	assert_string_equal(o.view, "answered");
}

static void test_answered(void **state unused_arg)
{
	uint8_t token[MAC_NONCE_BYTES], want[MAC_BYTES];

	if (no_namespace)
		skip();
	assert_int_equal(hex_decode(token, sizeof(token), H32), 0);
	mac_answer(key, token, want);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_outcome o;

		/* loopback takes no frames from outside: on the rig it is answered */
		if (cases[i].fn == probe_packet_socket)
			continue;
		attempt(&cases[i], 0, 0, &o);
		if (strcmp(o.view, "answered") || memcmp(o.answer, want, sizeof(want)))
			fail_msg("%s: %s", cases[i].name, o.view);
	}
}

/* ---- packet-socket ---- */

static struct frame_ends turned(const struct frame_ends *e)
{
	struct frame_ends t = {
		.from = e->to, .to = e->from, .from_port = e->to_port, .to_port = e->from_port
	};

	return t;
}

static void test_frames(void **state unused_arg)
{
	struct frame_ends e = { .from_mac = { 2, 1 },
				.to_mac = { 2, 2 },
				.from.s_addr = htonl(0x0a750102),
				.to.s_addr = htonl(0xcb007105),
				.from_port = 40000,
				.to_port = 9001 },
			  t = turned(&e);
	uint8_t out[FRAME_HEADERS + 5], arp[FRAME_ARP_BYTES], mac[ETH_ALEN];
	size_t len;

	assert_int_equal(frame_udp(&e, "hello", 5, out, sizeof(out) - 1), 0);
	assert_int_equal(frame_udp(&e, "hello", 5, out, sizeof(out)), sizeof(out));
	assert_memory_equal(out, "\2\2\0\0\0\0\2\1\0\0\0\0\x08\0\x45", 15);
	/* computed with the checksum inserted, both sums are 0 (RFC 1071) */
	assert_int_equal(checksum_of(out + 14, 20), 0);
	assert_null(frame_udp_answer(out, sizeof(out), &e, &len));
	assert_memory_equal(frame_udp_answer(out, sizeof(out), &t, &len), "hello", 5);
	assert_int_equal(len, 5);
	for (size_t n = 0; n < FRAME_HEADERS; n++)
		assert_null(frame_udp_answer(out, n, &t, &len));

	frame_arp_request(&e, arp);
	assert_false(frame_is_arp_reply(arp, sizeof(arp), &t, mac));
	arp[21] = 2; /* what was a request is a reply now */
	assert_false(frame_is_arp_reply(arp, sizeof(arp) - 1, &t, mac));
	assert_false(frame_is_arp_reply(arp, sizeof(arp), &e, mac)); /* somebody else's */
	assert_true(frame_is_arp_reply(arp, sizeof(arp), &t, mac));
	assert_memory_equal(mac, e.from_mac, ETH_ALEN);
}

static void test_frame_mutations(void **state unused_arg)
{
	struct frame_ends e = { .from_port = 1, .to_port = 2 }, t = turned(&e);
	uint8_t good[FRAME_HEADERS + 64];
	size_t len = frame_udp(&e, H32 H32, 64, good, sizeof(good));

	for (int i = 0; i < 50000; i++) {
		size_t n, got = 0;
		cleanup_free uint8_t *p = random_mutant(good, len, &n);
		const uint8_t *answer = frame_udp_answer(p, n, &t, &got);
		uint8_t mac[ETH_ALEN];

		if (answer)
			assert_true(answer >= p && got <= n && answer + got <= p + n);
		(void)frame_is_arp_reply(p, n, &t, mac);
	}
}

/* ---- dns-resolver ---- */

static void test_resolv_conf(void **state unused_arg)
{
	static const struct {
		const char *text, *servers;
	} c[] = {
		{ "", "127.0.0.1" },
		{ "nameserver 10.0.0.1", "10.0.0.1" },
		{ "# x\nsearch a\nnameserver\t 10.0.0.1 \r\nnameserver 2001:db8::1\n",
		  "10.0.0.1 2001:db8::1" },
		{ "nameserver 1.1.1.1\nnameserver 1.1.1.2\nnameserver 1.1.1.3\nnameserver "
		  "1.1.1.4\n",
		  "1.1.1.1 1.1.1.2 1.1.1.3" },
		{ "nameserver10.0.0.1\n nameserver 10.0.0.2\n#nameserver 10.0.0.3\n", "127.0.0.1" },
		{ "nameserver fe80::1%eth0\nnameserver example.org\nnameserver\nnameserver \n",
		  "127.0.0.1" },
		{ "nameserver 1.1.1.1111111111111111111111111111111111111111111111111",
		  "127.0.0.1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		char got[256] = "", addr[ADDR_TEXT_MAX];
		struct resolv_conf r;

		resolv_conf_parse(c[i].text, strlen(c[i].text), &r);
		for (size_t k = 0; k < r.n; k++) {
			size_t at = strlen(got);

			(void)str_format(got + at, sizeof(got) - at, "%s%s", k ? " " : "",
					 addr_text(r.server[k], addr));
		}
		assert_string_equal(got, c[i].servers);
	}
}

static const struct probe_case resolver = { "dns-resolver", probe_dns_resolver, "127.0.0.1" };

/* In a child an assertion would go on with the other tests. */
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			print_error("line %d: %s: %s\n", __LINE__, #what, strerror(errno));        \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void must_view(const char *view)
{
	struct probe_outcome o;

	attempt(&resolver, 1, 0, &o);
	if (!strcmp(o.view, view))
		return;
	print_error("%s, not %s\n", o.view, view);
	_exit(1);
}

/* This process's own /etc/resolv.conf from now on. */
static void set_resolv_conf(const char *text)
{
	char path[] = "/tmp/resolv.XXXXXX";
	cleanup_fd int fd = mkostemp(path, O_CLOEXEC);

	MUST(fd >= 0);
	MUST(write_all(fd, text, strlen(text)) == 0);
	/* the one of before: on a file that is gone nothing can be mounted */
	(void)umount2("/etc/resolv.conf", MNT_DETACH);
	MUST(mount(path, "/etc/resolv.conf", NULL, MS_BIND, NULL) == 0);
	(void)unlink(path);
}

static void in_child(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			_exit(1);
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Its own address is not where it asks. The first server is one that can't be reached, the second
 * one that is not there. */
static void ask_in_turn(void)
{
	set_resolv_conf("nameserver 203.0.113.9\nnameserver 127.0.0.1\nnameserver " ASKED "\n");
	must_view("answered");
	set_resolv_conf("nameserver 203.0.113.9\n");
	must_view("ENETUNREACH");
}

/* Says by UDP that it would be too long, and answers by TCP. */
static void be_long_winded(int udp, int tcp)
{
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	uint8_t msg[512];
	ssize_t n = recvfrom(udp, msg, sizeof(msg), 0, (struct sockaddr *)&from, &len);
	static const uint8_t record[] = { 0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, 65, 64 };
	uint8_t out[1024];

	msg[2] |= 0x82; /* QR, TC */
	(void)sendto(udp, msg, (size_t)n, 0, (struct sockaddr *)&from, len);
	tcp = accept(tcp, NULL, NULL);
	n = recv(tcp, msg, sizeof(msg), 0);
	memcpy(out, msg, (size_t)n);
	out[4] |= 0x80;
	out[9] = 1;
	memcpy(out + n, record, sizeof(record));
	memcpy(out + (size_t)n + sizeof(record), H32 H32, 64);
	n += (ssize_t)sizeof(record) + 64;
	out[0] = (uint8_t)((n - 2) >> 8);
	out[1] = (uint8_t)(n - 2);
	_exit(send(tcp, out, (size_t)n, 0) == n ? 0 : 1);
}

static void ask_long_winded(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(53) };
	int udp, tcp, status;
	pid_t pid;

	MUST(unshare(CLONE_NEWNET) == 0);
	MUST(loopback_up() == 0);
	set_resolv_conf("");
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	tcp = socket(AF_INET, SOCK_STREAM, 0);
	MUST(bind(udp, (struct sockaddr *)&at, sizeof(at)) == 0);
	MUST(bind(tcp, (struct sockaddr *)&at, sizeof(at)) == 0);
	MUST(listen(tcp, 1) == 0);
	pid = fork();
	if (!pid)
		be_long_winded(udp, tcp);
	must_view("answered");
	MUST(waitpid(pid, &status, 0) == pid);
	MUST(status == 0);
}

static void test_resolver(void **state unused_arg)
{
	if (no_namespace)
		skip();
	in_child(ask_in_turn);
	in_child(ask_long_winded);
}

static void test_refused(void **state unused_arg)
{
	if (no_namespace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_outcome o;

		/* whoever sends frames by hand hears of no error */
		if (!has_port(&cases[i]) || cases[i].fn == probe_packet_socket)
			continue;
		attempt(&cases[i], 9, 0, &o);
		if (strcmp(o.view, "ECONNREFUSED") || o.has_answer)
			fail_msg("%s: %s", cases[i].name, o.view);
	}
}

static int serve(const struct probe_case *c, int backlog, uint16_t *ret_port)
{
	struct sockaddr_in6 at = { .sin6_family = AF_INET6 }; /* IPv4 too */
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET6, (is_stream(c) ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	if (is_stream(c))
		assert_int_equal(listen(fd, backlog), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin6_port);
	return fd;
}

static void assert_ends(const struct probe_case *c, uint16_t port, const char *view)
{
	uint64_t before = mono_ns();
	struct probe_outcome o;

	attempt(c, port, SHORT_MS, &o);
	if (strcmp(o.view, view) || o.has_answer)
		fail_msg("%s: %s, not %s", c->name, o.view, view);
	assert_in_range(mono_ns() - before, (SHORT_MS - 1) * NSEC_PER_MSEC,
			(SHORT_MS + 300) * NSEC_PER_MSEC);
}

/* Somebody takes it and says nothing. */
static void test_silence(void **state unused_arg)
{
	if (no_namespace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_fd int fd = -1;
		uint16_t port;

		if (!has_port(&cases[i]))
			continue;
		fd = serve(&cases[i], 8, &port);
		assert_ends(&cases[i], port, "sent");
	}
}

/* A queue that is full lets no further connection in: its SYNs are dropped. */
static void test_no_connection(void **state unused_arg)
{
	if (no_namespace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sockaddr_in6 to = { .sin6_family = AF_INET6,
					   .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		cleanup_fd int fill = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
		cleanup_fd int fd = -1;
		uint16_t port;

		if (!is_stream(&cases[i]))
			continue;
		fd = serve(&cases[i], 0, &port);
		to.sin6_port = htons(port);
		assert_int_equal(connect(fill, (struct sockaddr *)&to, sizeof(to)), 0);
		assert_ends(&cases[i], port, "timeout");
	}
}

/* Who had no time to look at all other processes has read no twin either. */
static void test_not_all_searched(void **state unused_arg)
{
	static const uint8_t nonce[MAC_NONCE_BYTES] = { 1 }, planted[MAC_NONCE_BYTES] = { 2 };
	char twin[PLANTED_TEXT_MAX];
	struct probe_attempt a = { .twin = twin, .nonce = nonce, .home = "" };
	struct probe_outcome o = { .has_twin = false };

	planted_text(twin, PLANTED_TWIN, nonce, planted);
	a.deadline_ns = mono_ns() + 60 * NSEC_PER_SEC;
	probe_proc_environ(&a, &o);
	assert_true(o.has_twin);
	assert_string_equal(o.view, "twin-read");
	a.deadline_ns = mono_ns();
	o = (struct probe_outcome){ .has_twin = false };
	probe_proc_environ(&a, &o);
	assert_false(o.has_twin);
	assert_string_equal(o.view, "not-all-searched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answered),      cmocka_unit_test(test_ping_sockets),
		cmocka_unit_test(test_frames),	      cmocka_unit_test(test_frame_mutations),
		cmocka_unit_test(test_resolv_conf),   cmocka_unit_test(test_resolver),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_silence),
		cmocka_unit_test(test_no_connection), cmocka_unit_test(test_not_all_searched),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	(void)unsetenv("http_proxy"), (void)unsetenv("HTTP_PROXY");
	(void)unsetenv("all_proxy"), (void)unsetenv("ALL_PROXY");
	return cmocka_run_group_tests(tests, start_far_side, stop_far_side);
}

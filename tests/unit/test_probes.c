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
#include <sys/socket.h>
#include <sys/wait.h>

#include "probes/attempt.h"
#include "probes/collector/collector.h"

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
	{ "icmp-echo", probe_icmp_echo, ASKED },
};

static bool is_stream(const struct probe_case *c)
{
	enum channel channel = probe_manifest_find(c->name)->p.channel;

	return channel == CHANNEL_TCP || channel == CHANNEL_DNS_TCP;
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

		attempt(&cases[i], 0, 0, &o);
		if (strcmp(o.view, "answered") || memcmp(o.answer, want, sizeof(want)))
			fail_msg("%s: %s", cases[i].name, o.view);
	}
}

static void test_refused(void **state unused_arg)
{
	if (no_namespace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_outcome o;

		if (!has_port(&cases[i]))
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answered),      cmocka_unit_test(test_ping_sockets),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_silence),
		cmocka_unit_test(test_no_connection),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, start_far_side, stop_far_side);
}

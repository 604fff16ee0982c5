// SPDX-License-Identifier: Apache-2.0
/*
 * The far side as a process of its own in a network namespace of its own, asked by the real probes
 * and by people who wish it ill. Needs CAP_SYS_ADMIN for the namespace: skipped without.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "probes/attempt.h"
#include "probes/collector/collector.h"
#include "probes/collector/metadata.h"
#include "user/base/netns.h"
#include "user/rig/rig.h"

#define H32 "00112233445566778899aabbccddeeff"
#define ASKED "127.0.0.77" /* of loopback's /8, and not the one that an answer has by default */

static const uint8_t key[MAC_BYTES] = { 42 };

struct far {
	pid_t pid;
	int log;
	char text[1 << 16]; /* read from log, not yet taken */
	size_t len;
};

static bool no_namespace;

static int loopback_up(void)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	return fd < 0 || ioctl(fd, SIOCSIFFLAGS, &r) < 0 ? -errno : 0;
}

/* The metadata services' addresses are ours, beside those of loopback's /8. */
static void add_addresses(void)
{
	static const char *const addresses[] = { RIG_METADATA4, RIG_METADATA_HOP4,
						 RIG_METADATA_ECS4 };
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct sockaddr_in a = { .sin_family = AF_INET };
		struct ifreq r = { .ifr_flags = 0 };

		assert_int_equal(str_format(r.ifr_name, sizeof(r.ifr_name), "lo:%zu", i + 1), 0);
		assert_int_equal(inet_pton(AF_INET, addresses[i], &a.sin_addr), 1);
		memcpy(&r.ifr_addr, &a, sizeof(a));
		assert_int_equal(ioctl(fd, SIOCSIFADDR, &r), 0);
	}
}

static int enter_namespace(void **state unused_arg)
{
	no_namespace = unshare(CLONE_NEWNET) < 0;
	if (no_namespace)
		print_message("skipped: a network namespace cannot be made: %s\n", strerror(errno));
	return no_namespace ? 0 : loopback_up();
}

/* The next line of the log, at most 5 s away; "" at its end or after that. */
static void next_line(struct far *f, char *out, size_t n)
{
	struct pollfd p = { .fd = f->log, .events = POLLIN };
	char *end;

	out[0] = '\0';
	while (!(end = memchr(f->text, '\n', f->len))) {
		ssize_t got = poll(&p, 1, 5000) == 1
				      ? read(f->log, f->text + f->len, sizeof(f->text) - f->len)
				      : 0;

		if (got <= 0)
			return;
		f->len += (size_t)got;
	}
	*end = '\0';
	(void)str_copy(out, n, f->text);
	f->len -= (size_t)(end + 1 - f->text);
	memmove(f->text, end + 1, f->len);
}

static void be_far_side(struct collector_opts o)
{
	struct collector *c;
	uint16_t port;
	int err;

	memcpy(o.key, key, sizeof(key));
	err = collector_new(&o, &c, &port);
	if (!err) {
		err = collector_run(c);
		collector_free(c);
	}
	_exit(err == -EPIPE ? 0 : 1);
}

static struct far *far_start_with(struct collector_opts o)
{
	struct far *f = calloc(1, sizeof(*f));
	char line[4096];
	int fd[2];

	assert_non_null(f);
	assert_int_equal(pipe2(fd, O_CLOEXEC), 0);
	f->pid = fork();
	assert_true(f->pid >= 0);
	if (!f->pid) {
		(void)close(fd[0]);
		o.log_fd = fd[1];
		be_far_side(o);
	}
	(void)close(fd[1]);
	f->log = fd[0];
	next_line(f, line, sizeof(line));
	assert_string_equal(line, "{\"ready\":true}");
	return f;
}

static struct far *far_start(bool quiet)
{
	return far_start_with((struct collector_opts){ .quiet = quiet });
}

/* It must still be there, and end by itself when its reader goes. */
static void far_stop(struct far *f)
{
	int status;

	assert_int_equal(waitpid(f->pid, &status, WNOHANG), 0);
	(void)close(f->log);
	assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
	assert_int_equal(status, 0);
	free(f);
}

static void proof(const char *token_hex, uint8_t ret[MAC_BYTES])
{
	uint8_t token[MAC_NONCE_BYTES];

	assert_int_equal(hex_decode(token, sizeof(token), token_hex), 0);
	mac_answer(key, token, ret);
}

static int dial(int type, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct timeval patience = { .tv_sec = 5 };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(inet_pton(AF_INET, ASKED, &a.sin_addr), 1);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Everything that comes until end of file or n bytes; its length. */
static size_t hear(int fd, void *out, size_t n)
{
	size_t len = 0;
	ssize_t got;

	while (len < n && (got = recv(fd, (char *)out + len, n - len, 0)) > 0)
		len += (size_t)got;
	return len;
}

static void assert_serves(struct far *f)
{
	struct probe_outcome o = { .has_answer = false };
	uint8_t want[MAC_BYTES];
	cleanup_fd int fd = dial(SOCK_STREAM, 9000);
	char answer[81];

	(void)f;
	assert_int_equal(send(fd, "SENTINEL " H32 "\n", 42, 0), 42);
	assert_int_equal(hear(fd, answer, sizeof(answer)), sizeof(answer));
	assert_true(outcome_answer_text(&o, answer, sizeof(answer)));
	proof(H32, want);
	assert_memory_equal(o.answer, want, sizeof(want));
}

/* ---- the probes ---- */

static void attempt(probe_fn fn, const char *name, const char *to, struct probe_outcome *ret)
{
	struct probe_attempt a = { .manifest = probe_manifest_find(name),
				   .deadline_ns = mono_ns() + 5 * NSEC_PER_SEC,
				   .token = H32 };

	a.port = (uint16_t)a.manifest->port;
	assert_int_equal(parse_addr(to, a.to), 0);
	fn(&a, ret);
}

static void test_probes(void **state unused_arg)
{
	static const struct {
		const char *name;
		probe_fn fn;
		const char *to, *proto;
		int lines; /* in the log, of which the last has the proof in its answer */
	} cases[] = {
		{ "tcp-connect", probe_tcp_connect, ASKED, "tcp", 1 },
		{ "tcp6-connect", probe_tcp_connect, "::1", "tcp", 1 },
		{ "mapped-ipv6", probe_tcp_connect, ASKED, "tcp", 1 },
		{ "tcp-fastopen", probe_tcp_fastopen, ASKED, "tcp", 1 },
		{ "udp-send", probe_udp_send, ASKED, "udp", 1 },
		{ "udp-write", probe_udp_write, ASKED, "udp", 1 },
		{ "dns-udp-direct", probe_dns_udp_direct, ASKED, "udp", 1 },
		{ "dns-tcp-direct", probe_dns_tcp_direct, ASKED, "tcp", 1 },
		{ "http-post-direct", probe_http_post_direct, ASKED, "tcp", 1 },
		{ "metadata-imds-v1", probe_metadata_imds_v1, RIG_METADATA4, "tcp", 2 },
		{ "metadata-imds-v2", probe_metadata_imds_v2, RIG_METADATA4, "tcp", 3 },
		{ "metadata-imds-v2-hop", probe_metadata_imds_v2, RIG_METADATA_HOP4, "tcp", 3 },
		{ "metadata-gcp", probe_metadata_gcp, RIG_METADATA4, "tcp", 1 },
		{ "metadata-azure", probe_metadata_azure, RIG_METADATA4, "tcp", 1 },
		{ "metadata-ecs", probe_metadata_ecs, RIG_METADATA_ECS4, "tcp", 1 },
	};
	char line[4096], part[128], token[65];
	uint8_t want[MAC_BYTES];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(false);
	proof(H32, want);
	hex_encode(token, H32, 32);
	add_addresses();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_outcome o = { .has_answer = false };

		attempt(cases[i].fn, cases[i].name, cases[i].to, &o);
		if (strcmp(o.view, "answered") != 0)
			fail_msg("%s: %s", cases[i].name, o.view);
		assert_memory_equal(o.answer, want, sizeof(want));
		for (int n = 1; n < cases[i].lines; n++) {
			next_line(f, line, sizeof(line));
			assert_non_null(strstr(line, "\"answered\":false,"));
		}
		next_line(f, line, sizeof(line));
		assert_int_equal(str_format(part, sizeof(part), "\"proto\":\"%s\",\"src\":\"",
					    cases[i].proto),
				 0);
		assert_non_null(strstr(line, part));
		assert_int_equal(str_format(part, sizeof(part), "\"dst\":\"%s\",\"dport\":%u,",
					    cases[i].to, probe_manifest_find(cases[i].name)->port),
				 0);
		assert_non_null(strstr(line, part));
		assert_non_null(strstr(line, "\"answered\":true,"));
		assert_non_null(strstr(line, token));
	}
	far_stop(f);
}

static void test_answers_from_the_address_asked(void **state unused_arg)
{
	static const struct {
		int family;
		const char *to;
	} cases[] = { { AF_INET, ASKED }, { AF_INET6, "::1" } };
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(false);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_manifest m = { .p.family = (uint32_t)cases[i].family };
		struct probe_attempt a = { .manifest = &m, .port = 9001 };
		cleanup_fd int fd = socket(cases[i].family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		struct sockaddr_storage to, from;
		socklen_t len, from_len = sizeof(from);
		char answer[128];

		assert_int_equal(parse_addr(cases[i].to, a.to), 0);
		len = attempt_destination(&a, &to);
		assert_int_equal(sendto(fd, "SENTINEL " H32, 41, 0, (struct sockaddr *)&to, len),
				 41);
		assert_int_equal(recvfrom(fd, answer, sizeof(answer), 0, (struct sockaddr *)&from,
					  &from_len),
				 81);
		assert_int_equal(from_len, len);
		if (cases[i].family == AF_INET)
			assert_memory_equal(&((struct sockaddr_in *)&from)->sin_addr, a.to + 12, 4);
		else
			assert_memory_equal(&((struct sockaddr_in6 *)&from)->sin6_addr, a.to, 16);
	}
	far_stop(f);
}

/* Data in a SYN is taken and answered, from a client that has no cookie yet. */
static void test_fast_open(void **state unused_arg)
{
	static const char *const asked[] = { ASKED, "::1" };
	struct far *f;

	if (no_namespace)
		skip();
	assert_int_equal(netns_sysctl("ipv4/tcp_fastopen", "3"), 0);
	f = far_start(true);
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct probe_manifest m = { .p.family = i ? AF_INET6 : AF_INET };
		struct probe_attempt a = { .manifest = &m, .port = 9000 };
		cleanup_fd int fd = socket((int)m.p.family, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct tcp_info info = { .tcpi_options = 0 };
		socklen_t len, info_len = sizeof(info);
		struct sockaddr_storage to;
		char answer[81];
		int on = 1;

		assert_int_equal(parse_addr(asked[i], a.to), 0);
		len = attempt_destination(&a, &to);
		assert_int_equal(
			setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &on, sizeof(on)), 0);
		assert_int_equal(sendto(fd, "SENTINEL " H32 "\n", 42, MSG_FASTOPEN,
					(struct sockaddr *)&to, len),
				 42);
		assert_int_equal(hear(fd, answer, sizeof(answer)), sizeof(answer));
		assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_len), 0);
		assert_true(info.tcpi_options & TCPI_OPT_SYN_DATA);
	}
	far_stop(f);
}

static void test_quiet(void **state unused_arg)
{
	struct pollfd p;
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(true);
	assert_serves(f);
	p = (struct pollfd){ .fd = f->log, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 100), 0);
	far_stop(f);
}

/* ---- HTTP ---- */

#define POST                                                                                       \
	"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 41\r\n\r\n"                                 \
	"SENTINEL " H32
#define CREDENTIALS "/latest/meta-data/iam/security-credentials/role"

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* One reply, whole: its Content-Length says when it is. */
static void hear_reply(int fd, char *out, size_t n)
{
	size_t len = 0, want = SIZE_MAX;
	char *field, *body;
	ssize_t got;

	while (len < want && (got = recv(fd, out + len, n - 1 - len, 0)) > 0) {
		len += (size_t)got;
		out[len] = '\0';
		body = strstr(out, "\r\n\r\n");
		field = strstr(out, "Content-Length: ");
		if (body && field) {
			uint32_t length;

			field[strcspn(field, "\r")] = '\0';
			assert_int_equal(parse_u32(field + 16, 0, 65536, &length), 0);
			field[strlen(field)] = '\r';
			want = (size_t)(body + 4 - out) + length;
		}
	}
	assert_int_equal(len, want);
}

static void assert_proves(const char *reply)
{
	const char *at = strstr(reply, "SENTINEL-ANSWER ");
	uint8_t want[MAC_BYTES];
	char digits[2 * MAC_BYTES + 1];

	proof(H32, want);
	hex_encode(digits, want, sizeof(want));
	if (strncmp(reply, "HTTP/1.1 200 OK\r\n", 17) != 0 || !at ||
	    strncmp(at + 16, digits, 2 * MAC_BYTES) != 0)
		fail_msg("%s", reply);
}

/* Two requests, one after the other, then one that is the last. */
static void test_http(void **state unused_arg)
{
	char reply[4096], line[4096], head[] = "POST / HTTP/1.1\r\n", hex[2 * sizeof(head)];
	struct far *f;
	char c;

	if (no_namespace)
		skip();
	f = far_start(false);
	hex_encode(hex, head, strlen(head));
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 80);

		for (int i = 0; i < 2; i++) {
			say(fd, POST);
			hear_reply(fd, reply, sizeof(reply));
			assert_proves(reply);
			next_line(f, line, sizeof(line));
			assert_non_null(strstr(line, "\"dport\":80,\"answered\":true,\"data\":\""));
			assert_non_null(strstr(line, hex));
		}
		say(fd, "GET / HTTP/1.0\r\n\r\n");
		hear_reply(fd, reply, sizeof(reply));
		assert_non_null(strstr(reply, "\r\nConnection: close\r\n"));
		assert_int_equal(recv(fd, &c, 1, 0), 0);
	}
	next_line(f, line, sizeof(line));
	assert_non_null(strstr(line, "\"answered\":false,"));
	far_stop(f);
}

/* The address that was asked says which service it is; a session is had, then used. */
static void test_metadata(void **state unused_arg)
{
	char reply[4096], text[1024], session[METADATA_SESSION_DIGITS + 1];
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(80) };
	struct far *f;
	int fd[2];

	if (no_namespace)
		skip();
	f = far_start(true);
	add_addresses();
	assert_int_equal(inet_pton(AF_INET, RIG_METADATA4, &a.sin_addr), 1);
	for (size_t i = 0; i < ARRAY_SIZE(fd); i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd[i], (struct sockaddr *)&a, sizeof(a)), 0);
	}
	say(fd[0], "PUT /latest/api/token HTTP/1.1\r\n"
		   "X-aws-ec2-metadata-token-ttl-seconds: 60\r\n\r\n");
	hear_reply(fd[0], reply, sizeof(reply));
	assert_int_equal(str_copy(session, sizeof(session), strstr(reply, "\r\n\r\n") + 4), 0);
	assert_int_equal(str_format(text, sizeof(text),
				    "GET " CREDENTIALS
				    " HTTP/1.1\r\nX-aws-ec2-metadata-token: %s\r\n"
				    "X: SENTINEL " H32 "\r\n\r\n",
				    session),
			 0);
	say(fd[0], text);
	hear_reply(fd[0], reply, sizeof(reply));
	assert_proves(reply);
	say(fd[1], "GET " CREDENTIALS " HTTP/1.1\r\nX: SENTINEL " H32 "\r\n\r\n");
	hear_reply(fd[1], reply, sizeof(reply));
	assert_proves(reply);
	(void)close(fd[0]);
	(void)close(fd[1]);
	far_stop(f);
}

/* ---- HTTPS ---- */

#define SNI H32 ".https-post.sentinel.test"

/* A client as any: it believes every certificate. */
static SSL *tls_dial(int fd, int version)
{
	static SSL_CTX *ctx;
	SSL *ssl;

	if (!ctx)
		ctx = SSL_CTX_new(TLS_client_method());
	ssl = SSL_new(ctx);
	assert_non_null(ssl);
	assert_int_equal(SSL_set_max_proto_version(ssl, version), 1);
	assert_int_equal(SSL_set_tlsext_host_name(ssl, SNI), 1);
	assert_int_equal(SSL_set_fd(ssl, fd), 1);
	assert_int_equal(SSL_connect(ssl), 1);
	assert_int_equal(SSL_version(ssl), version);
	return ssl;
}

static void tls_say(SSL *ssl, const char *text)
{
	assert_int_equal(SSL_write(ssl, text, (int)strlen(text)), strlen(text));
}

/* A short reply comes in one record. */
static void tls_hear(SSL *ssl, char *out, size_t n)
{
	int got = SSL_read(ssl, out, (int)n - 1);

	assert_true(got > 0);
	out[got] = '\0';
}

static void test_https(void **state unused_arg)
{
	static const int versions[] = { TLS1_3_VERSION, TLS1_2_VERSION };
	char reply[4096], line[4096], sni[2 * sizeof(SNI)], post[2 * sizeof(POST)];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(false);
	hex_encode(sni, SNI, strlen(SNI));
	hex_encode(post, POST, strlen(POST));
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		cleanup_fd int fd = dial(SOCK_STREAM, 443);
		SSL *ssl = tls_dial(fd, versions[i]);

		next_line(f, line, sizeof(line)); /* its hello, as it came */
		assert_non_null(strstr(line, "\"dport\":443,\"answered\":false,\"data\":\"1603"));
		assert_non_null(strstr(line, sni));
		for (int twice = 0; twice < 2; twice++) {
			tls_say(ssl, POST);
			tls_hear(ssl, reply, sizeof(reply));
			assert_proves(reply);
			next_line(f, line, sizeof(line));
			assert_non_null(strstr(line, "\"proto\":\"tcp\",\"src\":"));
			assert_non_null(strstr(line, "\"dport\":443,\"tls\":true,\"answered\":true,"
						     "\"data\":\""));
			assert_non_null(strstr(line, post));
		}
		tls_say(ssl, "GET / HTTP/1.0\r\n\r\n");
		tls_hear(ssl, reply, sizeof(reply));
		assert_non_null(strstr(reply, "\r\nConnection: close\r\n"));
		assert_int_equal(SSL_read(ssl, reply, 1), 0);
		assert_int_equal(SSL_get_error(ssl, 0), SSL_ERROR_ZERO_RETURN);
		next_line(f, line, sizeof(line));
		SSL_free(ssl);
	}
	far_stop(f);
}

/* What can't become a handshake is refused, what stops half-way is left, and all of it is logged.
 */
static void test_https_garbage(void **state unused_arg)
{
	static const char clear[] = POST, half[] = "\x16\x03\x01\x02\x00\x01\x00";
	char reply[128], line[4096];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(false);
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 443);

		say(fd, clear);
		(void)hear(fd, reply, sizeof(reply)); /* an alert perhaps, then the end */
		next_line(f, line, sizeof(line));
		assert_non_null(
			strstr(line, "\"dport\":443,\"answered\":false,\"data\":\"504f5354"));
	}
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 443);

		assert_int_equal(send(fd, half, sizeof(half) - 1, 0), sizeof(half) - 1);
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		assert_int_equal(hear(fd, reply, sizeof(reply)), 0);
		next_line(f, line, sizeof(line));
		assert_non_null(strstr(line, "\"answered\":false,\"data\":\"16030102000100\"}"));
	}
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 443);
		SSL *ssl = tls_dial(fd, TLS1_3_VERSION);

		next_line(f, line, sizeof(line));
		tls_say(ssl, "POST / HTTP/1.1\r\nContent-Length: 41\r\n\r\nSENTINEL ");
		assert_true(SSL_shutdown(ssl) >= 0);
		next_line(f, line, sizeof(line));
		assert_non_null(
			strstr(line, "\"tls\":true,\"answered\":false,\"data\":\"504f5354"));
		SSL_free(ssl);
	}
	assert_serves(f);
	far_stop(f);
}

/* A client that sends each byte by itself, handshake and all. */
static void test_https_byte_by_byte(void **state unused_arg)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	SSL *ssl = SSL_new(ctx);
	char reply[4096] = "", buf[4096];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(true);
	SSL_set_bio(ssl, in, out);
	SSL_set_connect_state(ssl);
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 443);
		bool said = false;
		int on = 1, got;

		assert_int_equal(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), 0);
		while (!reply[0]) {
			if (SSL_do_handshake(ssl) == 1 && !said) {
				tls_say(ssl, POST);
				said = true;
			}
			while (BIO_read(out, buf, 1) == 1)
				assert_int_equal(send(fd, buf, 1, 0), 1);
			if (said && SSL_read(ssl, reply, sizeof(reply) - 1) > 0)
				break;
			got = (int)recv(fd, buf, sizeof(buf), 0);
			assert_true(got > 0);
			assert_int_equal(BIO_write(in, buf, got), got);
		}
	}
	assert_proves(reply);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	far_stop(f);
}

/* 64 KiB are enough for one connection, deciphered or not. */
static void test_https_endless(void **state unused_arg)
{
	char chunk[4096];
	struct far *f;
	int n = 1;

	if (no_namespace)
		skip();
	f = far_start(true);
	memset(chunk, 'x', sizeof(chunk));
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 443);
		SSL *ssl = tls_dial(fd, TLS1_3_VERSION);

		for (int i = 0; i < 10000 && n > 0; i++)
			n = SSL_write(ssl, chunk, sizeof(chunk));
		assert_true(n <= 0);
		SSL_free(ssl);
	}
	assert_serves(f);
	far_stop(f);
}

/* ---- ICMP ---- */

/* Sends one echo request through a ping socket, whose kernel checks what comes back. The length of
 * the reply's payload, or -1 for none within ms. */
static ssize_t ping(const char *to, const void *payload, size_t len, char *out, size_t n, int ms)
{
	bool v6 = strchr(to, ':');
	struct probe_manifest m = { .p.family = v6 ? AF_INET6 : AF_INET };
	struct probe_attempt a = { .manifest = &m };
	cleanup_fd int fd = socket((int)m.p.family, SOCK_DGRAM | SOCK_CLOEXEC,
				   v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP);
	cleanup_free uint8_t *packet = calloc(1, 8 + len);
	cleanup_free uint8_t *got = malloc(65536);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct sockaddr_storage ss;
	socklen_t ss_len;
	ssize_t reply;

	assert_true(fd >= 0);
	assert_int_equal(parse_addr(to, a.to), 0);
	ss_len = attempt_destination(&a, &ss);
	packet[0] = v6 ? 128 : 8;
	packet[7] = 5; /* the sequence */
	memcpy(packet + 8, payload, len);
	assert_int_equal(connect(fd, (struct sockaddr *)&ss, ss_len), 0); /* hears it alone */
	assert_int_equal(send(fd, packet, 8 + len, 0), 8 + len);
	if (poll(&p, 1, ms) != 1)
		return -1;
	reply = recv(fd, got, 65536, 0);
	assert_true(reply >= 8 && (size_t)reply - 8 <= n);
	assert_int_equal(got[0], v6 ? 129 : 0);
	assert_int_equal(got[7], 5);
	memcpy(out, got + 8, (size_t)reply - 8);
	return reply - 8;
}

static void leave_echo_to_us(void)
{
	assert_int_equal(netns_sysctl("ipv4/ping_group_range", "0 2147483647"), 0);
	assert_int_equal(netns_sysctl("ipv4/icmp_echo_ignore_all", "1"), 0);
	assert_int_equal(netns_sysctl("ipv6/icmp/echo_ignore_all", "1"), 0);
}

static void test_echo(void **state unused_arg)
{
	static const struct {
		const char *to, *logged;
	} cases[] = {
		{ ASKED, "\"proto\":\"icmp\",\"src\":\"127.0.0.1\",\"sport\":0,\"dst\":\"" ASKED
			 "\",\"dport\":0,\"answered\":" },
		{ "::1",
		  "\"proto\":\"icmp6\",\"src\":\"::1\",\"sport\":0,\"dst\":\"::1\",\"dport\":0,"
		  "\"answered\":" },
	};
	static char big[20000], reply[20000];
	char line[4096], answer[2 * MAC_BYTES + 32], digits[2 * MAC_BYTES + 1];
	uint8_t want[MAC_BYTES];
	struct far *f;

	if (no_namespace)
		skip();
	leave_echo_to_us();
	assert_int_equal(ping(ASKED, "x", 1, reply, sizeof(reply), 50), -1); /* nobody is there */
	f = far_start(false);
	proof(H32, want);
	hex_encode(digits, want, sizeof(want));
	memset(big, 'x', sizeof(big));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ssize_t n = ping(cases[i].to, "SENTINEL " H32, 41, reply, sizeof(reply), 5000);

		assert_int_equal(n, 81);
		(void)str_format(answer, sizeof(answer), "SENTINEL-ANSWER %s\n", digits);
		assert_memory_equal(reply, answer, 81);
		next_line(f, line, sizeof(line));
		assert_non_null(strstr(line, cases[i].logged));
		assert_non_null(strstr(line, "\"answered\":true,\"data\":\"53454e54494e454c20"));
		n = ping(cases[i].to, big, sizeof(big), reply, sizeof(reply), 5000);
		assert_int_equal(n, sizeof(big));
		assert_memory_equal(reply, big, sizeof(big));
		next_line(f, line, sizeof(line));
		assert_non_null(strstr(line, "\"answered\":false,\"data\":\"7878"));
		assert_int_equal(ping(cases[i].to, "odd", 3, reply, sizeof(reply), 5000), 3);
		next_line(f, line, sizeof(line));
		assert_int_equal(ping(cases[i].to, "", 0, reply, sizeof(reply), 5000), 0);
		next_line(f, line, sizeof(line));
	}
	far_stop(f);
}

/* No request, one cut short, and one whose checksum is wrong: never answered, all logged but the
 * first and second. */
static void test_echo_garbage(void **state unused_arg)
{
	static const uint8_t cut[] = { 8, 0, 0, 0 };
	uint8_t bad[] = { 8, 0, 1, 2, 0, 0, 0, 0, 'b', 'a', 'd' };
	struct sockaddr_in a = { .sin_family = AF_INET };
	cleanup_fd int fd = -1;
	struct pollfd p;
	char line[4096];
	uint8_t got[128];
	struct far *f;
	ssize_t n;

	if (no_namespace)
		skip();
	leave_echo_to_us();
	f = far_start(false);
	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	assert_int_equal(inet_pton(AF_INET, ASKED, &a.sin_addr), 1);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(send(fd, cut, sizeof(cut), 0), sizeof(cut));
	assert_int_equal(send(fd, bad, sizeof(bad), 0), sizeof(bad));
	bad[0] = 13; /* a timestamp request, which is not ours to answer */
	assert_int_equal(send(fd, bad, sizeof(bad), 0), sizeof(bad));
	next_line(f, line, sizeof(line));
	assert_non_null(strstr(line, "\"answered\":false,\"data\":\"626164\""));
	assert_serves(f);
	next_line(f, line, sizeof(line));
	assert_non_null(strstr(line, "\"proto\":\"tcp\""));
	/* its source is the address that was asked: none of what we hear is a reply */
	while (poll(&p, 1, 0) == 1 && (n = recv(fd, got, sizeof(got), MSG_DONTWAIT)) > 20)
		assert_int_not_equal(got[20], 0);
	far_stop(f);
}

/* ---- listeners that it is given ---- */

static int listen_at(const void *addr, socklen_t len)
{
	const struct sockaddr *a = addr;
	int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, a, len), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static socklen_t unix_addr(struct sockaddr_un *un, const char *path)
{
	*un = (struct sockaddr_un){ .sun_family = AF_UNIX };
	assert_int_equal(str_copy(un->sun_path, sizeof(un->sun_path), path), 0);
	if (path[0] != '@')
		return sizeof(*un);
	un->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
}

/* Asks who listens there, and checks the answer and its line in the log. */
static void ask(struct far *f, const void *addr, socklen_t len, const char *logged)
{
	const struct sockaddr *a = addr;
	cleanup_fd int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[81], line[4096];
	struct probe_outcome o;
	uint8_t want[MAC_BYTES];

	assert_int_equal(connect(fd, a, len), 0);
	assert_int_equal(send(fd, "SENTINEL " H32 "\n", 42, 0), 42);
	assert_int_equal(hear(fd, answer, sizeof(answer)), sizeof(answer));
	assert_true(outcome_answer_text(&o, answer, sizeof(answer)));
	proof(H32, want);
	assert_memory_equal(o.answer, want, sizeof(want));
	next_line(f, line, sizeof(line));
	if (!strstr(line, logged) || !strstr(line, "\"forbidden\":true,\"answered\":true,"))
		fail_msg("%s", line);
}

static void test_given(void **state unused_arg)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_port = htons(9003),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct collector_opts o = { .given_n = 3 };
	struct sockaddr_un path, name;
	socklen_t path_len, name_len;
	char text[64], line[4096];
	struct far *f;

	if (no_namespace)
		skip();
	assert_int_equal(str_format(text, sizeof(text), "/tmp/test-collector-%d", getpid()), 0);
	path_len = unix_addr(&path, text);
	name_len = unix_addr(&name, "@test-collector");
	o.given[0].fd = listen_at(&v4, sizeof(v4));
	o.given[1].fd = listen_at(&path, path_len);
	o.given[2].fd = listen_at(&name, name_len);
	f = far_start_with(o);
	for (size_t i = 0; i < o.given_n; i++)
		(void)close(o.given[i].fd); /* the far side has them now */
	ask(f, &v4, sizeof(v4), "\"dst\":\"127.0.0.1\",\"dport\":9003,\"forbidden\"");
	assert_int_equal(str_format(line, sizeof(line), "\"dport\":0,\"path\":\"%s\",", text), 0);
	ask(f, &path, path_len, line);
	ask(f, &name, name_len,
	    "\"proto\":\"unix\",\"src\":\"::\",\"sport\":0,\"dst\":\"::\","
	    "\"dport\":0,\"path\":\"@test-collector\",");
	assert_serves(f); /* its own ones are nothing that is forbidden */
	next_line(f, line, sizeof(line));
	assert_null(strstr(line, "forbidden"));
	assert_null(strstr(line, "path"));
	far_stop(f);
	(void)unlink(text);
}

/* What is given must listen. */
static void test_given_deaf(void **state unused_arg)
{
	static const struct {
		int type, err;
	} cases[] = { { SOCK_STREAM, -EINVAL }, { SOCK_DGRAM, -EINVAL }, { -1, -EBADF } };

	if (no_namespace)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_fd int fd = socket(AF_INET, cases[i].type, 0);
		cleanup_fd int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
		struct collector_opts o = { .log_fd = log, .given_n = 1, .given[0].fd = fd };
		struct collector *c;
		uint16_t port;

		assert_int_equal(collector_new(&o, &c, &port), cases[i].err);
		assert_int_equal(port, 0);
	}
}

/* ---- hostile input ---- */

static void test_garbage(void **state unused_arg)
{
	static const struct {
		int type;
		uint16_t port;
	} doors[] = { { SOCK_DGRAM, 9001 },
		      { SOCK_DGRAM, 53 },
		      { SOCK_STREAM, 9000 },
		      { SOCK_STREAM, 53 },
		      { SOCK_STREAM, 80 } };
	uint8_t bytes[3000], answer[64];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(true);
	for (int round = 0; round < 200; round++) {
		size_t i = (size_t)round % ARRAY_SIZE(doors);
		cleanup_fd int fd = dial(doors[i].type, doors[i].port);

		assert_int_equal(random_bytes(bytes, sizeof(bytes)), 0);
		bytes[2] |= 0x80; /* to the DNS a response: never answered */
		(void)send(fd, bytes, sizeof(bytes) - (size_t)round, MSG_NOSIGNAL);
		if (doors[i].port == 9001 || doors[i].type == SOCK_DGRAM)
			assert_int_equal(recv(fd, answer, sizeof(answer), MSG_DONTWAIT), -1);
	}
	assert_serves(f);
	far_stop(f);
}

static void test_endless_line(void **state unused_arg)
{
	size_t len = 10u << 20, sent = 0;
	cleanup_free char *p = malloc(len);
	struct far *f;
	ssize_t n = 0;

	if (no_namespace)
		skip();
	f = far_start(true);
	memset(p, 'x', len);
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 9000);

		while (sent < len && (n = send(fd, p + sent, len - sent, MSG_NOSIGNAL)) > 0)
			sent += (size_t)n;
		/* it hung up after 64 KiB; what the buffers between us held doesn't count */
		assert_true(n < 0 && (errno == EPIPE || errno == ECONNRESET));
	}
	assert_serves(f);
	far_stop(f);
}

/* Refused as soon as it is known to be too long, and all of it is read, so that who sent it reads
 * why; up to the 64 KiB that one connection may send. */
static void test_endless_header(void **state unused_arg)
{
	static const size_t lengths[] = { 9000, 40000, 10u << 20 };
	cleanup_free char *p = malloc(10u << 20);
	char reply[4096];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(true);
	memset(p, 'x', 10u << 20);
	memcpy(p, "GET / HTTP/1.1\r\nA: ", 19);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		cleanup_fd int fd = dial(SOCK_STREAM, 80);
		size_t sent = 0;
		ssize_t n = 0;

		while (sent < lengths[i] &&
		       (n = send(fd, p + sent, lengths[i] - sent, MSG_NOSIGNAL)) > 0)
			sent += (size_t)n;
		if (i == ARRAY_SIZE(lengths) - 1) {
			assert_true(n < 0 && (errno == EPIPE || errno == ECONNRESET));
			continue;
		}
		hear_reply(fd, reply, sizeof(reply));
		assert_non_null(strstr(reply, "HTTP/1.1 431 "));
		assert_int_equal(recv(fd, reply, 1, 0), 0);
	}
	assert_serves(f);
	far_stop(f);
}

/* Bytes that are no request, and requests that are sent before the last one was answered. */
static void test_bad_requests(void **state unused_arg)
{
	static const struct {
		const char *text, *status;
	} cases[] = {
		{ "\x16\x03\x01\x02 and more", "HTTP/1.1 400 " },
		{ POST POST, "HTTP/1.1 400 " },
		{ "POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n", "HTTP/1.1 413 " },
		{ "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n29\r\n", "HTTP/1.1 501 " },
	};
	char reply[4096], line[4096];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(false);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_fd int fd = dial(SOCK_STREAM, 80);

		say(fd, cases[i].text);
		hear_reply(fd, reply, sizeof(reply));
		assert_memory_equal(reply, cases[i].status, strlen(cases[i].status));
		assert_null(strstr(reply, "SENTINEL-ANSWER"));
		(void)send(fd, POST, strlen(POST), MSG_NOSIGNAL); /* nobody listens any more */
		assert_int_equal(recv(fd, reply, 1, 0), 0);
		next_line(f, line, sizeof(line));
		assert_non_null(strstr(line, "\"answered\":false,"));
	}
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 80);

		say(fd, "POST / HTTP/1.1\r\nContent-Length: 41\r\n\r\nSENTINEL ");
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		assert_int_equal(recv(fd, reply, 1, 0), 0); /* half a request has no answer */
	}
	next_line(f, line, sizeof(line));
	assert_non_null(strstr(line, "\"answered\":false,\"data\":\"504f5354"));
	far_stop(f);
}

static void test_half_dns(void **state unused_arg)
{
	static const uint8_t half[] = { 0, 60, 0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 32, 'a' };
	uint8_t answer[64];
	char line[4096];
	struct far *f;

	if (no_namespace)
		skip();
	f = far_start(false);
	{
		cleanup_fd int fd = dial(SOCK_DGRAM, 53);

		assert_int_equal(send(fd, half + 2, sizeof(half) - 2, 0), sizeof(half) - 2);
		assert_int_equal(recv(fd, answer, sizeof(answer), 0), 12);
		assert_int_equal(answer[3] & 15, 1); /* FORMERR */
	}
	next_line(f, line, sizeof(line));
	assert_non_null(strstr(line, "\"answered\":false,\"data\":\"1234"));
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 53);

		assert_int_equal(send(fd, half, sizeof(half), 0), sizeof(half));
		assert_int_equal(shutdown(fd, SHUT_WR), 0);
		assert_int_equal(hear(fd, answer, sizeof(answer)), 0);
	}
	next_line(f, line, sizeof(line));
	assert_non_null(strstr(line, "\"answered\":false,\"data\":\"003c1234"));
	far_stop(f);
}

static void test_byte_by_byte(void **state unused_arg)
{
	static const char text[] = "x\nSENTINEL " H32 "\n";
	struct far *f;
	char answer[81];

	if (no_namespace)
		skip();
	f = far_start(true);
	{
		cleanup_fd int fd = dial(SOCK_STREAM, 9000);

		for (size_t i = 0; i < sizeof(text) - 1; i++)
			assert_int_equal(send(fd, text + i, 1, 0), 1);
		assert_int_equal(hear(fd, answer, sizeof(answer)), sizeof(answer));
	}
	far_stop(f);
}

/* The 257th connection costs the oldest its place, and everybody else nothing. */
static void test_many_connections(void **state unused_arg)
{
	enum { MANY = 300 };
	struct far *f;
	int fd[MANY];
	char c;

	if (no_namespace)
		skip();
	f = far_start(true);
	for (int i = 0; i < MANY; i++)
		fd[i] = dial(SOCK_STREAM, 9000);
	assert_serves(f);
	assert_int_equal(recv(fd[0], &c, 1, 0), 0);
	assert_int_equal(recv(fd[MANY - 1], &c, 1, MSG_DONTWAIT), -1);
	for (int i = 0; i < MANY; i++)
		(void)close(fd[i]);
	far_stop(f);
}

/* Neither do clients that begin a handshake, or a request, and leave it at that. */
static void test_many_half_way(void **state unused_arg)
{
	static const struct {
		uint16_t port;
		const char *text;
	} doors[] = { { 443, "\x16\x03\x01\x02" }, { 80, "POST / HTTP/1.1\r\nContent-Le" } };
	enum { MANY = 300 };
	char reply[4096];
	struct far *f;
	int fd[MANY];

	if (no_namespace)
		skip();
	f = far_start(true);
	for (int i = 0; i < MANY; i++) {
		fd[i] = dial(SOCK_STREAM, doors[i % 2].port);
		say(fd[i], doors[i % 2].text);
	}
	{
		cleanup_fd int own = dial(SOCK_STREAM, 443);
		SSL *ssl = tls_dial(own, TLS1_3_VERSION);

		tls_say(ssl, POST);
		tls_hear(ssl, reply, sizeof(reply));
		assert_proves(reply);
		SSL_free(ssl);
	}
	for (int i = 0; i < MANY; i++)
		(void)close(fd[i]);
	assert_serves(f);
	far_stop(f);
}

/* Reads the log until every message that was sent is in it, as a line or as lost. */
static void count_all(struct far *f, uint64_t sent, uint64_t *ret_lost)
{
	uint64_t lines = 0, lost = 0, n;
	char line[4096];

	while (lines + lost < sent) {
		next_line(f, line, sizeof(line));
		assert_int_not_equal(line[0], '\0');
		if (strncmp(line, "{\"lost\":", 8) != 0) {
			lines++;
			continue;
		}
		*strchr(line, '}') = '\0';
		assert_int_equal(parse_u64(line + 8, 1, sent, &n), 0);
		lost += n;
	}
	assert_int_equal(lines + lost, sent);
	*ret_lost = lost;
}

/* Nobody reads the log: every message is answered all the same, and none is lost in silence. */
static void test_stalled_reader(void **state unused_arg)
{
	enum { SENT = 3000 };
	char answer[128];
	struct far *f;
	uint64_t lost;

	if (no_namespace)
		skip();
	f = far_start(false);
	{
		cleanup_fd int fd = dial(SOCK_DGRAM, 9001);

		for (int i = 0; i < SENT; i++) {
			assert_int_equal(send(fd, "SENTINEL " H32 "\n", 42, 0), 42);
			assert_int_equal(recv(fd, answer, sizeof(answer), 0), 81);
		}
	}
	count_all(f, SENT, &lost);
	assert_true(lost > 0);
	far_stop(f);
}

/* What the kernel itself had no room for is counted too. */
static void test_kernel_drops(void **state unused_arg)
{
	enum { SENT = 40000 };
	struct far *f;
	uint64_t lost;

	if (no_namespace)
		skip();
	f = far_start(false);
	{
		cleanup_fd int fd = dial(SOCK_DGRAM, 9001);

		assert_int_equal(kill(f->pid, SIGSTOP), 0);
		for (int i = 0; i < SENT; i++)
			assert_int_equal(send(fd, "flood", 5, 0), 5);
		assert_int_equal(kill(f->pid, SIGCONT), 0);
	}
	count_all(f, SENT, &lost);
	assert_true(lost > 0);
	far_stop(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probes),
		cmocka_unit_test(test_answers_from_the_address_asked),
		cmocka_unit_test(test_fast_open),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_metadata),
		cmocka_unit_test(test_https),
		cmocka_unit_test(test_https_garbage),
		cmocka_unit_test(test_https_byte_by_byte),
		cmocka_unit_test(test_https_endless),
		cmocka_unit_test(test_echo),
		cmocka_unit_test(test_echo_garbage),
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_given_deaf),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_endless_line),
		cmocka_unit_test(test_endless_header),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_half_dns),
		cmocka_unit_test(test_byte_by_byte),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_many_half_way),
		cmocka_unit_test(test_stalled_reader),
		cmocka_unit_test(test_kernel_drops),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, enter_namespace, NULL);
}

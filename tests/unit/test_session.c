// SPDX-License-Identifier: Apache-2.0
/* What a session says and hears: its lines in hostile output, its command line, a whole run. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/unit/random.h"
#include "probes/dns_message.h"
#include "probes/session_run.h"
#include "user/base/session_line.h"

#define H32 "00112233445566778899aabbccddeeff"
#define H64 H32 H32
#define ALIVE1 "SENTINEL1:alive1 instance=" H32 " mac=" H64
#define PLANTED " secret=- twin=-"
#define RAN "SENTINEL1:ran instance=" H32 " mac=" H64

static int parse(const char *text, struct session_line *ret)
{
	return session_line_parse(text, strlen(text), ret);
}

static void test_manifests(void **state unused_arg)
{
	const struct probe_manifest *m;
	size_t n;

	m = probe_manifests(&n);
	assert_true(n > 0);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(probe_manifest_find(m[i].p.name), &m[i]);
		assert_true(m[i].p.channel > CHANNEL_NONE && m[i].p.channel < CHANNEL_MAX);
		assert_true(m[i].p.window_ms >= 1000 && m[i].about);
		for (size_t k = 0; k < PROBE_FAMILIES_MAX && m[i].families[k]; k++)
			assert_true(probe_family_known(m[i].families[k]));
		assert_int_equal(!!m[i].port,
				 m[i].p.channel != CHANNEL_ICMP &&
					 (m[i].p.family == AF_INET || m[i].p.family == AF_INET6));
		assert_true(m[i].p.builtin);
		assert_int_equal(m[i].p.answers, m[i].p.channel != CHANNEL_SECRET);
	}
	assert_null(probe_manifest_find("tcp"));
	assert_null(probe_manifest_find(""));
	assert_false(probe_family_known("@tpc"));
	assert_false(probe_family_known("tcp"));
	m = probe_manifest_find("tcp6-connect");
	assert_true(probe_has_family(m, "@tcp"));
	assert_false(probe_has_family(m, "@udp"));
	assert_false(probe_has_family(m, "tcp"));
}

static void test_line_forms(void **state unused_arg)
{
	static const struct {
		const char *text;
		int err;
		enum session_line_kind kind;
	} cases[] = {
		{ ALIVE1, 0, SESSION_LINE_ALIVE1 },
		{ ALIVE1 "\r\n", 0, SESSION_LINE_ALIVE1 },
		{ "{\"log\":\"\x1b[31m" ALIVE1 "\"}", 0, SESSION_LINE_ALIVE1 },
		{ "SENTINEL1:alive2 instance=" H32 " mac=" H64, 0, SESSION_LINE_ALIVE2 },
		{ RAN " view=ENETUNREACH answer=- secret=- twin=-", 0, SESSION_LINE_RAN },
		{ RAN " view=answered answer=" H64 " secret=" H64 " twin=" H64 "\n", 0,
		  SESSION_LINE_RAN },
		/* the first good one counts, broken ones before it are passed over */
		{ "SENTINEL1:SENTINEL1:alive1 " ALIVE1, 0, SESSION_LINE_ALIVE1 },
		{ "", -ENOENT, 0 },
		{ "SENTINEL1", -ENOENT, 0 },
		{ "sentinel1:alive1 instance=" H32 " mac=" H64, -ENOENT, 0 },
		{ "SENTINEL1:", -EBADMSG, 0 },
		{ "SENTINEL1:alive3 instance=" H32 " mac=" H64, -EBADMSG, 0 },
		{ "SENTINEL1:alive1  instance=" H32 " mac=" H64, -EBADMSG, 0 },
		{ "SENTINEL1:alive1 mac=" H64 " instance=" H32, -EBADMSG, 0 },
		{ "SENTINEL1:alive1 instance=" H32, -EBADMSG, 0 },
		{ "SENTINEL1:alive1 instance=" H32 " mac=" H32, -EBADMSG, 0 },
		{ ALIVE1 "0", -EBADMSG, 0 },
		{ "SENTINEL1:alive1 instance=" H32 "0 mac=" H64, -EBADMSG, 0 },
		{ RAN, -EBADMSG, 0 },
		{ RAN " view=ok answer=-", -EBADMSG, 0 },
		{ RAN " view=ok answer=- secret=-", -EBADMSG, 0 },
		{ RAN " view=ok answer=- twin=- secret=-", -EBADMSG, 0 },
		{ RAN " view=ok answer=- secret=" H32 " twin=-", -EBADMSG, 0 },
		{ RAN " view=ok answer=- secret=-- twin=-", -EBADMSG, 0 },
		{ RAN " view=ok answer=- secret=- twin=", -EBADMSG, 0 },
		{ RAN " view=ok answer=- secret=- twin=-a", -EBADMSG, 0 },
		{ RAN " view=ok answer=- secret=- twin=" H64 "0", -EBADMSG, 0 },
		{ RAN " view= answer=-" PLANTED, -EBADMSG, 0 },
		{ RAN " view=a.b answer=-" PLANTED, -EBADMSG, 0 },
		{ RAN " view=\x1b[2J answer=-" PLANTED, -EBADMSG, 0 },
		{ RAN " view=ok answer=" PLANTED, -EBADMSG, 0 },
		{ RAN " view=ok answer=--" PLANTED, -EBADMSG, 0 },
		{ RAN " view=ok answer=" H32 PLANTED, -EBADMSG, 0 },
		{ RAN " view=" H64 " answer=-" PLANTED, -EBADMSG,
		  0 }, /* 64 characters: no room for NUL */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct session_line l = { .kind = SESSION_LINE_NONE };

		if (parse(cases[i].text, &l) != cases[i].err || l.kind != cases[i].kind)
			fail_msg("case %zu: %s", i, cases[i].text);
	}
}

static void test_line_nul_and_cut(void **state unused_arg)
{
	static const char text[] = "x\0SENTINEL1:alive1 instance=" H32 " mac=" H64;
	struct session_line l;

	assert_int_equal(session_line_parse(text, sizeof(text) - 1, &l), 0);
	/* every cut, in memory of exactly that size, so that a sanitizer sees a step beyond it */
	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		cleanup_free char *cut = malloc(n ? n : 1);

		memcpy(cut, text, n);
		assert_int_not_equal(session_line_parse(cut, n, &l), 0);
	}
}

static void test_line_round_trip(void **state unused_arg)
{
	struct session_line in = { .kind = SESSION_LINE_RAN, .has_answer = true }, out;
	char text[SESSION_LINE_MAX];

	memset(in.instance, 0xab, sizeof(in.instance));
	memset(in.mac, 0xcd, sizeof(in.mac));
	memset(in.answer, 0xef, sizeof(in.answer));
	in.has_secret = in.has_twin = true;
	memset(in.secret, 0x12, sizeof(in.secret));
	memset(in.twin, 0x34, sizeof(in.twin));
	memset(in.view, 'V', sizeof(in.view) - 1);
	assert_int_equal(session_line_format(text, sizeof(text), &in), 0);
	assert_int_equal(parse(text, &out), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	in.has_answer = in.has_secret = false;
	memset(in.answer, 0, sizeof(in.answer));
	memset(in.secret, 0, sizeof(in.secret));
	assert_int_equal(session_line_format(text, sizeof(text), &in), 0);
	assert_int_equal(parse(text, &out), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	(void)str_copy(in.view, sizeof(in.view), "not a word");
	assert_int_equal(session_line_format(text, sizeof(text), &in), -EINVAL);
	in.kind = SESSION_LINE_ALIVE2;
	assert_int_equal(session_line_format(text, 64, &in), -ENAMETOOLONG);
	in.kind = SESSION_LINE_NONE;
	assert_int_equal(session_line_format(text, sizeof(text), &in), -EINVAL);
}

static void test_line_mutations(void **state unused_arg)
{
	static const char good[] = "..SENTINEL1:SENTINEL1:ran instance=" H32 " mac=" H64
				   " view=EACCES answer=" H64 " secret=" H64 " twin=-\n" ALIVE1;
	char text[SESSION_LINE_MAX];

	for (int i = 0; i < 50000; i++) {
		struct session_line l;
		size_t n;
		cleanup_free uint8_t *p = random_mutant(good, sizeof(good) - 1, &n);

		if (session_line_parse((const char *)p, n, &l) == 0)
			assert_int_equal(session_line_format(text, sizeof(text), &l), 0);
	}
}

static void test_line_is_linear(void **state unused_arg)
{
	size_t n = 10u << 20;
	cleanup_free char *p = malloc(n);
	struct session_line l;

	for (size_t i = 0; i < n; i++)
		p[i] = SESSION_LINE_PREFIX[i % (sizeof(SESSION_LINE_PREFIX) - 1)];
	assert_int_equal(session_line_parse(p, n, &l), -EBADMSG);
}

/* ---- the command line ---- */

#define GOOD                                                                                       \
	"sentinel-probe", "SENTINEL1:" H32, "probe=tcp-connect", "to=203.0.113.1", "port=9000",    \
		"challenge=" H32, "timeout_ms=1000"

static int parse_args(const char *const argv[], struct session_args *ret, char why[256])
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return session_args_parse(argc, (char *const *)(uintptr_t)argv, ret, why, 256);
}

static void test_args(void **state unused_arg)
{
	static const char *const good[] = { GOOD, "hold_ms=0", NULL };
	static const char *const all[] = { GOOD, "name=deaf.test", "wait_ms=7", "hold_ms=0", NULL };
	static const struct {
		const char *argv[12];
		const char *why;
	} bad[] = {
		{ { "sentinel-probe", NULL }, "no parameters" },
		{ { "sentinel-probe", "session", NULL }, "'session': want SENTINEL1:" },
		{ { "sentinel-probe", "SENTINEL1:" H32 "0", NULL }, "want SENTINEL1:" },
		{ { GOOD, NULL }, "'hold_ms': missing" },
		{ { GOOD, "hold_ms=0", "hold_ms=0", NULL }, "'hold_ms=0': given twice" },
		{ { GOOD, "hold_ms=x", NULL }, "want 0 to 3600000" },
		{ { GOOD, "hold_ms", NULL }, "not a parameter" },
		{ { GOOD, "hold_ms=0", "wait_ms=600001", NULL }, "want 0 to 600000" },
		{ { GOOD, "hold_ms=0", "wait_ms=1", "wait_ms=1", NULL }, "given twice" },
		{ { GOOD, "hold_ms=0", "name=", NULL }, "want at most 63 of" },
		{ { GOOD, "hold_ms=0", "name=a b", NULL }, "want at most 63 of" },
		{ { GOOD, "hold_ms=0", "name=" H32 H32, NULL }, "want at most 63 of" },
		{ { GOOD, "hold=1", NULL }, "not a parameter" },
		{ { GOOD, "\x1b[2J=1", NULL }, "'\\x1b[2J=1'" },
	};
	struct session_args a;
	char why[256] = "";

	assert_int_equal(parse_args(good, &a, why), 0);
	assert_int_equal(a.port, 9000);
	assert_int_equal(a.timeout_ms, 1000);
	assert_string_equal(a.manifest->p.name, "tcp-connect");
	assert_true(addr_is_v4(a.to));
	assert_int_equal(a.wait_ms, 0);
	assert_string_equal(a.name, "");
	assert_int_equal(parse_args(all, &a, why), 0);
	assert_int_equal(a.wait_ms, 7);
	assert_string_equal(a.name, "deaf.test");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse_args(bad[i].argv, &a, why), -EINVAL);
		if (!strstr(why, bad[i].why))
			fail_msg("case %zu: %s", i, why);
	}
}

/* A user's own probe: what follows -- is its command, and of it no more is known than its name. */
static void test_args_own(void **state unused_arg)
{
#define OWN(probe)                                                                                 \
	"p", "SENTINEL1:" H32, "probe=" probe, "to=::1", "port=1", "challenge=" H32,               \
		"timeout_ms=1", "hold_ms=1"
	static const char *const good[] = { OWN("mine"), "--", "./x", "hold_ms=9", "--", NULL };
	static const struct {
		const char *argv[12];
		const char *why;
	} bad[] = {
		{ { OWN("mine"), NULL }, "want a probe's name" },
		{ { OWN("mine"), "--", NULL }, "want a command" },
		{ { OWN("tcp-connect"), "--", "x", NULL }, "want a probe's name" },
		{ { OWN("a_b"), "--", "x", NULL }, "want a probe's name" },
		{ { "p", "SENTINEL1:" H32, "probe=mine", "--", "x", NULL }, "missing" },
	};
	struct session_args a;
	char why[256] = "";

	assert_int_equal(parse_args(good, &a, why), 0);
	assert_string_equal(a.own_name, "mine");
	assert_int_equal(a.hold_ms, 1);
	assert_string_equal(a.command[0], "./x");
	assert_string_equal(a.command[2], "--");
	assert_null(a.command[3]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(parse_args(bad[i].argv, &a, why), -EINVAL);
		if (!strstr(why, bad[i].why))
			fail_msg("case %zu: %s", i, why);
	}
}

static void test_args_family(void **state unused_arg)
{
	static const char *const v6[] = {
		"p",	  "SENTINEL1:" H32, "probe=tcp-connect", "to=::1",
		"port=1", "challenge=" H32, "timeout_ms=1",	 "hold_ms=1",
		NULL
	};
	struct session_args a;
	char why[256];

	assert_int_equal(parse_args(v6, &a, why), -EINVAL);
	assert_non_null(strstr(why, "family"));
}

#define TO(probe)                                                                                  \
	"p", "SENTINEL1:" H32, "probe=" probe, "challenge=" H32, "timeout_ms=1", "hold_ms=1"

/* Each kind of destination is complete, and has nothing of another. */
static void test_args_destination(void **state unused_arg)
{
	static const struct {
		const char *argv[12];
		const char *why; /* NULL: good */
	} cases[] = {
		{ { TO("unix-path"), "to=unix:/run/x.sock", NULL }, NULL },
		{ { TO("unix-abstract"), "to=unix:@x", NULL }, NULL },
		{ { TO("unix-path"), NULL }, "want to=unix:" },
		{ { TO("unix-path"), "to=127.0.0.1", "port=1", NULL }, "want to=unix:" },
		{ { TO("unix-path"), "to=unix:/x", "port=1", NULL }, "no port" },
		{ { TO("unix-path"), "to=unix:x", NULL }, "unix:@NAME" },
		{ { TO("unix-path"), "to=unix:@", NULL }, "unix:@NAME" },
		{ { TO("unix-path"), "to=unix:/" H64 H64, NULL }, "unix:@NAME" },
		{ { TO("tcp-connect"), "to=unix:/x", NULL }, "want an address" },
		{ { TO("tcp-connect"), "to=127.0.0.1", NULL }, "and a 'port'" },
		{ { TO("tcp-connect"), "port=1", NULL }, "want an address" },
		{ { TO("env-credential"), NULL }, NULL },
		{ { TO("env-credential"), "to=127.0.0.1", NULL }, "want no 'to'" },
		{ { TO("env-credential"), "port=1", NULL }, "want no 'to'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct session_args a;
		char why[256] = "";
		int err = parse_args(cases[i].argv, &a, why);

		if (!cases[i].why ? err != 0 : err != -EINVAL || !strstr(why, cases[i].why))
			fail_msg("case %zu: %d, %s", i, err, why);
	}
}

/* ---- a whole session, towards a port where nobody is ---- */

struct heard {
	int alive1, ran, alive2;
	struct session_line last_alive2, ran_line;
};

static void hear(char *text, struct heard *h)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct session_line l;

		assert_int_equal(parse(line, &l), 0);
		h->alive1 += l.kind == SESSION_LINE_ALIVE1;
		h->ran += l.kind == SESSION_LINE_RAN;
		h->alive2 += l.kind == SESSION_LINE_ALIVE2;
		if (l.kind == SESSION_LINE_ALIVE2)
			h->last_alive2 = l;
		if (l.kind == SESSION_LINE_RAN)
			h->ran_line = l;
	}
}

static void run_session(const char *input, uint32_t hold_ms, struct heard *ret)
{
	struct session_args a = { .manifest = probe_manifest_find("tcp-connect"),
				  .port = 1,
				  .timeout_ms = 2000,
				  .hold_ms = hold_ms };
	char text[8192];
	int in[2], out[2];
	ssize_t n;

	assert_int_equal(parse_addr("127.0.0.1", a.to), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(write_all(in[1], input, strlen(input)), 0);
	if (hold_ms != 50) /* the one that waits for its end */
		(void)close(in[1]);
	assert_int_equal(session_run(&a, in[0], out[1]), 0);
	if (hold_ms == 50)
		(void)close(in[1]);
	n = read(out[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	memset(ret, 0, sizeof(*ret));
	hear(text, ret);
	(void)close(in[0]), (void)close(out[0]), (void)close(out[1]);
}

static void test_session_answers(void **state unused_arg)
{
	uint8_t nonce[MAC_NONCE_BYTES] = { 0 }, challenge[MAC_NONCE_BYTES], mac[MAC_BYTES];
	struct heard h;

	run_session("noise\nchallenge " H32 "\r\nchallenge x\nquit\nchallenge " H32 "\n", 5000, &h);
	assert_int_equal(h.alive1, 1);
	assert_int_equal(h.ran, 1);
	assert_int_equal(h.alive2, 1);
	assert_string_equal(h.ran_line.view, "ECONNREFUSED");
	assert_false(h.ran_line.has_answer);
	assert_int_equal(hex_decode(challenge, sizeof(challenge), H32), 0);
	mac_alive(nonce, 2, challenge, h.last_alive2.instance, mac);
	assert_memory_equal(mac, h.last_alive2.mac, sizeof(mac));
	assert_memory_equal(h.ran_line.instance, h.last_alive2.instance, MAC_NONCE_BYTES);
}

/* The first answer comes at once, the attempt later. */
static void test_session_waits(void **state unused_arg)
{
	struct session_args a = { .manifest = probe_manifest_find("tcp-connect"),
				  .port = 1,
				  .timeout_ms = 1,
				  .wait_ms = 200 };
	uint64_t start = mono_ns();
	struct heard h = { 0 };
	char text[8192];
	int in[2], out[2];
	ssize_t n;

	assert_int_equal(parse_addr("127.0.0.1", a.to), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	(void)close(in[1]);
	assert_int_equal(session_run(&a, in[0], out[1]), 0);
	assert_true(mono_ns() - start >= 200 * NSEC_PER_MSEC);
	n = read(out[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	hear(text, &h);
	assert_int_equal(h.alive1, 1);
	assert_string_equal(h.ran_line.view, "ECONNREFUSED"); /* its time began after the wait */
	(void)close(in[0]), (void)close(out[0]), (void)close(out[1]);
}

/* Connects to path ('@': abstract) by a session of that probe; what the listener was sent. */
static void reach_unix(const char *probe, const char *path, struct heard *h, char got[64])
{
	struct session_args a = { .manifest = probe_manifest_find(probe), .timeout_ms = 100 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), fd;
	int in[2], out[2];
	char text[8192];
	ssize_t n;

	(void)str_copy(a.path, sizeof(a.path), path);
	(void)str_copy(at.sun_path, sizeof(at.sun_path), path);
	if (path[0] == '@')
		at.sun_path[0] = '\0';
	assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	(void)close(in[1]);
	assert_int_equal(session_run(&a, in[0], out[1]), 0);
	n = read(out[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	memset(h, 0, sizeof(*h));
	hear(text, h);
	fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	n = recv(fd, got, 63, 0);
	assert_true(n >= 0);
	got[n] = '\0';
	(void)close(fd), (void)close(listener);
	(void)close(in[0]), (void)close(out[0]), (void)close(out[1]);
}

static void test_session_unix(void **state unused_arg)
{
	char folder[] = "/tmp/sentinel-test-XXXXXX", path[64], got[64], want[64], hex[33];
	uint8_t nonce[MAC_NONCE_BYTES] = { 0 }, token[MAC_NONCE_BYTES];
	struct heard h;

	assert_non_null(mkdtemp(folder));
	(void)str_format(path, sizeof(path), "%s/s", folder);
	reach_unix("unix-path", path, &h, got);
	assert_string_equal(h.ran_line.view, "sent");
	mac_token(nonce, "unix-path", token);
	hex_encode(hex, token, sizeof(token));
	(void)str_format(want, sizeof(want), MAC_TOKEN_PREFIX "%s\n", hex);
	assert_string_equal(got, want);
	(void)unlink(path);
	(void)rmdir(folder);

	(void)str_format(path, sizeof(path), "@sentinel-test-%d", (int)getpid());
	reach_unix("unix-abstract", path, &h, got);
	assert_string_equal(h.ran_line.view, "sent");
	assert_non_null(strstr(got, MAC_TOKEN_PREFIX));
}

static void test_session_ends(void **state unused_arg)
{
	char flood[4096];
	struct heard h;
	uint64_t before = mono_ns();

	run_session("", 3600000, &h); /* end of file */
	assert_int_equal(h.alive2, 0);
	run_session("", 50, &h); /* hold_ms */
	assert_int_equal(h.ran, 1);
	memset(flood, 'x', sizeof(flood) - 1); /* one long line is dropped whole */
	memcpy(flood + sizeof(flood) - 80, "\nchallenge " H32 "\n", 44);
	flood[sizeof(flood) - 36] = '\0';
	run_session(flood, 5000, &h);
	assert_int_equal(h.alive2, 1);
	assert_true(mono_ns() - before < 3 * NSEC_PER_SEC);
}

/* ---- DNS ---- */

static size_t dns_answer(uint8_t out[512])
{
	struct probe_attempt a = { .manifest = probe_manifest_find("dns-udp-direct"),
				   .token = H32 };
	size_t n = dns_question(&a, 0x1234, out);
	static const uint8_t record[] = { 0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, 65, 64 };

	out[2] |= 0x80;
	out[7] = 1;
	memcpy(out + n, record, sizeof(record));
	memcpy(out + n + sizeof(record), H64, 64);
	return n + sizeof(record) + 64;
}

static void test_dns_answer(void **state unused_arg)
{
	struct probe_outcome o = { .has_answer = false };
	uint8_t msg[512];
	size_t n = dns_answer(msg);

	assert_memory_equal(msg + 12,
			    "\x20" H32 "\x0e"
			    "dns-udp-direct\x08sentinel\x04test\0",
			    64);
	assert_false(dns_settles(&o, msg, n, 0x1235));
	assert_true(dns_settles(&o, msg, n, 0x1234));
	assert_true(o.has_answer);
	assert_string_equal(o.view, "answered");
	memset(&o, 0, sizeof(o));
	assert_true(dns_settles(&o, msg, n - 1, 0x1234));
	assert_false(o.has_answer);
	assert_string_equal(o.view, "no-data");
	msg[3] = 5;
	assert_true(dns_settles(&o, msg, n, 0x1234));
	assert_string_equal(o.view, "rcode-5");
}

static void test_dns_mutations(void **state unused_arg)
{
	uint8_t good[512];
	size_t len = dns_answer(good);

	for (int i = 0; i < 50000; i++) {
		struct probe_outcome o = { .has_answer = false };
		size_t n;
		cleanup_free uint8_t *p = random_mutant(good, len, &n);

		(void)dns_settles(&o, p, n, 0x1234);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifests),
		cmocka_unit_test(test_line_forms),
		cmocka_unit_test(test_line_nul_and_cut),
		cmocka_unit_test(test_line_round_trip),
		cmocka_unit_test(test_line_mutations),
		cmocka_unit_test(test_line_is_linear),
		cmocka_unit_test(test_args),
		cmocka_unit_test(test_args_own),
		cmocka_unit_test(test_args_family),
		cmocka_unit_test(test_args_destination),
		cmocka_unit_test(test_session_answers),
		cmocka_unit_test(test_session_waits),
		cmocka_unit_test(test_session_unix),
		cmocka_unit_test(test_session_ends),
		cmocka_unit_test(test_dns_answer),
		cmocka_unit_test(test_dns_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

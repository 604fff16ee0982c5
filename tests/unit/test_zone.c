// SPDX-License-Identifier: Apache-2.0
/* The far side's pure parts, its connection table and its receive log, without a network. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>

#include "tests/unit/random.h"
#include "probes/collector/connection.h"
#include "probes/collector/message.h"
#include "probes/collector/receive_log.h"
#include "probes/collector/zone.h"
#include "user/rig/rig.h"

#define H32 "00112233445566778899aabbccddeeff"
#define HEADER "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define NAME "\x20" H32 "\x05probe\x08SENTINEL\x04test\x00"
#define TXT_IN "\x00\x10\x00\x01"

static const uint8_t key[MAC_BYTES] = { 7 };

static void proof(const char *token_hex, char ret[2 * MAC_BYTES + 1])
{
	uint8_t token[MAC_NONCE_BYTES], mac[MAC_BYTES];

	assert_int_equal(hex_decode(token, sizeof(token), token_hex), 0);
	mac_answer(key, token, mac);
	hex_encode(ret, mac, sizeof(mac));
}

static void test_token(void **state unused_arg)
{
	static const struct {
		const char *text;
		bool found;
		size_t off;
	} cases[] = {
		{ "SENTINEL " H32 "\n", true, 0 },
		{ "GET /SENTINEL " H32 " HTTP/1.1", true, 5 },
		{ "SENTINEL x SENTINEL " H32, true, 11 },
		{ "SENTINEL " H32 "0", false, 0 },
		{ "SENTINEL 0011", false, 0 },
		{ "SENTINEL", false, 0 },
		{ "sentinel " H32, false, 0 },
		{ "", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t token[MAC_NONCE_BYTES];
		size_t off = 0;

		if (message_find_token(cases[i].text, strlen(cases[i].text), token, &off) !=
			    cases[i].found ||
		    off != cases[i].off)
			fail_msg("case %zu: %s", i, cases[i].text);
	}
}

static void test_answer_text(void **state unused_arg)
{
	char want[2 * MAC_BYTES + 1], line[128], out[MESSAGE_ANSWER_MAX];
	uint8_t token[MAC_NONCE_BYTES];

	proof(H32, want);
	assert_int_equal(hex_decode(token, sizeof(token), H32), 0);
	assert_int_equal(str_format(line, sizeof(line), "SENTINEL-ANSWER %s\n", want), 0);
	assert_int_equal(message_answer(key, token, out), strlen(line));
	assert_string_equal(out, line);
}

/* A name with dots, in the form of the wire; its length. */
static size_t name_of(uint8_t *out, const char *text)
{
	size_t len = strlen(text), label = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.') {
			out[label] = (uint8_t)(i - label);
			label = i + 1;
		} else {
			out[i + 1] = (uint8_t)text[i];
		}
	}
	out[label] = (uint8_t)(len - label);
	out[len + 1] = 0;
	return len + 2;
}

static void test_zone_answers(void **state unused_arg)
{
	static const uint8_t msg[] = HEADER NAME TXT_IN;
	size_t len = sizeof(msg) - 1, question = len - 12;
	uint8_t out[ZONE_RESPONSE_MAX];
	char want[2 * MAC_BYTES + 1];
	bool answered;

	proof(H32, want);
	assert_int_equal(zone_respond(key, msg, len, out, &answered), len + 12 + 65);
	assert_true(answered);
	assert_memory_equal(out, "\x12\x34\x85\x00\x00\x01\x00\x01\x00\x00\x00\x00", 12);
	assert_memory_equal(out + 12, msg + 12, question); /* case kept */
	assert_memory_equal(out + len, "\xc0\x0c\x00\x10\x00\x01\x00\x00\x00\x00\x00\x41\x40", 13);
	assert_memory_equal(out + len + 13, want, 64);
}

/* What an A question is answered with; NULL: no data. */
static void test_zone_addresses(void **state unused_arg)
{
	static const struct {
		const char *name;
		const char *addr;
	} cases[] = {
		{ H32 ".203-0-113-7.sentinel.test", "203.0.113.7" },
		{ "x.203-0-113-255.SENTINEL.test", "203.0.113.255" },
		{ "203-0-113-7.sentinel.test", NULL },
		{ "x.y.203-0-113-7.sentinel.test", NULL },
		{ "203-0-113-7.x.sentinel.test", NULL },
		{ "x.203-0-114-7.sentinel.test", NULL },
		{ "x.127-0-0-1.sentinel.test", NULL },
		{ "x.203-0-113-007.sentinel.test", NULL },
		{ "x.203-0-113.sentinel.test", NULL },
		{ "x.203-0-113-7-.sentinel.test", NULL },
		{ "x.::ffff:203-0-113-7.sentinel.test", NULL },
		{ "allowed.sentinel.test", RIG_ALLOWED4 },
		{ H32 ".Allowed.sentinel.test", RIG_ALLOWED4 },
		{ "xallowed.sentinel.test", NULL },
		{ "allowed.x.sentinel.test", NULL },
		{ "sentinel.test", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (uint8_t type = 1; type <= 28; type += 27) { /* A, AAAA */
			uint8_t msg[12 + 255 + 4] = HEADER, out[ZONE_RESPONSE_MAX], addr[16];
			size_t n = 12 + name_of(msg + 12, cases[i].name);
			const char *want = type == 1 ? cases[i].addr : NULL;
			bool answered;

			memcpy(msg + n, (uint8_t[]){ 0, type, 0, 1 }, 4);
			n = zone_respond(key, msg, n + 4, out, &answered);
			assert_true(n > 12);
			if ((out[3] & 15) || answered || out[7] != !!want || out[9] == !!want)
				fail_msg("%s, type %u", cases[i].name, type);
			if (!want)
				continue;
			assert_int_equal(parse_addr(want, addr), 0);
			if (memcmp(out + n - 6, "\0\4", 2) != 0 ||
			    memcmp(out + n - 4, addr + 12, 4) != 0)
				fail_msg("%s", cases[i].name);
		}
	}
}

#define ASK(...)                                                                                   \
	{                                                                                          \
		__VA_ARGS__, sizeof(__VA_ARGS__) - 1                                               \
	}

/* rcode -1: no response */
static const struct zone_case {
	const char *name;
	struct {
		const char *bytes;
		size_t len;
	} msg;
	int rcode;
	unsigned int answers, authorities;
} zone_cases[] = {
	{ "another type", ASK(HEADER NAME "\x00\x1c\x00\x01"), 0, 0, 1 },
	{ "A of what names no address", ASK(HEADER NAME "\x00\x01\x00\x01"), 0, 0, 1 },
	{ "no token", ASK(HEADER "\x01x\x08sentinel\x04test\x00" TXT_IN), 0, 0, 1 },
	{ "the zone", ASK(HEADER "\x08sentinel\x04test\x00" TXT_IN), 0, 0, 1 },
	{ "its SOA", ASK(HEADER "\x08sentinel\x04test\x00\x00\x06\x00\x01"), 0, 1, 0 },
	{ "another zone",
	  ASK(HEADER "\x20" H32 "\x07"
		     "example\x00" TXT_IN),
	  5, 0, 0 },
	{ "a name that only ends like it", ASK(HEADER "\x09xsentinel\x04test\x00" TXT_IN), 5, 0,
	  0 },
	{ "the root", ASK(HEADER "\x00" TXT_IN), 5, 0, 0 },
	{ "another class", ASK(HEADER NAME "\x00\x10\x00\x03"), 5, 0, 0 },
	{ "a pointer", ASK(HEADER "\xc0\x0c" TXT_IN), 1, 0, 0 },
	{ "cut in the name",
	  ASK(HEADER "\x20"
		     "0011"),
	  1, 0, 0 },
	{ "cut in the type", ASK(HEADER NAME "\x00\x10\x00"), 1, 0, 0 },
	{ "no question", ASK("\x12\x34\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 1, 0, 0 },
	{ "two questions", ASK("\x12\x34\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00" NAME TXT_IN), 1,
	  0, 0 },
	{ "an update", ASK("\x12\x34\x28\x00\x00\x01\x00\x00\x00\x00\x00\x00" NAME TXT_IN), 4, 0,
	  0 },
	{ "a response", ASK("\x12\x34\x81\x00\x00\x01\x00\x00\x00\x00\x00\x00" NAME TXT_IN), -1, 0,
	  0 },
	{ "half a header", ASK("\x12\x34\x01\x00\x00\x01"), -1, 0, 0 },
	{ "nothing", ASK(""), -1, 0, 0 },
};

static void test_zone_refusals(void **state unused_arg)
{
	uint8_t out[ZONE_RESPONSE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(zone_cases); i++) {
		const struct zone_case *c = &zone_cases[i];
		bool answered = true;
		size_t n = zone_respond(key, (const uint8_t *)c->msg.bytes, c->msg.len, out,
					&answered);

		if (answered || (c->rcode < 0) != (n == 0))
			fail_msg("%s: %zu bytes", c->name, n);
		if (n && ((out[3] & 15) != c->rcode || out[7] != c->answers ||
			  out[9] != c->authorities || (c->rcode && n != 12)))
			fail_msg("%s: rcode %u, %u, %u", c->name, out[3] & 15, out[7], out[9]);
	}
}

static void test_mutations(void **state unused_arg)
{
	static const uint8_t dns[] = HEADER NAME TXT_IN;
	static const uint8_t text[] = "SENTINEL SENTINEL " H32 "\n";

	for (int i = 0; i < 100000; i++) {
		const uint8_t *good = i & 1 ? dns : text;
		size_t len = (i & 1 ? sizeof(dns) : sizeof(text)) - 1, off, n;
		cleanup_free uint8_t *p = random_mutant(good, len, &n);
		cleanup_free uint8_t *out = malloc(ZONE_RESPONSE_MAX);
		uint8_t token[MAC_NONCE_BYTES];
		bool answered;

		assert_true(zone_respond(key, p, n, out, &answered) <= ZONE_RESPONSE_MAX);
		if (message_find_token(p, n, token, &off))
			assert_true(off + MESSAGE_TOKEN_TEXT_BYTES <= n);
	}
}

/* A name of exactly `bytes` in the zone: long labels, and one that fills the rest. */
static size_t long_name(uint8_t *out, size_t bytes)
{
	static const uint8_t tail[] = "\x08sentinel\x04test" /* and the root */;
	size_t at = 0;

	for (size_t left = bytes - sizeof(tail), n; left; left -= n) {
		n = MIN(left, (size_t)64);
		if (left == 65) /* else one byte would be left, and a label takes two */
			n = 63;
		out[at] = (uint8_t)(n - 1);
		memset(out + at + 1, 'a', n - 1);
		at += n;
	}
	memcpy(out + at, tail, sizeof(tail));
	return at + sizeof(tail);
}

static void test_longest_name(void **state unused_arg)
{
	static const int rcodes[] = { 0, 1 };

	for (size_t i = 0; i < 2; i++) { /* 255 bytes are a name, 256 are not */
		uint8_t msg[12 + 256 + 4] = HEADER, out[ZONE_RESPONSE_MAX];
		size_t n = 12 + long_name(msg + 12, 255 + i);
		bool answered;

		assert_int_equal(n, 12 + 255 + i);
		memcpy(msg + n, TXT_IN, 4);
		assert_true(zone_respond(key, msg, n + 4, out, &answered) > 0);
		assert_int_equal(out[3] & 15, rcodes[i]);
	}
}

/* ---- connections ---- */

struct got {
	int n, whole;
	char last[CONNECTION_BUFFER_BYTES + 1];
	size_t len;
};

static void take(void *arg, struct connection *c unused_arg, const uint8_t *msg, size_t len,
		 bool whole)
{
	struct got *g = arg;

	g->n++;
	g->whole += whole;
	memcpy(g->last, msg, len);
	g->last[len] = '\0';
	g->len = len;
}

struct pair {
	struct connections table;
	struct got got;
	struct message_sink sink;
	struct connection *c;
	int peer;
};

static const struct listener text = { .service = SERVICE_TEXT }, dns = { .service = SERVICE_DNS },
			     http = { .service = SERVICE_HTTP };

static struct pair *pair_new(const struct listener *from)
{
	static const struct endpoints ends;
	struct pair *p = calloc(1, sizeof(*p));
	int fd[2];

	assert_non_null(p);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	p->sink = (struct message_sink){ take, &p->got };
	p->peer = fd[1];
	connections_init(&p->table);
	p->c = connections_add(&p->table, fd[0], from, &ends, 1, &p->sink);
	return p;
}

static void pair_free(struct pair *p)
{
	connections_done(&p->table);
	if (p->peer >= 0)
		(void)close(p->peer);
	free(p);
}

static void say(struct pair *p, const void *data, size_t len, uint64_t now_ns)
{
	assert_int_equal(write_all(p->peer, data, len), 0);
	connection_read(&p->table, p->c, now_ns, &p->sink);
}

static void test_lines(void **state unused_arg)
{
	struct pair *p = pair_new(&text);

	say(p, "a\nbb\nc", 6, 2);
	assert_int_equal(p->got.n, 2);
	assert_string_equal(p->got.last, "bb\n");
	say(p, "c\n", 2, 3);
	assert_string_equal(p->got.last, "cc\n");
	say(p, "rest", 4, 4);
	(void)close(p->peer);
	p->peer = -1;
	connection_read(&p->table, p->c, 5, &p->sink);
	assert_string_equal(p->got.last, "rest"); /* without its newline, and still a message */
	assert_int_equal(p->got.whole, 4);
	assert_int_equal(p->table.open, 0);
	pair_free(p);
}

static void test_long_line(void **state unused_arg)
{
	struct pair *p = pair_new(&text);
	char chunk[1024];

	memset(chunk, 'x', sizeof(chunk));
	for (int i = 0; i < 64; i++) {
		assert_int_equal(p->table.open, 1);
		say(p, chunk, sizeof(chunk), 2);
	}
	assert_int_equal(p->table.open, 0); /* 64 KiB are enough */
	assert_int_equal(p->got.n, 64 * 1024 / CONNECTION_LINE_MAX);
	pair_free(p);
}

/* A request comes in any pieces, and the next one behind it; what can't become one is taken as far
 * as it has come. */
static void test_http_stream(void **state unused_arg)
{
	static const char post[] = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi";
	struct pair *p = pair_new(&http);

	for (int twice = 1; twice <= 2; twice++) {
		for (size_t i = 0; i < strlen(post); i++) {
			assert_int_equal(p->got.n, twice - 1);
			say(p, post + i, 1, 2);
		}
		assert_int_equal(p->got.n, twice);
		assert_string_equal(p->got.last, post);
	}
	say(p, "POST\n/", 6, 3);
	assert_int_equal(p->got.n, 3);
	assert_string_equal(p->got.last, "POST\n/");
	assert_int_equal(p->table.open, 1);
	connection_finish(p->c); /* as the far side does, once it has refused that */
	say(p, post, strlen(post), 4);
	assert_int_equal(p->got.n, 3);
	pair_free(p);
}

static void test_dns_stream(void **state unused_arg)
{
	struct pair *p = pair_new(&dns);

	say(p, "\0", 1, 2);
	say(p, "\3ab", 3, 2);
	assert_int_equal(p->got.n, 0);
	say(p, "c\0\0\0\1d", 6, 2);
	assert_int_equal(p->got.n, 2); /* an empty one is none */
	assert_string_equal(p->got.last, "d");
	say(p, "\xff\xff", 2, 2);
	for (int i = 0; i < 5 && p->table.open; i++) {
		char chunk[1024] = { 0 };

		say(p, chunk, sizeof(chunk), 2);
	}
	assert_int_equal(p->table.open, 0); /* longer than any question */
	assert_int_equal(p->got.n, 3);
	assert_int_equal(p->got.whole, 2);
	pair_free(p);
}

static void test_idle_and_evicted(void **state unused_arg)
{
	static const struct endpoints ends;
	struct pair *p = pair_new(&text);

	say(p, "left behind", 11, 5);
	connections_expire(&p->table, 4 + CONNECTION_IDLE_NS, &p->sink);
	assert_int_equal(p->table.open, 1);
	for (uint64_t i = 1; i < CONNECTION_MAX; i++)
		(void)connections_add(&p->table, fcntl(0, F_DUPFD_CLOEXEC, 3), &text, &ends, 5 + i,
				      &p->sink);
	assert_int_equal(p->table.open, CONNECTION_MAX);
	(void)connections_add(&p->table, fcntl(0, F_DUPFD_CLOEXEC, 3), &text, &ends, 1000,
			      &p->sink);
	assert_int_equal(p->table.evicted, 1);
	assert_string_equal(p->got.last, "left behind");
	connections_expire(&p->table, 1000 + CONNECTION_IDLE_NS, &p->sink);
	assert_int_equal(p->table.open, 0);
	assert_false(connections_evict(&p->table, &p->sink));
	pair_free(p);
}

/* ---- the receive log ---- */

static void test_log_loses_and_says_so(void **state unused_arg)
{
	static uint8_t data[2000] = { 0xab };
	struct received r = {
		.time_ns = 1ull << 63, .proto = "udp", .path = "", .data = data, .len = 2000
	};
	struct receive_log *l = calloc(1, sizeof(*l));
	size_t lines = 0, lost = 0, got = 0, cap = 1u << 20;
	cleanup_free char *read_back = malloc(cap);
	int fd[2];

	assert_non_null(l);
	assert_int_equal(pipe2(fd, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(receive_log_init(l, fd[1]), 0);
	for (int i = 0; i < 1000; i++) { /* nobody reads: pipe, queue, then loss */
		receive_log_add(l, &r);
		assert_true(receive_log_flush(l) >= 0);
	}
	assert_true(l->lost > 0);
	for (int more = 1; more;) {
		ssize_t n;

		more = receive_log_flush(l);
		while ((n = read(fd[0], read_back + got, cap - got)) > 0)
			got += (size_t)n;
	}
	read_back[got] = '\0';
	for (char *at = read_back, *end; (end = strchr(at, '\n')); at = end + 1) {
		uint64_t v;

		*end = '\0';
		if (strncmp(at, "{\"lost\":", 8) != 0) {
			assert_true(end - at < 2500);
			lines++;
			continue;
		}
		end[-1] = '\0'; /* the brace */
		assert_int_equal(parse_u64(at + 8, 1, 1000, &v), 0);
		lost += v;
	}
	assert_int_equal(lines + lost, 1000);
	assert_true(lines > 100 && lost > 100);
	(void)close(fd[0]);
	receive_log_lost(l, UINT32_MAX);
	assert_int_equal(receive_log_flush(l), -EPIPE);
	receive_log_done(l);
	free(l);
	(void)close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_token),
		cmocka_unit_test(test_answer_text),
		cmocka_unit_test(test_zone_answers),
		cmocka_unit_test(test_zone_refusals),
		cmocka_unit_test(test_zone_addresses),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_longest_name),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_http_stream),
		cmocka_unit_test(test_dns_stream),
		cmocka_unit_test(test_idle_and_evicted),
		cmocka_unit_test(test_log_loses_and_says_so),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Streams: the bytes of a receiver, however they were cut, mixed and sent again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <netinet/in.h>
#include <cmocka.h>

#include "user/decode/stream.h"

#define TEXT_MAX 400000

struct got {
	uint8_t tcp[TEXT_MAX], datagram[TEXT_MAX];
	size_t tcp_len, datagram_len;
	uint32_t frames, datagrams;
	uint32_t fresh; /* TCP pieces that came with a state of zeros */
	uint64_t last_id;
	int answer;
};

static struct got got;
static struct stream *stream;
static uint64_t now_ns;

static int collect(void *arg, const struct stream_piece *p)
{
	struct got *g = arg;
	uint64_t *state = p->state;

	g->last_id = p->ev->id;
	switch (p->kind) {
	case STREAM_FRAME:
		g->frames++;
		assert_int_equal(*state, 0);
		break;
	case STREAM_DATAGRAM:
		g->datagrams++;
		assert_int_equal(*state, 0);
		memcpy(g->datagram, p->data, p->len);
		g->datagram_len = p->len;
		break;
	case STREAM_TCP:
		assert_non_null(p->packet);
		assert_in_range(g->tcp_len + p->len, 0, TEXT_MAX);
		memcpy(g->tcp + g->tcp_len, p->data, p->len);
		g->tcp_len += p->len;
		g->fresh += *state == 0;
		break;
	}
	*state += 1;
	return g->answer;
}

static void open_stream(const struct stream_opts *o)
{
	memset(&got, 0, sizeof(got));
	now_ns = 1;
	assert_int_equal(stream_new(&stream, o, collect, &got), 0);
}

static struct stream_stats stats(void)
{
	struct stream_stats s;

	stream_stats(stream, &s);
	return s;
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

static int push(const uint8_t *frame, size_t len, uint32_t eth_proto)
{
	static uint64_t id;
	struct ev ev = { .type = EV_PACKET, .id = ++id, .hook = SNT_HOOK_WORLD, .lane = 1 };

	ev.time_ns = now_ns;
	ev.packet.eth_proto = eth_proto;
	ev.packet.data = frame;
	ev.packet.len = ev.packet.data_len = (uint32_t)len;
	return stream_push(stream, &ev);
}

static uint8_t frame[70000];

/* An IPv4 packet around what stands at frame + 20 already. */
static int push_v4(uint32_t proto, size_t len, uint32_t frag)
{
	memset(frame, 0, 20);
	frame[0] = 0x45;
	put16(frame + 2, (uint32_t)len + 20);
	put16(frame + 4, 99);
	put16(frame + 6, frag);
	frame[8] = 64;
	frame[9] = (uint8_t)proto;
	frame[15] = 2;
	frame[19] = 9;
	return push(frame, len + 20, 0x0800);
}

static int push_tcp(uint32_t sport, uint32_t seq, uint8_t flags, const void *data, size_t len)
{
	uint8_t *h = frame + 20;

	memset(h, 0, 20);
	put16(h, sport);
	put16(h + 2, 80);
	put32(h + 4, seq);
	h[12] = 5 << 4;
	h[13] = flags;
	if (len)
		memcpy(h + 20, data, len);
	return push_v4(IPPROTO_TCP, 20 + len, 0);
}

static void tcp(uint32_t seq, uint8_t flags, const char *text)
{
	assert_int_equal(push_tcp(4000, seq, flags, text, strlen(text)), 0);
}

static void expect_tcp(const char *text)
{
	assert_int_equal(got.tcp_len, strlen(text));
	assert_memory_equal(got.tcp, text, got.tcp_len);
}

#define SYN TCP_FLAG_SYN
#define ACK TCP_FLAG_ACK
#define FIN TCP_FLAG_FIN

static void test_tcp(void **state unused_arg)
{
	static const struct {
		const char *what;
		uint32_t isn;
		struct {
			uint32_t at; /* relative to the first byte */
			const char *text;
		} segments[6];
		const char *want;
		uint64_t duplicate, waiting;
	} cases[] = {
		{ "in order", 100, { { 0, "abc" }, { 3, "def" } }, "abcdef", 0, 0 },
		{ "number wraps", UINT32_MAX - 3, { { 0, "abc" }, { 3, "def" } }, "abcdef", 0, 0 },
		{ "sent again", 7, { { 0, "abc" }, { 0, "abc" }, { 3, "d" } }, "abcd", 3, 0 },
		{ "sent again, longer", 7, { { 0, "abc" }, { 0, "abcde" } }, "abcde", 3, 0 },
		{ "sent again, other bytes", 7, { { 0, "abc" }, { 1, "XXd" } }, "abcd", 2, 0 },
		{ "backwards", 7, { { 4, "e" }, { 2, "cd" }, { 0, "ab" } }, "abcde", 0, 0 },
		{ "backwards over the wrap",
		  UINT32_MAX - 2,
		  { { 4, "e" }, { 2, "cd" }, { 0, "ab" } },
		  "abcde",
		  0,
		  0 },
		{ "overlap in what waits",
		  7,
		  { { 2, "cde" }, { 4, "efg" }, { 0, "ab" } },
		  "abcdefg",
		  1,
		  0 },
		{ "what waits sent again",
		  7,
		  { { 2, "cde" }, { 2, "cde" }, { 0, "ab" } },
		  "abcde",
		  3,
		  0 },
		{ "what waits has come otherwise",
		  7,
		  { { 2, "c" }, { 0, "abcd" }, { 4, "e" } },
		  "abcde",
		  1,
		  0 },
		{ "a hole stays", 7, { { 0, "a" }, { 2, "c" } }, "a", 0, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		open_stream(NULL);
		tcp(cases[i].isn, SYN, "");
		for (size_t n = 0; n < 6 && cases[i].segments[n].text; n++)
			tcp(cases[i].isn + 1 + cases[i].segments[n].at, ACK,
			    cases[i].segments[n].text);
		if (strlen(cases[i].want) != got.tcp_len ||
		    memcmp(cases[i].want, got.tcp, got.tcp_len) != 0)
			fail_msg("%s: '%.*s'", cases[i].what, (int)got.tcp_len, got.tcp);
		if (stats().duplicate_bytes != cases[i].duplicate)
			fail_msg("%s: %lu twice", cases[i].what,
				 (unsigned long)stats().duplicate_bytes);
		assert_int_equal(got.fresh, 1); /* one stream, one state */
		assert_int_equal(stream_lost(stream), 0);
		stream_free(stream);
	}
}

static void test_every_order(void **state unused_arg)
{
	static const char *const parts[] = { "one ", "two ", "three ", "four ", "five" };
	static const uint32_t at[] = { 0, 4, 8, 14, 19 };
	uint32_t order[5];

	for (uint32_t code = 0; code < 5 * 5 * 5 * 5 * 5; code++) {
		uint32_t seen = 0;

		for (uint32_t i = 0, c = code; i < 5; i++, c /= 5)
			seen |= 1u << (order[i] = c % 5);
		if (seen != 31)
			continue;
		open_stream(NULL);
		tcp(UINT32_MAX - 10, SYN, "");
		for (size_t i = 0; i < 5; i++)
			tcp(UINT32_MAX - 9 + at[order[i]], ACK, parts[order[i]]);
		expect_tcp("one two three four five");
		stream_free(stream);
	}
}

static void test_syn(void **state unused_arg)
{
	open_stream(NULL);
	tcp(100, SYN, "fast"); /* TCP Fast Open, RFC 7413 */
	tcp(100, SYN, "");
	tcp(105, ACK, " open");
	expect_tcp("fast open");
	assert_int_equal(got.fresh, 1);
	tcp(114, FIN | ACK, "");
	tcp(5000, SYN, ""); /* the port is used again */
	tcp(5001, ACK, "!");
	expect_tcp("fast open!");
	assert_int_equal(got.fresh, 2);
	assert_int_equal(stats().restarts, 0);
	tcp(9000, SYN, "");
	assert_int_equal(stats().restarts, 1);
	stream_free(stream);
}

static void test_middle(void **state unused_arg)
{
	open_stream(NULL);
	tcp(1000, ACK, "def");
	tcp(1003, ACK, "ghi");
	expect_tcp("defghi");
	assert_int_equal(stream_lost(stream), 0);
	tcp(999, SYN, ""); /* late, but its own */
	tcp(1006, ACK, "j");
	expect_tcp("defghij");
	assert_int_equal(got.fresh, 1);
	stream_free(stream);

	open_stream(NULL);
	tcp(1000, ACK, "def");
	tcp(997, ACK, "abc"); /* the beginning was not seen, and came too late */
	expect_tcp("def");
	assert_int_equal(stats().holes, 1);
	stream_free(stream);
}

static void test_too_much_waits(void **state unused_arg)
{
	static const struct stream_opts opts = { .flows = 4, .blocks = 3, .flow_blocks = 2 };

	open_stream(&opts);
	tcp(0, SYN, "");
	tcp(1, ACK, "a");
	tcp(3, ACK, "c");
	tcp(5, ACK, "e");
	expect_tcp("a");
	tcp(7, ACK, "g"); /* no room: b is given up, then there is */
	expect_tcp("ac");
	assert_int_equal(stats().holes, 1);
	tcp(4, ACK, "d");
	expect_tcp("acde");
	tcp(6, ACK, "f");
	expect_tcp("acdefg");
	assert_int_equal(stats().holes, 1);
	stream_free(stream);
}

static void test_large_early_segment(void **state unused_arg)
{
	static uint8_t text[60000];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 7 + i / 251);
	open_stream(NULL);
	tcp(0, SYN, "");
	assert_int_equal(push_tcp(4000, 2, ACK, text + 1, sizeof(text) - 1), 0);
	assert_int_equal(got.tcp_len, 0);
	assert_int_equal(push_tcp(4000, 1, ACK, text, 1), 0);
	assert_int_equal(got.tcp_len, sizeof(text));
	assert_memory_equal(got.tcp, text, sizeof(text));
	assert_int_equal(stream_lost(stream), 0);
	stream_free(stream);
}

static void test_flow_eviction(void **state unused_arg)
{
	static const struct stream_opts opts = { .flows = 2 };

	open_stream(&opts);
	assert_int_equal(push_tcp(1, 0, SYN, "", 0), 0);
	assert_int_equal(push_tcp(2, 0, SYN, "x", 1), 0);
	assert_int_equal(push_tcp(3, 0, SYN, "", 0), 0); /* 1 goes: it carried nothing */
	assert_int_equal(stats().flows_evicted, 0);
	assert_int_equal(push_tcp(2, 2, FIN | ACK, "", 0), 0);
	assert_int_equal(push_tcp(4, 0, SYN, "x", 1), 0); /* 2 goes though younger: it is closed */
	assert_int_equal(stats().flows_evicted, 0);
	assert_int_equal(push_tcp(3, 1, ACK, "x", 1), 0);
	assert_int_equal(push_tcp(5, 0, SYN, "", 0), 0); /* 4 goes: live */
	assert_int_equal(stats().flows_evicted, 1);
	assert_int_equal(push_tcp(3, 2, ACK, "y", 1), 0);
	assert_int_equal(got.fresh, 3); /* 2, 4, 3: and 3 was kept */
	stream_free(stream);
}

static void test_cut_record(void **state unused_arg)
{
	struct ev ev = { .type = EV_PACKET, .hook = SNT_HOOK_WORLD, .lane = 1 };

	open_stream(NULL);
	tcp(0, SYN, "");
	tcp(1, ACK, "abcdef");
	ev.packet.data = frame;
	ev.packet.eth_proto = 0x0800;
	put32(frame + 24, 7);
	ev.packet.len = 46;
	ev.packet.data_len = 43; /* three bytes of six */
	assert_int_equal(stream_push(stream, &ev), 0);
	tcp(13, ACK, "xyz");
	expect_tcp("abcdefabcxyz");
	assert_int_equal(got.fresh, 2); /* nothing is carried over the hole */
	assert_int_equal(stats().truncated, 1);
	assert_int_equal(stream_lost(stream), 1);

	ev.packet.len = 43; /* not cut: a lie that no stack would take */
	put16(frame + 2, 46);
	put32(frame + 24, 16);
	assert_int_equal(stream_push(stream, &ev), 0);
	assert_int_equal(stats().malformed, 1);
	tcp(16, ACK, "!");
	expect_tcp("abcdefabcxyz!");
	stream_free(stream);
}

/* ---- fragments ---- */

static const char datagram[] = "0123456789abcdef0123456789ABCDEF!";
#define DATAGRAM_LEN (8 + sizeof(datagram) - 1) /* 41 */

static void put_datagram(uint8_t *out)
{
	memset(out, 0, 8);
	put16(out, 4000);
	put16(out + 2, 53);
	put16(out + 4, DATAGRAM_LEN);
	memcpy(out + 8, datagram, DATAGRAM_LEN - 8);
}

/* [from, to) of the datagram, as a fragment of IPv4 or IPv6 */
static void part(bool v6, size_t from, size_t to)
{
	uint8_t whole[DATAGRAM_LEN];
	uint32_t more = to < DATAGRAM_LEN;

	put_datagram(whole);
	if (!v6) {
		memcpy(frame + 20, whole + from, to - from);
		assert_int_equal(push_v4(IPPROTO_UDP, to - from, more << 13 | (uint32_t)from / 8),
				 0);
		return;
	}
	memset(frame, 0, 48);
	frame[0] = 0x60;
	put16(frame + 4, (uint32_t)(8 + to - from));
	frame[6] = IPPROTO_FRAGMENT;
	frame[7] = 64;
	frame[23] = 1;
	frame[39] = 2;
	frame[40] = IPPROTO_UDP;
	put16(frame + 42, (uint32_t)from | more);
	put32(frame + 44, 77);
	memcpy(frame + 48, whole + from, to - from);
	assert_int_equal(push(frame, 48 + to - from, 0x86dd), 0);
}

static void test_fragments(void **state unused_arg)
{
	static const struct {
		const char *what;
		struct {
			size_t from, to;
		} parts[6];
		uint32_t datagrams, refused;
	} cases[] = {
		{ "in order", { { 0, 16 }, { 16, 32 }, { 32, 41 } }, 1, 0 },
		{ "backwards", { { 32, 41 }, { 16, 32 }, { 0, 16 } }, 1, 0 },
		{ "smallest", { { 40, 41 }, { 8, 16 }, { 0, 8 }, { 24, 40 }, { 16, 24 } }, 1, 0 },
		{ "one twice", { { 0, 16 }, { 0, 16 }, { 16, 41 } }, 1, 0 },
		{ "one missing", { { 0, 16 }, { 32, 41 } }, 0, 0 },
		{ "overlap", { { 0, 16 }, { 8, 24 }, { 16, 41 } }, 1, 1 },
		{ "not a multiple of 8", { { 0, 12 }, { 16, 41 } }, 0, 1 },
		{ "behind the end", { { 32, 41 }, { 40, 41 }, { 48, 48 } }, 0, 1 },
	};

	for (int v6 = 0; v6 < 2; v6++) {
		for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
			open_stream(NULL);
			for (size_t n = 0; n < 6 && cases[i].parts[n].to; n++)
				part(v6, cases[i].parts[n].from, cases[i].parts[n].to);
			if (got.datagrams != cases[i].datagrams ||
			    stats().fragments_refused != cases[i].refused)
				fail_msg("%s: %u whole, %lu refused", cases[i].what, got.datagrams,
					 (unsigned long)stats().fragments_refused);
			if (got.datagrams) {
				assert_int_equal(got.datagram_len, DATAGRAM_LEN - 8);
				assert_memory_equal(got.datagram, datagram, DATAGRAM_LEN - 8);
			}
			stream_free(stream);
		}
	}
}

static void test_fragmented_tcp(void **state unused_arg)
{
	uint8_t segment[40];

	open_stream(NULL);
	tcp(0, SYN, "");
	tcp(1, ACK, "abcdefghijklmnopqrst");
	memcpy(segment, frame + 20, 40);
	put32(segment + 4, 21);
	memcpy(frame + 20, segment + 24, 16);
	assert_int_equal(push_v4(IPPROTO_TCP, 16, 3), 0);
	memcpy(frame + 20, segment, 24);
	assert_int_equal(push_v4(IPPROTO_TCP, 24, 0x2000), 0);
	expect_tcp("abcdefghijklmnopqrstabcdefghijklmnopqrst");
	assert_int_equal(got.fresh, 1);
	stream_free(stream);
}

static void test_fragments_bounded(void **state unused_arg)
{
	static const struct stream_opts opts = { .fragments = 1, .fragment_ns = 1000 };

	open_stream(&opts);
	part(false, 0, 16);
	now_ns += 1000;
	part(false, 16, 41); /* just in time */
	assert_int_equal(got.datagrams, 1);
	part(false, 0, 16);
	now_ns += 1001;
	part(false, 16, 41); /* too late: begins another */
	assert_int_equal(got.datagrams, 1);
	assert_int_equal(stats().fragments_expired, 1);
	assert_int_equal(stream_lost(stream), 0);
	part(true, 0, 16); /* makes room for itself */
	assert_int_equal(stats().fragments_evicted, 1);
	assert_int_equal(stream_lost(stream), 1);
	stream_free(stream);
}

static void test_other_kinds(void **state unused_arg)
{
	static const uint8_t arp[28] = { 0, 1, 8, 0, 6, 4 };
	struct ev ev = { .type = EV_EXIT };

	open_stream(NULL);
	put_datagram(frame + 20);
	assert_int_equal(push_v4(IPPROTO_UDP, DATAGRAM_LEN, 0), 0);
	assert_int_equal(got.frames, 1);
	assert_int_equal(got.datagrams, 1);
	assert_int_equal(push_v4(47, 4, 0), 0); /* a protocol that nobody knows */
	assert_int_equal(got.datagrams, 2);
	assert_int_equal(push(frame, 3, 0x0800), 0); /* no packet, but a frame */
	assert_int_equal(got.frames, 3);
	assert_int_equal(stats().malformed, 1);
	assert_int_equal(push(arp, sizeof(arp), 0x0806), 0);
	assert_int_equal(got.frames, 4);
	assert_int_equal(stream_push(stream, &ev), 0);
	assert_int_equal(got.frames, 4);
	got.answer = -EIO;
	assert_int_equal(push(arp, sizeof(arp), 0x0806), -EIO);
	stream_free(stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tcp),
		cmocka_unit_test(test_every_order),
		cmocka_unit_test(test_syn),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_too_much_waits),
		cmocka_unit_test(test_large_early_segment),
		cmocka_unit_test(test_flow_eviction),
		cmocka_unit_test(test_cut_record),
		cmocka_unit_test(test_fragments),
		cmocka_unit_test(test_fragmented_tcp),
		cmocka_unit_test(test_fragments_bounded),
		cmocka_unit_test(test_other_kinds),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}

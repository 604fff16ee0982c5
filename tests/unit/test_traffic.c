// SPDX-License-Identifier: Apache-2.0
/* Who talked with whom, and what was asked for: every frame counts once, also in tables that are
 * too small; names are found however they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <linux/if_ether.h>
#include <netinet/in.h>
#include <cmocka.h>

#include "user/live/carry.h"
#include "user/live/traffic.h"

#define SYN TCP_FLAG_SYN
#define ACK TCP_FLAG_ACK
#define IP_HEADER 20

static struct traffic *traffic;
static uint64_t now_ns;
static uint8_t frame[70000];

static struct {
	uint32_t n;
	uint64_t frames, bytes;
	struct flow_row last;
} evicted;

static void on_evicted(void *arg unused_arg, const struct flow_row *row)
{
	evicted.n++;
	evicted.frames += row->sent.frames + row->received.frames;
	evicted.bytes += row->sent.bytes + row->received.bytes;
	evicted.last = *row;
}

static void open_traffic(struct traffic_opts o)
{
	memset(&evicted, 0, sizeof(evicted));
	now_ns = 1000;
	o.evicted = on_evicted;
	assert_int_equal(traffic_new(&traffic, &o), 0);
}

static struct traffic_totals totals(void)
{
	struct traffic_totals t;

	traffic_totals(traffic, &t);
	return t;
}

static int close_traffic(void **state unused_arg)
{
	traffic_free(traffic);
	traffic = NULL;
	return 0;
}

/* ---- frames ---- */

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

static void push(size_t len, enum direction direction)
{
	struct ev ev = { .type = EV_PACKET, .time_ns = now_ns++ };

	ev.packet.eth_proto = ETH_P_IP;
	ev.packet.data = frame;
	ev.packet.len = ev.packet.data_len = (uint32_t)len;
	assert_int_equal(traffic_push(traffic, &ev, direction), 0);
}

/* An IPv4 packet from 192.0.2.SRC to 192.0.2.DST around what stands behind its header already. */
static void push_v4(uint8_t src, uint8_t dst, uint8_t protocol, size_t len, uint32_t frag)
{
	static const uint8_t net[] = { 192, 0, 2 };

	memset(frame, 0, IP_HEADER);
	frame[0] = 0x45;
	put16(frame + 2, (uint32_t)len + IP_HEADER);
	put16(frame + 4, 99);
	put16(frame + 6, frag);
	frame[8] = 64;
	frame[9] = protocol;
	memcpy(frame + 12, net, 3);
	memcpy(frame + 16, net, 3);
	frame[15] = src;
	frame[19] = dst;
	push(len + IP_HEADER, DIRECTION_UNKNOWN);
}

static void udp(uint8_t src, uint32_t sport, uint8_t dst, uint32_t dport, const void *data,
		size_t len)
{
	put16(frame + IP_HEADER, sport);
	put16(frame + IP_HEADER + 2, dport);
	put16(frame + IP_HEADER + 4, (uint32_t)len + 8);
	put16(frame + IP_HEADER + 6, 0);
	memcpy(frame + IP_HEADER + 8, data, len);
	push_v4(src, dst, IPPROTO_UDP, len + 8, 0);
}

static void tcp(uint8_t src, uint32_t sport, uint8_t dst, uint32_t dport, uint32_t seq,
		uint8_t flags, const void *data, size_t len)
{
	uint8_t *h = frame + IP_HEADER;

	memset(h, 0, 20);
	put16(h, sport);
	put16(h + 2, dport);
	put32(h + 4, seq);
	h[12] = 5 << 4;
	h[13] = flags;
	if (len)
		memcpy(h + 20, data, len);
	push_v4(src, dst, IPPROTO_TCP, len + 20, 0);
}

static const struct flow_row *only_flow(void)
{
	assert_int_equal(traffic_flows(traffic), 1);
	return traffic_flow(traffic, 0);
}

/* ---- flows ---- */

static void test_both_ways(void **state unused_arg)
{
	const struct flow_row *r;

	open_traffic((struct traffic_opts){ 0 });
	tcp(1, 40000, 2, 443, 100, SYN, NULL, 0);
	tcp(2, 443, 1, 40000, 500, SYN | ACK, NULL, 0);
	tcp(1, 40000, 2, 443, 101, ACK, "hello", 5);
	tcp(1, 40000, 2, 443, 101, ACK, "hello", 5); /* again: it left twice */
	tcp(2, 443, 1, 40000, 501, ACK, "good day", 8);
	r = only_flow();
	assert_int_equal(r->source[15], 1);
	assert_int_equal(r->destination[15], 2);
	assert_int_equal(r->source_port, 40000);
	assert_int_equal(r->destination_port, 443);
	assert_int_equal(r->source_by, FLOW_SOURCE_SYN);
	assert_int_equal(r->sent.frames, 3);
	assert_int_equal(r->sent.payload, 10);
	assert_int_equal(r->sent.bytes, 3 * 40 + 10);
	assert_int_equal(r->sent.tcp_flags, SYN | ACK);
	assert_int_equal(r->received.frames, 2);
	assert_int_equal(r->received.payload, 8);
	assert_int_equal(r->first_ns, 1000);
	assert_int_equal(r->last_ns, 1004);
	assert_false(r->v6);
}

static void test_who_began(void **state unused_arg)
{
	const struct flow_row *r;

	open_traffic((struct traffic_opts){ 0 });
	tcp(2, 443, 1, 40000, 500, SYN | ACK, NULL, 0); /* an answer to what was not seen */
	r = only_flow();
	assert_int_equal(r->source[15], 1);
	assert_int_equal(r->source_by, FLOW_SOURCE_SYN);
	assert_int_equal(r->received.frames, 1);
	close_traffic(NULL);

	open_traffic((struct traffic_opts){ 0 });
	tcp(2, 443, 1, 40000, 500, ACK, "x", 1);
	r = only_flow();
	assert_int_equal(r->source[15], 1);
	assert_int_equal(r->source_by, FLOW_SOURCE_PORT);
	close_traffic(NULL);

	open_traffic((struct traffic_opts){ 0 });
	udp(2, 5000, 1, 6000, "x", 1);
	r = only_flow();
	assert_int_equal(r->source[15], 2);
	assert_int_equal(r->source_by, FLOW_SOURCE_FIRST);
}

static void test_told_apart(void **state unused_arg)
{
	open_traffic((struct traffic_opts){ 0 });
	udp(1, 5000, 2, 6000, "x", 1);
	udp(1, 5001, 2, 6000, "x", 1);
	udp(1, 5000, 2, 6001, "x", 1);
	udp(1, 5000, 3, 6000, "x", 1);
	udp(3, 5000, 2, 6000, "x", 1);
	udp(1, 6000, 2, 5000, "x", 1); /* the ports of the first, the other way round */
	tcp(1, 5000, 2, 6000, 1, ACK, "x", 1);
	assert_int_equal(traffic_flows(traffic), 7);
	udp(2, 6000, 1, 5000, "x", 1); /* the first's answer */
	assert_int_equal(traffic_flows(traffic), 7);
}

/* Only the first part of a packet has ports; the others belong to it all the same. */
static void test_fragments(void **state unused_arg)
{
	const struct flow_row *r;

	open_traffic((struct traffic_opts){ 0 });
	memset(frame + IP_HEADER, 0, 1000);
	put16(frame + IP_HEADER, 5000);
	put16(frame + IP_HEADER + 2, 6000);
	push_v4(1, 2, IPPROTO_UDP, 800, 0x2000);
	push_v4(1, 2, IPPROTO_UDP, 400, 800 / 8);
	r = only_flow();
	assert_int_equal(r->destination_port, 6000);
	assert_int_equal(r->sent.frames, 2);
	assert_int_equal(r->sent.payload, 792 + 400);
	assert_int_equal(totals().flows.stray_fragments, 0);
	push_v4(1, 3, IPPROTO_UDP, 400, 800 / 8); /* its first part was not seen */
	assert_int_equal(traffic_flows(traffic), 2);
	assert_int_equal(totals().flows.stray_fragments, 1);
}

/* Where not all of a header was recorded, its ports are known, and how much lies behind it. */
static void test_cut_header(void **state unused_arg)
{
	struct ev ev = { .type = EV_PACKET };
	const struct flow_row *r;

	open_traffic((struct traffic_opts){ 0 });
	tcp(1, 40000, 2, 443, 100, SYN, "0123456789", 10);
	frame[IP_HEADER + 12] = 7 << 4; /* a header of 28 bytes, 2 of payload */
	ev.packet.eth_proto = ETH_P_IP;
	ev.packet.data = frame;
	ev.packet.len = IP_HEADER + 30;
	ev.packet.data_len = IP_HEADER + 20;
	assert_int_equal(traffic_push(traffic, &ev, DIRECTION_UNKNOWN), 0);
	r = only_flow();
	assert_int_equal(r->sent.frames, 2);
	assert_int_equal(r->sent.payload, 10 + 2);
	ev.packet.data_len = IP_HEADER + 4; /* at least 20 */
	assert_int_equal(traffic_push(traffic, &ev, DIRECTION_UNKNOWN), 0);
	r = only_flow();
	assert_int_equal(r->sent.payload, 10 + 2 + 10);
	assert_int_equal(totals().cut, 2);
}

static void test_direction(void **state unused_arg)
{
	static const struct {
		enum direction first, answer, want;
		bool passes;
	} cases[] = {
		{ DIRECTION_OUT, DIRECTION_IN, DIRECTION_OUT, false },
		{ DIRECTION_IN, DIRECTION_OUT, DIRECTION_IN, false },
		{ DIRECTION_UNKNOWN, DIRECTION_IN, DIRECTION_OUT, false },
		{ DIRECTION_UNKNOWN, DIRECTION_UNKNOWN, DIRECTION_UNKNOWN, false },
		{ DIRECTION_OUT, DIRECTION_OUT, DIRECTION_OUT, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct flow_row *r;

		open_traffic((struct traffic_opts){ 0 });
		udp(1, 5000, 2, 6000, "x", 1);
		push(IP_HEADER + 9, cases[i].first);
		udp(2, 6000, 1, 5000, "x", 1);
		push(IP_HEADER + 9, cases[i].answer);
		r = only_flow();
		assert_int_equal(r->direction, cases[i].want);
		assert_int_equal(r->passes, cases[i].passes);
		close_traffic(NULL);
	}
}

/* ---- the account ---- */

/* frames = those of the rows + those of evicted rows + not IP + malformed, and so the bytes. */
static void check_account(void)
{
	struct traffic_totals t = totals();
	uint64_t frames = 0, bytes = 0;

	for (uint32_t i = 0; i < traffic_flows(traffic); i++) {
		const struct flow_row *r = traffic_flow(traffic, i);

		frames += r->sent.frames + r->received.frames;
		bytes += r->sent.bytes + r->received.bytes;
	}
	assert_int_equal(t.frames, frames + t.flows.evicted_frames + t.not_ip + t.malformed);
	assert_int_equal(t.flows.flows, traffic_flows(traffic) + t.flows.evicted);
	assert_int_equal(t.flows.evicted, evicted.n);
	assert_int_equal(t.flows.evicted_frames, evicted.frames);
	assert_int_equal(t.flows.evicted_bytes, evicted.bytes);
	if (!t.not_ip && !t.malformed)
		assert_int_equal(t.bytes, bytes + t.flows.evicted_bytes);
}

static void test_eviction(void **state unused_arg)
{
	open_traffic((struct traffic_opts){ .flows = 4 });
	for (uint32_t i = 0; i < 100; i++) {
		udp(1, 1000 + i % 7, 2, 6000, "abc", i % 4);
		udp(2, 6000, 1, 1000 + i % 3, "abc", 3);
		check_account();
	}
	assert_int_equal(traffic_flows(traffic), 4);
	assert_true(evicted.n > 50);
	assert_int_equal(totals().frames, 200);
}

static void test_oldest_goes(void **state unused_arg)
{
	open_traffic((struct traffic_opts){ .flows = 2 });
	udp(1, 2001, 2, 6000, "x", 1);
	udp(1, 2002, 2, 6000, "x", 1);
	udp(1, 2001, 2, 6000, "x", 1);
	udp(1, 2003, 2, 6000, "x", 1);
	assert_int_equal(evicted.n, 1);
	assert_int_equal(evicted.last.source_port, 2002);
	check_account();
}

static void test_no_packets(void **state unused_arg)
{
	struct ev ev = { .type = EV_PACKET };

	open_traffic((struct traffic_opts){ 0 });
	memset(frame, 0, sizeof(frame));
	ev.packet.data = frame;
	ev.packet.data_len = ev.packet.len = 28;
	ev.packet.eth_proto = ETH_P_ARP;
	assert_int_equal(traffic_push(traffic, &ev, DIRECTION_UNKNOWN), 0);
	ev.packet.eth_proto = ETH_P_IP; /* of version 0 */
	assert_int_equal(traffic_push(traffic, &ev, DIRECTION_UNKNOWN), 0);
	ev.packet.len = 100;
	assert_int_equal(traffic_push(traffic, &ev, DIRECTION_UNKNOWN), 0);
	assert_int_equal(totals().not_ip, 1);
	assert_int_equal(totals().malformed, 2);
	assert_int_equal(totals().cut, 1);
	assert_int_equal(totals().bytes, 28 + 28 + 100);
	check_account();
}

/* ---- DNS ---- */

/* A name of labels apart from each other by dots. */
static size_t put_name(uint8_t *out, const char *name)
{
	size_t at = 0;

	while (*name) {
		size_t n = strcspn(name, ".");

		out[at++] = (uint8_t)n;
		memcpy(out + at, name, n);
		at += n;
		name += n + (name[n] == '.');
	}
	out[at++] = 0;
	return at;
}

static size_t question(uint8_t *out, const char *name, uint32_t type)
{
	size_t at = 12;

	memset(out, 0, 12);
	put16(out, 0x1234);
	put16(out + 4, 1);
	at += put_name(out + at, name);
	put16(out + at, type);
	put16(out + at + 2, 1);
	return at + 4;
}

/* The question with a CNAME and an address 192.0.2.LAST behind it. */
static size_t answer(uint8_t *out, const char *name, const char *alias, uint8_t last)
{
	size_t at = question(out, name, 1), len;

	put16(out + 2, 0x8180);
	put16(out + 6, 2);
	put16(out + at, 0xc00c);
	put16(out + at + 2, 5);
	put16(out + at + 4, 1);
	put32(out + at + 6, 60);
	len = put_name(out + at + 12, alias);
	put16(out + at + 10, (uint32_t)len);
	at += 12 + len;
	at += put_name(out + at, alias);
	put16(out + at, 1);
	put16(out + at + 2, 1);
	put32(out + at + 4, 60);
	put16(out + at + 8, 4);
	memcpy(out + at + 10, (const uint8_t[]){ 192, 0, 2, last }, 4);
	return at + 14;
}

static void name_is(const struct dns_name *name, const char *want)
{
	char text[DNS_TEXT_MAX];

	assert_string_equal(dns_name_text(name, text), want);
}

static const struct name_question *only_question(void)
{
	assert_int_equal(names_count(traffic_names(traffic)), 1);
	return names_row(traffic_names(traffic), 0);
}

static void flow_named(const struct flow_row *r, enum flow_named named, const char *want)
{
	assert_int_equal(r->named, named);
	/* a name of the wire ends with the root */
	assert_int_equal(r->name_len, strlen(want) + (named == FLOW_NAMED_DNS));
	assert_memory_equal(r->name, want, strlen(want));
}

static const struct flow_row *flow_to(uint32_t port)
{
	for (uint32_t i = 0; i < traffic_flows(traffic); i++)
		if (traffic_flow(traffic, i)->destination_port == port)
			return traffic_flow(traffic, i);
	fail_msg("no flow to port %u", port);
	return NULL;
}

static void test_dns(void **state unused_arg)
{
	const struct name_question *q;
	uint8_t message[512];
	size_t len;

	open_traffic((struct traffic_opts){ 0 });
	udp(1, 5000, 9, 53, message, question(message, "Files.Example.ORG", 1));
	q = only_question();
	name_is(&q->name, "files.example.org");
	assert_int_equal(q->rcode, NAMES_NO_ANSWER);
	len = answer(message, "files.example.org", "cdn.example", 7);
	udp(9, 53, 1, 5000, message, len);
	q = only_question();
	assert_int_equal(q->asked, 1);
	assert_int_equal(q->answered, 1);
	assert_int_equal(q->rcode, 0);
	assert_int_equal(q->addresses_n, 1);
	assert_int_equal(q->addresses[0][15], 7);
	/* what begins then goes to the name that was asked for */
	udp(1, 6000, 7, 4433, "x", 1);
	flow_named(flow_to(4433), FLOW_NAMED_DNS, "\5files\7example\3org");
	/* a later answer does not rename it */
	len = answer(message, "other.example.org", "cdn.example", 7);
	udp(9, 53, 1, 5001, message, len);
	udp(1, 6000, 7, 4433, "x", 1);
	flow_named(flow_to(4433), FLOW_NAMED_DNS, "\5files\7example\3org");
	udp(1, 6000, 7, 4434, "x", 1);
	flow_named(flow_to(4434), FLOW_NAMED_DNS, "\5other\7example\3org");
	assert_int_equal(totals().names.messages, 3);
	assert_int_equal(totals().names.malformed, 0);
}

static void test_dns_not(void **state unused_arg)
{
	uint8_t message[512];
	size_t len = answer(message, "files.example.org", "cdn.example", 7);

	open_traffic((struct traffic_opts){ 0 });
	udp(1, 5000, 9, 5454, message, len); /* another port */
	assert_int_equal(names_count(traffic_names(traffic)), 0);
	udp(9, 53, 1, 5000, message, len - 3); /* cut: the question counts */
	assert_int_equal(only_question()->answered, 1);
	assert_int_equal(only_question()->addresses_n, 0);
	assert_int_equal(totals().names.malformed, 1);
	message[2] = 1; /* it says that it is a question: its records name nothing */
	udp(9, 53, 1, 5000, message, len);
	assert_int_equal(only_question()->addresses_n, 0);
	assert_int_equal(only_question()->asked, 1);
}

/* Answers beyond what a row keeps: the latest are kept. */
static void test_dns_many_addresses(void **state unused_arg)
{
	uint8_t message[512];

	open_traffic((struct traffic_opts){ 0 });
	for (uint8_t i = 1; i <= NAMES_ADDRESSES_MAX + 2; i++) {
		udp(9, 53, 1, 5000, message, answer(message, "a.example", "b.example", i));
		udp(9, 53, 1, 5000, message, answer(message, "a.example", "b.example", i));
	}
	assert_int_equal(only_question()->addresses_n, NAMES_ADDRESSES_MAX + 2);
	assert_int_equal(only_question()->addresses[0][15], NAMES_ADDRESSES_MAX + 1);
	assert_int_equal(only_question()->addresses[2][15], 3);
}

static void test_dns_eviction(void **state unused_arg)
{
	char name[] = "a.example";
	uint8_t message[512];

	open_traffic((struct traffic_opts){ .questions = 3, .addresses = 2 });
	for (uint8_t i = 0; i < 10; i++) {
		name[0] = (char)('a' + i);
		udp(9, 53, 1, 5000, message, answer(message, name, "x.example", i));
	}
	assert_int_equal(names_count(traffic_names(traffic)), 3);
	assert_int_equal(totals().names.questions_evicted, 7);
	assert_int_equal(totals().names.addresses_evicted, 8);
}

/* Two messages behind each other, each behind its length, in pieces of every size. */
static void test_dns_tcp(void **state unused_arg)
{
	uint8_t stream[1024];
	size_t first = question(stream + 2, "one.example", 28), len = 2 + first;

	put16(stream, (uint32_t)first);
	first = question(stream + len + 2, "two.example", 16);
	put16(stream + len, (uint32_t)first);
	len += 2 + first;
	for (size_t step = 1; step <= len; step++) {
		open_traffic((struct traffic_opts){ 0 });
		tcp(1, 5000, 9, 53, 99, SYN, NULL, 0);
		for (size_t at = 0; at < len; at += step)
			tcp(1, 5000, 9, 53, (uint32_t)(100 + at), ACK, stream + at,
			    MIN(step, len - at));
		assert_int_equal(names_count(traffic_names(traffic)), 2);
		name_is(&names_row(traffic_names(traffic), 1)->name, "two.example");
		assert_int_equal(totals().names.messages, 2);
		assert_int_equal(totals().messages_lost, 0);
		close_traffic(NULL);
	}
}

/* A message that no buffer holds is skipped, to the byte. */
static void test_dns_tcp_long(void **state unused_arg)
{
	static uint8_t stream[2 + 30000 + 600];
	size_t len = 2 + 30000;

	memset(stream, 0xff, sizeof(stream));
	put16(stream, 30000);
	put16(stream + len, (uint32_t)question(stream + len + 2, "next.example", 1));
	len += 2 + question(stream + len + 2, "next.example", 1);
	for (size_t step = 1; step <= len; step = step * 3 + 1) {
		open_traffic((struct traffic_opts){ 0 });
		tcp(1, 5000, 9, 53, 99, SYN, NULL, 0);
		for (size_t at = 0; at < len; at += step)
			tcp(1, 5000, 9, 53, (uint32_t)(100 + at), ACK, stream + at,
			    MIN(step, len - at));
		name_is(&only_question()->name, "next.example");
		assert_int_equal(totals().messages_lost, 1);
		close_traffic(NULL);
	}
}

/* ---- what a client says ---- */

static void test_http_in_pieces(void **state unused_arg)
{
	static const char request[] = "GET /long/path HTTP/1.1\r\nHost: www.example.org\r\n\r\n";
	size_t len = sizeof(request) - 1;

	for (size_t step = 1; step <= len; step++) {
		open_traffic((struct traffic_opts){ 0 });
		tcp(1, 40000, 2, 80, 99, SYN, NULL, 0);
		for (size_t at = 0; at < len; at += step)
			tcp(1, 40000, 2, 80, (uint32_t)(100 + at), ACK, request + at,
			    MIN(step, len - at));
		flow_named(only_flow(), FLOW_NAMED_HTTP, "www.example.org");
		assert_int_equal(totals().messages_lost, 0);
		close_traffic(NULL);
	}
}

/* A destination does not name itself, and endless fields are given up. */
static void test_no_server_name(void **state unused_arg)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: liar.example\r\n\r\n";
	static char endless[3 * CARRY_BYTES];

	open_traffic((struct traffic_opts){ 0 });
	tcp(1, 40000, 2, 80, 99, SYN, NULL, 0);
	tcp(2, 80, 1, 40000, 499, SYN | ACK, NULL, 0);
	tcp(2, 80, 1, 40000, 500, ACK, request, sizeof(request) - 1);
	assert_int_equal(only_flow()->named, FLOW_NAMED_NOT);
	memset(endless, 'a', sizeof(endless));
	memcpy(endless, "GET ", 4);
	for (size_t at = 0; at < sizeof(endless); at += 1000)
		tcp(1, 40000, 2, 80, (uint32_t)(100 + at), ACK, endless + at,
		    MIN((size_t)1000, sizeof(endless) - at));
	assert_int_equal(only_flow()->named, FLOW_NAMED_NOT);
	assert_int_equal(totals().messages_lost, 1);
}

/* More streams at once than there are buffers: some names are missing, and that shows. */
static void test_too_few_buffers(void **state unused_arg)
{
	uint32_t named = 0;

	open_traffic((struct traffic_opts){ .carries = 2 });
	for (uint32_t i = 0; i < 5; i++)
		tcp(1, 40000 + i, 2, 80, 100, ACK, "GET / HTTP/1.1\r\n", 16);
	for (uint32_t i = 0; i < 5; i++)
		tcp(1, 40000 + i, 2, 80, 116, ACK, "Host: a.example\r\n", 17);
	for (uint32_t i = 0; i < traffic_flows(traffic); i++)
		named += traffic_flow(traffic, i)->named == FLOW_NAMED_HTTP;
	assert_int_equal(named, 2);
	assert_int_equal(totals().messages_lost, 3);
}

/* Where what was left over had to make room, nobody knows where the next message begins. */
static void test_lost_place(void **state unused_arg)
{
	uint8_t message[512];
	size_t len = question(message + 2, "hidden.example", 1);

	open_traffic((struct traffic_opts){ .carries = 1 });
	put16(message, (uint32_t)len);
	tcp(1, 5000, 9, 53, 100, ACK, "\2\0abc", 5);
	tcp(1, 5001, 9, 53, 100, ACK, "\2\0abc", 5);
	/* in the middle of the first stream's message */
	tcp(1, 5000, 9, 53, 105, ACK, message, len + 2);
	assert_int_equal(names_count(traffic_names(traffic)), 0);
	assert_int_equal(totals().messages_lost, 1);
}

#define TRAFFIC_TEST(test) cmocka_unit_test_teardown(test, close_traffic)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRAFFIC_TEST(test_both_ways),	   TRAFFIC_TEST(test_who_began),
		TRAFFIC_TEST(test_told_apart),	   TRAFFIC_TEST(test_fragments),
		TRAFFIC_TEST(test_direction),	   TRAFFIC_TEST(test_cut_header),
		TRAFFIC_TEST(test_eviction),	   TRAFFIC_TEST(test_oldest_goes),
		TRAFFIC_TEST(test_no_packets),	   TRAFFIC_TEST(test_dns),
		TRAFFIC_TEST(test_dns_not),	   TRAFFIC_TEST(test_dns_many_addresses),
		TRAFFIC_TEST(test_dns_eviction),   TRAFFIC_TEST(test_dns_tcp),
		TRAFFIC_TEST(test_dns_tcp_long),   TRAFFIC_TEST(test_http_in_pieces),
		TRAFFIC_TEST(test_no_server_name), TRAFFIC_TEST(test_too_few_buffers),
		TRAFFIC_TEST(test_lost_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

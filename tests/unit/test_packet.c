// SPDX-License-Identifier: Apache-2.0
/* Frames taken apart: good ones field by field, bad ones refused at every length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "user/decode/packet.h"

#define FRAME_MAX 256

struct frame {
	uint8_t b[FRAME_MAX];
	size_t len;
};

/* "08 00|45 ..." : hexadecimal digits; everything else only makes it readable. */
static struct frame frame_of(const char *text)
{
	struct frame f = { .len = 0 };
	char pair[3] = { 0 };
	size_t n = 0;

	for (; *text; text++) {
		if (!strchr("0123456789abcdef", *text))
			continue;
		pair[n++] = *text;
		if (n < 2)
			continue;
		n = 0;
		assert_in_range(f.len, 0, FRAME_MAX - 1);
		assert_int_equal(hex_decode(&f.b[f.len++], 1, pair), 0);
	}
	assert_int_equal(n, 0);
	return f;
}

#define ETH(type) "020000000001 020000000002 " type "|"
/* 10.0.0.2 to 203.0.113.9; ihl/total: first bytes; frag: flags and offset */
#define IP4(ihl, total, frag, proto) ihl "00" total "0007" frag "40" proto "0000 0a000002 cb007109|"
#define IP6(len, next)                                                                             \
	"60000000" len next "40 20010db8 00000000 00000000 00000001 "                              \
	"20010db8 01130000 00000000 00000009|"
#define TCP_AT(flags) "9c40 0050 00000064 000000c8 50" flags "0400 0000 0000|"
#define UDP_AT(len) "9c40 0035" len "0000|"

struct want {
	const char *what, *frame;
	uint32_t l2_len, eth_proto; /* as given */
	uint32_t family, protocol;
	bool transport, truncated, fragment;
	uint32_t sport, dport, payload_len, wire_len, frag_offset, vlans;
	enum packet_noise noise;
};

static const struct want wants[] = {
	{ "tcp syn", ETH("0800") IP4("45", "0028", "4000", "06") TCP_AT("02"), 14, 0x0800, AF_INET,
	  6, true, .sport = 40000, .dport = 80 },
	{ "tcp with padding", ETH("0800") IP4("45", "0029", "0000", "06") TCP_AT("18") "aa 000000",
	  14, 0x0800, AF_INET, 6, true, .sport = 40000, .dport = 80, .payload_len = 1,
	  .wire_len = 1 },
	{ "tcp options",
	  ETH("0800") IP4("45", "002e", "0000",
			  "06") "9c40 0050 00000064 000000c8 60 10 0400 0000 0000 01010101 aabb",
	  14, 0x0800, AF_INET, 6, true, .sport = 40000, .dport = 80, .payload_len = 2,
	  .wire_len = 2 },
	{ "ip options",
	  ETH("0800") IP4("46", "0024", "0000", "11") "94040000" UDP_AT("000c") "aabbccdd", 14,
	  0x0800, AF_INET, 17, true, .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 4 },
	{ "udp, no link header", IP4("45", "0020", "0000", "11") UDP_AT("000c") "aabbccdd", 0,
	  0x0800, AF_INET, 17, true, .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 4 },
	{ "udp that lies about its length",
	  IP4("45", "0020", "0000", "11") UDP_AT("0009") "aabbccdd", 0, 0x0800, AF_INET, 17, true,
	  .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 4 },
	{ "cut", IP4("45", "0064", "0000", "11") UDP_AT("0050") "aabbccdd", 0, 0x0800, AF_INET, 17,
	  true, true, .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 72 },
	{ "cut in the header", IP4("45", "0064", "0000", "06") "9c40 0050 0000", 0, 0x0800, AF_INET,
	  6, false, true, .payload_len = 6, .wire_len = 80 },
	{ "big tcp: total 0", IP4("45", "0000", "0000", "11") UDP_AT("000c") "aabbccdd", 0, 0x0800,
	  AF_INET, 17, true, .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 4 },
	{ "first fragment", IP4("45", "0024", "2000", "11") UDP_AT("0050") "aabbccdd00112233", 0,
	  0x0800, AF_INET, 17, true, false, true, .sport = 40000, .dport = 53, .payload_len = 8,
	  .wire_len = 8 },
	{ "last fragment", IP4("45", "0018", "0002", "11") "aabbccdd", 0, 0x0800, AF_INET, 17,
	  false, false, true, .payload_len = 4, .wire_len = 4, .frag_offset = 16 },
	{ "vlan",
	  ETH("8100") "0007 0800|" IP4("45", "0020", "0000", "11") UDP_AT("000c") "aabbccdd", 14,
	  0x8100, AF_INET, 17, true, .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 4,
	  .vlans = 1 },
	{ "two vlans", ETH("88a8") "0007 8100 0008 86dd|" IP6("0008", "11") UDP_AT("0008"), 14, 0,
	  AF_INET6, 17, true, .sport = 40000, .dport = 53, .vlans = 2 },
	{ "udp over v6", ETH("86dd") IP6("000c", "11") UDP_AT("000c") "aabbccdd", 14, 0x86dd,
	  AF_INET6, 17, true, .sport = 40000, .dport = 53, .payload_len = 4, .wire_len = 4 },
	{ "v6 options and routing",
	  IP6("0020", "00") "3c00 0104 00000000|2b00 0104 00000000|"
			    "1100 0400 00000000|" UDP_AT("0008"),
	  0, 0x86dd, AF_INET6, 17, true, .sport = 40000, .dport = 53 },
	{ "v6 atomic fragment", IP6("0010", "2c") "1100 0000 00000007|" UDP_AT("0008"), 0, 0x86dd,
	  AF_INET6, 17, true, .sport = 40000, .dport = 53 },
	{ "v6 fragment",
	  IP6("000c", "2c") "1100 0010 00000007|"
			    "aabbccdd",
	  0, 0x86dd, AF_INET6, 17, false, false, true, .payload_len = 4, .wire_len = 4,
	  .frag_offset = 16 },
	{ "v6 fragment with a chain behind",
	  IP6("0010", "2c") "3c00 0001 00000007|"
			    "1100 0000 00000000",
	  0, 0x86dd, AF_INET6, 60, false, false, true, .payload_len = 8, .wire_len = 8 },
	{ "v6 authentication header",
	  IP6("0014", "33") "1101 0000 00000001 00000002|" UDP_AT("0008"), 0, 0x86dd, AF_INET6, 17,
	  true, .sport = 40000, .dport = 53 },
	{ "v6 no next header", IP6("0004", "3b") "aabbccdd", 0, 0x86dd, AF_INET6, 59, false,
	  .payload_len = 4, .wire_len = 4 },
	{ "unknown protocol", IP4("45", "0018", "0000", "2f") "aabbccdd", 0, 0x0800, AF_INET, 47,
	  false, .payload_len = 4, .wire_len = 4 },
	{ "arp", ETH("0806") "0001 0800 0604 0001 020000000002 0a000002 000000000000 0a000001", 14,
	  0x0806, 0, 0, false, .payload_len = 28, .wire_len = 28, .noise = NOISE_ARP },
	{ "unknown ethernet type", ETH("88b5") "aabb", 14, 0x88b5, 0, 0, false, .payload_len = 2,
	  .wire_len = 2 },
	{ "igmp", IP4("46", "0020", "0000", "02") "94040000 16000000 e00000fb", 0, 0x0800, AF_INET,
	  2, false, .payload_len = 8, .wire_len = 8, .noise = NOISE_IGMP },
	{ "icmp echo", IP4("45", "001c", "0000", "01") "0800 0000 00010001", 0, 0x0800, AF_INET, 1,
	  true, .payload_len = 4, .wire_len = 4 },
	{ "icmp unreachable", IP4("45", "001c", "0000", "01") "0301 0000 00000000", 0, 0x0800,
	  AF_INET, 1, true, .payload_len = 4, .wire_len = 4, .noise = NOISE_ICMP_ERROR },
	{ "router advertisement", IP6("0008", "3a") "8600 0000 00000000", 0, 0x86dd, AF_INET6, 58,
	  true, .payload_len = 4, .wire_len = 4, .noise = NOISE_ND },
	{ "mld behind hop-by-hop", IP6("0010", "00") "3a00 0502 00000100|8f00 0000 00000000", 0,
	  0x86dd, AF_INET6, 58, true, .payload_len = 4, .wire_len = 4, .noise = NOISE_MLD },
	{ "icmpv6 too big", IP6("0008", "3a") "0200 0000 00000500", 0, 0x86dd, AF_INET6, 58, true,
	  .payload_len = 4, .wire_len = 4, .noise = NOISE_ICMP_ERROR },
	{ "icmpv6 echo", IP6("0008", "3a") "8000 0000 00010001", 0, 0x86dd, AF_INET6, 58, true,
	  .payload_len = 4, .wire_len = 4 },
	{ "icmpv6 in v4 is no noise", IP4("45", "001c", "0000", "3a") "8700 0000 00000000", 0,
	  0x0800, AF_INET, 58, true, .payload_len = 4, .wire_len = 4 },
};

static void check(const struct want *w, const struct packet *p)
{
	if (p->family != w->family || p->protocol != w->protocol || p->transport != w->transport ||
	    p->truncated != w->truncated || p->fragment != w->fragment)
		fail_msg("%s: kind", w->what);
	if (p->sport != w->sport || p->dport != w->dport)
		fail_msg("%s: ports %u %u", w->what, p->sport, p->dport);
	if (p->payload_len != w->payload_len || p->wire_len != w->wire_len)
		fail_msg("%s: length %u %u", w->what, p->payload_len, p->wire_len);
	if (p->frag_offset != w->frag_offset || p->vlans != w->vlans)
		fail_msg("%s: offset %u, tags %u", w->what, p->frag_offset, p->vlans);
	if (packet_noise(p) != w->noise)
		fail_msg("%s: noise %d", w->what, packet_noise(p));
}

static void test_good(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
		struct frame f = frame_of(wants[i].frame);
		struct packet p;

		if (packet_parse(f.b, f.len, wants[i].l2_len, wants[i].eth_proto, &p) < 0)
			fail_msg("%s: refused", wants[i].what);
		check(&wants[i], &p);
	}
}

static void test_fields(void **state unused_arg)
{
	struct frame f = frame_of(ETH("0800") IP4("45", "0028", "0000", "06") TCP_AT("12"));
	uint8_t src[16], dst[16];
	struct packet p;

	assert_int_equal(packet_parse(f.b, f.len, 14, 0, &p), 0);
	assert_int_equal(parse_addr("10.0.0.2", src), 0);
	assert_int_equal(parse_addr("203.0.113.9", dst), 0);
	assert_memory_equal(p.src, src, 16);
	assert_memory_equal(p.dst, dst, 16);
	assert_int_equal(p.ttl, 64);
	assert_int_equal(p.tcp_flags, TCP_FLAG_SYN | TCP_FLAG_ACK);
	assert_int_equal(p.tcp_seq, 100);
	assert_int_equal(p.tcp_ack, 200);
	assert_int_equal(p.frag_id, 7);
	assert_true(packet_is_bare_tcp(&p));

	f = frame_of(IP6("0009", "11") UDP_AT("0009") "aa");
	assert_int_equal(packet_parse(f.b, f.len, 0, 0x86dd, &p), 0);
	assert_int_equal(parse_addr("2001:db8::1", src), 0);
	assert_int_equal(parse_addr("2001:db8:113::9", dst), 0);
	assert_memory_equal(p.src, src, 16);
	assert_memory_equal(p.dst, dst, 16);
	assert_int_equal(p.payload[0], 0xaa);
	assert_false(packet_is_bare_tcp(&p));
}

static void test_bad(void **state unused_arg)
{
	static const struct {
		const char *what, *frame;
		uint32_t l2_len, eth_proto;
	} cases[] = {
		{ "empty", "", 0, 0x0800 },
		{ "no room for the link header", "020000", 14, 0x0800 },
		{ "version", IP4("65", "0028", "0000", "06") TCP_AT("02"), 0, 0x0800 },
		{ "header length", IP4("44", "0028", "0000", "06") TCP_AT("02"), 0, 0x0800 },
		{ "total below header", IP4("46", "0014", "0000", "06") "01010101", 0, 0x0800 },
		{ "options beyond the end", IP4("4f", "0050", "0000", "06") "01010101", 0, 0x0800 },
		{ "tcp header length",
		  IP4("45", "0028", "0000",
		      "06") "9c40 0050 00000064 000000c8 40 02 0400 0000 0000",
		  0, 0x0800 },
		{ "tcp options beyond the end",
		  IP4("45", "0028", "0000",
		      "06") "9c40 0050 00000064 000000c8 60 02 0400 0000 0000",
		  0, 0x0800 },
		{ "v6 version", "40000000 0000 3b40", 0, 0x86dd },
		{ "v6 extension beyond the end", IP6("0008", "00") "1101 0104 00000000", 0,
		  0x86dd },
		{ "v6 extension of one byte", IP6("0001", "00") "11", 0, 0x86dd },
		{ "nine extensions",
		  IP6("0048", "3c") "3c000104 00000000 3c000104 00000000 "
				    "3c000104 00000000 3c000104 00000000 3c000104 00000000 "
				    "3c000104 00000000 "
				    "3c000104 00000000 3c000104 00000000 3b000104 00000000",
		  0, 0x86dd },
		{ "five vlans", ETH("8100") "00018100 00018100 00018100 00018100 00010800 00", 14,
		  0x8100 },
		{ "half a vlan tag", ETH("8100") "0001", 14, 0x8100 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct frame f = frame_of(cases[i].frame);
		struct packet p = { .family = 12345 };

		if (packet_parse(f.b, f.len, cases[i].l2_len, cases[i].eth_proto, &p) != -EBADMSG)
			fail_msg("%s: accepted", cases[i].what);
		assert_int_equal(p.family, 12345); /* untouched */
	}
}

/* Every good frame, cut at every length, in memory that ends there. */
static void test_every_length(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(wants); i++) {
		struct frame f = frame_of(wants[i].frame);

		for (size_t len = 0; len <= f.len; len++) {
			cleanup_free uint8_t *exact = malloc(len + !len);
			struct packet p;

			assert_non_null(exact);
			memcpy(exact, f.b, len);
			if (packet_parse(exact, len, wants[i].l2_len, wants[i].eth_proto, &p) < 0)
				continue;
			assert_true(p.l4_len <= len && p.payload_len <= p.l4_len);
			assert_ptr_equal(p.payload + p.payload_len, p.l4 + p.l4_len);
			assert_true(p.wire_len >= p.payload_len);
		}
	}
}

/* What was put together is walked again from where the parts' own headers ended. */
static void test_l4(void **state unused_arg)
{
	struct frame f = frame_of("1100 0000 00000000|" UDP_AT("0009") "aa");
	struct packet p = { .family = AF_INET6,
			    .protocol = IPPROTO_DSTOPTS,
			    .fragment = true,
			    .frag_more = true,
			    .l4 = f.b,
			    .l4_len = (uint32_t)f.len };
	struct packet q;

	assert_int_equal(packet_parse_l4(&p), 0);
	assert_false(p.fragment);
	assert_int_equal(p.protocol, IPPROTO_UDP);
	assert_int_equal(p.dport, 53);
	assert_int_equal(p.payload_len, 1);

	f = frame_of("1100 0001 00000007|" UDP_AT("0008"));
	q = (struct packet){ .family = AF_INET6,
			     .protocol = IPPROTO_FRAGMENT,
			     .l4 = f.b,
			     .l4_len = (uint32_t)f.len };
	assert_int_equal(packet_parse_l4(&q), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good), cmocka_unit_test(test_fields),
		cmocka_unit_test(test_bad),  cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_l4),
	};

	return cmocka_run_group_tests_name("packet", tests, NULL, NULL);
}

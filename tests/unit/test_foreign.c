// SPDX-License-Identifier: Apache-2.0
/* Captures of other tools: whose a file is, however it was damaged, and what is in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <linux/if_ether.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "user/record/capture.h"
#include "user/record/foreign.h"
#include "user/record/origin.h"
#include "user/record/pcapng.h"

#define DLT_ETHERNET 1
#define PACKET "{\"type\":\"packet\",\"id\":\"7\"}"

static struct {
	uint8_t data[1 << 17];
	size_t len;
	bool swap; /* the other byte order */
	int fd;
	char path[64];
} file;

static void put(const void *data, size_t len)
{
	assert_in_range(file.len + len, 0, sizeof(file.data));
	memcpy(file.data + file.len, data, len);
	file.len += len;
}

static void put16(uint16_t v)
{
	v = file.swap ? __builtin_bswap16(v) : v;
	put(&v, sizeof(v));
}

static void put32(uint32_t v)
{
	v = file.swap ? __builtin_bswap32(v) : v;
	put(&v, sizeof(v));
}

static void pad(void)
{
	while (file.len % 4)
		put("", 1);
}

static void begin(bool swap)
{
	file.len = 0;
	file.swap = swap;
}

static const char *finish(void)
{
	if (file.fd)
		(void)close(file.fd);
	file.fd = memfd_create("capture", MFD_CLOEXEC);
	assert_true(file.fd > 0);
	assert_int_equal(write_all(file.fd, file.data, file.len), 0);
	(void)str_format(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file.path;
}

/* ---- pcapng ---- */

static size_t block(uint32_t type)
{
	put32(type);
	put32(0);
	return file.len - 8;
}

static void end_block(size_t at)
{
	size_t len = file.len + 4 - at;

	file.len = at + 4;
	put32((uint32_t)len);
	file.len = at + len - 4;
	put32((uint32_t)len);
}

static void option(uint16_t code, const char *text)
{
	put16(code);
	put16((uint16_t)strlen(text));
	put(text, strlen(text));
	pad();
}

static void section(const char *application)
{
	size_t at = block(PCAPNG_SHB);

	put32(PCAPNG_MAGIC);
	put16(1);
	put16(0);
	put32(UINT32_MAX);
	put32(UINT32_MAX);
	option(PCAPNG_OPT_COMMENT, "a comment");
	option(PCAPNG_SHB_USERAPPL, application);
	put32(0);
	end_block(at);
}

static void interface(uint16_t link)
{
	size_t at = block(PCAPNG_IDB);

	put16(link);
	put16(0);
	put32(262144);
	end_block(at);
}

struct beside { /* what stands beside a packet */
	uint32_t interface, flags;
	const char *comment;
};

static void packet_with(const void *data, uint32_t len, struct beside o)
{
	size_t at = block(PCAPNG_EPB);

	put32(o.interface);
	put32(0x0006158f); /* microseconds since 1970, high half first */
	put32(0x8d4f0000);
	put32(len);
	put32(len + 10);
	put(data, len);
	pad();
	if (o.comment)
		option(PCAPNG_OPT_COMMENT, o.comment);
	if (o.flags) {
		put16(PCAPNG_EPB_FLAGS);
		put16(4);
		put32(o.flags);
	}
	end_block(at);
}

static void packet(const void *data, uint32_t len, const char *comment)
{
	packet_with(data, len, (struct beside){ .comment = comment });
}

static void journal(const char *text)
{
	size_t at = block(PCAPNG_JOURNAL);

	put(text, strlen(text));
	pad();
	end_block(at);
}

/* ---- pcap ---- */

static void pcap_head(uint32_t magic, uint32_t link)
{
	put32(magic);
	put16(2);
	put16(4);
	put32(0);
	put32(0);
	put32(262144);
	put32(link);
}

static void pcap_packet(uint32_t sec, uint32_t fraction, const void *data, uint32_t len)
{
	put32(sec);
	put32(fraction);
	put32(len);
	put32(len);
	put(data, len);
}

/* ---- whose it is ---- */

static void origin_is(enum origin want)
{
	enum origin got = ORIGIN_UNKNOWN;

	assert_int_equal(origin_of(finish(), &got), 0);
	assert_int_equal(got, want);
}

static void others(void)
{
	section("Dumpcap (Wireshark)");
	interface(DLT_ETHERNET);
	packet("abc", 3, NULL);
}

static void test_origin_others(void **state unused_arg)
{
	static const uint32_t magics[] = { 0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34 };

	for (int swap = 0; swap < 2; swap++) {
		begin(swap);
		others();
		packet("SENTINEL={\"type\":\"seal\"}", 24, "PID: 1 Cmd: sentinel");
		journal("MESSAGE=sentinel\nNOTSENTINEL=1\n");
		origin_is(ORIGIN_PCAPNG);
		for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
			begin(swap);
			pcap_head(magics[i], DLT_ETHERNET);
			origin_is(ORIGIN_PCAP);
		}
	}
}

/* Any one mark is enough, wherever it is. */
static void test_origin_ours(void **state unused_arg)
{
	for (int swap = 0; swap < 2; swap++) {
		begin(swap);
		section("sentinel");
		origin_is(ORIGIN_OURS);
		begin(swap);
		others();
		journal("__REALTIME_TIMESTAMP=1\nSENTINEL={}\n");
		origin_is(ORIGIN_OURS);
		begin(swap);
		others();
		journal("SENTINEL_RUN=01M8R6NZ76VN2RA0FZCXTSBDM8\n");
		origin_is(ORIGIN_OURS);
		begin(swap);
		others();
		packet("abcd", 4, PACKET);
		origin_is(ORIGIN_OURS);
		begin(swap);
		others();
		section("sentinel 2"); /* behind another's, by cat */
		origin_is(ORIGIN_OURS);
	}
}

static void test_origin_neither(void **state unused_arg)
{
	enum origin got;

	begin(false);
	origin_is(ORIGIN_UNKNOWN);
	put("abc", 3);
	origin_is(ORIGIN_UNKNOWN);
	put("defghijklmnopqrstuvwxyz", 23);
	origin_is(ORIGIN_UNKNOWN);
	begin(false);
	others();
	file.data[8] ^= 1; /* the magic of the section */
	origin_is(ORIGIN_UNKNOWN);
	assert_int_equal(origin_of("/nowhere/at-all", &got), -ENOENT);
	assert_int_equal(origin_of("/", &got), -EISDIR);
	assert_int_equal(origin_of("/dev/zero", &got), -EMEDIUMTYPE);
}

/* Marks behind what can't be followed are found byte by byte, also across the search's window. */
static void test_origin_behind_damage(void **state unused_arg)
{
	static const char mark[] = "SENTINEL_RUN=x\n";
	size_t broken;

	begin(false);
	others();
	broken = file.len;
	packet("abcd", 4, NULL);
	journal(mark);
	file.data[broken + 4] = 99; /* the block's length */
	origin_is(ORIGIN_OURS);
	file.len -= 20; /* the mark is cut */
	origin_is(ORIGIN_PCAPNG);
}

static void test_origin_across_window(void **state unused_arg)
{
	static const char mark[] = "\nSENTINEL_RUN=x\n";
	static const uint8_t zero[1 << 14];
	enum origin got;

	for (int back = 0; back <= 32; back++) {
		begin(false);
		others();
		put32(0x12345678); /* no block */
		put32(3);
		(void)finish();
		for (size_t left = (1u << 20) - 8 - (size_t)back; left;) {
			size_t n = MIN(left, sizeof(zero));

			assert_int_equal(write_all(file.fd, zero, n), 0);
			left -= n;
		}
		assert_int_equal(write_all(file.fd, mark, sizeof(mark) - 1), 0);
		assert_int_equal(origin_of(file.path, &got), 0);
		assert_int_equal(got, ORIGIN_OURS);
	}
}

/* What the recorder itself writes, with each byte flipped and cut at each place: never another's.
 */
static void check_real(const char *data, size_t len)
{
	enum origin got;

	begin(false);
	put(data, len);
	assert_int_equal(origin_of(finish(), &got), 0);
	assert_true(got == ORIGIN_OURS || got == ORIGIN_UNKNOWN);
}

static void test_origin_real(void **state unused_arg)
{
	char dir[] = "/tmp/test-foreign-XXXXXX", path[128];
	struct ev ev = { .type = EV_RUN_BEGIN };
	struct capture_writer *w;
	cleanup_free char *data = NULL;
	struct diag d;
	size_t len;

	assert_non_null(mkdtemp(dir));
	ev.run_begin.lanes = 1;
	(void)str_copy(ev.run_begin.run, sizeof(ev.run_begin.run), "01M8R6NZ76VN2RA0FZCXTSBDM8");
	assert_int_equal(capture_create(&w, dir, &d), 0);
	assert_int_equal(capture_put(w, &ev, NULL, NULL), 0);
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);
	(void)str_format(path, sizeof(path), "%s/capture-000001.pcapng", dir);
	assert_int_equal(read_file(path, sizeof(file.data), &data, &len), 0);
	for (size_t i = 0; i < len; i++) {
		data[i] ^= 0x10;
		check_real(data, len);
		data[i] ^= 0x10;
		check_real(data, i);
	}
	(void)unlink(path);
	(void)rmdir(dir);
}

/* ---- what is in it ---- */

struct got {
	uint32_t n;
	struct ev last;
	uint8_t data[64];
	enum direction direction;
	int answer;
};

static int collect(void *arg, const struct ev *ev, enum direction direction)
{
	struct got *g = arg;

	g->n++;
	g->last = *ev;
	assert_in_range(ev->packet.data_len, 0, sizeof(g->data));
	memcpy(g->data, ev->packet.data, ev->packet.data_len);
	g->direction = direction;
	return g->answer;
}

static int read_it(struct got *g, struct foreign_report *r, struct diag *d)
{
	memset(g, 0, sizeof(*g));
	return foreign_read(finish(), collect, g, r, d);
}

static void test_read_pcapng(void **state unused_arg)
{
	struct foreign_report r;
	struct got g;
	struct diag d;

	for (int swap = 0; swap < 2; swap++) {
		begin(swap);
		others();
		journal("MESSAGE=x\n");
		packet("wxyz", 4, "PID: 1");
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_false(r.cut);
		assert_int_equal(r.packets, 2);
		assert_int_equal(g.n, 2);
		assert_string_equal(r.link, "EN10MB (Ethernet)");
		assert_int_equal(g.last.id, 2);
		assert_int_equal(g.last.time_ns, 0x0006158f8d4f0000ull * 1000);
		assert_int_equal(g.last.packet.data_len, 4);
		assert_int_equal(g.last.packet.len, 14);
		assert_int_equal(g.last.packet.l2_len, ETH_HLEN);
		assert_memory_equal(g.data, "wxyz", 4);
	}
}

static void test_read_pcap(void **state unused_arg)
{
	struct foreign_report r;
	struct got g;
	struct diag d;

	for (int swap = 0; swap < 2; swap++) {
		begin(swap);
		pcap_head(0xa1b2c3d4, DLT_ETHERNET);
		pcap_packet(10, 999999, "abc", 3);
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_int_equal(g.last.time_ns, 10999999000ull);
		begin(swap);
		pcap_head(0xa1b23c4d, DLT_ETHERNET);
		pcap_packet(10, 123456789, "abc", 3);
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_int_equal(g.last.time_ns, 10123456789ull);
		assert_int_equal(g.last.packet.len, 3);
	}
}

/* All whole packets, then the word that it is cut. */
static void test_read_cut(void **state unused_arg)
{
	struct foreign_report r;
	struct got g;
	struct diag d;
	size_t whole;

	begin(false);
	pcap_head(0xa1b2c3d4, DLT_ETHERNET);
	pcap_packet(1, 0, "abc", 3);
	pcap_packet(2, 0, "abc", 3);
	whole = file.len;
	pcap_packet(3, 0, "abc", 3);
	for (size_t left = file.len - whole - 1; left > 0; left--) {
		file.len = whole + left;
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_int_equal(g.n, 2);
		assert_true(r.cut);
		assert_string_not_equal(r.text, "");
	}
	file.len = whole;
	assert_int_equal(read_it(&g, &r, &d), 0);
	assert_false(r.cut);
	assert_string_equal(r.text, "");
	file.len = 10;
	assert_int_equal(read_it(&g, &r, &d), -EBADMSG);
	assert_string_not_equal(d.text, "");
}

static void test_read_links(void **state unused_arg)
{
	static const struct {
		const char *what;
		uint32_t link;
		const char *data;
		uint32_t len;
		uint32_t l2_len, eth_proto, left, ifindex;
		enum direction direction;
	} cases[] = {
		{ "raw 4", 101, "\x45z", 2, 0, ETH_P_IP, 2, 0, DIRECTION_UNKNOWN },
		{ "raw 6", 101, "\x60z", 2, 0, ETH_P_IPV6, 2, 0, DIRECTION_UNKNOWN },
		{ "raw nothing", 101, "\x10z", 2, 0, 0, 2, 0, DIRECTION_UNKNOWN },
		{ "raw as Linux had it", 12, "\x45z", 2, 0, ETH_P_IP, 2, 0, DIRECTION_UNKNOWN },
		{ "IPv4", 228, "\x45z", 2, 0, ETH_P_IP, 2, 0, DIRECTION_UNKNOWN },
		{ "IPv6", 229, "\x60z", 2, 0, ETH_P_IPV6, 2, 0, DIRECTION_UNKNOWN },
		{ "null", 0, "\2\0\0\0z", 5, 0, ETH_P_IP, 1, 0, DIRECTION_UNKNOWN },
		{ "null, swapped", 0, "\0\0\0\36z", 5, 0, ETH_P_IPV6, 1, 0, DIRECTION_UNKNOWN },
		{ "loop", 108, "\0\0\0\30z", 5, 0, ETH_P_IPV6, 1, 0, DIRECTION_UNKNOWN },
		{ "SLL out", 113, "\0\4\0\1\0\6\1\2\3\4\5\6\0\0\x08\0z", 17, 0, ETH_P_IP, 1, 0,
		  DIRECTION_OUT },
		{ "SLL in", 113, "\0\0\0\1\0\6\1\2\3\4\5\6\0\0\x86\xddz", 17, 0, ETH_P_IPV6, 1, 0,
		  DIRECTION_IN },
		{ "SLL of others", 113, "\0\3\0\1\0\6\1\2\3\4\5\6\0\0\x08\x06z", 17, 0, ETH_P_ARP,
		  1, 0, DIRECTION_UNKNOWN },
		{ "SLL2 out", 276, "\x86\xdd\0\0\0\0\0\7\0\1\4\6\1\2\3\4\5\6\0\0z", 21, 0,
		  ETH_P_IPV6, 1, 7, DIRECTION_OUT },
		{ "SLL2 in", 276, "\x08\0\0\0\0\0\0\7\0\1\2\6\1\2\3\4\5\6\0\0z", 21, 0, ETH_P_IP, 1,
		  7, DIRECTION_IN },
		/* nothing of it can be taken apart: as an Ethernet frame without a byte */
		{ "SLL too short", 113, "\0\4\0\1", 4, ETH_HLEN, 0, 0, 0, DIRECTION_UNKNOWN },
		{ "null too short", 0, "\2\0\0", 3, ETH_HLEN, 0, 0, 0, DIRECTION_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct foreign_report r;
		struct got g;
		struct diag d;

		begin(false);
		pcap_head(0xa1b2c3d4, cases[i].link);
		pcap_packet(1, 0, cases[i].data, cases[i].len);
		print_message("%s\n", cases[i].what);
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_int_equal(g.n, 1);
		assert_int_equal(g.last.packet.l2_len, cases[i].l2_len);
		assert_int_equal(g.last.packet.eth_proto, cases[i].eth_proto);
		assert_int_equal(g.last.packet.data_len, cases[i].left);
		assert_int_equal(g.last.packet.ifindex, cases[i].ifindex);
		assert_int_equal(g.direction, cases[i].direction);
		if (cases[i].left && cases[i].left < cases[i].len)
			assert_int_equal(g.data[0], 'z');
	}
}

static void test_read_unknown_link(void **state unused_arg)
{
	struct foreign_report r;
	struct got g;
	struct diag d;

	begin(false);
	pcap_head(0xa1b2c3d4, 105);
	pcap_packet(1, 0, "abc", 3);
	assert_int_equal(read_it(&g, &r, &d), -EPROTONOSUPPORT);
	assert_int_equal(g.n, 0);
	assert_non_null(strstr(d.text, "IEEE802_11 (802.11)"));
}

static void test_read_many_links(void **state unused_arg)
{
	struct foreign_report r;
	struct got g;
	struct diag d;

	begin(false);
	others();
	interface(101);
	interface(105);
	packet_with("\x45z", 2, (struct beside){ .interface = 1 });
	packet_with("abc", 3, (struct beside){ .interface = 2 });
	packet_with("abc", 3, (struct beside){ .interface = 2 });
	packet_with("\x60z", 2, (struct beside){ .interface = 1 });
	assert_int_equal(read_it(&g, &r, &d), 0);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.last.id, 3);
	assert_int_equal(g.last.packet.eth_proto, ETH_P_IPV6);
	assert_false(r.cut);
	assert_string_equal(r.link, "EN10MB (Ethernet), RAW (Raw IP)");
	assert_int_equal(r.left_out, 2);
	assert_string_equal(r.left_out_link, "IEEE802_11 (802.11)");
}

/* ---- what pcapng has beside a packet ---- */

static void test_read_direction(void **state unused_arg)
{
	static const struct {
		uint32_t flags;
		enum direction want;
	} cases[] = {
		{ PCAPNG_INBOUND, DIRECTION_IN },
		{ PCAPNG_OUTBOUND, DIRECTION_OUT },
		{ 0x10 | PCAPNG_OUTBOUND, DIRECTION_OUT },
		{ 0x10, DIRECTION_UNKNOWN },
		{ 3, DIRECTION_UNKNOWN },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		struct foreign_report r;
		struct got g;
		struct diag d;

		begin(i % 2);
		others();
		packet_with("abc", 3, (struct beside){ .flags = cases[i / 2].flags });
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_int_equal(g.direction, cases[i / 2].want);
		assert_int_equal(r.has_direction, cases[i / 2].want != DIRECTION_UNKNOWN);
	}
}

static void test_read_process(void **state unused_arg)
{
	static const struct {
		const char *comment, *name;
		uint32_t pid;
	} cases[] = {
		{ "PID: 4242\nCmd: /usr/bin/curl\nArgs: curl -d @secret drop.example", "curl",
		  4242 },
		{ "PID: 7\nCmd: sh", "sh", 7 },
		{ "PID: 7", "", 7 },
		{ "PID: 7\nCmd: ", "", 7 },
		{ "PID: 7\nCmd: /a/", "", 7 },
		{ "PID: 7\nCmd: /opt/a-name-of-24-characters", "a-name-of-24-cha", 7 },
		{ "ParentPID: 9\nParentCmd: /bin/bash", "", 0 },
		{ "Cmd: curl", "", 0 },
		{ "PID: 99999999999999999999\nCmd: curl", "", 0 },
		{ "PID: 4294967296\nCmd: curl", "", 0 },
		{ "PID: -1\nCmd: curl", "", 0 },
		{ "PID: \nCmd: curl", "", 0 },
		{ "see PID: 7\nCmd: curl", "", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct foreign_report r;
		struct got g;
		struct diag d;

		begin(false);
		others();
		packet("abc", 3, cases[i].comment);
		assert_int_equal(read_it(&g, &r, &d), 0);
		assert_int_equal(g.last.packet.owner.pid, cases[i].pid);
		assert_string_equal(g.last.packet.owner.name, cases[i].name);
	}
}

static void test_read_times(void **state unused_arg)
{
	static const uint64_t units = 0x0006158f8d4f0000ull; /* as packet() has it */
	static const struct {
		int resolution; /* -1: not said */
		int64_t offset_s;
		uint64_t want;
	} cases[] = {
		{ -1, 0, units * 1000 },
		{ 9, 0, units },
		{ 12, 0, units / 1000 },
		{ 3, 0, UINT64_MAX }, /* beyond what there is */
		{ 0, 0, UINT64_MAX },
		{ 127, 0, 0 },
		{ 0x80 | 20, 0, 1633220820937500000u },
		{ 0x80 | 63, 0, 185675 },
		{ 0x80 | 64, 0, 0 },
		{ 6, 5, units * 1000 + 5000000000u },
		{ 6, -5, units * 1000 - 5000000000u },
		{ 6, INT64_MIN, 0 },
		{ 6, INT64_MAX, UINT64_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct foreign_report r;
		struct got g;
		struct diag d;
		size_t at;

		begin(false);
		section("x");
		at = block(PCAPNG_IDB);
		put16(DLT_ETHERNET);
		put16(0);
		put32(0);
		if (cases[i].resolution >= 0) {
			put16(PCAPNG_IF_TSRESOL);
			put16(1);
			put32((uint32_t)cases[i].resolution);
		}
		put16(14); /* if_tsoffset */
		put16(8);
		put(&cases[i].offset_s, 8);
		end_block(at);
		packet("abc", 3, NULL);
		assert_int_equal(read_it(&g, &r, &d), 0);
		if (g.last.time_ns != cases[i].want)
			fail_msg("resolution %d, offset %lld: %llu", cases[i].resolution,
				 (long long)cases[i].offset_s, (unsigned long long)g.last.time_ns);
	}
}

/* The two other kinds of packets: simple, and obsolete. */
static void test_read_old_packets(void **state unused_arg)
{
	struct foreign_report r;
	struct got g;
	struct diag d;
	size_t at;

	begin(false);
	others();
	at = block(3);
	put32(20); /* before it was cut */
	put("wxyz", 4);
	end_block(at);
	assert_int_equal(read_it(&g, &r, &d), 0);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.last.packet.len, 20);
	assert_int_equal(g.last.packet.data_len, 4);
	assert_int_equal(g.last.time_ns, 0x0006158f8d4f0000ull * 1000); /* the one before's */
	at = block(2);
	put16(0);
	put16(77); /* drops */
	put32(0);
	put32(5);
	put32(2);
	put32(9);
	put("pq\0\0", 4);
	end_block(at);
	assert_int_equal(read_it(&g, &r, &d), 0);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.last.time_ns, 5000);
	assert_int_equal(g.last.packet.len, 9);
	assert_memory_equal(g.data, "pq", 2);
}

static void says(const char *what)
{
	struct foreign_report r;
	struct got g;
	struct diag d;

	assert_int_equal(read_it(&g, &r, &d), 0);
	assert_int_equal(g.n, 1);
	assert_true(r.cut);
	if (!strstr(r.text, what))
		fail_msg("'%s' lacks '%s'", r.text, what);
}

/* What came before is handed over, and what is wrong is said, with its place. */
static void test_read_broken_blocks(void **state unused_arg)
{
	char place[32];
	size_t at;

	begin(false);
	others();
	at = file.len;
	(void)str_format(place, sizeof(place), "at byte %zu", at);
	packet_with("abc", 3, (struct beside){ .interface = 1 });
	says("contradicts itself at byte");
	says(place);
	for (size_t left = file.len - at - 1; left > 0; left--) {
		file.len = at + left;
		says("ends within the block at byte");
		says(place);
	}
	file.len = at;
	packet("abc", 3, NULL);
	file.data[at + 20] = 200; /* more bytes than there are */
	says("contradicts itself");
	file.data[at + 4] = 13; /* no length that a block has */
	says("no block starts at byte");
	file.len = at;
	at = block(PCAPNG_IDB);
	put32(1);
	end_block(at);
	says("contradicts itself");
	file.len = at;
	for (int i = 0; i < 4096; i++)
		interface(1);
	says("one interface too many");
}

static void test_read_ends(void **state unused_arg)
{
	struct got g = { .answer = -ENOSPC };
	struct foreign_report r;
	struct diag d;

	begin(false);
	others();
	packet("abc", 3, NULL);
	assert_int_equal(foreign_read(finish(), collect, &g, &r, &d), -ENOSPC);
	assert_int_equal(g.n, 1);
	assert_int_equal(foreign_read("/nowhere/at-all", collect, &g, &r, &d), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_origin_others),
		cmocka_unit_test(test_origin_ours),
		cmocka_unit_test(test_origin_neither),
		cmocka_unit_test(test_origin_behind_damage),
		cmocka_unit_test(test_origin_across_window),
		cmocka_unit_test(test_origin_real),
		cmocka_unit_test(test_read_pcapng),
		cmocka_unit_test(test_read_pcap),
		cmocka_unit_test(test_read_cut),
		cmocka_unit_test(test_read_links),
		cmocka_unit_test(test_read_unknown_link),
		cmocka_unit_test(test_read_many_links),
		cmocka_unit_test(test_read_direction),
		cmocka_unit_test(test_read_process),
		cmocka_unit_test(test_read_times),
		cmocka_unit_test(test_read_old_packets),
		cmocka_unit_test(test_read_broken_blocks),
		cmocka_unit_test(test_read_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

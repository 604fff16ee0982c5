// SPDX-License-Identifier: Apache-2.0
/* DNS messages: names in every shape, and every way to lie about one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "user/decode/dns.h"

#define MESSAGE_MAX 1024

struct message {
	uint8_t b[MESSAGE_MAX];
	size_t len;
};

static void add(struct message *m, const void *data, size_t len)
{
	assert_in_range(m->len + len, 0, MESSAGE_MAX);
	memcpy(m->b + m->len, data, len);
	m->len += len;
}

static struct message message(uint8_t questions, uint8_t answers)
{
	const uint8_t header[DNS_HEADER_BYTES] = {
		0x12, 0x34, 0x81, 0x80, 0, questions, 0, answers
	};
	struct message m = { .len = 0 };

	add(&m, header, sizeof(header));
	return m;
}

#define BYTES(text) text, sizeof(text) - 1
#define IN_A "\0\1\0\1"

static void test_question(void **state unused_arg)
{
	struct message m = message(1, 0);
	uint8_t joined[DNS_NAME_BYTES];
	char text[DNS_TEXT_MAX];
	struct dns_reader r;
	struct dns_entry e;

	add(&m, BYTES("\10ToKeN123\5probe\4test\0" IN_A));
	assert_int_equal(dns_open(&r, m.b, m.len), 0);
	assert_int_equal(r.id, 0x1234);
	assert_int_equal(r.flags & DNS_FLAG_RESPONSE, DNS_FLAG_RESPONSE);
	assert_int_equal(dns_next(&r, &e), 1);
	assert_int_equal(e.section, DNS_QUESTION);
	assert_int_equal(e.type, 1);
	assert_int_equal(e.class, 1);
	assert_int_equal(e.name.labels, 3);
	assert_string_equal(dns_name_text(&e.name, text), "ToKeN123.probe.test");
	assert_int_equal(dns_name_join(&e.name, joined), 17);
	assert_memory_equal(joined, "ToKeN123probetest", 17);
	assert_int_equal(dns_next(&r, &e), 0);
	assert_int_equal(r.pos, m.len);
}

static void test_answers(void **state unused_arg)
{
	struct message m = message(1, 2);
	char text[DNS_TEXT_MAX];
	struct dns_reader r;
	struct dns_name target;
	struct dns_entry e;
	size_t pos;

	add(&m, BYTES("\3www\4test\0" IN_A));			       /* 12 */
	add(&m, BYTES("\xc0\x0c\0\5\0\1\0\0\0\x3c\0\6\3cdn\xc0\x10")); /* 26: CNAME cdn.test */
	add(&m, BYTES("\xc0\x26" IN_A "\0\1\0\0\0\4\12\0\0\1"));       /* 44: its address */
	assert_int_equal(dns_open(&r, m.b, m.len), 0);
	assert_int_equal(dns_next(&r, &e), 1);
	assert_int_equal(dns_next(&r, &e), 1);
	assert_int_equal(e.section, DNS_ANSWER);
	assert_string_equal(dns_name_text(&e.name, text), "www.test");
	assert_int_equal(e.type, 5);
	assert_int_equal(e.ttl, 60);
	assert_int_equal(e.rdata_len, 6);
	pos = e.rdata_pos;
	assert_int_equal(dns_name_read(m.b, m.len, &pos, &target), 0);
	assert_int_equal(pos, e.rdata_pos + 6);
	assert_string_equal(dns_name_text(&target, text), "cdn.test");
	assert_int_equal(dns_next(&r, &e), 1);
	assert_string_equal(dns_name_text(&e.name, text), "cdn.test");
	assert_int_equal(e.ttl, 65536);
	assert_memory_equal(m.b + e.rdata_pos, "\12\0\0\1", 4);
	assert_int_equal(dns_next(&r, &e), 0);
}

static void test_names(void **state unused_arg)
{
	static const struct {
		const char *wire;
		size_t len;
		const char *text; /* NULL: refused */
	} cases[] = {
		{ BYTES("\0"), "." },
		{ BYTES("\1a\0"), "a" },
		{ BYTES("\3a.b\2c\\\0"), "a\\.b.c\\\\" },
		{ BYTES("\4\0\377 \"\0"), "\\000\\255\\032\\034" },
		{ BYTES("\4_dmc\1-\0"), "_dmc.-" },
		{ BYTES(""), NULL },
		{ BYTES("\1"), NULL },
		{ BYTES("\1a"), NULL },
		{ BYTES("\3ab\0"), NULL },
		{ BYTES("\x40"
			"a\0"),
		  NULL }, /* the two reserved kinds of label */
		{ BYTES("\x80"
			"a\0"),
		  NULL },
		{ BYTES("\xc0"), NULL },	  /* half a pointer */
		{ BYTES("\xc0\x0c"), NULL },	  /* to itself */
		{ BYTES("\1a\xc0\x0c"), NULL },	  /* to its own beginning */
		{ BYTES("\xc0\x0e\1a\0"), NULL }, /* forwards */
		{ BYTES("\1a\xc0\x04"), "a" },	  /* into the header: odd, but it ends */
		{ BYTES("\xff\xff"), NULL },	  /* beyond the end */
	};
	char text[DNS_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct message m = message(1, 0);
		struct dns_name name = { .len = 99 };
		size_t pos = m.len;
		int err;

		add(&m, cases[i].wire, cases[i].len);
		err = dns_name_read(m.b, m.len, &pos, &name);
		if ((err == 0) != (cases[i].text != NULL))
			fail_msg("case %zu: %d", i, err);
		if (err < 0) {
			assert_int_equal(pos, DNS_HEADER_BYTES);
			assert_int_equal(name.len, 99);
			continue;
		}
		assert_int_equal(pos, m.len);
		assert_string_equal(dns_name_text(&name, text), cases[i].text);
	}
}

/* 255 bytes on the wire are the most, directly and through a pointer. */
static void test_longest(void **state unused_arg)
{
	for (uint8_t last = 60; last < 63; last++) {
		struct message m = message(1, 1);
		uint8_t label[64] = { 63 };
		uint8_t tail[64] = { last };
		struct dns_reader r;
		struct dns_entry e;
		char text[DNS_TEXT_MAX];

		memset(label + 1, 0, 63); /* \000: the longest text */
		for (size_t i = 0; i < 3; i++)
			add(&m, label, 64);
		add(&m, tail, last + 1u);
		add(&m, BYTES("\0" IN_A));
		assert_int_equal(dns_open(&r, m.b, m.len), 0);
		assert_int_equal(dns_next(&r, &e), last <= 61 ? 1 : -EBADMSG);
		if (last > 61)
			continue;
		assert_int_equal(e.name.len, 3 * 64 + last + 2);
		assert_int_equal(strlen(dns_name_text(&e.name, text)), 4 * (3 * 63 + last) + 3);

		add(&m, BYTES("\xc0\x0c" IN_A "\0\0\0\0\0\0"));
		assert_int_equal(dns_open(&r, m.b, m.len), 0);
		assert_int_equal(dns_next(&r, &e), 1);
		assert_int_equal(dns_next(&r, &e), 1);

		m.len -= 12;
		add(&m, BYTES("\1x\xc0\x0c" IN_A "\0\0\0\0\0\0")); /* two bytes more */
		assert_int_equal(dns_open(&r, m.b, m.len), 0);
		assert_int_equal(dns_next(&r, &e), 1);
		assert_int_equal(dns_next(&r, &e), -EBADMSG);
		assert_int_equal(dns_next(&r, &e), 0);
	}
}

/* A chain of pointers, each to the one before: legal, linear, and bounded by what a name may be. */
static void test_bomb(void **state unused_arg)
{
	struct message m = message(1, 0);
	struct dns_name name;
	size_t pos;

	add(&m, BYTES("\1a\0"));
	for (uint16_t at = DNS_HEADER_BYTES; m.len + 4 <= MESSAGE_MAX;) {
		const uint8_t link[] = { 1, 'b', (uint8_t)(0xc0 | at >> 8), (uint8_t)at };

		at = (uint16_t)m.len;
		add(&m, link, sizeof(link));
		pos = at;
		assert_int_equal(dns_name_read(m.b, m.len, &pos, &name),
				 (at - 15) / 4 + 1 <= 126 ? 0 : -EBADMSG);
	}
}

static void test_truncated(void **state unused_arg)
{
	struct message m = message(1, 1);

	add(&m, BYTES("\3www\4test\0" IN_A));
	add(&m, BYTES("\xc0\x0c" IN_A "\0\1\0\0\0\4\12\0\0\1"));
	for (size_t len = 0; len <= m.len; len++) {
		cleanup_free uint8_t *exact = malloc(len + !len);
		struct dns_reader r;
		struct dns_entry e;
		int n;

		assert_non_null(exact);
		memcpy(exact, m.b, len);
		n = dns_open(&r, exact, len);
		while (n >= 0 && (n = dns_next(&r, &e)) > 0)
			;
		assert_int_equal(n, len == m.len ? 0 : -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_question), cmocka_unit_test(test_answers),
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_longest),
		cmocka_unit_test(test_bomb),	 cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests_name("dns", tests, NULL, NULL);
}

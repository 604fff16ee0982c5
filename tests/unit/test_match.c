// SPDX-License-Identifier: Apache-2.0
/* The matcher against codings made by other code: every form, every offset, every cut, every bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <openssl/evp.h>

#include "user/judge/match.h"

#define HITS_MAX 16

struct hits {
	uint32_t n, trial[HITS_MAX];
	enum match_form form[HITS_MAX];
};

static const uint8_t token[16] = { 0x9f, 0x3a, 0x00, 0xff, 0x51, 0xb2, 0x7c, 0x08,
				   0xd4, 0xe6, 0x1d, 0x83, 0x6e, 0xf0, 0x2b, 0xc9 };

static void hit(void *arg, uint32_t trial, enum match_form form)
{
	struct hits *h = arg;

	assert_in_range(h->n, 0, HITS_MAX - 1);
	h->trial[h->n] = trial;
	h->form[h->n++] = form;
}

static struct match_set *set_of_one(void)
{
	struct match_set *s = NULL;

	assert_int_equal(match_set_new(&s), 0);
	assert_int_equal(match_set_add(s, token, 42), 0);
	return s;
}

static struct hits scan_whole(const struct match_set *s, const void *data, size_t len)
{
	struct hits h = { 0 };

	match_scan(s, NULL, data, len, hit, &h);
	return h;
}

static void check_one(struct hits h, enum match_form form, const char *what)
{
	if (h.n != 1 || h.trial[0] != 42 || h.form[0] != form)
		fail_msg("%s: %u hits", what, h.n);
}

/* ---- codings, the slow and obvious way ---- */

static size_t encode(char *out, const char *alphabet, unsigned int bits, const uint8_t *data,
		     size_t len)
{
	size_t n = 0, total = len * 8;

	for (size_t at = 0; at < total; at += bits) {
		unsigned int v = 0;

		for (size_t b = at; b < at + bits; b++)
			v = v << 1 | (b < total ? data[b / 8] >> (7 - b % 8) & 1 : 0);
		out[n++] = alphabet[v];
	}
	out[n] = '\0';
	return n;
}

static const struct coding {
	const char *name, *alphabet;
	unsigned int bits;
	enum match_form form;
} codings[] = {
	{ "hex", "0123456789abcdef", 4, MATCH_HEX },
	{ "HEX", "0123456789ABCDEF", 4, MATCH_HEX },
	{ "base32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5, MATCH_BASE32 },
	{ "base32 lower", "abcdefghijklmnopqrstuvwxyz234567", 5, MATCH_BASE32 },
	{ "base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6,
	  MATCH_BASE64 },
	{ "base64url", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 6,
	  MATCH_BASE64 },
};

static void test_known_text(void **state unused_arg)
{
	unsigned char text[64];
	char hex[33];
	struct match_set *s = set_of_one();

	/* base64 of libcrypto, hex of base/: the test's own coder is not the only witness */
	assert_int_equal(EVP_EncodeBlock(text, token, 16), 24);
	check_one(scan_whole(s, text, 24), MATCH_BASE64, "libcrypto");
	hex_encode(hex, token, 16);
	check_one(scan_whole(s, hex, 32), MATCH_HEX, "hex_encode");
	/* python3 -c 'import base64; print(base64.b32encode(token))' */
	check_one(scan_whole(s, "T45AB72RWJ6ARVHGDWBW54BLZE======", 32), MATCH_BASE32, "python");
	match_set_free(s);
}

static void test_alone(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	uint8_t buf[200];
	char text[64];

	for (size_t at = 0; at < 100; at++) {
		memset(buf, '.', sizeof(buf));
		memcpy(buf + at, token, 16);
		check_one(scan_whole(s, buf, sizeof(buf)), MATCH_RAW, "raw");
		for (size_t c = 0; c < ARRAY_SIZE(codings); c++) {
			size_t n = encode(text, codings[c].alphabet, codings[c].bits, token, 16);

			memset(buf, '.', sizeof(buf));
			memcpy(buf + at, text, n);
			check_one(scan_whole(s, buf, sizeof(buf)), codings[c].form,
				  codings[c].name);
			check_one(scan_whole(s, buf, at + n), codings[c].form, "at the end");
			assert_int_equal(scan_whole(s, buf, at + n - 1).n, 0);
		}
	}
	match_set_free(s);
}

/* Encoded along with what stands before and after it, so that it begins within a digit. */
static void test_within(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	uint8_t data[64];
	char text[160];

	for (size_t before = 0; before < 12; before++) {
		for (size_t after = 0; after < 7; after++) {
			memset(data, 0xa7, sizeof(data));
			memcpy(data + before, token, 16);
			for (size_t c = 0; c < ARRAY_SIZE(codings); c++) {
				size_t n = encode(text, codings[c].alphabet, codings[c].bits, data,
						  before + 16 + after);

				check_one(scan_whole(s, text, n), codings[c].form, codings[c].name);
			}
		}
	}
	match_set_free(s);
}

static void test_mixed_case(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	uint32_t random = 1;
	char text[64];

	for (size_t round = 0; round < 1000; round++) {
		for (size_t c = 0; c < 4; c++) {
			size_t n = encode(text, codings[c].alphabet, codings[c].bits, token, 16);

			for (size_t i = 0; i < n; i++) {
				random = random * 1103515245 + 12345;
				if ((text[i] | 0x20) >= 'a' && (random >> 20 & 1))
					text[i] ^= 0x20;
			}
			check_one(scan_whole(s, text, n), codings[c].form, codings[c].name);
		}
	}
	match_set_free(s);
}

/* Cut into two and three pieces at every place; and byte by byte. */
static void check_cuts(const struct match_set *s, const uint8_t *buf, size_t len,
		       enum match_form form, const char *what)
{
	for (size_t a = 0; a <= len; a++) {
		for (size_t b = a; b <= len; b++) {
			struct match_stream st = { 0 };
			struct hits h = { 0 };

			match_scan(s, &st, buf, a, hit, &h);
			match_scan(s, &st, buf + a, b - a, hit, &h);
			match_scan(s, &st, buf + b, len - b, hit, &h);
			check_one(h, form, what);
		}
	}
	struct match_stream st = { 0 };
	struct hits h = { 0 };

	for (size_t i = 0; i < len; i++)
		match_scan(s, &st, buf + i, 1, hit, &h);
	check_one(h, form, what);
}

static void test_cut(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	uint8_t buf[128];
	char text[64];

	memset(buf, 'x', sizeof(buf));
	memcpy(buf + 40, token, 16);
	check_cuts(s, buf, 90, MATCH_RAW, "raw");
	for (size_t c = 0; c < ARRAY_SIZE(codings); c++) {
		size_t n = encode(text, codings[c].alphabet, codings[c].bits, token, 16);

		memset(buf, '=', sizeof(buf));
		memcpy(buf + 40, text, n);
		check_cuts(s, buf, 90, codings[c].form, codings[c].name);
	}
	match_set_free(s);
}

static void test_one_bit(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	uint8_t decoy[16];
	char text[64];

	for (size_t bit = 0; bit < 128; bit++) {
		memcpy(decoy, token, 16);
		decoy[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(scan_whole(s, decoy, 16).n, 0);
		for (size_t c = 0; c < ARRAY_SIZE(codings); c++) {
			size_t n = encode(text, codings[c].alphabet, codings[c].bits, decoy, 16);

			assert_int_equal(scan_whole(s, text, n).n, 0);
		}
	}
	match_set_free(s);
}

static void test_broken_text(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	uint8_t buf[64];
	char text[64];

	for (size_t c = 0; c < ARRAY_SIZE(codings); c++) {
		size_t n = encode(text, codings[c].alphabet, codings[c].bits, token, 16);

		for (size_t at = 1; at < n; at++) {
			memcpy(buf, text, at);
			buf[at] = '.';
			memcpy(buf + at + 1, text + at, n - at);
			assert_int_equal(scan_whole(s, buf, n + 1).n, 0);
		}
	}
	match_set_free(s);
}

static void test_several(void **state unused_arg)
{
	struct match_set *s = set_of_one();
	struct hits h;
	uint8_t other[16];
	char line[128];
	int n;

	memcpy(other, token, 16);
	other[15] ^= 1; /* same first half: same bucket */
	assert_int_equal(match_set_add(s, token, 43), -EEXIST);
	assert_int_equal(match_set_add(s, other, 43), 0);
	n = snprintf(line, sizeof(line), "GET /T45AB72RWJ6ARVHGDWBW54BLZE?q=");
	hex_encode(line + n, other, 16);
	h = scan_whole(s, line, strlen(line));
	assert_int_equal(h.n, 2);
	assert_int_equal(h.trial[0], 42);
	assert_int_equal(h.form[0], MATCH_BASE32);
	assert_int_equal(h.trial[1], 43);
	assert_int_equal(h.form[1], MATCH_HEX);
	match_set_free(s);
}

static void test_full_set(void **state unused_arg)
{
	struct match_set *s = NULL;
	uint64_t x = 88172645463325252ull;
	uint8_t t[16], buf[16];

	assert_int_equal(match_set_new(&s), 0);
	for (uint32_t i = 0; i < MATCH_TOKENS_MAX; i++) {
		memcpy(t, &x, 8);
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		memcpy(t + 8, &x, 8);
		assert_int_equal(match_set_add(s, t, i), 0);
		if (i == 12345)
			memcpy(buf, t, 16);
	}
	t[0] ^= 1;
	assert_int_equal(match_set_add(s, t, 1), -ENOSPC);
	assert_int_equal(scan_whole(s, t, 16).n, 0);
	assert_int_equal(scan_whole(s, buf, 16).n, 1);
	assert_int_equal(scan_whole(s, buf, 16).trial[0], 12345);
	match_set_free(s);
}

static void test_nothing(void **state unused_arg)
{
	struct match_stream st = { 0 };
	struct match_set *s = NULL;
	static const uint8_t zeros[4096];
	struct hits h = { 0 };

	assert_int_equal(match_set_new(&s), 0);
	assert_int_equal(scan_whole(s, zeros, sizeof(zeros)).n, 0);
	match_scan(s, &st, NULL, 0, hit, &h);
	match_scan(s, NULL, NULL, 0, hit, &h);
	assert_int_equal(h.n, 0);
	match_set_free(s);
	match_set_free(NULL);
	assert_string_equal(match_form_text(MATCH_BASE32), "base32");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_text),  cmocka_unit_test(test_alone),
		cmocka_unit_test(test_within),	    cmocka_unit_test(test_mixed_case),
		cmocka_unit_test(test_cut),	    cmocka_unit_test(test_one_bit),
		cmocka_unit_test(test_broken_text), cmocka_unit_test(test_several),
		cmocka_unit_test(test_full_set),    cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* base/: parsing, escaping, JSON text, and the proofs' known values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "user/base/json_out.h"
#include "user/base/mac.h"
#include "user/base/util.h"

static void numbers(void **state unused_arg)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		int err;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 10, 0, 0 },
		{ "10", 0, 10, 0, 10 },
		{ "11", 0, 10, -ERANGE, 0 },
		{ "", 0, 10, -EINVAL, 0 },
		{ "-1", 0, 10, -EINVAL, 0 },
		{ "+1", 0, 10, -EINVAL, 0 },
		{ " 1", 0, 10, -EINVAL, 0 },
		{ "1 ", 0, 10, -EINVAL, 0 },
		{ "0x1", 0, 10, -EINVAL, 0 },
		{ "18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", 0, UINT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999", 0, UINT64_MAX, -ERANGE, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t v = 77;

		assert_int_equal(parse_u64(rows[i].text, rows[i].min, rows[i].max, &v),
				 rows[i].err);
		assert_true(v == (rows[i].err ? 77 : rows[i].value));
	}
}

static void hexadecimal(void **state unused_arg)
{
	uint8_t out[2] = { 7, 7 };
	char text[5];

	assert_int_equal(hex_decode(out, 2, "00fF"), 0);
	assert_int_equal(out[1], 0xff);
	out[0] = 7;
	assert_int_equal(hex_decode(out, 2, "00f"), -EINVAL);
	assert_int_equal(hex_decode(out, 2, "00ff0"), -EINVAL);
	assert_int_equal(hex_decode(out, 2, "00fg"), -EINVAL);
	assert_int_equal(out[0], 7);
	hex_encode(text, (const uint8_t[]){ 0x0a, 0xf0 }, 2);
	assert_string_equal(text, "0af0");
}

static void addresses(void **state unused_arg)
{
	char text[ADDR_TEXT_MAX];
	uint8_t a[16];

	assert_int_equal(parse_addr("203.0.113.7", a), 0);
	assert_true(addr_is_v4(a));
	assert_string_equal(addr_text(a, text), "203.0.113.7");
	assert_int_equal(parse_addr("2001:db8:113::1", a), 0);
	assert_false(addr_is_v4(a));
	assert_string_equal(addr_text(a, text), "2001:db8:113::1");
	assert_int_equal(parse_addr("203.0.113", a), -EINVAL);
}

static void escaping(void **state unused_arg)
{
	static const struct {
		const char *in;
		const char *out;
	} rows[] = {
		{ "plain", "plain" },
		{ "\x1b[31mred", "\\x1b[31mred" },
		{ "a\nb\r\tc", "a\\x0ab\\x0d\\x09c" },
		{ "back\\slash", "back\\x5cslash" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xc3", "\\xc3" },
		{ "\xc0\x80", "\\xc0\\x80" },	       /* overlong NUL */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* surrogate */
		{ "\xc2\x9b"
		  "31m",
		  "\\xc2\\x9b31m" }, /* C1 CSI */
		{ "\xe2\x80\xae"
		  "txt",
		  "\\xe2\\x80\\xaetxt" }, /* right-to-left override */
	};
	char out[128];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(escape_text(out, sizeof(out), rows[i].in, strlen(rows[i].in)),
				    rows[i].out);
	assert_string_equal(escape_text(out, 10, "0123456789", 10), "012345...");
	assert_string_equal(escape_text(out, 4, "\x1b", 1), "...");
	assert_string_equal(escape_text(out, 1, "x", 1), "");
}

static void json(void **state unused_arg)
{
	struct json_out j;

	json_out_init(&j);
	json_object_begin(&j, NULL);
	json_text(&j, "a\"b", "x\x01\\\xff\xc3\xa9");
	json_u64(&j, "big", UINT64_MAX);
	json_i32(&j, "low", INT32_MIN);
	json_i64(&j, "lowest", INT64_MIN);
	json_array(&j, "list");
	json_boolean(&j, NULL, true);
	json_null(&j, NULL);
	json_hex(&j, NULL, "\x01\xab", 2);
	json_array_end(&j);
	json_object_end(&j);
	assert_int_equal(json_out_error(&j), 0);
	assert_string_equal(j.buf,
			    "{\"a\\\"b\":\"x\\u0001\\\\\xef\xbf\xbd\xc3\xa9\","
			    "\"big\":\"18446744073709551615\",\"low\":-2147483648,"
			    "\"lowest\":\"-9223372036854775808\",\"list\":[true,null,\"01ab\"]}");
	json_out_done(&j);
}

/* Values from an independent implementation: a change here breaks every probe in the field. */
static void proofs(void **state unused_arg)
{
	uint8_t key[MAC_BYTES], nonce[MAC_NONCE_BYTES], token[MAC_NONCE_BYTES], mac[MAC_BYTES];
	char hex[2 * MAC_BYTES + 1];

	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	memcpy(nonce, key, sizeof(nonce));
	mac_token(nonce, "tcp-connect", token);
	hex_encode(hex, token, sizeof(token));
	assert_string_equal(hex, "c77c3370b279715d842e773a6001ed37");
	mac_answer(key, token, mac);
	hex_encode(hex, mac, sizeof(mac));
	assert_string_equal(hex,
			    "8e3f8e12d3bbf90993fd3143684f958f9affc42eb2bbfa2f853d9f46eb384f49");
	mac_alive(nonce, 2, token, nonce, mac);
	hex_encode(hex, mac, sizeof(mac));
	assert_string_equal(hex,
			    "d8300b6735e65c367dfd90579e86a302dd0010435fc96353c3a1a6169df41d0e");
	assert_true(mac_equal(mac, mac));
	mac_ran(nonce, token, nonce, key);
	assert_false(mac_equal(mac, key));
	assert_true(mac_mark(nonce) == 0x0001020304050607ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),   cmocka_unit_test(hexadecimal),
		cmocka_unit_test(addresses), cmocka_unit_test(escaping),
		cmocka_unit_test(json),	     cmocka_unit_test(proofs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* The text in which a secret and its twin are planted, found again in anything. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/random.h"
#include "user/base/planted.h"
#include "user/base/util.h"

static const uint8_t nonce[MAC_NONCE_BYTES] = { 1 }, other[MAC_NONCE_BYTES] = { 2 };
static const uint8_t planted[MAC_NONCE_BYTES] = { 0xaa, 0xbb, 0xcc };

static bool found(const char *data, size_t len, enum planted_kind kind, const uint8_t *of)
{
	cleanup_free char *exact = malloc(MAX(len, 1u)); /* a sanitizer sees a step beyond it */
	uint8_t got[MAC_NONCE_BYTES];

	memcpy(exact, data, len);
	if (!planted_find(exact, len, kind, of, got))
		return false;
	assert_memory_equal(got, planted, sizeof(got));
	return true;
}

static void test_found(void **state unused_arg)
{
	char text[PLANTED_TEXT_MAX], data[256];
	size_t len;

	planted_text(text, PLANTED_SECRET, nonce, planted);
	len = (size_t)snprintf(data, sizeof(data), "A=sentinel-secret-%cKEY=%s%c", 0, text, 0);
	assert_true(found(data, len, PLANTED_SECRET, nonce));
	/* of this kind and of this trial alone */
	assert_false(found(data, len, PLANTED_TWIN, nonce));
	assert_false(found(data, len, PLANTED_SECRET, other));
	/* a broken one before a good one is passed over */
	len = (size_t)snprintf(data, sizeof(data), "%.40sx%s", text, text);
	assert_true(found(data, len, PLANTED_SECRET, nonce));
	planted_text(text, PLANTED_TWIN, nonce, planted);
	assert_true(found(text, strlen(text), PLANTED_TWIN, nonce));
	assert_false(found(text, strlen(text), PLANTED_SECRET, nonce));
}

static void test_cut(void **state unused_arg)
{
	char text[PLANTED_TEXT_MAX];

	planted_text(text, PLANTED_SECRET, nonce, planted);
	for (size_t n = 0; n < strlen(text); n++)
		assert_false(found(text, n, PLANTED_SECRET, nonce));
}

static void test_mutations(void **state unused_arg)
{
	char text[PLANTED_TEXT_MAX];
	uint8_t got[MAC_NONCE_BYTES];

	planted_text(text, PLANTED_SECRET, nonce, planted);
	for (int i = 0; i < 20000; i++) {
		size_t n;
		cleanup_free uint8_t *p = random_mutant(text, strlen(text), &n);

		(void)planted_find(p, n, PLANTED_SECRET, nonce, got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

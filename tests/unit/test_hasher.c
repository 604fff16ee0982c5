// SPDX-License-Identifier: Apache-2.0
/* The hasher's value is that of all bytes in their order, however they come, with its thread and
 * without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/random.h"
#include "user/record/digest.h"
#include "user/record/hasher.h"

#define WINDOW (1u << 20)
#define ROUNDS 200

static uint8_t window[WINDOW];

static void fill(void)
{
	for (size_t i = 0; i < sizeof(window); i += sizeof(uint64_t)) {
		uint64_t v = random_u64();

		memcpy(window + i, &v, sizeof(v));
	}
}

static void assert_same(struct hasher *h, struct digest *want)
{
	uint8_t a[EV_DIGEST_BYTES], b[EV_DIGEST_BYTES];

	assert_int_equal(hasher_now(h, a), 0);
	assert_int_equal(digest_now(want, b), 0);
	assert_memory_equal(a, b, sizeof(a));
}

/* Pieces of at most max bytes, from one end of the window to the other, which is filled anew as
 * soon as nobody looks at it. */
static void check_pieces(size_t max)
{
	struct digest *want;
	struct hasher *h;
	size_t at = 0;

	assert_int_equal(hasher_new(&h), 0);
	assert_int_equal(digest_new(&want), 0);
	fill();
	for (int round = 0; round < ROUNDS; round++) {
		size_t len = random_below(max + 1);

		if (len > sizeof(window) - at) {
			assert_int_equal(hasher_wait(h), 0);
			fill();
			at = 0;
		}
		assert_int_equal(digest_add(want, window + at, len), 0);
		assert_int_equal(hasher_add(h, window + at, len), 0);
		at += len;
		if (!random_below(5))
			assert_same(h, want);
	}
	assert_same(h, want);
	hasher_free(h);
	digest_free(want);
}

static void test_short_pieces(void **state unused_arg)
{
	check_pieces(100);
}

static void test_long_pieces(void **state unused_arg)
{
	check_pieces(WINDOW / 4);
}

static void test_nothing(void **state unused_arg)
{
	struct digest *want;
	struct hasher *h;

	assert_int_equal(digest_new(&want), 0);
	assert_int_equal(hasher_new(&h), 0);
	assert_same(h, want);
	digest_free(want);
	hasher_free(h);
	hasher_free(NULL);
}

/* Whoever frees it before it is done may free the bytes behind that. */
static void test_free_waits(void **state unused_arg)
{
	for (int round = 0; round < 50; round++) {
		cleanup_free uint8_t *bytes = calloc(1, WINDOW);
		struct hasher *h;

		assert_non_null(bytes);
		assert_int_equal(hasher_new(&h), 0);
		assert_int_equal(hasher_add(h, bytes, WINDOW), 0);
		hasher_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_pieces),
		cmocka_unit_test(test_long_pieces),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_free_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `{word}` in the arguments of a command: finding them, and putting values in their places. */
#ifndef SENTINEL_BASE_BRACES_H
#define SENTINEL_BASE_BRACES_H

#include "user/base/util.h"

/*
 * The next `{word}` (small letters and '_') in text: where it starts, its place among the n names
 * (n: it is none of them), and how long it is with its braces. NULL where there is none. Any other
 * brace is itself.
 */
const char *braces_next(const char *text, const char *const *names, size_t n, size_t *ret_which,
			size_t *ret_len);

/*
 * text with its words filled in, once: braces in a value are not looked at. 0; -EINVAL for a word
 * that is none of the names or has no value (NULL); -E2BIG where out, of size bytes, is too small.
 */
int braces_fill(const char *text, const char *const *names, const char *const *values, size_t n,
		char *out, size_t size) must_check;

#endif

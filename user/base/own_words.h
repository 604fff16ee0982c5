/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of a user's own probe: `{to}`, `{port}`, `{token}` and `{timeout_ms}` in its words.
 *
 * They are filled in inside the sandbox, by the session: a token in a launcher's command line could
 * leave by another way than the attempt.
 */
#ifndef SENTINEL_BASE_OWN_WORDS_H
#define SENTINEL_BASE_OWN_WORDS_H

#include "user/base/util.h"

enum own_word {
	OWN_TO = 0,
	OWN_PORT,
	OWN_TOKEN,
	OWN_TIMEOUT_MS,
	OWN_WORDS, /* and what is none of them */
};

#define OWN_WORDS_LIST "{to}, {port}, {token} or {timeout_ms}"

/* Words of a command, and bytes of one before and after filling in, with its NUL. */
#define OWN_ARGS_MAX 64
#define OWN_ARG_MAX 4096

/* The next `{word}` (small letters and '_') in text, which it is, and its length with the braces.
 * NULL where there is none. Any other brace is itself. */
const char *own_words_next(const char *text, enum own_word *ret, size_t *ret_len);

/* text with its words filled in. 0, -EINVAL for one that there is not, or -E2BIG. */
int own_words_fill(const char *text, const char *const value[OWN_WORDS],
		   char out[OWN_ARG_MAX]) must_check;

#endif

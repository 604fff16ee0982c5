// SPDX-License-Identifier: Apache-2.0
#include "user/base/own_words.h"

#include "user/base/braces.h"

static const char *const names[OWN_WORDS] = {
	[OWN_TO] = "to",
	[OWN_PORT] = "port",
	[OWN_TOKEN] = "token",
	[OWN_TIMEOUT_MS] = "timeout_ms",
};

const char *own_words_next(const char *text, enum own_word *ret, size_t *ret_len)
{
	size_t word;
	const char *at = braces_next(text, names, OWN_WORDS, &word, ret_len);

	if (at)
		*ret = (enum own_word)word;
	return at;
}

int own_words_fill(const char *text, const char *const value[OWN_WORDS], char out[OWN_ARG_MAX])
{
	return braces_fill(text, names, value, OWN_WORDS, out, OWN_ARG_MAX);
}

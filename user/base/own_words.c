// SPDX-License-Identifier: Apache-2.0
#include "user/base/own_words.h"

static const char *const names[OWN_WORDS] = {
	[OWN_TO] = "to",
	[OWN_PORT] = "port",
	[OWN_TOKEN] = "token",
	[OWN_TIMEOUT_MS] = "timeout_ms",
};

static enum own_word which(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return (enum own_word)i;
	return OWN_WORDS;
}

const char *own_words_next(const char *text, enum own_word *ret, size_t *ret_len)
{
	for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
		size_t len = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");

		if (!len || at[1 + len] != '}')
			continue;
		*ret = which(at + 1, len);
		*ret_len = len + 2;
		return at;
	}
	return NULL;
}

static int append(char out[OWN_ARG_MAX], size_t *at, const char *text, size_t len)
{
	if (len >= OWN_ARG_MAX - *at)
		return -ENAMETOOLONG;
	memcpy(out + *at, text, len);
	*at += len;
	out[*at] = '\0';
	return 0;
}

int own_words_fill(const char *text, const char *const value[OWN_WORDS], char out[OWN_ARG_MAX])
{
	enum own_word word;
	size_t at = 0, len;
	const char *hole;
	int err = 0;

	out[0] = '\0';
	for (; !err && (hole = own_words_next(text, &word, &len)); text = hole + len) {
		if (word == OWN_WORDS)
			return -EINVAL;
		err = append(out, &at, text, (size_t)(hole - text));
		if (!err)
			err = append(out, &at, value[word], strlen(value[word]));
	}
	return err ? err : append(out, &at, text, strlen(text));
}

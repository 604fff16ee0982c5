// SPDX-License-Identifier: Apache-2.0
#include "user/base/braces.h"

static size_t which(const char *const *names, size_t n, const char *word, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return i;
	return n;
}

const char *braces_next(const char *text, const char *const *names, size_t n, size_t *ret_which,
			size_t *ret_len)
{
	for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
		size_t len = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");

		if (!len || at[1 + len] != '}')
			continue;
		*ret_which = which(names, n, at + 1, len);
		*ret_len = len + 2;
		return at;
	}
	return NULL;
}

static int append(char *out, size_t size, size_t *at, const char *text, size_t len)
{
	if (len >= size - *at)
		return -E2BIG;
	memcpy(out + *at, text, len);
	*at += len;
	out[*at] = '\0';
	return 0;
}

int braces_fill(const char *text, const char *const *names, const char *const *values, size_t n,
		char *out, size_t size)
{
	size_t at = 0, word, len;
	const char *hole;
	int err = 0;

	out[0] = '\0';
	for (; !err && (hole = braces_next(text, names, n, &word, &len)); text = hole + len) {
		if (word == n || !values[word])
			return -EINVAL;
		err = append(out, size, &at, text, (size_t)(hole - text));
		if (!err)
			err = append(out, size, &at, values[word], strlen(values[word]));
	}
	return err ? err : append(out, size, &at, text, strlen(text));
}

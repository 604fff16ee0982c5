// SPDX-License-Identifier: Apache-2.0
#include "user/rig/placeholder.h"

#include "user/base/util.h"

static const char *const names[] = {
	[PLACEHOLDER_CMD] = "cmd",
	[PLACEHOLDER_ID] = "id",
	[PLACEHOLDER_NETNS] = "netns",
	[PLACEHOLDER_DIR] = "dir",
	[PLACEHOLDER_COLLECTOR] = "collector",
	[PLACEHOLDER_PROBE] = "probe",
	[PLACEHOLDER_CONFINE] = "confine",
};
_Static_assert(ARRAY_SIZE(names) == PLACEHOLDER_UNKNOWN, "each has a name");

static enum placeholder which(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], word, len))
			return (enum placeholder)i;
	return PLACEHOLDER_UNKNOWN;
}

const char *placeholder_next(const char *text, enum placeholder *ret, size_t *ret_len)
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

// SPDX-License-Identifier: Apache-2.0
#include "user/rig/placeholder.h"

#include "user/base/braces.h"

static const char *const names[] = {
	[PLACEHOLDER_CMD] = "cmd",
	[PLACEHOLDER_ID] = "id",
	[PLACEHOLDER_NETNS] = "netns",
	[PLACEHOLDER_DIR] = "dir",
	[PLACEHOLDER_COLLECTOR] = "collector",
	[PLACEHOLDER_ALLOWED] = "allowed",
	[PLACEHOLDER_ALLOWED_NAME] = "allowed_name",
	[PLACEHOLDER_PROBE] = "probe",
	[PLACEHOLDER_CONFINE] = "confine",
	[PLACEHOLDER_HOME] = "home",
	[PLACEHOLDER_TWIN_ENV] = "twin_env",
	[PLACEHOLDER_TWIN_FILE] = "twin_file",
};
_Static_assert(ARRAY_SIZE(names) == PLACEHOLDER_UNKNOWN, "each has a name");

const char *placeholder_next(const char *text, enum placeholder *ret, size_t *ret_len)
{
	size_t word;
	const char *at = braces_next(text, names, PLACEHOLDER_UNKNOWN, &word, ret_len);

	if (at)
		*ret = (enum placeholder)word;
	return at;
}

int placeholder_fill(const char *text, const char *const value[PLACEHOLDER_UNKNOWN], char *out,
		     size_t size)
{
	return braces_fill(text, names, value, PLACEHOLDER_UNKNOWN, out, size);
}

// SPDX-License-Identifier: Apache-2.0
#include "user/report/color.h"

int color_parse(const char *text, enum color_when *ret)
{
	static const char *const words[] = {
		[COLOR_AUTO] = "auto",
		[COLOR_ALWAYS] = "always",
		[COLOR_NEVER] = "never",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i])) {
			*ret = (enum color_when)i;
			return 0;
		}
	return -EINVAL;
}

bool color_wanted(enum color_when when, int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (when != COLOR_AUTO)
		return when == COLOR_ALWAYS;
	return isatty(fd) == 1 && !(no && no[0]) && !(term && !strcmp(term, "dumb"));
}

/* Select Graphic Rendition, ECMA-48 8.3.117; only what 8-colour terminals have. */
const char *ink_on(bool color, enum ink ink)
{
	static const char *const codes[] = {
		[INK_NONE] = "",	  [INK_GOOD] = "\x1b[32m", [INK_BAD] = "\x1b[1;31m",
		[INK_DOUBT] = "\x1b[33m", [INK_FAINT] = "\x1b[2m", [INK_STRONG] = "\x1b[1m",
	};

	return color ? codes[ink] : "";
}

const char *ink_off(bool color, enum ink ink)
{
	return color && ink != INK_NONE ? "\x1b[0m" : "";
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `{word}` in the arguments of a target's commands: the loader checks them, expansion fills them.
 */
#ifndef SENTINEL_RIG_PLACEHOLDER_H
#define SENTINEL_RIG_PLACEHOLDER_H

#include "user/base/util.h"

enum placeholder {
	PLACEHOLDER_CMD = 0,
	PLACEHOLDER_ID,
	PLACEHOLDER_NETNS,
	PLACEHOLDER_DIR,
	PLACEHOLDER_COLLECTOR,
	PLACEHOLDER_ALLOWED,
	PLACEHOLDER_ALLOWED_NAME,
	PLACEHOLDER_PROBE,
	PLACEHOLDER_CONFINE,
	PLACEHOLDER_HOME,
	PLACEHOLDER_TWIN_ENV,
	PLACEHOLDER_TWIN_FILE,
	PLACEHOLDER_UNKNOWN, /* and how many there are */
};

#define PLACEHOLDER_LIST                                                                           \
	"{cmd}, {id}, {netns}, {dir}, {collector}, {allowed}, {allowed_name}, {probe}, "           \
	"{confine}, {home}, {twin_env} or {twin_file}"

/* The next `{word}` (small letters and '_') in text: where it starts, which it is, and how long it
 * is with its braces. NULL where there is none. Any other brace is itself. */
const char *placeholder_next(const char *text, enum placeholder *ret, size_t *ret_len);

/* text with its placeholders filled in, as braces_fill() does. */
int placeholder_fill(const char *text, const char *const value[PLACEHOLDER_UNKNOWN], char *out,
		     size_t size) must_check;

#endif

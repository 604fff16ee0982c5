// SPDX-License-Identifier: Apache-2.0
/* What a sandbox prints: a line that is accepted is safe to show, and reads back as itself. */
#include "user/base/session_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct session_line none;
	struct session_line line = none, again;
	char text[SESSION_LINE_MAX];
	int err = session_line_parse((const char *)data, size, &line);

	if (err) {
		/* accused of bad form only where a prefix is there; nothing written */
		if ((err == -EBADMSG) != !!memmem(data, size, SESSION_LINE_PREFIX,
						  sizeof(SESSION_LINE_PREFIX) - 1) ||
		    memcmp(&line, &none, sizeof(line)) != 0)
			abort();
		return 0;
	}
	if (line.view[strspn(line.view, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-")])
		abort();
	if (session_line_format(text, sizeof(text), &line) < 0 ||
	    session_line_parse(text, strlen(text), &again) < 0 ||
	    memcmp(&line, &again, sizeof(line)) != 0)
		abort();
	return 0;
}

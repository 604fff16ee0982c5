/* SPDX-License-Identifier: Apache-2.0 */
/* Lines out of a stream of bytes, in bounded memory. */
#ifndef SENTINEL_PROBES_LINES_H
#define SENTINEL_PROBES_LINES_H

#include "user/base/util.h"

/* A line being read. Zeroed at first. */
struct line {
	char text[128]; /* a longer one is dropped whole */
	size_t len;
	bool too_long;
};

/* A line without its end, a terminal's "\r" neither. false: read no further. */
typedef bool (*line_fn)(void *arg, const char *line);

/* Hands each line that ends in the n bytes to take. false: take said so, and the rest of them is
 * lost. */
bool lines_feed(struct line *l, const char *data, size_t n, line_fn take, void *arg);

/* Reads once from fd and feeds that. false: take said so, at its end, or where it failed. */
bool lines_read(struct line *l, int fd, line_fn take, void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A line of columns on paper: padded, coloured, and without blanks at its end. */
#ifndef SENTINEL_REPORT_LINE_H
#define SENTINEL_REPORT_LINE_H

#include <stdio.h>

#include "user/report/color.h"

struct line {
	FILE *f;
	bool color;
	size_t pad; /* blanks owed before the next text */
};

/* text (printable already), in a column of width. A wider text is not cut, and one blank follows.
 */
void line_put(struct line *l, enum ink ink, size_t width, const char *text);
void line_putf(struct line *l, enum ink ink, size_t width, const char *fmt, ...) printf_like(4, 5);
void line_end(struct line *l);

#endif

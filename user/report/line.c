// SPDX-License-Identifier: Apache-2.0
#include "user/report/line.h"

#include <stdarg.h>

void line_put(struct line *l, enum ink ink, size_t width, const char *text)
{
	size_t len = strlen(text);

	if (!len) {
		l->pad += width;
		return;
	}
	(void)fprintf(l->f, "%*s%s%s%s", (int)l->pad, "", ink_on(l->color, ink), text,
		      ink_off(l->color, ink));
	l->pad = !width ? 0 : len < width ? width - len : 1;
}

void line_putf(struct line *l, enum ink ink, size_t width, const char *fmt, ...)
{
	char text[2048]; /* the widest field of a result, escaped, and the words around it */
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line_put(l, ink, width, text);
}

void line_end(struct line *l)
{
	(void)fputc('\n', l->f);
	l->pad = 0;
}

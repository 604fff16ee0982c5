// SPDX-License-Identifier: Apache-2.0
#include "user/base/diag.h"

#include <stdarg.h>

int diag_set(struct diag *d, int err, const char *file, unsigned int line, unsigned int column,
	     const char *fmt, ...)
{
	va_list ap;

	if (!d)
		return err;
	(void)escape_text(d->file, sizeof(d->file), file ? file : "", file ? strlen(file) : 0);
	d->line = line;
	d->column = column;
	va_start(ap, fmt);
	(void)vsnprintf(d->text, sizeof(d->text), fmt, ap);
	va_end(ap);
	return err;
}

const char *diag_text(const struct diag *d, char *out, size_t n)
{
	if (d->file[0] && d->line)
		(void)snprintf(out, n, "%s:%u:%u: %s", d->file, d->line, d->column, d->text);
	else if (d->file[0])
		(void)snprintf(out, n, "%s: %s", d->file, d->text);
	else
		(void)snprintf(out, n, "%s", d->text);
	return out;
}

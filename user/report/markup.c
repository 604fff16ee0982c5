// SPDX-License-Identifier: Apache-2.0
#include "user/report/markup.h"

#include "user/report/text.h"

/* XML 1.0 (2.4); HTML has the same names for them. */
void markup_text(FILE *f, const char *text)
{
	char plain[TEXT_MAX];

	(void)printable(plain, sizeof(plain), text);
	for (const char *p = plain; *p; p++) {
		if (*p == '&')
			(void)fputs("&amp;", f);
		else if (*p == '<')
			(void)fputs("&lt;", f);
		else if (*p == '>')
			(void)fputs("&gt;", f);
		else if (*p == '"')
			(void)fputs("&quot;", f);
		else if (*p == '\'')
			(void)fputs("&apos;", f);
		else
			(void)fputc(*p, f);
	}
}

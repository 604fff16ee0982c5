// SPDX-License-Identifier: Apache-2.0
#include "user/report/wrap.h"

#include <string.h>

static void new_line(struct wrap *w)
{
	line_end(w->l);
	line_put(w->l, INK_NONE, w->indent, "");
	w->at = w->indent;
	w->glued = true;
}

void wrap_word(struct wrap *w, enum ink ink, const char *word)
{
	size_t len = strlen(word);

	if (w->at > w->indent && !w->glued && w->at + 1 + len > w->width)
		new_line(w);
	if (!w->glued) {
		line_put(w->l, INK_NONE, 1, "");
		w->at++;
	}
	line_put(w->l, ink, 0, word);
	w->at += len;
	w->glued = false;
}

void wrap_text(struct wrap *w, enum ink ink, const char *text)
{
	while (*text) {
		size_t len = strcspn(text, " ");
		char word[512];

		len = MIN(len, sizeof(word) - 1);
		if (len) {
			memcpy(word, text, len);
			word[len] = '\0';
			wrap_word(w, ink, word);
		}
		text += len;
		text += strspn(text, " ");
	}
}

void wrap_end(struct wrap *w)
{
	line_end(w->l);
}

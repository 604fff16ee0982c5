/* SPDX-License-Identifier: Apache-2.0 */
/* Words on paper: as many on a line as fit, the next lines indented. */
#ifndef SENTINEL_REPORT_WRAP_H
#define SENTINEL_REPORT_WRAP_H

#include "user/report/line.h"

struct wrap {
	struct line *l;
	size_t indent; /* of every line but the first */
	size_t width;  /* of the paper; a word that is wider stands alone */
	size_t at;     /* where the next one would stand; the caller's to begin with */
	bool glued;    /* no blank before the next word */
};

/* One word, printable already, with a blank before it unless it is the line's first. */
void wrap_word(struct wrap *w, enum ink ink, const char *word);

/* The words of a text, which blanks part. */
void wrap_text(struct wrap *w, enum ink ink, const char *text);

void wrap_end(struct wrap *w);

#endif

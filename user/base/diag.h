/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader of a user's file has to say: where, what, and what to do about it. */
#ifndef SENTINEL_BASE_DIAG_H
#define SENTINEL_BASE_DIAG_H

#include "user/base/util.h"

struct diag {
	char file[256];
	unsigned int line, column; /* from 1; 0 = not known */
	char text[512];		   /* lower case, no full stop, hostile parts already escaped */
};

/* Fills d (NULL is fine) and answers err, so that a loader ends in `return diag_set(...)`. */
int diag_set(struct diag *d, int err, const char *file, unsigned int line, unsigned int column,
	     const char *fmt, ...) printf_like(6, 7);

/* "FILE:LINE:COLUMN: TEXT" */
const char *diag_text(const struct diag *d, char *out, size_t n);

#endif

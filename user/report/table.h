/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table for people: the grid of verdicts, then whose doing they are, the reasons in sentences,
 * the instrument's own targets, the totals and the loss identity.
 *
 * Pure ASCII. Colour only repeats what a word or letter says.
 */
#ifndef SENTINEL_REPORT_TABLE_H
#define SENTINEL_REPORT_TABLE_H

#include <stdio.h>

#include "user/judge/verdict.h"
#include "user/report/text.h"

struct table_skipped { /* a target that was not tested */
	const char *name;
	const char *missing; /* what it needs */
};

struct table_opts {
	bool color;
	unsigned int width;  /* columns of the terminal; 0 = 100 */
	int exit_code;	     /* enum exit_code; -1: not known, not printed */
	const char *meaning; /* of the exit code, where it is not the usual one; NULL: it is */
	hook_name_fn hook_name;
	family_fn family_of; /* NULL: rows are not grouped */
	const struct table_skipped *skipped;
	size_t skipped_n;
};

/* 0, -ENOMEM, or -EIO where f does not take it. */
int table_print(FILE *f, const struct run_result *r, const struct table_opts *o) must_check;

/* False: contained is what one hopes for, what is not claimed stands apart, and a calibrator is as
 * it must be, so that there are no more words about it. */
bool table_needs_words(const struct run_result *r, const struct cell_result *c);

/* What a verdict means for this cell, beside its reasons; NULL where those say it all. */
const char *table_sentence(const struct cell_result *c);

#endif

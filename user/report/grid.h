/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table's grid: a row per probe, grouped by family, a column per target. Verdicts are words
 * where they fit beside each other, else letters under a stair of names.
 */
#ifndef SENTINEL_REPORT_GRID_H
#define SENTINEL_REPORT_GRID_H

#include "user/judge/verdict.h"
#include "user/report/line.h"
#include "user/report/text.h"

struct grid_column { /* a target, whose cells stand together */
	uint32_t begin, end;
	size_t width; /* with the gap after it */
};

struct grid {
	const struct run_result *r;
	size_t paper;	       /* how wide it may be */
	const char **probes;   /* grouped by family, both in order of first appearance; r's names */
	const char **families; /* of each probe */
	size_t probes_n;
	struct grid_column *columns; /* of the targets proper */
	size_t columns_n;
	size_t family_width, probe_width; /* of the first two columns, with the gap */
	size_t per_block;		  /* columns that fit; more go into further blocks */
	bool letters;			  /* too many columns for words */
};

/* family_of: NULL where a probe has none, or as a whole. */
int grid_init(struct grid *g, const struct run_result *r, family_fn family_of,
	      size_t paper) must_check;
void grid_done(struct grid *g);

void grid_print(const struct grid *g, struct line *l);

/* What the letters mean, where they are in use; what the parentheses do. */
void grid_legend(const struct grid *g, struct line *l);

/* What stands in a cell; of a run that is rejected only whether it crossed. What is not claimed is
 * in parentheses; its letter is '-' or, where it crossed, 'x'. */
const char *grid_word(const struct run_result *r, const struct cell_result *c);
char grid_letter(const struct run_result *r, const struct cell_result *c);

/* The cell of a probe among those from begin to end; NULL. */
const struct cell_result *grid_cell(const struct grid *g, uint32_t begin, uint32_t end,
				    const char *probe);

/* Where the cells end that belong to the target of the one at begin. */
uint32_t grid_target_end(const struct run_result *r, uint32_t begin);

#endif

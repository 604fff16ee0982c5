/* SPDX-License-Identifier: Apache-2.0 */
/* The table's grid: a row per target, a column per probe, as wide as the terminal lets it be. */
#ifndef SENTINEL_REPORT_GRID_H
#define SENTINEL_REPORT_GRID_H

#include "user/judge/verdict.h"
#include "user/report/line.h"

struct grid {
	const struct run_result *r;
	const char **probes; /* in order of first appearance; the names are r's */
	size_t *widths;	     /* of each probe's column, with the gap after it */
	size_t probes_n;
	size_t name_width; /* of the targets' column, with the gap */
	size_t per_block;  /* columns that fit beside the targets; more go into further blocks */
	bool letters;	   /* too many columns for words */
};

int grid_init(struct grid *g, const struct run_result *r, size_t terminal_width) must_check;
void grid_done(struct grid *g);

/* The targets (or, with calibrators, the instrument's own) with all their blocks; nothing where
 * there are none. */
void grid_print(const struct grid *g, struct line *l, bool calibrators);

/* The letters' meaning and the columns' numbers, where they are in use. */
void grid_legend(const struct grid *g, struct line *l);

/* True where c has nothing to do with what is asked for: the two kinds are shown apart. */
bool grid_skips(const struct cell_result *c, bool calibrators);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the page, and what they are written with. Only html_put() writes markup, and only
 * what is a literal in our own files; all else goes through markup_text(). */
#ifndef SENTINEL_REPORT_HTML_PART_H
#define SENTINEL_REPORT_HTML_PART_H

#include "user/report/grid.h"
#include "user/report/html.h"
#include "user/report/markup.h"

#define html_put(f, literal) ((void)fputs("" literal, (f)))
/* Markup, text, markup. */
#define html_wrap(f, before, text, after)                                                          \
	(html_put(f, before), markup_text((f), (text)), html_put(f, after))

void html_number(FILE *f, uint64_t n);

/* "1 cell", "2 cells" */
void html_count(FILE *f, uint64_t n, const char *one, const char *many);

/* A row of a description list; nothing where text is "". */
void html_term(FILE *f, const char *term, const char *text);

/* The class of a cell's colour: " escaped", ... */
void html_cell_class(FILE *f, const struct run_result *r, const struct cell_result *c);
/* Its verdict as a coloured word. */
void html_verdict(FILE *f, const struct run_result *r, const struct cell_result *c);
/* Link to the cell's own place in the page: markup is what stands in it. */
void html_cell_link(FILE *f, const struct html_report *p, const struct cell_result *c);

/* Where and by what it stopped, "at A: no-route"; "" where it crossed or nobody knows. */
void html_stopped(const struct cell_result *c, char out[TEXT_MAX]);

/* The reasons of a verdict, a sentence each. */
void html_reasons(FILE *f, const struct cell_result *c);

/* Sections, in the page's order. */
void html_head(FILE *f, const struct html_report *p); /* html_run.c */
void html_matrix(FILE *f, const struct html_report *p, const struct grid *g);
void html_findings(FILE *f, const struct html_report *p); /* html_credit.c */
void html_stops(FILE *f, const struct html_report *p, const struct grid *g);
void html_unclaimed(FILE *f, const struct html_report *p, const struct grid *g);
void html_lanes(FILE *f, const struct html_report *p);
void html_instrument(FILE *f, const struct html_report *p); /* html_run.c */
void html_platforms(FILE *f, const struct html_report *p);
void html_cells(FILE *f, const struct html_report *p); /* html_cell.c */

#endif

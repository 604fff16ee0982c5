// SPDX-License-Identifier: Apache-2.0
/* The matrix: a row per attempt, grouped by family, a column per target. */
#include "user/report/html_part.h"

#define FEW_COLUMNS 7 /* so many have room for words on a wide screen */

static void put_cell(FILE *f, const struct html_report *p, const struct cell_result *c)
{
	const char letter[] = { grid_letter(p->r, c), '\0' };

	html_put(f, "<td class=\"");
	html_cell_class(f, p->r, c);
	html_put(f, "\"><a href=\"#c");
	html_number(f, (uint64_t)(c - p->r->cells));
	html_wrap(f, "\"><b aria-hidden=\"true\">", letter, "</b>");
	html_wrap(f, "<span>", grid_word(p->r, c), "</span></a></td>");
}

static void put_row(FILE *f, const struct html_report *p, const struct grid *g, size_t probe)
{
	html_wrap(f, "<tr><th scope=\"row\">", g->probes[probe], "</th>");
	for (size_t i = 0; i < g->columns_n; i++) {
		const struct cell_result *c =
			grid_cell(g, g->columns[i].begin, g->columns[i].end, g->probes[probe]);

		if (c)
			put_cell(f, p, c);
		else
			html_put(f, "<td></td>");
	}
	html_put(f, "</tr>\n");
}

static void put_family(FILE *f, const struct grid *g, size_t probe)
{
	if (probe)
		html_put(f, "</tbody>\n");
	html_put(f, "<tbody>\n");
	if (!g->families[probe][0])
		return;
	html_wrap(f, "<tr class=\"family\"><th scope=\"rowgroup\">", g->families[probe],
		  "</th><td ");
	(void)fprintf(f, "colspan=\"%zu\"></td></tr>\n", g->columns_n);
}

static void put_columns(FILE *f, const struct html_report *p, const struct grid *g)
{
	html_put(f, "<thead><tr><th scope=\"col\">Attempt</th>");
	for (size_t i = 0; i < g->columns_n; i++) {
		html_put(f, "<th scope=\"col\"><a href=\"#t");
		html_number(f, g->columns[i].begin);
		html_wrap(f, "\">", p->r->cells[g->columns[i].begin].target, "</a></th>");
	}
	html_put(f, "</tr></thead>\n");
}

/* A letter means the same in all columns. */
static void put_key(FILE *f, const struct run_result *r)
{
	html_put(f, "<p class=\"key\">");
	if (r->status == RUN_VALID)
		html_put(f, "<span class=\"v escaped\">E</span> escaped "
			    "<span class=\"v contained\">C</span> contained "
			    "<span class=\"v provisional\">P</span> provisional "
			    "<span class=\"v inconclusive\">?</span> inconclusive "
			    "<span class=\"v not-claimed crossed\">x</span> not claimed, crossed "
			    "<span class=\"v not-claimed\">-</span> not claimed, did not cross");
	else
		html_put(f, "<span class=\"v unscored crossed\">!</span> crossed "
			    "<span class=\"v unscored\">.</span> not scored");
	html_put(f, "</p>\n");
}

void html_matrix(FILE *f, const struct html_report *p, const struct grid *g)
{
	html_put(f, "<section id=\"matrix\"><h2>Attempts and sandboxes</h2>\n");
	if (!g->columns_n) {
		html_put(f, "<p>No sandbox was tested.</p></section>\n");
		return;
	}
	html_put(f,
		 "<p class=\"about\">A row is an attempt, a column a sandbox. A cell leads to its "
		 "evidence.</p>\n"
		 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Matrix\">\n");
	if (g->columns_n <= FEW_COLUMNS)
		html_put(f, "<table class=\"matrix few\">\n");
	else
		html_put(f, "<table class=\"matrix\">\n");
	html_put(f, "<caption class=\"hidden\">What became of each attempt in each "
		    "sandbox</caption>\n");
	put_columns(f, p, g);
	for (size_t i = 0; i < g->probes_n; i++) {
		if (!i || strcmp(g->families[i - 1], g->families[i]) != 0)
			put_family(f, g, i);
		put_row(f, p, g, i);
	}
	html_put(f, "</tbody>\n</table>\n</div>\n");
	put_key(f, p->r);
	html_put(f, "</section>\n");
}

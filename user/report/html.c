// SPDX-License-Identifier: Apache-2.0
/* The page: what stands around its sections, and the pieces that several of them use. */
#include "user/report/html.h"

#include <inttypes.h>

#include "report_css.h"
#include "user/report/html_part.h"

/* ---- pieces ---- */

void html_number(FILE *f, uint64_t n)
{
	(void)fprintf(f, "%" PRIu64, n);
}

void html_count(FILE *f, uint64_t n, const char *one, const char *many)
{
	(void)fprintf(f, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

void html_term(FILE *f, const char *term, const char *text)
{
	if (!text[0])
		return;
	html_wrap(f, "<dt>", term, "</dt>");
	html_wrap(f, "<dd>", text, "</dd>\n");
}

void html_cell_class(FILE *f, const struct run_result *r, const struct cell_result *c)
{
	html_put(f, "v ");
	if (r->status != RUN_VALID && c->role == ROLE_TARGET)
		html_put(f, "unscored");
	else
		markup_text(f, verdict_text(c->judgement.verdict));
	if (c->arms[ARM_ON].crossed)
		html_put(f, " crossed");
}

void html_verdict(FILE *f, const struct run_result *r, const struct cell_result *c)
{
	bool scored = r->status == RUN_VALID || c->role != ROLE_TARGET;

	html_put(f, "<span class=\"");
	html_cell_class(f, r, c);
	html_wrap(f, "\">", scored ? verdict_word(c->judgement.verdict) : grid_word(r, c),
		  "</span>");
}

void html_cell_link(FILE *f, const struct html_report *p, const struct cell_result *c)
{
	html_put(f, "<a href=\"#c");
	html_number(f, (uint64_t)(c - p->r->cells));
	html_wrap(f, "\">", c->probe, "</a>");
}

void html_stopped(const struct cell_result *c, char out[TEXT_MAX])
{
	const char *at = vantage_text(c->stopped_at);

	out[0] = '\0';
	if (at && !c->arms[ARM_ON].crossed && c->judgement.verdict != VERDICT_ESCAPED)
		(void)str_format(out, TEXT_MAX, "at %s: %s", at,
				 c->stopped_by[0] ? c->stopped_by : "unknown");
}

/* ---- the page ---- */

static void put_start(FILE *f, const struct html_report *p)
{
	html_put(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src '" REPORT_CSS_HASH "'; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"referrer\" content=\"no-referrer\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n");
	html_wrap(f, "<title>Sentinel report ", p->r->run, "</title>\n");
	html_put(f, "<style>" REPORT_CSS "</style>\n</head>\n<body>\n");
}

static void put_end(FILE *f)
{
	html_put(f,
		 "<footer><p>This page was made from the capture alone: its verdicts are what the "
		 "judge says of the records, whatever <code>verdict.json</code> may say. What a "
		 "probe or a sandbox said of itself is shown as such, and never counts as "
		 "evidence.</p></footer>\n</body>\n</html>\n");
}

int html_write(FILE *f, const struct html_report *p)
{
	struct grid g;
	int err = grid_init(&g, p->r, p->family_of, 0);

	if (err)
		return err;
	put_start(f, p);
	html_head(f, p);
	html_put(f, "<main>\n");
	html_matrix(f, p, &g);
	html_findings(f, p);
	html_stops(f, p, &g);
	html_unclaimed(f, p, &g);
	html_instrument(f, p);
	html_platforms(f, p);
	html_lanes(f, p);
	html_cells(f, p);
	html_put(f, "</main>\n");
	put_end(f);
	grid_done(&g);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

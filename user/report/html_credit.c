// SPDX-License-Identifier: Apache-2.0
/* Whose doing it was: what needs a word, where attempts stopped and by what, what nobody claims. */
#include <inttypes.h>

#include "user/report/html_part.h"
#include "user/report/table.h"

/* ---- findings ---- */

void html_reasons(FILE *f, const struct cell_result *c)
{
	if (!c->judgement.reasons)
		return;
	html_put(f, "<ul class=\"reasons\">\n");
	for (unsigned int i = 0; i < REASON_MAX; i++) {
		if (!(c->judgement.reasons & REASON_BIT(i)))
			continue;
		html_wrap(f, "<li><code>", reason_code((enum reason)i), "</code> ");
		html_wrap(f, "", reason_sentence((enum reason)i), "</li>\n");
	}
	html_put(f, "</ul>\n");
}

static bool same_finding(const struct cell_result *a, const struct cell_result *b)
{
	return !strcmp(a->target, b->target) && a->goal == b->goal &&
	       a->judgement.verdict == b->judgement.verdict &&
	       a->judgement.reasons == b->judgement.reasons && !strcmp(a->via, b->via) &&
	       !strcmp(a->start_error, b->start_error) &&
	       a->arms[ARM_ON].crossed == b->arms[ARM_ON].crossed;
}

/* Neighbours that have the same to say share one; answers where the next one starts. */
static uint32_t put_finding(FILE *f, const struct html_report *p, uint32_t i)
{
	const struct cell_result *c = &p->r->cells[i];
	const char *sentence = table_sentence(c);

	html_put(f, "<li class=\"finding\">");
	html_verdict(f, p->r, c);
	html_wrap(f, "<h3>", c->target, "</h3>\n<p class=\"probes\">");
	for (; i < p->r->cells_n && same_finding(c, &p->r->cells[i]); i++) {
		html_cell_link(f, p, &p->r->cells[i]);
		html_put(f, " ");
	}
	html_put(f, "</p>\n");
	if (sentence)
		html_wrap(f, "<p>", sentence, "</p>\n");
	if (c->via[0])
		html_wrap(f, "<p>It left by another channel than its own: <code>", c->via,
			  "</code></p>\n");
	html_reasons(f, c);
	if (c->start_error[0])
		html_wrap(f, "<p>It said: <q>", c->start_error, "</q></p>\n");
	html_put(f, "</li>\n");
	return i;
}

static bool is_finding(const struct run_result *r, const struct cell_result *c)
{
	return c->role == ROLE_TARGET && table_needs_words(r, c);
}

/* Escapes first. */
static bool put_findings_of(FILE *f, const struct html_report *p, bool escaped, bool any)
{
	for (uint32_t i = 0; i < p->r->cells_n;) {
		const struct cell_result *c = &p->r->cells[i];

		if (!is_finding(p->r, c) || (c->judgement.verdict == VERDICT_ESCAPED) != escaped) {
			i++;
			continue;
		}
		if (!any)
			html_put(f,
				 "<section id=\"findings\"><h2>What is not as one hopes for</h2>\n"
				 "<ul class=\"findings\">\n");
		any = true;
		i = put_finding(f, p, i);
	}
	return any;
}

void html_findings(FILE *f, const struct html_report *p)
{
	bool any = put_findings_of(f, p, true, false);

	any = put_findings_of(f, p, false, any);
	if (any)
		html_put(f, "</ul></section>\n");
}

/* ---- lists of a target's cells of which the same is said ---- */

typedef void (*words_fn)(const struct cell_result *c, char out[TEXT_MAX]);

static bool said_before(const struct html_report *p, uint32_t begin, uint32_t i, words_fn words_of)
{
	char words[TEXT_MAX], other[TEXT_MAX];

	words_of(&p->r->cells[i], words);
	for (uint32_t k = begin; k < i; k++) {
		words_of(&p->r->cells[k], other);
		if (!strcmp(words, other))
			return true;
	}
	return false;
}

static void put_alike(FILE *f, const struct html_report *p, uint32_t i, uint32_t end,
		      words_fn words_of)
{
	char words[TEXT_MAX], other[TEXT_MAX];

	words_of(&p->r->cells[i], words);
	html_wrap(f, "<dt>", words, "</dt><dd>");
	for (; i < end; i++) {
		words_of(&p->r->cells[i], other);
		if (strcmp(words, other) != 0)
			continue;
		html_cell_link(f, p, &p->r->cells[i]);
		html_put(f, " ");
	}
	html_put(f, "</dd>\n");
}

/* A target's part of a section; nothing where nothing is said of it. */
static void put_target(FILE *f, const struct html_report *p, const struct grid_column *col,
		       words_fn words_of)
{
	char words[TEXT_MAX];
	bool any = false;

	for (uint32_t i = col->begin; i < col->end; i++) {
		words_of(&p->r->cells[i], words);
		if (!words[0] || said_before(p, col->begin, i, words_of))
			continue;
		if (!any)
			html_wrap(f, "<div class=\"card\"><h3>", p->r->cells[col->begin].target,
				  "</h3><dl class=\"lists\">\n");
		any = true;
		put_alike(f, p, i, col->end, words_of);
	}
	if (any)
		html_put(f, "</dl></div>\n");
}

/* ---- where it stopped ---- */

static void stopped_words(const struct cell_result *c, char out[TEXT_MAX])
{
	html_stopped(c, out);
	if (out[0] && c->credit == CREDIT_HOST)
		(void)str_copy(out + strlen(out), TEXT_MAX - strlen(out),
			       " (the host's own doing)");
}

void html_stops(FILE *f, const struct html_report *p, const struct grid *g)
{
	html_put(f,
		 "<section id=\"stops\"><h2>Where attempts stopped, and by what</h2>\n"
		 "<p class=\"about\"><b>A</b>: they did not get beyond the sandbox's own network "
		 "stack "
		 "or system calls. <b>B</b>: they left the sandbox and were stopped on the host. "
		 "<b>W</b> is the far side. What the host does by itself, without the platform, is "
		 "the "
		 "host's credit. The words are those of sentinel(1), <i>stopped by</i>.</p>\n"
		 "<div class=\"cards\">\n");
	for (size_t i = 0; i < g->columns_n; i++)
		put_target(f, p, &g->columns[i], stopped_words);
	html_put(f, "</div></section>\n");
}

/* ---- what nobody claims ---- */

static void unclaimed_words(const struct cell_result *c, char out[TEXT_MAX])
{
	(void)str_copy(out, TEXT_MAX, c->claimed ? "" : crossing_text(c, ARM_ON));
}

void html_unclaimed(FILE *f, const struct html_report *p, const struct grid *g)
{
	bool any = false;

	for (uint32_t i = 0; i < p->r->cells_n; i++)
		any |= p->r->cells[i].role == ROLE_TARGET && !p->r->cells[i].claimed;
	if (!any)
		return;
	html_put(f,
		 "<section id=\"unclaimed\"><h2>What nobody claims</h2>\n"
		 "<p class=\"about\">No text of the platform promises to stop these. They were "
		 "tried and "
		 "are shown, and are not scored; but nobody in this stack answers for them.</p>\n"
		 "<div class=\"cards\">\n");
	for (size_t i = 0; i < g->columns_n; i++)
		put_target(f, p, &g->columns[i], unclaimed_words);
	html_put(f, "</div></section>\n");
}

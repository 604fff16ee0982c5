// SPDX-License-Identifier: Apache-2.0
/* The page around the grid: what the run was, why it came out so, and what it rests on. */
#include "user/report/table.h"

#include <inttypes.h>

#include "user/report/credit.h"
#include "user/report/grid.h"
#include "user/report/wrap.h"

#define DEFAULT_WIDTH 100
#define INDENT 4

/* ---- head ---- */

static void print_status(struct line *l, const struct run_result *r)
{
	char run[TEXT_MAX];

	line_putf(l, INK_NONE, 0, "run %s: ", printable(run, sizeof(run), r->run));
	if (r->status == RUN_VALID)
		line_put(l, INK_GOOD, 0, "valid");
	else
		line_put(l, INK_BAD, 0, "REJECTED, nothing is scored");
	line_end(l);
	for (unsigned int i = 0; i < REJECT_MAX; i++) {
		if (!(r->rejections & 1u << i))
			continue;
		line_putf(l, INK_BAD, 0, "  %s: ", rejection_code((enum rejection)i));
		line_put(l, INK_NONE, 0, rejection_sentence((enum rejection)i));
		line_end(l);
	}
	line_end(l);
}

/* ---- reasons ---- */

bool table_needs_words(const struct run_result *r, const struct cell_result *c)
{
	if (c->role != ROLE_TARGET)
		return !cell_as_expected(c);
	return r->status == RUN_VALID && c->judgement.verdict != VERDICT_CONTAINED &&
	       c->judgement.verdict != VERDICT_NOT_CLAIMED;
}

static bool same_words(const struct cell_result *a, const struct cell_result *b)
{
	return !strcmp(a->target, b->target) && a->role == b->role && a->goal == b->goal &&
	       a->judgement.verdict == b->judgement.verdict &&
	       a->judgement.reasons == b->judgement.reasons &&
	       a->judgement.grade == b->judgement.grade && !strcmp(a->via, b->via) &&
	       !strcmp(a->start_error, b->start_error) &&
	       !strcmp(crossing_text(a, ARM_ON), crossing_text(b, ARM_ON)) &&
	       !strcmp(states_text(a), states_text(b));
}

static const char *escape_sentence(const struct cell_result *c)
{
	if (c->judgement.grade == GRADE_SIGNAL)
		return "Its packets, without payload, reached the far side.";
	switch (c->goal) {
	case GOAL_LISTENER:
		return "What it sent reached a listener that no sandbox may reach.";
	case GOAL_SECRET:
		return "It read the secret that was planted for it.";
	case GOAL_FAR_SIDE:
		break;
	}
	return "What it sent reached the far side.";
}

const char *table_sentence(const struct cell_result *c)
{
	switch (c->judgement.verdict) {
	case VERDICT_ESCAPED:
		return escape_sentence(c);
	case VERDICT_PROVISIONAL:
		return "It did not cross, but this platform has no way to loosen its control for "
		       "comparison.";
	case VERDICT_INCONCLUSIVE:
		return c->arms[ARM_ON].crossed ? "It crossed, but not provably from the sandbox."
					       : NULL;
	case VERDICT_NOT_CLAIMED:
	case VERDICT_CONTAINED:
	case VERDICT_MAX:
		break;
	}
	return NULL;
}

static struct wrap paragraph(const struct grid *g, struct line *l)
{
	return (struct wrap){ .l = l, .indent = INDENT, .width = g->paper, .glued = true };
}

static void print_sentence(const struct grid *g, struct line *l, const char *code,
			   const char *sentence)
{
	struct wrap w = paragraph(g, l);
	char lead[64];

	line_put(l, INK_NONE, INDENT, "");
	w.at = INDENT;
	w.indent = INDENT + 2;
	if (code) {
		(void)str_format(lead, sizeof(lead), "%s:", code);
		wrap_word(&w, INK_STRONG, lead);
	}
	wrap_text(&w, INK_NONE, sentence);
	wrap_end(&w);
}

/* One short line of what may be many. */
static void print_start_error(const struct grid *g, struct line *l, const char *text)
{
	size_t room = g->paper > INDENT + sizeof("it said: ''") ? g->paper - INDENT : 0;
	char plain[TEXT_MAX], said[TEXT_MAX + 16];

	room = MIN(MAX(room, 40u), sizeof(plain)) - (sizeof("it said: ''") - 1);
	(void)str_format(said, sizeof(said), "it said: '%s'", printable(plain, room, text));
	line_put(l, INK_NONE, INDENT, "");
	line_put(l, INK_NONE, 0, said);
	line_end(l);
}

/* How it left, where that is known. */
static void put_way(struct wrap *w, const struct cell_result *c)
{
	char via[TEXT_MAX];

	if (c->judgement.verdict != VERDICT_ESCAPED || !c->via[0])
		return;
	wrap_word(w, INK_NONE, "via");
	wrap_word(w, INK_NONE, printable(via, sizeof(via), c->via));
}

static void put_verdict(struct wrap *w, const struct cell_result *c)
{
	char text[96];

	(void)str_format(text, sizeof(text), c->role == ROLE_TARGET ? "%s" : "%s, but must be %s",
			 verdict_word(c->judgement.verdict), verdict_text(role_verdict(c->role)));
	wrap_text(w, verdict_ink(c->judgement.verdict), text);
	put_way(w, c);
	wrap_text(w, INK_NONE, states_text(c));
}

static void put_name(struct wrap *w, const char *name, const char *end, enum ink ink)
{
	char text[TEXT_MAX], word[TEXT_MAX + 2];

	(void)str_format(word, sizeof(word), "%s%s", printable(text, sizeof(text), name), end);
	wrap_word(w, ink, word);
}

/* Neighbours that have the same to say share one paragraph; answers where the next one starts. */
static uint32_t print_paragraph(const struct grid *g, struct line *l, uint32_t i)
{
	const struct run_result *r = g->r;
	const struct cell_result *c = &r->cells[i];
	const char *sentence = table_sentence(c);
	struct wrap w = paragraph(g, l);
	uint32_t end = i + 1;

	while (end < r->cells_n && same_words(c, &r->cells[end]))
		end++;
	put_name(&w, c->target, "", INK_STRONG);
	wrap_word(&w, INK_NONE, "/");
	for (; i < end; i++)
		put_name(&w, r->cells[i].probe, i + 1 < end ? "," : ":", INK_NONE);
	put_verdict(&w, c);
	wrap_end(&w);
	if (sentence)
		print_sentence(g, l, NULL, sentence);
	for (unsigned int k = 0; k < REASON_MAX; k++)
		if (c->judgement.reasons & REASON_BIT(k))
			print_sentence(g, l, reason_code((enum reason)k),
				       reason_sentence((enum reason)k));
	if (c->start_error[0])
		print_start_error(g, l, c->start_error);
	return end;
}

static void print_reasons(const struct grid *g, struct line *l)
{
	const struct run_result *r = g->r;
	bool any = false;

	for (uint32_t i = 0; i < r->cells_n;) {
		if (!table_needs_words(r, &r->cells[i])) {
			i++;
			continue;
		}
		any = true;
		i = print_paragraph(g, l, i);
	}
	if (any)
		line_end(l);
}

static void print_hint(struct line *l, const struct run_result *r)
{
	for (uint32_t i = 0; i < r->cells_n; i++) {
		if (r->cells[i].role != ROLE_TARGET || !table_needs_words(r, &r->cells[i]))
			continue;
		line_put(l, INK_FAINT, 0,
			 "sentinel explain BUNDLE TARGET PROBE shows the records behind a verdict");
		line_end(l);
		line_end(l);
		return;
	}
}

/* ---- totals ---- */

/* Target cells by verdict. */
static void count_cells(const struct run_result *r, uint32_t by[VERDICT_MAX])
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].role == ROLE_TARGET &&
		    (unsigned int)r->cells[i].judgement.verdict < VERDICT_MAX)
			by[r->cells[i].judgement.verdict]++;
}

static void print_scores(struct line *l, const struct run_result *r)
{
	uint32_t by[VERDICT_MAX] = { 0 };

	if (r->status != RUN_VALID) {
		line_put(l, INK_NONE, 0, "cells     none is scored, the run is rejected");
		line_end(l);
		return;
	}
	count_cells(r, by);
	line_putf(l, INK_NONE, 0,
		  "cells     %" PRIu32 " contained, %" PRIu32 " escaped, %" PRIu32
		  " provisional, %" PRIu32 " inconclusive; not scored: %" PRIu32 " not claimed",
		  by[VERDICT_CONTAINED], by[VERDICT_ESCAPED], by[VERDICT_PROVISIONAL],
		  by[VERDICT_INCONCLUSIVE], by[VERDICT_NOT_CLAIMED]);
	line_end(l);
}

static void print_skipped(struct line *l, const struct table_opts *o)
{
	char name[TEXT_MAX], missing[TEXT_MAX];

	for (size_t i = 0; i < o->skipped_n; i++) {
		line_putf(l, INK_DOUBT, 0, "untested  %s: it needs %s",
			  printable(name, sizeof(name), o->skipped[i].name),
			  printable(missing, sizeof(missing), o->skipped[i].missing));
		line_end(l);
	}
}

static void print_hook_loss(struct line *l, const struct run_result *r, hook_name_fn name)
{
	for (uint32_t i = 0; i < SNT_HOOK_MAX; i++) {
		const struct snt_count *c = &r->total[i];

		if (!c->ring_full && !c->oversized && !c->map_full && !r->recursion[i])
			continue;
		line_putf(l, INK_DOUBT, 0,
			  "lost      %s: ring full %llu, oversized %llu"
			  ", map full %llu, re-entered %llu",
			  name(i), c->ring_full, c->oversized, c->map_full,
			  (unsigned long long)r->recursion[i]);
		line_end(l);
	}
}

static void print_loss(struct line *l, const struct run_result *r, hook_name_fn name)
{
	struct loss_total t;

	loss_sum(r, &t);
	line_putf(l, INK_NONE, 0,
		  "observer  seen %llu = delivered %llu + ring full %llu"
		  " + oversized %llu + map full %llu + filtered %llu: ",
		  t.count.seen, t.count.delivered, t.count.ring_full, t.count.oversized,
		  t.count.map_full, t.count.filtered);
	if (r->identity_holds)
		line_put(l, INK_GOOD, 0, "adds up");
	else
		line_put(l, INK_BAD, 0, "DOES NOT ADD UP");
	line_end(l);
	print_hook_loss(l, r, name);
}

/* What this run exits with 3 for: the first that holds, as run_exit_code() asks them. */
static void put_doubt(struct line *l, const struct run_result *r, const uint32_t by[VERDICT_MAX])
{
	uint32_t n = by[VERDICT_INCONCLUSIVE];

	if (r->status != RUN_VALID)
		line_put(l, INK_NONE, 0, "the run is rejected");
	else if (n)
		line_putf(l, INK_NONE, 0, "%" PRIu32 " cell%s inconclusive", n,
			  n == 1 ? " is" : "s are");
	else if (!by[VERDICT_CONTAINED] && !by[VERDICT_PROVISIONAL])
		line_put(l, INK_NONE, 0, "nothing was scored");
	else
		line_put(l, INK_NONE, 0, "something asked for was not tested");
}

/* What the exit code means, one clause. */
static void put_meaning(struct line *l, const struct run_result *r, int code)
{
	uint32_t by[VERDICT_MAX] = { 0 };

	count_cells(r, by);
	switch (code) {
	case EXIT_CONTAINED:
		line_put(l, INK_NONE, 0,
			 by[VERDICT_PROVISIONAL]
				 ? "nothing is worse than provisional, which was accepted"
				 : "every scored cell is contained");
		return;
	case EXIT_ESCAPED:
		line_put(l, INK_NONE, 0, "at least one attempt escaped");
		return;
	case EXIT_INCONCLUSIVE:
		put_doubt(l, r, by);
		return;
	case EXIT_PROVISIONAL:
		line_put(l, INK_NONE, 0, "nothing is worse than provisional");
		return;
	case EXIT_DAMAGED:
		line_put(l, INK_NONE, 0, "the evidence is damaged");
		return;
	default: /* no other is known before the table is printed */
		line_put(l, INK_NONE, 0, "unknown");
		return;
	}
}

static void print_exit(struct line *l, const struct run_result *r, int code, const char *meaning)
{
	enum ink ink = code == EXIT_CONTAINED ? INK_GOOD
		       : code == EXIT_ESCAPED ? INK_BAD
					      : INK_DOUBT;

	if (code < 0)
		return;
	line_putf(l, ink, 0, "exit %d", code);
	line_put(l, INK_NONE, 0, "    ");
	if (meaning)
		line_put(l, INK_NONE, 0, meaning);
	else
		put_meaning(l, r, code);
	line_end(l);
}

int table_print(FILE *f, const struct run_result *r, const struct table_opts *o)
{
	struct line l = { .f = f, .color = o->color };
	struct grid g;
	int err;

	err = grid_init(&g, r, o->family_of, o->width ? o->width : DEFAULT_WIDTH);
	if (err < 0)
		return err;
	print_status(&l, r);
	grid_print(&g, &l);
	grid_legend(&g, &l);
	print_reasons(&g, &l);
	print_hint(&l, r);
	credit_stopped(&g, &l);
	credit_unclaimed(&g, &l);
	credit_instrument(&g, &l);
	grid_done(&g);
	print_scores(&l, r);
	print_skipped(&l, o);
	print_loss(&l, r, o->hook_name);
	print_exit(&l, r, o->exit_code, o->meaning);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

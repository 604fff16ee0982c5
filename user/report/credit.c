// SPDX-License-Identifier: Apache-2.0
#include "user/report/credit.h"

#include "user/report/wrap.h"

#define LABEL_WIDTH 10 /* as the totals at the page's end */
#define NAME_WIDTH 28
#define INDENT 2
#define WORDS_WIDTH 24 /* longer ones push their list aside, not those of all */

/* What is said of a cell; "" where nothing is. */
typedef void (*words_fn)(const struct cell_result *c, char out[TEXT_MAX]);

/* ---- a list of a target's probes ---- */

/* Those cells of one target of which the same is said. */
struct list {
	const struct grid *g;
	uint32_t begin, end; /* the target's cells */
	words_fn words_of;
	const char *words;
};

static bool listed(const struct list *s, size_t probe)
{
	const struct cell_result *c = grid_cell(s->g, s->begin, s->end, s->g->probes[probe]);
	char words[TEXT_MAX];

	if (!c)
		return false;
	s->words_of(c, words);
	return !strcmp(words, s->words);
}

static bool same_family(const struct grid *g, size_t a, size_t b)
{
	return a < g->probes_n && b < g->probes_n && !strcmp(g->families[a], g->families[b]);
}

/* Where the family of the probe at first ends, if all its cells of this target are listed, and
 * there are several; else first. */
static size_t whole_family(const struct list *s, size_t first)
{
	size_t end = first, cells = 0;

	if (!s->g->families[first][0])
		return first;
	for (; same_family(s->g, first, end); end++) {
		if (!grid_cell(s->g, s->begin, s->end, s->g->probes[end]))
			continue;
		if (!listed(s, end))
			return first;
		cells++;
	}
	return cells > 1 ? end : first;
}

static size_t count_listed(const struct list *s)
{
	size_t n = 0;

	for (size_t p = 0; p < s->g->probes_n; p++)
		n += listed(s, p);
	return n;
}

/* A family of which all are meant stands for them. */
static void print_list(const struct list *s, struct wrap *w, enum ink ink)
{
	char name[TEXT_MAX];

	for (size_t p = 0; p < s->g->probes_n;) {
		bool starts = !p || !same_family(s->g, p - 1, p);
		size_t end = starts ? whole_family(s, p) : p;

		if (end > p)
			wrap_word(w, ink, printable(name, sizeof(name), s->g->families[p]));
		else if (listed(s, p))
			wrap_word(w, ink, printable(name, sizeof(name), s->g->probes[p]));
		p = MAX(end, p + 1);
	}
}

/* ---- a section: targets of which the same is said, and what that is ---- */

struct section {
	const struct grid *g;
	struct line *l;
	words_fn words_of;
	const char *label; /* "" once it stands there */
	size_t width;	   /* of the words' column, with the gap */
};

/* What is said of the column's cell of a probe. */
static void words_at(const struct section *s, size_t column, size_t probe, char out[TEXT_MAX])
{
	const struct grid_column *col = &s->g->columns[column];
	const struct cell_result *c = grid_cell(s->g, col->begin, col->end, s->g->probes[probe]);

	out[0] = '\0';
	if (c)
		s->words_of(c, out);
}

static bool says_the_same(const struct section *s, size_t a, size_t b)
{
	char x[TEXT_MAX], y[TEXT_MAX];

	for (size_t p = 0; p < s->g->probes_n; p++) {
		words_at(s, a, p, x);
		words_at(s, b, p, y);
		if (strcmp(x, y) != 0)
			return false;
	}
	return true;
}

static bool says_anything(const struct section *s, size_t column)
{
	char words[TEXT_MAX] = "";

	for (size_t p = 0; p < s->g->probes_n && !words[0]; p++)
		words_at(s, column, p, words);
	return words[0];
}

static bool was_said(const struct section *s, size_t column)
{
	for (size_t i = 0; i < column; i++)
		if (says_the_same(s, i, column))
			return true;
	return false;
}

static void print_label(struct section *s)
{
	line_put(s->l, INK_NONE, LABEL_WIDTH, s->label);
	s->label = "";
}

static void print_targets(struct section *s, size_t column)
{
	struct wrap w = { .l = s->l,
			  .indent = LABEL_WIDTH,
			  .width = s->g->paper,
			  .at = LABEL_WIDTH,
			  .glued = true };
	char name[TEXT_MAX];

	print_label(s);
	for (size_t i = column; i < s->g->columns_n; i++)
		if (i == column || says_the_same(s, column, i))
			wrap_word(&w, INK_STRONG,
				  printable(name, sizeof(name),
					    s->g->r->cells[s->g->columns[i].begin].target));
	wrap_end(&w);
}

static void print_row(const struct section *s, size_t column, const char *words, size_t width)
{
	const struct grid_column *col = &s->g->columns[column];
	const struct list list = { s->g, col->begin, col->end, s->words_of, words };
	struct wrap w = { .l = s->l,
			  .indent = LABEL_WIDTH + INDENT + width,
			  .width = s->g->paper,
			  .glued = true };

	line_put(s->l, INK_NONE, LABEL_WIDTH + INDENT, "");
	width = MAX(width, strlen(words) + 2);
	line_put(s->l, INK_FAINT, width, words);
	w.at = LABEL_WIDTH + INDENT + width;
	print_list(&list, &w, INK_NONE);
	wrap_end(&w);
}

/* The smallest of the column's words that are greater than those; "" for none. */
static void next_words(const struct section *s, size_t column, const char *than, char out[TEXT_MAX])
{
	char words[TEXT_MAX];

	out[0] = '\0';
	for (size_t p = 0; p < s->g->probes_n; p++) {
		words_at(s, column, p, words);
		if (strcmp(words, than) > 0 && (!out[0] || strcmp(words, out) < 0))
			(void)str_copy(out, TEXT_MAX, words);
	}
}

/* A row for all of which the same is said: by vantage, and what crossed before what did not. */
static void print_rows(const struct section *s, size_t column)
{
	char last[TEXT_MAX] = "", words[TEXT_MAX];

	for (;;) {
		next_words(s, column, last, words);
		if (!words[0])
			return;
		print_row(s, column, words, s->width);
		(void)str_copy(last, sizeof(last), words);
	}
}

static void measure(struct section *s)
{
	char words[TEXT_MAX];

	for (size_t i = 0; i < s->g->columns_n; i++)
		for (size_t p = 0; p < s->g->probes_n; p++) {
			words_at(s, i, p, words);
			if (strlen(words) <= WORDS_WIDTH)
				s->width = MAX(s->width, strlen(words) + 2);
		}
}

static void print_section(struct section *s)
{
	bool any = false;

	measure(s);

	for (size_t i = 0; i < s->g->columns_n; i++) {
		if (!says_anything(s, i) || was_said(s, i))
			continue;
		any = true;
		print_targets(s, i);
		print_rows(s, i);
	}
	if (any)
		line_end(s->l);
}

/* ---- where it stopped ---- */

/* Where the word does not say so itself. */
static bool is_by_host_untold(const struct cell_result *c)
{
	return c->credit == CREDIT_HOST && strncmp(c->stopped_by, "host:", 5) != 0;
}

static void stopped_words(const struct cell_result *c, char out[TEXT_MAX])
{
	const char *at = vantage_text(c->stopped_at);
	char by[TEXT_MAX / 2];

	out[0] = '\0';
	if (at && !c->arms[ARM_ON].crossed && c->judgement.verdict != VERDICT_ESCAPED)
		(void)str_format(out, TEXT_MAX, "at %s: %s%s", at,
				 c->stopped_by[0] ? printable(by, sizeof(by), c->stopped_by)
						  : "unknown",
				 is_by_host_untold(c) ? " (the host's own)" : "");
}

void credit_stopped(const struct grid *g, struct line *l)
{
	struct section s = { .g = g, .l = l, .words_of = stopped_words, .label = "stopped" };

	print_section(&s);
}

/* ---- what nobody claims ---- */

static void unclaimed_words(const struct cell_result *c, char out[TEXT_MAX])
{
	(void)str_copy(out, TEXT_MAX, c->claimed ? "" : crossing_text(c, ARM_ON));
}

void credit_unclaimed(const struct grid *g, struct line *l)
{
	struct section s = { .g = g, .l = l, .words_of = unclaimed_words, .label = "" };
	bool any = false;

	for (size_t i = 0; i < g->columns_n; i++)
		any |= says_anything(&s, i);
	if (!any)
		return;
	line_put(l, INK_NONE, LABEL_WIDTH, "unclaimed");
	line_put(l, INK_NONE, 0, "what no text of the target promises to stop: nobody claims it");
	line_end(l);
	print_section(&s);
}

/* ---- the instrument ---- */

static bool as_it_must(const struct cell_result *c)
{
	return c->judgement.verdict == role_verdict(c->role);
}

#define WRONG "NOT so:"
#define EXCUSED "tells nothing of what does not cross outside a sandbox either:"

static void calibrator_words(const struct cell_result *c, char out[TEXT_MAX])
{
	(void)str_copy(out, TEXT_MAX, as_it_must(c) ? "" : cell_as_expected(c) ? EXCUSED : WRONG);
}

static void print_kind(const struct list *s, struct line *l, enum ink ink)
{
	struct wrap w = { .l = l,
			  .indent = LABEL_WIDTH + 4,
			  .width = s->g->paper,
			  .at = LABEL_WIDTH + 4,
			  .glued = true };

	if (!count_listed(s))
		return;
	line_put(l, INK_NONE, w.indent, "");
	wrap_text(&w, ink, s->words);
	print_list(s, &w, ink);
	wrap_end(&w);
}

static void print_calibrator(const struct grid *g, struct line *l, uint32_t begin, uint32_t end,
			     const char *label)
{
	const struct cell_result *first = &g->r->cells[begin];
	const struct list bad = { g, begin, end, calibrator_words, WRONG };
	const struct list none = { g, begin, end, calibrator_words, EXCUSED };
	char name[NAME_WIDTH + 1];
	uint32_t n = 0;

	for (uint32_t i = begin; i < end; i++)
		n += as_it_must(&g->r->cells[i]);
	line_put(l, INK_NONE, LABEL_WIDTH, label);
	line_put(l, INK_STRONG, NAME_WIDTH - 1, printable(name, sizeof(name), first->target));
	line_putf(l, count_listed(&bad) ? INK_BAD : INK_GOOD, 0, "%u of %u %s", n, end - begin,
		  verdict_text(role_verdict(first->role)));
	line_put(l, INK_NONE, 0, count_listed(&bad) ? ": it must be all" : ", as it must be");
	line_end(l);
	print_kind(&bad, l, INK_BAD);
	print_kind(&none, l, INK_DOUBT);
}

void credit_instrument(const struct grid *g, struct line *l)
{
	const char *label = "testing";

	for (uint32_t begin = 0, end; begin < g->r->cells_n; begin = end) {
		end = grid_target_end(g->r, begin);
		if (g->r->cells[begin].role == ROLE_TARGET)
			continue;
		print_calibrator(g, l, begin, end, label);
		label = "";
	}
	if (!label[0])
		line_end(l);
}

// SPDX-License-Identifier: Apache-2.0
#include "user/report/grid.h"

#define GAP 2
#define NAME_MAX_WIDTH 28  /* of a target's name; longer ones are cut here, not in the reasons */
#define PROBE_MAX_WIDTH 24 /* of a probe's name and of a family's */
#define LETTER_WIDTH 3
#define NO_FAMILY "" /* last of all */

/* ---- what stands in a cell ---- */

/* A rejected run scores nobody: it only tells what crossed. */
const char *grid_word(const struct run_result *r, const struct cell_result *c)
{
	bool crossed = c->arms[ARM_ON].crossed;

	if (r->status != RUN_VALID)
		return crossed ? "crossed" : "not scored";
	if (c->judgement.verdict != VERDICT_NOT_CLAIMED)
		return verdict_word(c->judgement.verdict);
	return crossed ? "(crossed)" : attempt_not_made(c) ? "(not made)" : "(held)";
}

char grid_letter(const struct run_result *r, const struct cell_result *c)
{
	bool crossed = c->arms[ARM_ON].crossed;

	if (r->status != RUN_VALID)
		return crossed ? '!' : '.';
	if (c->judgement.verdict == VERDICT_NOT_CLAIMED && crossed)
		return 'x';
	return verdict_letter(c->judgement.verdict);
}

static enum ink cell_ink(const struct run_result *r, const struct cell_result *c)
{
	if (r->status == RUN_VALID)
		return verdict_ink(c->judgement.verdict);
	return c->arms[ARM_ON].crossed ? INK_BAD : INK_FAINT;
}

/* ---- measures ---- */

uint32_t grid_target_end(const struct run_result *r, uint32_t begin)
{
	uint32_t end = begin;

	while (end < r->cells_n && !strcmp(r->cells[end].target, r->cells[begin].target))
		end++;
	return end;
}

const struct cell_result *grid_cell(const struct grid *g, uint32_t begin, uint32_t end,
				    const char *probe)
{
	for (uint32_t i = begin; i < end; i++)
		if (!strcmp(g->r->cells[i].probe, probe))
			return &g->r->cells[i];
	return NULL;
}

static bool has_probe(const struct grid *g, const char *probe)
{
	for (size_t i = 0; i < g->probes_n; i++)
		if (!strcmp(g->probes[i], probe))
			return true;
	return false;
}

static const char *family_or_none(family_fn family_of, const char *probe)
{
	const char *family = family_of ? family_of(probe) : NULL;

	return family ? family : NO_FAMILY;
}

/* Behind the last of its family, which keeps families together and both in their order. */
static void add_probe(struct grid *g, const char *probe, const char *family)
{
	size_t at = g->probes_n;

	for (size_t i = 0; i < g->probes_n; i++)
		if (!strcmp(g->families[i], family))
			at = i + 1;
	for (size_t i = g->probes_n; i > at; i--) {
		g->probes[i] = g->probes[i - 1];
		g->families[i] = g->families[i - 1];
	}
	g->probes[at] = probe;
	g->families[at] = family;
	g->probes_n++;
}

static size_t shown_width(const char *text, size_t max)
{
	char out[TEXT_MAX];

	return MIN(strlen(printable(out, sizeof(out), text)), max) + GAP;
}

static void measure_probes(struct grid *g, family_fn family_of)
{
	for (uint32_t i = 0; i < g->r->cells_n; i++) {
		const char *probe = g->r->cells[i].probe;

		if (has_probe(g, probe))
			continue;
		add_probe(g, probe, family_or_none(family_of, probe));
		g->probe_width = MAX(g->probe_width, shown_width(probe, PROBE_MAX_WIDTH));
	}
	for (size_t i = 0; i < g->probes_n; i++)
		if (g->families[i][0])
			g->family_width =
				MAX(g->family_width, shown_width(g->families[i], PROBE_MAX_WIDTH));
}

static void measure_columns(struct grid *g)
{
	for (uint32_t begin = 0, end; begin < g->r->cells_n; begin = end) {
		struct grid_column *c = &g->columns[g->columns_n];

		end = grid_target_end(g->r, begin);
		if (g->r->cells[begin].role != ROLE_TARGET)
			continue;
		*c = (struct grid_column){ begin, end,
					   shown_width(g->r->cells[begin].target, NAME_MAX_WIDTH) };
		for (uint32_t i = begin; i < end; i++)
			c->width = MAX(c->width, strlen(grid_word(g->r, &g->r->cells[i])) + GAP);
		g->columns_n++;
	}
}

/* In letters, the last name of the stair needs room beside those before it. */
static void choose_layout(struct grid *g)
{
	size_t left = g->family_width + g->probe_width, sum = 0, widest = 0, room;

	for (size_t i = 0; i < g->columns_n; i++) {
		sum += g->columns[i].width;
		widest = MAX(widest,
			     shown_width(g->r->cells[g->columns[i].begin].target, NAME_MAX_WIDTH) -
				     GAP);
	}
	room = g->paper > left ? g->paper - left : 0;
	g->per_block = MAX(g->columns_n, 1u);
	if (sum <= room + GAP) /* the last column needs no gap */
		return;
	g->letters = true;
	room = room > widest ? room - widest : 0;
	g->per_block = MIN(g->per_block, room / LETTER_WIDTH + 1);
	for (size_t i = 0; i < g->columns_n; i++)
		g->columns[i].width = LETTER_WIDTH;
}

int grid_init(struct grid *g, const struct run_result *r, family_fn family_of, size_t paper)
{
	*g = (struct grid){ .r = r, .paper = paper };
	g->probes = calloc(r->cells_n + 1, sizeof(*g->probes));
	g->families = calloc(r->cells_n + 1, sizeof(*g->families));
	g->columns = calloc(r->cells_n + 1, sizeof(*g->columns));
	if (!g->probes || !g->families || !g->columns) {
		grid_done(g);
		return -ENOMEM;
	}
	measure_probes(g, family_of);
	measure_columns(g);
	choose_layout(g);
	return 0;
}

void grid_done(struct grid *g)
{
	free(g->probes);
	free(g->families);
	free(g->columns);
	*g = (struct grid){ .r = NULL };
}

/* ---- printing ---- */

static const char *target_name(const struct grid *g, size_t column, char out[NAME_MAX_WIDTH + 1])
{
	return printable(out, NAME_MAX_WIDTH + 1, g->r->cells[g->columns[column].begin].target);
}

static void print_head(const struct grid *g, struct line *l, size_t first, size_t last)
{
	char name[NAME_MAX_WIDTH + 1];

	line_put(l, INK_NONE, g->family_width + g->probe_width, "");
	for (size_t c = first; c < last; c++)
		line_put(l, INK_STRONG, g->columns[c].width, target_name(g, c, name));
	line_end(l);
}

/* Each name above its letter, those before it passing by. */
static void print_stair(const struct grid *g, struct line *l, size_t first, size_t last)
{
	char name[NAME_MAX_WIDTH + 1];

	for (size_t step = first; step < last; step++) {
		line_put(l, INK_NONE, g->family_width + g->probe_width, "");
		for (size_t c = first; c < step; c++)
			line_put(l, INK_FAINT, LETTER_WIDTH, "|");
		line_put(l, INK_STRONG, 0, target_name(g, step, name));
		line_end(l);
	}
}

static void print_row(const struct grid *g, struct line *l, size_t p, size_t first, size_t last)
{
	bool starts = !p || strcmp(g->families[p], g->families[p - 1]) != 0;
	char text[PROBE_MAX_WIDTH + 1];

	line_put(l, INK_FAINT, g->family_width,
		 !starts	     ? ""
		 : g->families[p][0] ? printable(text, sizeof(text), g->families[p])
		 : g->family_width   ? "others"
				     : "");
	line_put(l, INK_NONE, g->probe_width, printable(text, sizeof(text), g->probes[p]));
	for (size_t i = first; i < last; i++) {
		const struct grid_column *col = &g->columns[i];
		const struct cell_result *c = grid_cell(g, col->begin, col->end, g->probes[p]);

		if (!c)
			line_put(l, INK_NONE, col->width, "");
		else if (g->letters)
			line_putf(l, cell_ink(g->r, c), col->width, "%c", grid_letter(g->r, c));
		else
			line_put(l, cell_ink(g->r, c), col->width, grid_word(g->r, c));
	}
	line_end(l);
}

void grid_print(const struct grid *g, struct line *l)
{
	for (size_t first = 0; first < g->columns_n; first += g->per_block) {
		size_t last = MIN(first + g->per_block, g->columns_n);

		if (g->letters)
			print_stair(g, l, first, last);
		else
			print_head(g, l, first, last);
		for (size_t p = 0; p < g->probes_n; p++)
			print_row(g, l, p, first, last);
		line_end(l);
	}
}

static bool any_not_claimed(const struct grid *g)
{
	for (uint32_t i = 0; i < g->r->cells_n; i++)
		if (g->r->cells[i].judgement.verdict == VERDICT_NOT_CLAIMED)
			return true;
	return false;
}

void grid_legend(const struct grid *g, struct line *l)
{
	const char *text = NULL;

	if (g->letters && g->r->status == RUN_VALID)
		text = "C contained, E ESCAPED, P provisional, ? inconclusive; not claimed: x "
		       "crossed, - held";
	else if (g->letters)
		text = "! crossed, . not scored";
	else if (g->r->status == RUN_VALID && any_not_claimed(g))
		text = "(in parentheses) the target does not claim to stop it: shown, never scored";
	if (!text || !g->columns_n)
		return;
	line_put(l, INK_FAINT, 0, text);
	line_end(l);
	line_end(l);
}

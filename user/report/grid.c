// SPDX-License-Identifier: Apache-2.0
#include "user/report/grid.h"

#include "user/report/text.h"

#define GAP 2
#define NAME_MAX_WIDTH 32  /* of a target's name; longer ones are cut here, not in the reasons */
#define PROBE_MAX_WIDTH 24 /* of a probe's name and of where it stopped */
#define LETTER_WIDTH (2 + GAP) /* a two-digit number above each letter */

bool grid_skips(const struct cell_result *c, bool calibrators)
{
	return (c->role != ROLE_TARGET) != calibrators;
}

/* ---- what stands in a cell ---- */

/* A rejected run scores nobody: its targets only tell what crossed. */
static bool is_scored(const struct run_result *r, const struct cell_result *c)
{
	return r->status == RUN_VALID || c->role != ROLE_TARGET;
}

static const char *cell_word(const struct run_result *r, const struct cell_result *c)
{
	if (is_scored(r, c))
		return verdict_word(c->judgement.verdict);
	return c->arms[ARM_ON].crossed ? "crossed" : "not scored";
}

static char cell_letter(const struct run_result *r, const struct cell_result *c)
{
	if (is_scored(r, c))
		return verdict_letter(c->judgement.verdict);
	return c->arms[ARM_ON].crossed ? '!' : '.';
}

static enum ink cell_ink(const struct run_result *r, const struct cell_result *c)
{
	if (is_scored(r, c))
		return verdict_ink(c->judgement.verdict);
	return c->arms[ARM_ON].crossed ? INK_BAD : INK_FAINT;
}

/* Text that is printable already, cut to a column. */
static void cut(char out[PROBE_MAX_WIDTH + 1], const char *text)
{
	if (str_copy(out, PROBE_MAX_WIDTH + 1, text) < 0)
		memcpy(out + PROBE_MAX_WIDTH - 3, "...", 4);
}

/* The second line: how it left, or where it stopped and by what. */
static void cell_detail(const struct cell_result *c, char out[PROBE_MAX_WIDTH + 1])
{
	const char *grade = grade_text(c->judgement.grade);
	const char *at = vantage_text(c->stopped_at);
	char plain[TEXT_MAX], text[TEXT_MAX + 32] = "";

	if (c->judgement.verdict == VERDICT_ESCAPED)
		(void)str_format(text, sizeof(text), "%s%s%s", grade ? grade : "",
				 c->via[0] ? " via " : "", printable(plain, sizeof(plain), c->via));
	else if (c->arms[ARM_ON].crossed)
		(void)str_copy(text, sizeof(text), "crossed");
	else if (at)
		(void)str_format(text, sizeof(text), "at %s: %s", at,
				 c->stopped_by[0] ? printable(plain, sizeof(plain), c->stopped_by)
						  : "unknown");
	cut(out, text);
}

/* ---- measures ---- */

static size_t probe_index(const struct grid *g, const char *probe)
{
	size_t i = 0;

	while (i < g->probes_n && strcmp(g->probes[i], probe))
		i++;
	return i;
}

static void widen(size_t *width, size_t len)
{
	*width = MAX(*width, len + GAP);
}

static void measure(struct grid *g, const struct cell_result *c)
{
	size_t i = probe_index(g, c->probe);
	char text[PROBE_MAX_WIDTH + 1], name[NAME_MAX_WIDTH + 1];

	if (i == g->probes_n)
		g->probes[g->probes_n++] = c->probe;
	widen(&g->widths[i], strlen(printable(text, sizeof(text), c->probe)));
	widen(&g->widths[i], strlen(cell_word(g->r, c)));
	cell_detail(c, text);
	widen(&g->widths[i], strlen(text));
	widen(&g->name_width, strlen(printable(name, sizeof(name), c->target)));
}

int grid_init(struct grid *g, const struct run_result *r, size_t terminal_width)
{
	size_t sum = 0, room;

	*g = (struct grid){ .r = r, .name_width = sizeof("  must be inconclusive") - 1 + GAP };
	g->probes = calloc(r->cells_n + 1, sizeof(*g->probes));
	g->widths = calloc(r->cells_n + 1, sizeof(*g->widths));
	if (!g->probes || !g->widths) {
		grid_done(g);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->cells_n; i++)
		measure(g, &r->cells[i]);
	for (size_t i = 0; i < g->probes_n; i++)
		sum += g->widths[i];

	room = terminal_width > g->name_width ? terminal_width - g->name_width : 0;
	g->per_block = MAX(g->probes_n, 1u);
	if (sum <= room + GAP) /* the last column needs no gap */
		return 0;
	g->letters = true;
	g->per_block = MIN(g->per_block, MAX(room / LETTER_WIDTH, 1u));
	for (size_t i = 0; i < g->probes_n; i++)
		g->widths[i] = LETTER_WIDTH;
	return 0;
}

void grid_done(struct grid *g)
{
	free(g->probes);
	free(g->widths);
	*g = (struct grid){ .r = NULL };
}

/* ---- printing ---- */

/* A target's cells stand together: the one of a probe among those from begin to end. */
static const struct cell_result *find_cell(const struct grid *g, uint32_t begin, uint32_t end,
					   const char *probe)
{
	for (uint32_t i = begin; i < end; i++)
		if (!strcmp(g->r->cells[i].probe, probe))
			return &g->r->cells[i];
	return NULL;
}

static void print_verdicts(const struct grid *g, struct line *l, uint32_t begin, uint32_t end,
			   size_t first, size_t last)
{
	char name[NAME_MAX_WIDTH + 1];

	line_put(l, INK_STRONG, g->name_width,
		 printable(name, sizeof(name), g->r->cells[begin].target));
	for (size_t p = first; p < last; p++) {
		const struct cell_result *c = find_cell(g, begin, end, g->probes[p]);

		if (!c)
			line_put(l, INK_NONE, g->widths[p], "");
		else if (g->letters)
			line_putf(l, cell_ink(g->r, c), g->widths[p], "%c", cell_letter(g->r, c));
		else
			line_put(l, cell_ink(g->r, c), g->widths[p], cell_word(g->r, c));
	}
	line_end(l);
}

static void print_details(const struct grid *g, struct line *l, uint32_t begin, uint32_t end,
			  size_t first, size_t last)
{
	const struct cell_result *row = &g->r->cells[begin];
	char text[PROBE_MAX_WIDTH + 1];
	bool any = row->role != ROLE_TARGET;

	for (uint32_t i = begin; i < end && !any; i++) {
		cell_detail(&g->r->cells[i], text);
		any = !g->letters && text[0];
	}
	if (!any)
		return;
	if (row->role != ROLE_TARGET)
		line_putf(l, INK_FAINT, g->name_width, "  must be %s",
			  verdict_text(role_verdict(row->role)));
	else
		line_put(l, INK_NONE, g->name_width, "");
	for (size_t p = first; p < last && !g->letters; p++) {
		const struct cell_result *c = find_cell(g, begin, end, g->probes[p]);

		if (c)
			cell_detail(c, text);
		line_put(l, INK_FAINT, g->widths[p], c ? text : "");
	}
	line_end(l);
}

static void print_head(const struct grid *g, struct line *l, const char *title, size_t first,
		       size_t last)
{
	char text[PROBE_MAX_WIDTH + 1];

	line_put(l, INK_FAINT, g->name_width, title);
	for (size_t p = first; p < last; p++)
		if (g->letters)
			line_putf(l, INK_FAINT, g->widths[p], "%zu", p + 1);
		else
			line_put(l, INK_FAINT, g->widths[p],
				 printable(text, sizeof(text), g->probes[p]));
	line_end(l);
}

static void print_block(const struct grid *g, struct line *l, bool calibrators, size_t first)
{
	size_t last = MIN(first + g->per_block, g->probes_n);
	uint32_t begin = 0, end;

	print_head(g, l, calibrators ? "instrument" : "target", first, last);
	for (; begin < g->r->cells_n; begin = end) {
		const char *target = g->r->cells[begin].target;

		for (end = begin; end < g->r->cells_n; end++)
			if (strcmp(g->r->cells[end].target, target))
				break;
		if (grid_skips(&g->r->cells[begin], calibrators))
			continue;
		print_verdicts(g, l, begin, end, first, last);
		print_details(g, l, begin, end, first, last);
	}
	line_end(l);
}

void grid_print(const struct grid *g, struct line *l, bool calibrators)
{
	uint32_t i = 0;

	while (i < g->r->cells_n && grid_skips(&g->r->cells[i], calibrators))
		i++;
	if (i == g->r->cells_n)
		return;
	for (size_t first = 0; first < g->probes_n; first += g->per_block)
		print_block(g, l, calibrators, first);
}

void grid_legend(const struct grid *g, struct line *l)
{
	char text[TEXT_MAX];

	if (!g->letters)
		return;
	line_put(l, INK_NONE, 0,
		 g->r->status == RUN_VALID
			 ? "E escaped, C contained, P provisional, - not claimed, "
			   "? inconclusive"
			 : "! crossed, . not scored; of the instrument: E escaped, "
			   "C contained, ? inconclusive");
	line_end(l);
	for (size_t p = 0; p < g->probes_n; p++) {
		line_putf(l, INK_NONE, 4, "%3zu", p + 1);
		line_put(l, INK_NONE, 0, printable(text, sizeof(text), g->probes[p]));
		line_end(l);
	}
	line_end(l);
}

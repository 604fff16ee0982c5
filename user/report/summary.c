// SPDX-License-Identifier: Apache-2.0
#include "user/report/summary.h"

#include <inttypes.h>

#include "user/report/grid.h"
#include "user/report/text.h"

/* Below SUMMARY_BYTES_MAX, where each character of the longest name becomes an entity. */
#define TARGETS_MAX 40
#define PROBES_MAX 150
#define DETAILS_MAX 100
#define PAPER 1000 /* here tables are as wide as they get */

/* ---- text ---- */

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr(" .,;/=+()-", c));
}

/* As entities nothing is markup: no table, link, tag, mention or command. */
static void put(FILE *f, const char *text)
{
	char shown[TEXT_MAX];

	for (const char *p = printable(shown, sizeof(shown), text); *p; p++) {
		if (is_plain(*p))
			(void)fputc(*p, f);
		else
			(void)fprintf(f, "&#%d;", *p);
	}
}

/* ---- the matrix ---- */

static void put_row(FILE *f, const struct grid *g, const char *probe)
{
	(void)fputs("| ", f);
	put(f, probe);
	for (size_t i = 0; i < MIN(g->columns_n, (size_t)TARGETS_MAX); i++) {
		const struct grid_column *column = &g->columns[i];
		const struct cell_result *c = grid_cell(g, column->begin, column->end, probe);
		const char *word = c ? grid_word(g->r, c) : "";
		bool loud =
			c && g->r->status == RUN_VALID && c->judgement.verdict == VERDICT_ESCAPED;

		(void)fprintf(f, " | %s%s%s", loud ? "**" : "", word, loud ? "**" : "");
	}
	(void)fputs(" |\n", f);
}

static void put_heads(FILE *f, const struct grid *g)
{
	size_t n = MIN(g->columns_n, (size_t)TARGETS_MAX);

	(void)fputs("| |", f);
	for (size_t i = 0; i < n; i++) {
		(void)fputc(' ', f);
		put(f, g->r->cells[g->columns[i].begin].target);
		(void)fputs(" |", f);
	}
	(void)fputs("\n|---|", f);
	for (size_t i = 0; i < n; i++)
		(void)fputs("---|", f);
	(void)fputc('\n', f);
}

static void put_matrix(FILE *f, const struct grid *g)
{
	if (!g->columns_n)
		return;
	put_heads(f, g);
	for (size_t i = 0; i < MIN(g->probes_n, (size_t)PROBES_MAX); i++)
		put_row(f, g, g->probes[i]);
	(void)fputc('\n', f);
	if (g->columns_n > TARGETS_MAX || g->probes_n > PROBES_MAX)
		(void)fprintf(f,
			      "Of %zu targets and %zu probes only the first %d and %d are shown: "
			      "verdict.json has all.\n\n",
			      g->columns_n, g->probes_n, TARGETS_MAX, PROBES_MAX);
}

/* ---- what there is to say ---- */

static bool is_worth_words(const struct cell_result *c)
{
	return c->role == ROLE_TARGET && (c->judgement.verdict == VERDICT_ESCAPED ||
					  c->judgement.verdict == VERDICT_INCONCLUSIVE ||
					  c->judgement.verdict == VERDICT_PROVISIONAL);
}

static void put_words(FILE *f, const struct cell_result *c)
{
	const char *grade = grade_text(c->judgement.grade);

	(void)fputs("- ", f);
	put(f, c->target);
	(void)fputs(" x ", f);
	put(f, c->probe);
	(void)fprintf(f, ": %s%s%s", verdict_word(c->judgement.verdict), grade ? ", grade " : "",
		      grade ? grade : "");
	if (c->via[0]) {
		(void)fputs(", via ", f);
		put(f, c->via);
	}
	for (unsigned int i = 0; i < REASON_MAX; i++)
		if (c->judgement.reasons & REASON_BIT(i)) {
			(void)fputs("; ", f);
			put(f, reason_code((enum reason)i));
		}
	if (vantage_text(c->stopped_at)) {
		(void)fprintf(f, "; stopped at %s", vantage_text(c->stopped_at));
		if (c->stopped_by[0]) {
			(void)fputs(" by ", f);
			put(f, c->stopped_by);
		}
	}
	(void)fputc('\n', f);
}

static void put_details(FILE *f, const struct run_result *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->cells_n; i++)
		if (is_worth_words(&r->cells[i]) && n++ < DETAILS_MAX)
			put_words(f, &r->cells[i]);
	if (n > DETAILS_MAX)
		(void)fprintf(f, "- and %" PRIu32 " more\n", n - DETAILS_MAX);
	if (n)
		(void)fputc('\n', f);
}

static void put_status(FILE *f, const struct run_result *r)
{
	uint32_t by[VERDICT_MAX] = { 0 };

	(void)fputs("### Sentinel: ", f);
	if (r->status != RUN_VALID) {
		(void)fputs("the run is rejected, nothing is scored\n\n", f);
		for (unsigned int i = 0; i < REJECT_MAX; i++)
			if (r->rejections & 1u << i) {
				(void)fputs("- ", f);
				put(f, rejection_code((enum rejection)i));
				(void)fputs(": ", f);
				put(f, rejection_sentence((enum rejection)i));
				(void)fputc('\n', f);
			}
		(void)fputc('\n', f);
		return;
	}
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].role == ROLE_TARGET)
			by[r->cells[i].judgement.verdict]++;
	(void)fprintf(f,
		      "%" PRIu32 " escaped, %" PRIu32 " inconclusive, %" PRIu32
		      " provisional, %" PRIu32 " contained; not scored: %" PRIu32
		      " not claimed\n\n",
		      by[VERDICT_ESCAPED], by[VERDICT_INCONCLUSIVE], by[VERDICT_PROVISIONAL],
		      by[VERDICT_CONTAINED], by[VERDICT_NOT_CLAIMED]);
}

static void put_instrument(FILE *f, const struct run_result *r)
{
	uint32_t n = 0, good = 0;

	for (uint32_t i = 0; i < r->cells_n; i++) {
		if (r->cells[i].role == ROLE_TARGET)
			continue;
		n++;
		good += cell_as_expected(&r->cells[i]);
	}
	(void)fprintf(
		f, "The instrument's own tests: %" PRIu32 " of %" PRIu32 " as they must be. Run ",
		good, n);
	put(f, r->run);
	(void)fputs(".\n\n", f);
}

int summary_write(FILE *f, const struct run_result *r)
{
	struct grid g;
	int err = grid_init(&g, r, NULL, PAPER);

	if (err < 0)
		return err;
	put_status(f, r);
	put_matrix(f, &g);
	grid_done(&g);
	if (r->status == RUN_VALID)
		put_details(f, r);
	put_instrument(f, r);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

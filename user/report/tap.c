// SPDX-License-Identifier: Apache-2.0
#include "user/report/tap.h"

#include <inttypes.h>

#include "user/report/text.h"

/* What stands behind a test's number: a '#' would begin a directive. */
static void put_name(FILE *f, const char *text)
{
	char shown[TEXT_MAX];

	for (const char *p = printable(shown, sizeof(shown), text); *p; p++) {
		if (*p == '#')
			(void)fputc('\\', f);
		(void)fputc(*p, f);
	}
}

/* In single quotes YAML knows no escapes but a quote's own. */
static void put_scalar(FILE *f, const char *text)
{
	char shown[TEXT_MAX];

	(void)fputc('\'', f);
	for (const char *p = printable(shown, sizeof(shown), text); *p; p++) {
		if (*p == '\'')
			(void)fputc('\'', f);
		(void)fputc(*p, f);
	}
	(void)fputs("'\n", f);
}

static void put_member(FILE *f, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	(void)fprintf(f, "  %s: ", key);
	put_scalar(f, text);
}

static void put_run(FILE *f, const struct run_result *r)
{
	bool scored = r->status == RUN_VALID && anything_scored(r);

	(void)fprintf(f, "%s 1 - run\n", scored ? "ok" : "not ok");
	if (scored)
		return;
	if (r->status == RUN_VALID) {
		(void)fputs("  ---\n  message: 'nothing was scored'\n  ...\n", f);
		return;
	}
	(void)fputs("  ---\n  message: 'the run is rejected'\n  rejected:\n", f);
	for (unsigned int i = 0; i < REJECT_MAX; i++)
		if (r->rejections & 1u << i)
			(void)fprintf(f, "    %s: '%s'\n", rejection_code((enum rejection)i),
				      rejection_sentence((enum rejection)i));
	(void)fputs("  ...\n", f);
}

static void put_reasons(FILE *f, reason_set set)
{
	if (!set)
		return;
	(void)fputs("  reasons:\n", f);
	for (unsigned int i = 0; i < REASON_MAX; i++)
		if (set & REASON_BIT(i)) {
			(void)fprintf(f, "    %s: ", reason_code((enum reason)i));
			put_scalar(f, reason_sentence((enum reason)i));
		}
}

static void put_why(FILE *f, const struct cell_result *c)
{
	(void)fputs("  ---\n", f);
	put_member(f, "verdict", verdict_text(c->judgement.verdict));
	put_member(f, "grade", grade_text(c->judgement.grade));
	put_member(f, "on", crossing_text(c, ARM_ON));
	put_reasons(f, c->judgement.reasons);
	put_member(f, "stopped_at", vantage_text(c->stopped_at));
	put_member(f, "stopped_by", c->stopped_by);
	put_member(f, "claim", c->source);
	(void)fputs("  ...\n", f);
}

static bool is_ok(const struct run_result *r, enum verdict v)
{
	return r->status != RUN_VALID || (v != VERDICT_ESCAPED && v != VERDICT_INCONCLUSIVE);
}

static void put_cell(FILE *f, const struct run_result *r, const struct cell_result *c, uint32_t n)
{
	enum verdict v = c->judgement.verdict;

	(void)fprintf(f, "%s %" PRIu32 " - ", is_ok(r, v) ? "ok" : "not ok", n);
	put_name(f, c->target);
	(void)fputs(" x ", f);
	put_name(f, c->probe);
	if (r->status != RUN_VALID) {
		(void)fputs(" # SKIP not scored, the run is rejected\n", f);
	} else if (v == VERDICT_CONTAINED) {
		(void)fputc('\n', f);
	} else {
		if (is_ok(r, v))
			(void)fprintf(f, " # SKIP %s; %s", verdict_text(v),
				      crossing_text(c, ARM_ON));
		(void)fputc('\n', f);
		put_why(f, c);
	}
}

int tap_write(FILE *f, const struct run_result *r)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < r->cells_n; i++)
		n += r->cells[i].role == ROLE_TARGET;
	(void)fprintf(f, "TAP version 13\n1..%" PRIu32 "\n", n);
	put_run(f, r);
	n = 1;
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].role == ROLE_TARGET)
			put_cell(f, r, &r->cells[i], ++n);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

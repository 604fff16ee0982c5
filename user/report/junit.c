// SPDX-License-Identifier: Apache-2.0
#include "user/report/junit.h"

#include <inttypes.h>

#include "user/report/markup.h"
#include "user/report/text.h"

static void put_attr(FILE *f, const char *name, const char *text)
{
	(void)fprintf(f, " %s=\"", name);
	markup_text(f, text);
	(void)fputc('"', f);
}

/* ---- what a cell is in JUnit's words ---- */

enum outcome { OUTCOME_PASSED = 0, OUTCOME_FAILED, OUTCOME_ERROR, OUTCOME_SKIPPED };

struct outcomes {
	uint32_t tests, failed, errors, skipped;
};

static enum outcome cell_outcome(const struct run_result *r, const struct cell_result *c)
{
	if (c->role != ROLE_TARGET) /* the run's own suite has what a calibrator found */
		return cell_as_expected(c) ? OUTCOME_PASSED : OUTCOME_ERROR;
	if (r->status != RUN_VALID)
		return OUTCOME_SKIPPED;
	switch (c->judgement.verdict) {
	case VERDICT_CONTAINED:
		return OUTCOME_PASSED;
	case VERDICT_ESCAPED:
		return OUTCOME_FAILED;
	case VERDICT_PROVISIONAL:
	case VERDICT_NOT_CLAIMED:
		return OUTCOME_SKIPPED;
	case VERDICT_INCONCLUSIVE:
	case VERDICT_MAX:
		break;
	}
	return OUTCOME_ERROR;
}

static void outcome_add(struct outcomes *o, enum outcome one)
{
	o->tests++;
	o->failed += one == OUTCOME_FAILED;
	o->errors += one == OUTCOME_ERROR;
	o->skipped += one == OUTCOME_SKIPPED;
}

static void put_counts(FILE *f, const struct outcomes *o)
{
	(void)fprintf(f,
		      " tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"%" PRIu32
		      "\" skipped=\"%" PRIu32 "\"",
		      o->tests, o->failed, o->errors, o->skipped);
}

/* ---- cases ---- */

static void cell_message(const struct run_result *r, const struct cell_result *c, char *out,
			 size_t n)
{
	const char *crossed = crossing_text(c, ARM_ON);
	const char *grade = grade_text(c->judgement.grade);

	if (c->role == ROLE_TARGET && r->status != RUN_VALID)
		(void)str_format(out, n, "not scored, the run is rejected; %s", crossed);
	else if (c->judgement.verdict == VERDICT_ESCAPED)
		(void)str_format(out, n, "escaped%s%s", grade ? ", grade " : "",
				 grade ? grade : "");
	else
		(void)str_format(out, n, "%s; %s", verdict_text(c->judgement.verdict), crossed);
}

static void put_reasons(FILE *f, const struct cell_result *c)
{
	for (unsigned int i = 0; i < REASON_MAX; i++)
		if (c->judgement.reasons & REASON_BIT(i))
			(void)fprintf(f, "%s: %s\n", reason_code((enum reason)i),
				      reason_sentence((enum reason)i));
	if (c->source[0]) {
		(void)fputs("claim: ", f);
		markup_text(f, c->source);
		(void)fputc('\n', f);
	}
}

static void put_cell(FILE *f, const struct run_result *r, const struct cell_result *c)
{
	static const char *const tags[] = { NULL, "failure", "error", "skipped" };
	const char *tag = tags[cell_outcome(r, c)];
	char message[128];

	(void)fputs("    <testcase", f);
	put_attr(f, "classname", c->target);
	put_attr(f, "name", c->probe);
	if (!tag) {
		(void)fputs("/>\n", f);
		return;
	}
	cell_message(r, c, message, sizeof(message));
	(void)fprintf(f, ">\n      <%s", tag);
	put_attr(f, "message", message);
	(void)fputc('>', f);
	put_reasons(f, c);
	(void)fprintf(f, "</%s>\n    </testcase>\n", tag);
}

static void put_suite_open(FILE *f, const char *name, const struct outcomes *o)
{
	(void)fputs("  <testsuite", f);
	put_attr(f, "name", name);
	put_counts(f, o);
	(void)fputs(">\n", f);
}

/* The cells of one target, from i on; answers where the next target starts. */
static uint32_t put_target(FILE *f, const struct run_result *r, uint32_t i)
{
	const char *target = r->cells[i].target;
	struct outcomes o = { 0 };
	uint32_t end = i;

	for (; end < r->cells_n && !strcmp(r->cells[end].target, target); end++)
		outcome_add(&o, cell_outcome(r, &r->cells[end]));
	put_suite_open(f, target, &o);
	for (; i < end; i++)
		put_cell(f, r, &r->cells[i]);
	(void)fputs("  </testsuite>\n", f);
	return end;
}

/* ---- the run ---- */

static void run_outcomes(const struct run_result *r, struct outcomes *ret)
{
	*ret = (struct outcomes){ .tests = 0 };
	for (unsigned int i = 0; i < REJECT_MAX; i++)
		if (r->rejections & 1u << i)
			outcome_add(ret, OUTCOME_ERROR);
	if (!ret->tests)
		outcome_add(ret, r->status == RUN_VALID && anything_scored(r) ? OUTCOME_PASSED
									      : OUTCOME_ERROR);
}

static void put_failed(FILE *f, const char *code, const char *message, const char *sentence)
{
	(void)fprintf(f, "    <testcase classname=\"run\" name=\"%s\">\n", code);
	(void)fprintf(f, "      <error message=\"%s\">%s</error>\n    </testcase>\n", message,
		      sentence);
}

static void put_run(FILE *f, const struct run_result *r)
{
	struct outcomes o;

	run_outcomes(r, &o);
	put_suite_open(f, "run", &o);
	for (unsigned int i = 0; i < REJECT_MAX; i++)
		if (r->rejections & 1u << i)
			put_failed(f, rejection_code((enum rejection)i), "rejected",
				   rejection_sentence((enum rejection)i));
	if (!r->rejections && r->status != RUN_VALID)
		put_failed(f, "rejected", "rejected", "The run is rejected.");
	else if (!r->rejections && anything_scored(r))
		(void)fputs("    <testcase classname=\"run\" name=\"valid\"/>\n", f);
	else if (!r->rejections)
		put_failed(f, "valid", "nothing was scored", "");
	(void)fputs("  </testsuite>\n", f);
}

int junit_write(FILE *f, const struct run_result *r)
{
	struct outcomes o;

	run_outcomes(r, &o);
	for (uint32_t i = 0; i < r->cells_n; i++)
		outcome_add(&o, cell_outcome(r, &r->cells[i]));

	(void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", f);
	put_attr(f, "name", "sentinel");
	put_counts(f, &o);
	(void)fputs(">\n", f);
	put_run(f, r);
	for (uint32_t i = 0; i < r->cells_n;)
		i = put_target(f, r, i);
	(void)fputs("</testsuites>\n", f);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

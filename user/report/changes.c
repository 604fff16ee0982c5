// SPDX-License-Identifier: Apache-2.0
#include "user/report/changes.h"

#include "user/report/text.h"

#define REASONS_MAX 1024

struct finder {
	change_fn fn;
	void *arg;
	uint32_t n;
};

static void tell(struct finder *f, const struct cell_result *c, const char *field,
		 const char *before, const char *after)
{
	const struct change change = { .target = c ? c->target : "",
				       .probe = c ? c->probe : "",
				       .field = field,
				       .before = before ? before : "",
				       .after = after ? after : "" };

	if (!strcmp(change.before, change.after))
		return;
	f->n++;
	f->fn(f->arg, &change);
}

/* ---- cells ---- */

static const char *reasons_text(reason_set set, char out[REASONS_MAX])
{
	size_t len = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < REASON_MAX; i++) {
		if (!(set & REASON_BIT(i)))
			continue;
		(void)str_format(out + len, REASONS_MAX - len, "%s%s", len ? "," : "",
				 reason_code((enum reason)i));
		len += strlen(out + len);
	}
	return out;
}

static const char *arm_text(const struct arm_result *a)
{
	return !a->present   ? ""
	       : a->answered ? "answered"
	       : a->crossed  ? "crossed"
			     : "did not cross";
}

static void compare_cell(struct finder *f, const struct cell_result *a, const struct cell_result *b)
{
	static const char *const arms[ARM_MAX] = { [ARM_BASELINE_FIRST] = "baseline_first",
						   [ARM_ON] = "on",
						   [ARM_OFF] = "off",
						   [ARM_ON2] = "on2",
						   [ARM_BASELINE_LAST] = "baseline_last",
						   [ARM_ALLOWED] = "allowed" };
	char before[REASONS_MAX], after[REASONS_MAX];

	tell(f, a, "verdict", verdict_text(a->judgement.verdict),
	     verdict_text(b->judgement.verdict));
	tell(f, a, "reasons", reasons_text(a->judgement.reasons, before),
	     reasons_text(b->judgement.reasons, after));
	tell(f, a, "grade", grade_text(a->judgement.grade), grade_text(b->judgement.grade));
	tell(f, a, "via", a->via, b->via);
	tell(f, a, "stopped_at", vantage_text(a->stopped_at), vantage_text(b->stopped_at));
	tell(f, a, "stopped_by", a->stopped_by, b->stopped_by);
	tell(f, a, "credit", credit_text(a->credit), credit_text(b->credit));
	tell(f, a, "attempt", attempt_text(a->attempt), attempt_text(b->attempt));
	for (unsigned int i = 0; i < ARM_MAX; i++)
		if (arms[i])
			tell(f, a, arms[i], arm_text(&a->arms[i]), arm_text(&b->arms[i]));
	tell(f, a, "states", states_text(a), states_text(b));
	tell(f, a, "start_error", a->start_error, b->start_error);
	tell(f, a, "source", a->source, b->source);
}

static const struct cell_result *find(const struct run_result *r, const struct cell_result *c)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (!strcmp(r->cells[i].probe, c->probe) && !strcmp(r->cells[i].target, c->target))
			return &r->cells[i];
	return NULL;
}

/* ---- the run ---- */

static const char *rejections_text(const struct run_result *r, char out[REASONS_MAX])
{
	size_t len = 0;

	(void)str_copy(out, REASONS_MAX, r->status == RUN_VALID ? "valid" : "rejected");
	for (unsigned int i = 0; i < REJECT_MAX; i++) {
		if (!(r->rejections & 1u << i))
			continue;
		len = strlen(out);
		(void)str_format(out + len, REASONS_MAX - len, " %s",
				 rejection_code((enum rejection)i));
	}
	return out;
}

uint32_t changes_find(const struct run_result *a, const struct run_result *b, change_fn fn,
		      void *arg)
{
	struct finder f = { .fn = fn, .arg = arg };
	char before[REASONS_MAX], after[REASONS_MAX];

	tell(&f, NULL, "status", rejections_text(a, before), rejections_text(b, after));
	for (uint32_t i = 0; i < a->cells_n; i++) {
		const struct cell_result *c = &a->cells[i], *other = find(b, c);

		if (other)
			compare_cell(&f, c, other);
		else
			tell(&f, c, "verdict", verdict_text(c->judgement.verdict), NULL);
	}
	for (uint32_t i = 0; i < b->cells_n; i++)
		if (!find(a, &b->cells[i]))
			tell(&f, &b->cells[i], "verdict", NULL,
			     verdict_text(b->cells[i].judgement.verdict));
	return f.n;
}

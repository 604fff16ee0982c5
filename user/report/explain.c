// SPDX-License-Identifier: Apache-2.0
#include "user/report/explain.h"

#include <inttypes.h>

#include "user/report/line.h"

#define LABEL 12

static void print_field(struct line *l, const char *label, const char *text)
{
	char plain[TEXT_MAX];

	line_put(l, INK_NONE, 2, "");
	line_put(l, INK_FAINT, LABEL, label);
	line_put(l, INK_NONE, 0, printable(plain, sizeof(plain), text));
	line_end(l);
}

/* ---- what the verdict rests on ---- */

static void print_arm(struct line *l, const char *name, bool present, const char *crossing,
		      bool answered, const uint64_t *records, uint32_t n)
{
	line_put(l, INK_NONE, 2, "");
	line_put(l, INK_FAINT, LABEL, name);
	if (!present) {
		line_put(l, INK_FAINT, 0, "not run");
		line_end(l);
		return;
	}
	line_put(l, INK_NONE, 0, crossing);
	if (answered)
		line_put(l, INK_NONE, 0, ", the far side answered");
	for (uint32_t i = 0; i < n; i++)
		line_putf(l, INK_NONE, 0, "%s#%" PRIu64, i ? " " : ", records ", records[i]);
	line_end(l);
}

static void print_one_arm(struct line *l, const char *name, const struct cell_result *c,
			  enum arm arm)
{
	const struct arm_result *a = &c->arms[arm];

	print_arm(l, name, a->present, crossing_text(c, arm), a->answered, a->records,
		  MIN(a->records_n, VERDICT_RECORDS_MAX));
}

static void print_arms(struct line *l, const struct cell_result *c)
{
	struct baseline b;

	baseline_join(c, &b);
	print_arm(l, "baseline", b.present,
		  b.crossed	? "crossed"
		  : b.records_n ? "crossed in one of two"
				: "did not cross",
		  b.answered, b.records, b.records_n);
	print_one_arm(l, "on", c, ARM_ON);
	print_one_arm(l, "off", c, ARM_OFF);
	print_one_arm(l, "on2", c, ARM_ON2);
	if (c->arms[ARM_ALLOWED].present)
		print_one_arm(l, "allowed", c, ARM_ALLOWED);
}

static void print_facts(struct line *l, const struct cell_result *c)
{
	const char *at = vantage_text(c->stopped_at), *grade = grade_text(c->judgement.grade);
	char text[EV_NAME_MAX + 64];

	print_field(l, "attempt", attempt_text(c->attempt));
	if (at && !c->arms[ARM_ON].crossed) {
		(void)str_format(text, sizeof(text), "at %s: %s", at,
				 c->stopped_by[0] ? c->stopped_by : "unknown");
		print_field(l, "stopped", text);
	}
	if (c->credit == CREDIT_HOST)
		print_field(l, "credit", "the host's own default, not the platform");
	if (grade)
		print_field(l, "grade", grade);
	if (c->via[0])
		print_field(l, "via", c->via);
	if (!attempt_not_made(c)) {
		(void)str_format(text, sizeof(text), "%" PRIu32 " ms after the last attempt event",
				 c->window_ms);
		print_field(l, "watched", text);
	}
	if (c->n > 1) {
		(void)str_format(text, sizeof(text), "%" PRIu32 " of %" PRIu32 " crossed",
				 c->crossed, c->n);
		print_field(l, "repeats", text);
	}
	if (c->start_error[0])
		print_field(l, "it said", c->start_error);
	if (states_text(c)[0])
		print_field(l, "when", states_text(c));
	print_field(l, "claimed", !c->claimed ? "no" : c->source[0] ? c->source : "yes");
	if (c->probe_view[0]) {
		(void)str_format(text, sizeof(text), "'%s' (its own view, no evidence)",
				 c->probe_view);
		print_field(l, "probe says", text);
	}
}

static void print_verdict(struct line *l, const struct cell_result *c)
{
	char name[TEXT_MAX];

	line_put(l, INK_STRONG, 0, printable(name, sizeof(name), c->target));
	line_putf(l, INK_NONE, 0, " / %s: ", printable(name, sizeof(name), c->probe));
	line_put(l, verdict_ink(c->judgement.verdict), 0, verdict_word(c->judgement.verdict));
	line_end(l);
	for (unsigned int i = 0; i < REASON_MAX; i++) {
		if (!(c->judgement.reasons & REASON_BIT(i)))
			continue;
		line_put(l, INK_NONE, 2, "");
		line_put(l, INK_STRONG, 0, reason_code((enum reason)i));
		line_putf(l, INK_NONE, 0, ": %s", reason_sentence((enum reason)i));
		line_end(l);
	}
	line_end(l);
}

/* ---- the time line ---- */

static void print_time(struct line *l, uint64_t ns, uint64_t from_ns)
{
	/* The caller chooses the order, so a line may be before the first. */
	bool before = ns < from_ns;
	uint64_t by = before ? from_ns - ns : ns - from_ns;

	line_putf(l, INK_FAINT, 0, "  %c%4llu.%06llu s  ", before ? '-' : '+', by / NSEC_PER_SEC,
		  by % NSEC_PER_SEC / 1000);
}

static void print_moment(struct line *l, const struct moment *m, uint64_t from_ns)
{
	print_time(l, m->time_ns, from_ns);
	moment_print(l, m);
	line_end(l);
}

/* With a packet of this cell to try it with, best one that crossed. */
static void print_filter(struct line *l, const struct moment *moments, size_t n)
{
	char filter[MOMENT_FILTER_MAX];
	const struct moment *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (moments[i].packet && (!best || (best->at[0] != 'W' && moments[i].at[0] == 'W')))
			best = &moments[i];
	if (!best)
		return;
	line_end(l);
	line_putf(l, INK_FAINT, 0, "in Wireshark: %s finds packet #%" PRIu64,
		  moment_filter(best, filter), best->id);
	line_end(l);
}

int explain_print(FILE *f, const struct cell_result *c, const struct moment *moments, size_t n,
		  bool color)
{
	struct line l = { .f = f, .color = color };

	print_verdict(&l, c);
	print_arms(&l, c);
	print_facts(&l, c);
	if (n) {
		line_end(&l);
		line_put(&l, INK_STRONG, 0, "evidence (records of the capture)");
		line_end(&l);
	}
	for (size_t i = 0; i < n; i++)
		print_moment(&l, &moments[i], moments[0].time_ns);
	print_filter(&l, moments, n);
	return fflush(f) || ferror(f) ? -EIO : 0;
}

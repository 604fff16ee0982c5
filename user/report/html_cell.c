// SPDX-License-Identifier: Apache-2.0
/* Each cell with its evidence: the arms side by side, where it stopped, why, and the time line. */
#include <inttypes.h>

#include "user/report/html_part.h"

/* ---- the arms side by side ---- */

struct arm_view {
	const char *name, *what, *class;
	bool present, crossed, answered;
	const char *crossing;
	const uint64_t *records;
	uint32_t records_n;
};

static void put_records(FILE *f, const uint64_t *records, uint32_t n)
{
	html_put(f, "<p class=\"records\">records");
	for (uint32_t i = 0; i < n; i++) {
		html_put(f, " <code>#");
		html_number(f, records[i]);
		html_put(f, "</code>");
	}
	html_put(f, "</p>");
}

static void put_arm(FILE *f, const struct arm_view *a)
{
	html_wrap(f, "<li class=\"", a->class, "");
	html_wrap(f, "", !a->present ? " absent" : a->crossed ? " crossed" : "", "\">");
	html_wrap(f, "<h4>", a->name, "</h4>");
	html_wrap(f, "<p class=\"about\">", a->what, "</p><p class=\"came\">");
	html_wrap(f, "", a->crossing, "</p>");
	if (a->present)
		html_wrap(f, "<p>", a->answered ? "the far side answered" : "no answer", "</p>");
	if (a->records_n)
		put_records(f, a->records, a->records_n);
	html_put(f, "</li>\n");
}

static void put_one_arm(FILE *f, const struct cell_result *c, enum arm arm, const char *class,
			const char *name, const char *what)
{
	const struct arm_result *a = &c->arms[arm];
	const struct arm_view view = { .name = name,
				       .what = what,
				       .class = class,
				       .present = a->present,
				       .crossed = a->crossed,
				       .answered = a->answered,
				       .crossing = a->present ? crossing_text(c, arm) : "not run",
				       .records = a->records,
				       .records_n = MIN(a->records_n, VERDICT_RECORDS_MAX) };

	put_arm(f, &view);
}

static void put_baseline(FILE *f, const struct cell_result *c)
{
	struct arm_view view = { .name = "Baseline",
				 .what = "outside any sandbox",
				 .class = "base" };
	struct baseline b;

	baseline_join(c, &b);
	view.present = b.present;
	view.crossed = b.crossed;
	view.answered = b.answered;
	view.records = b.records;
	view.records_n = b.records_n;
	view.crossing = !b.present    ? "not run"
			: b.crossed   ? "crossed"
			: b.records_n ? "crossed in one of two"
				      : "did not cross";
	put_arm(f, &view);
}

static void put_arms(FILE *f, const struct cell_result *c)
{
	html_put(f, "<ol class=\"arms\">\n");
	put_baseline(f, c);
	put_one_arm(f, c, ARM_ON, "on", "On", "the control is active");
	put_one_arm(f, c, ARM_OFF, "off", "Off", "the control is loosened");
	put_one_arm(f, c, ARM_ON2, "on2", "On again", "the control is active");
	if (c->arms[ARM_ALLOWED].present)
		put_one_arm(f, c, ARM_ALLOWED, "allowed", "Allowed", "to where it may go");
	html_put(f, "</ol>\n");
}

/* ---- where it stopped ---- */

static void put_step(FILE *f, const struct cell_result *c, enum vantage v, const char *letter,
		     const char *place)
{
	bool passed = c->arms[ARM_ON].crossed || v < c->stopped_at;
	bool last = !passed && v == c->stopped_at;

	html_wrap(f, "<li class=\"", passed ? "passed" : last ? "last" : "ahead", "\">");
	html_wrap(f, "<b>", letter, "</b> ");
	html_wrap(f, "<span>", place, "</span> ");
	html_wrap(f, "<em>",
		  passed ? "passed"
		  : last ? "last seen here"
			 : "not reached",
		  "</em></li>\n");
}

/* What crossed without passing W reached a listener on this side, or a secret. */
static void put_path(FILE *f, const struct cell_result *c)
{
	bool known = c->arms[ARM_ON].crossed || c->stopped_at != VANTAGE_NONE;

	if (!known || c->goal != GOAL_FAR_SIDE || attempt_not_made(c))
		return;
	html_put(f, "<ol class=\"path\" aria-label=\"How far it came with the control on\">\n");
	put_step(f, c, VANTAGE_A, "A", "inside");
	put_step(f, c, VANTAGE_B, "B", "boundary");
	put_step(f, c, VANTAGE_W, "W", "far side");
	html_put(f, "</ol>\n");
}

/* ---- facts ---- */

static void put_repeats(FILE *f, const struct cell_result *c)
{
	char text[96];

	if (c->n <= 1)
		return;
	(void)str_format(text, sizeof(text), "%" PRIu32 " of %" PRIu32 " crossed %s", c->crossed,
			 c->n, states_text(c));
	html_term(f, "Repeats", text);
}

static void put_claim(FILE *f, const struct cell_result *c, const char *quote)
{
	html_put(f, "<dt>Claimed</dt><dd>");
	markup_text(f, !c->claimed ? "no" : c->source[0] ? c->source : "yes");
	if (quote[0])
		html_wrap(f, "<blockquote>", quote, "</blockquote>");
	html_put(f, "</dd>\n");
}

/* A display filter for all that crossed; it passes over the numbers of what is no packet. */
static void put_filter(FILE *f, const struct cell_result *c)
{
	bool any = false;

	for (unsigned int arm = 0; arm < ARM_MAX; arm++)
		for (uint32_t i = 0; i < MIN(c->arms[arm].records_n, VERDICT_RECORDS_MAX); i++) {
			if (any)
				html_put(f, ", ");
			else
				html_put(f, "<dt>In Wireshark</dt><dd><code>frame.packet_id in {");
			any = true;
			html_number(f, c->arms[arm].records[i]);
		}
	if (any)
		html_put(f, "}</code></dd>\n");
}

static void put_facts(FILE *f, const struct cell_result *c, const char *quote)
{
	const char *grade = grade_text(c->judgement.grade);
	char text[TEXT_MAX];

	html_put(f, "<dl class=\"lists\">\n");
	html_term(f, "Attempt", attempt_text(c->attempt));
	html_stopped(c, text);
	html_term(f, "Stopped", text);
	if (c->credit == CREDIT_HOST)
		html_term(f, "Credit", "the host's own default, not the platform");
	html_term(f, "Grade", grade ? grade : "");
	html_term(f, "Via", c->via);
	if (!attempt_not_made(c)) {
		(void)str_format(text, sizeof(text), "%" PRIu32 " ms after the last attempt event",
				 c->window_ms);
		html_term(f, "Watched", text);
	}
	put_repeats(f, c);
	put_claim(f, c, quote);
	if (c->probe_view[0])
		html_wrap(f, "<dt>Probe says</dt><dd><q>", c->probe_view,
			  "</q> (its own view, no evidence)</dd>\n");
	put_filter(f, c);
	html_put(f, "</dl>\n");
}

/* ---- the time line ---- */

static void put_moment(FILE *f, const struct moment *m, uint64_t from_ns)
{
	uint64_t by = m->time_ns > from_ns ? m->time_ns - from_ns : 0;

	html_wrap(f, "<li class=\"", moment_arm(m), "\"><time>");
	(void)fprintf(f, "%llu.%06llu", by / NSEC_PER_SEC, by % NSEC_PER_SEC / 1000);
	html_wrap(f, "</time><i>", moment_arm(m), "</i><b>");
	html_wrap(f, "", m->at, "</b><span><code>");
	html_wrap(f, "", m->hook, "</code> ");
	if (m->process[0])
		html_wrap(f, "<u>", m->process, "</u> ");
	markup_text(f, m->what);
	if (m->outcome[0])
		html_wrap(f, " <strong>", m->outcome, "</strong>");
	html_put(f, "</span><a>#");
	html_number(f, m->id);
	html_put(f, "</a></li>\n");
}

static void put_left_out(FILE *f, const struct html_report *p, const struct cell_result *c,
			 size_t left_out)
{
	if (!left_out)
		return;
	html_put(f, "<p class=\"about\">");
	html_count(f, left_out, "record that tells less is left out",
		   "records that tell less are left out");
	html_wrap(f, ". All of them: <code>sentinel explain ", p->bundle, " ");
	html_wrap(f, "", c->target, " ");
	html_wrap(f, "", c->probe, "</code></p>\n");
}

static void put_time_line(FILE *f, const struct html_report *p, const struct cell_result *c,
			  const struct html_cell *h)
{
	if (!h->n)
		return;
	html_put(f, "<details class=\"time\"><summary>Time line, ");
	html_count(f, h->n, "record", "records");
	html_put(f, "</summary>\n<ol class=\"moments\">\n");
	for (size_t i = 0; i < h->n; i++)
		put_moment(f, &h->moments[i], h->moments[0].time_ns);
	html_put(f, "</ol>\n");
	put_left_out(f, p, c, h->left_out);
	html_put(f, "</details>\n");
}

/* ---- a cell ---- */

/* The anchor is inside: a browser opens what it leads to. */
static void put_cell(FILE *f, const struct html_report *p, uint32_t i)
{
	const struct cell_result *c = &p->r->cells[i];
	char stopped[TEXT_MAX];

	html_stopped(c, stopped);
	html_put(f, "<details class=\"cell\"><summary>");
	html_verdict(f, p->r, c);
	html_wrap(f, " <b>", c->probe, "</b> <span class=\"about\">");
	markup_text(f, stopped[0] ? stopped : crossing_text(c, ARM_ON));
	html_put(f, "</span></summary>\n<div id=\"c");
	html_number(f, i);
	html_put(f, "\" class=\"evidence\">\n");
	html_reasons(f, c);
	if (c->start_error[0])
		html_wrap(f, "<p>It said: <q>", c->start_error, "</q></p>\n");
	put_arms(f, c);
	put_path(f, c);
	put_facts(f, c, p->cells[i].quote);
	put_time_line(f, p, c, &p->cells[i]);
	html_put(f, "</div></details>\n");
}

static void put_group(FILE *f, const struct html_report *p, uint32_t begin, uint32_t end)
{
	const struct cell_result *first = &p->r->cells[begin];

	html_put(f, "<section class=\"target\" id=\"t");
	html_number(f, begin);
	html_wrap(f, "\"><h3>", first->target, "</h3>\n");
	if (first->role != ROLE_TARGET)
		html_wrap(f, "<p class=\"about\">A calibrator: it must be ",
			  verdict_text(role_verdict(first->role)), ".</p>\n");
	for (uint32_t i = begin; i < end; i++)
		put_cell(f, p, i);
	html_put(f, "</section>\n");
}

void html_cells(FILE *f, const struct html_report *p)
{
	html_put(f,
		 "<section id=\"cells\"><h2>The evidence, cell by cell</h2>\n"
		 "<p class=\"about\"><b>#N</b> is a record of the capture. In Wireshark and tshark "
		 "<code>frame.packet_id == N</code> finds a packet, and "
		 "<code>systemd_journal.field.value contains \"\\\"id\\\":\\\"N\\\"\"</code> any "
		 "other "
		 "record.</p>\n");
	/* the sandboxes, then the calibrators */
	for (int calibrators = 0; calibrators < 2; calibrators++)
		for (uint32_t i = 0, end; i < p->r->cells_n; i = end) {
			end = grid_target_end(p->r, i);
			if ((p->r->cells[i].role != ROLE_TARGET) == calibrators)
				put_group(f, p, i, end);
		}
	html_put(f, "</section>\n");
}

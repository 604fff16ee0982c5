// SPDX-License-Identifier: Apache-2.0
/* The run's own time line: which trial was when in which lane, as a picture. */
#include <inttypes.h>

#include "user/report/html_part.h"

enum { WIDTH = 1000, ROW = 22, BAR = 14, LEFT = 56 }; /* units of the picture */

static uint32_t lanes_of(const struct html_report *p)
{
	uint32_t lanes = 0;

	for (size_t i = 0; i < p->spans_n; i++)
		lanes = MAX(lanes, p->spans[i].trial->lane);
	return MIN(lanes, 64u);
}

static unsigned int place(const struct html_report *p, uint64_t ns)
{
	uint64_t all = MAX(p->end_ns - p->begin_ns, 1u), by = ns - p->begin_ns;

	if (ns < p->begin_ns)
		return LEFT;
	/* parts of a million: times of a forged capture must not overflow */
	by = by / (all / 1000000 + 1);
	all = all / (all / 1000000 + 1);
	return LEFT + (unsigned int)(MIN(by, all) * (WIDTH - LEFT) / MAX(all, 1u));
}

static void put_span(FILE *f, const struct html_report *p, const struct html_span *s)
{
	const struct moment arm = { .arm = s->trial->arm };
	unsigned int from = place(p, s->from_ns), to = place(p, s->to_ns ? s->to_ns : p->end_ns);

	(void)fprintf(f, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" class=\"", from,
		      (s->trial->lane - 1) * ROW + (ROW - BAR) / 2, MAX(to - MIN(to, from), 1u),
		      BAR);
	html_wrap(f, "", moment_arm(&arm), "\"><title>");
	markup_text(f, s->trial->target[0] ? s->trial->target : "outside any sandbox");
	html_wrap(f, " / ", s->trial->probe, ", ");
	html_wrap(f, "", moment_arm(&arm), "</title></rect>\n");
}

static void put_axis(FILE *f, const struct html_report *p, uint32_t lanes)
{
	uint64_t s = (p->end_ns - p->begin_ns) / NSEC_PER_SEC, step = 1;

	for (bool one = true; s / step > 10; one = !one)
		step *= one ? 2 : 5; /* 1, 2, 10, 20, ... */
	for (uint32_t i = 0; i < lanes; i++)
		(void)fprintf(f, "<text x=\"0\" y=\"%u\">lane %u</text>\n", i * ROW + 16, i + 1);
	for (uint64_t t = 0; t <= s; t += step) {
		unsigned int x = place(p, p->begin_ns + t * NSEC_PER_SEC);

		(void)fprintf(f,
			      "<line x1=\"%u\" x2=\"%u\" y1=\"0\" y2=\"%u\"/>"
			      "<text x=\"%u\" y=\"%u\">%" PRIu64 " s</text>\n",
			      x, x, lanes * ROW, x, lanes * ROW + 16, t);
	}
}

void html_lanes(FILE *f, const struct html_report *p)
{
	uint32_t lanes = lanes_of(p);

	html_put(f, "<section id=\"lanes\"><h2>The run's time line</h2>\n");
	if (!lanes) {
		html_put(f, "<p>No trial was made.</p></section>\n");
		return;
	}
	html_put(f, "<p class=\"key\"><i class=\"swatch baseline\"></i> baseline "
		    "<i class=\"swatch on\"></i> on <i class=\"swatch off\"></i> off "
		    "<i class=\"swatch on2\"></i> on again "
		    "<i class=\"swatch allowed\"></i> allowed</p>\n"
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Lanes\">\n");
	(void)fprintf(f,
		      "<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"Trials by lane and "
		      "time\">\n",
		      WIDTH, lanes * ROW + 24);
	put_axis(f, p, lanes);
	for (size_t i = 0; i < p->spans_n; i++)
		if (p->spans[i].trial->lane && p->spans[i].trial->lane <= lanes)
			put_span(f, p, &p->spans[i]);
	html_put(f, "</svg></div>\n<p class=\"about\">A bar is one trial: one attempt in one "
		    "sandbox, in "
		    "one lane.");
	if (p->spans_left_out) {
		html_put(f, " ");
		html_count(f, p->spans_left_out, "more is not drawn.", "more are not drawn.");
	}
	html_put(f, "</p></section>\n");
}

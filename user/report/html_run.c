// SPDX-License-Identifier: Apache-2.0
/* What the run was: its head, the instrument's test of itself, and the platforms. */
#include <inttypes.h>

#include "user/base/time_text.h"
#include "user/report/html_part.h"

/* ---- head ---- */

static void count_cells(const struct run_result *r, uint32_t by[VERDICT_MAX])
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].role == ROLE_TARGET)
			by[r->cells[i].judgement.verdict]++;
}

/* The page in one sentence. */
static void put_headline(FILE *f, const struct html_report *p, const uint32_t by[VERDICT_MAX])
{
	if (p->damage)
		html_put(f, "The evidence is damaged");
	else if (p->r->status != RUN_VALID)
		html_put(f, "The run is rejected: nothing is scored");
	else if (by[VERDICT_ESCAPED])
		html_count(f, by[VERDICT_ESCAPED], "attempt escaped", "attempts escaped");
	else if (by[VERDICT_INCONCLUSIVE])
		html_count(f, by[VERDICT_INCONCLUSIVE], "attempt is inconclusive",
			   "attempts are inconclusive");
	else if (by[VERDICT_PROVISIONAL])
		html_put(f, "Nothing is worse than provisional");
	else if (by[VERDICT_CONTAINED])
		html_put(f, "Every scored attempt was contained");
	else
		html_put(f, "Nothing was scored");
}

static void put_alarm(FILE *f, const char *title)
{
	html_wrap(f, "<section class=\"alarm\" role=\"alert\"><h2>", title, "</h2>\n");
}

static void put_damage(FILE *f, const struct html_report *p)
{
	if (!p->damage)
		return;
	put_alarm(f, "The evidence does not verify");
	html_wrap(f, "<p>", p->damage, "</p>\n");
	html_put(
		f,
		"<p>What is below is what could still be read. None of it proves that anything was "
		"contained. <code>sentinel verify</code> names the damaged bytes.</p></section>\n");
}

static void put_rejections(FILE *f, const struct run_result *r)
{
	if (r->status == RUN_VALID)
		return;
	put_alarm(f, "The instrument failed its own test");
	html_put(f, "<p>Nobody is scored by this run; it only tells what crossed.</p>\n"
		    "<ul class=\"reasons\">\n");
	for (unsigned int i = 0; i < REJECT_MAX; i++) {
		if (!(r->rejections & 1u << i))
			continue;
		html_wrap(f, "<li><code>", rejection_code((enum rejection)i), "</code> ");
		html_wrap(f, "", rejection_sentence((enum rejection)i), "</li>\n");
	}
	html_put(f, "</ul></section>\n");
}

static void put_sabotage(FILE *f, const struct html_report *p)
{
	if (!p->begin || !p->begin->sabotage[0])
		return;
	put_alarm(f, "The instrument was broken on purpose");
	html_wrap(f, "<p><code>--sabotage ", p->begin->sabotage, "</code></p></section>\n");
}

static void put_scores(FILE *f, const struct run_result *r, const uint32_t by[VERDICT_MAX])
{
	static const enum verdict order[] = { VERDICT_ESCAPED, VERDICT_INCONCLUSIVE,
					      VERDICT_PROVISIONAL, VERDICT_CONTAINED,
					      VERDICT_NOT_CLAIMED };

	if (r->status != RUN_VALID)
		return;
	html_put(f, "<ul class=\"scores\">\n");
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		html_put(f, "<li class=\"v ");
		markup_text(f, verdict_text(order[i]));
		if (!by[order[i]])
			html_put(f, " none");
		html_put(f, "\"><b>");
		html_number(f, by[order[i]]);
		html_wrap(f, "</b> ",
			  order[i] == VERDICT_NOT_CLAIMED ? "not claimed, not scored"
							  : verdict_text(order[i]),
			  "</li>\n");
	}
	html_put(f, "</ul>\n");
}

static void put_times(FILE *f, const struct html_report *p)
{
	char when[TIME_TEXT_MAX], text[96];
	uint64_t ns = p->end_ns > p->begin_ns ? p->end_ns - p->begin_ns : 0;

	(void)time_text(p->begin->realtime_ns, when);
	(void)str_format(text, sizeof(text), "%.10s %.8s UTC, %llu.%llu s long", when, when + 11,
			 ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / (NSEC_PER_SEC / 10));
	html_term(f, "When", text);
	if (p->clock_set_ns / (int64_t)NSEC_PER_SEC) {
		(void)str_format(
			text, sizeof(text),
			"set by %+lld s during the run; times are by that of its beginning",
			(long long)p->clock_set_ns / (long long)NSEC_PER_SEC);
		html_term(f, "Clock", text);
	}
}

static void put_facts(FILE *f, const struct html_report *p)
{
	char text[96], digest[2 * EV_DIGEST_BYTES + 1];

	html_put(f, "<dl class=\"facts\">\n");
	html_term(f, "Run", p->r->run);
	if (p->begin) {
		put_times(f, p);
		html_term(f, "Host kernel", p->begin->kernel);
		hex_encode(digest, p->begin->bpf_digest, EV_DIGEST_BYTES);
		html_term(f, "Sentinel", p->begin->version);
		html_put(f, "<dt>BPF object</dt><dd><code>sha256 ");
		html_wrap(f, "", digest, "</code></dd>\n");
		(void)str_format(text, sizeof(text),
				 "%" PRIu32 " lanes, %" PRIu32 " %s of each round", p->begin->lanes,
				 p->begin->repeat, p->begin->repeat == 1 ? "repeat" : "repeats");
		html_term(f, "Rig", text);
	}
	(void)str_format(text, sizeof(text), "%" PRIu64 ", judge version " JUDGE_VERSION,
			 p->records);
	html_term(f, "Records", text);
	if (p->verified && !p->damage)
		html_term(f, "Evidence", p->verified);
	html_put(f, "</dl>\n");
}

static void put_contents(FILE *f, const struct html_report *p)
{
	(void)p;
	html_put(f, "<nav aria-label=\"Sections\"><a href=\"#matrix\">Matrix</a> "
		    "<a href=\"#stops\">What stopped them</a> "
		    "<a href=\"#instrument\">Instrument</a> <a href=\"#platforms\">Platforms</a> "
		    "<a href=\"#lanes\">Time line</a> <a href=\"#cells\">Evidence</a></nav>\n");
}

void html_head(FILE *f, const struct html_report *p)
{
	uint32_t by[VERDICT_MAX] = { 0 };

	count_cells(p->r, by);
	html_put(f, "<header>\n<p class=\"brand\">Sentinel report</p>\n<h1>");
	put_headline(f, p, by);
	html_put(f, "</h1>\n");
	put_damage(f, p);
	put_rejections(f, p->r);
	put_sabotage(f, p);
	put_scores(f, p->r, by);
	put_facts(f, p);
	put_contents(f, p);
	html_put(f, "</header>\n");
}

/* ---- the instrument ---- */

static void put_calibrator(FILE *f, const struct html_report *p, uint32_t begin, uint32_t end)
{
	const struct cell_result *first = &p->r->cells[begin];
	enum verdict must = role_verdict(first->role);
	uint32_t as_it_must = 0, expected = 0;

	for (uint32_t i = begin; i < end; i++) {
		as_it_must += p->r->cells[i].judgement.verdict == must;
		expected += cell_as_expected(&p->r->cells[i]);
	}
	html_wrap(f, "<li><b>", first->target, "</b> ");
	html_number(f, as_it_must);
	html_put(f, " of ");
	html_number(f, end - begin);
	html_wrap(f, " ", verdict_text(must), " ");
	if (expected == end - begin)
		html_put(f, "<span class=\"v contained\">as it must be</span>");
	else
		html_put(f, "<span class=\"v escaped\">NOT as it must be</span>");
	for (uint32_t i = begin; i < end; i++) {
		if (cell_as_expected(&p->r->cells[i]))
			continue;
		html_put(f, " ");
		html_cell_link(f, p, &p->r->cells[i]);
	}
	html_put(f, "</li>\n");
}

static void put_calibrators(FILE *f, const struct html_report *p)
{
	bool any = false;

	for (uint32_t i = 0, end; i < p->r->cells_n; i = end) {
		end = grid_target_end(p->r, i);
		if (p->r->cells[i].role == ROLE_TARGET)
			continue;
		if (!any)
			html_put(f, "<p class=\"about\">Targets of known truth, tested like all "
				    "others:</p>\n<ul class=\"reasons\">\n");
		any = true;
		put_calibrator(f, p, i, end);
	}
	if (any)
		html_put(f, "</ul>\n");
	else
		html_put(f, "<p>The run has no calibrators.</p>\n");
}

static void put_identity(FILE *f, const struct run_result *r)
{
	struct loss_total t;

	loss_sum(r, &t);
	html_put(f, "<p>The kernel's hooks have seen ");
	(void)fprintf(f,
		      "%llu events = %llu delivered + %llu ring full + %llu oversized + "
		      "%llu map full + %llu filtered as nobody's: ",
		      t.count.seen, t.count.delivered, t.count.ring_full, t.count.oversized,
		      t.count.map_full, t.count.filtered);
	if (r->identity_holds)
		html_put(f, "<span class=\"v contained\">adds up</span></p>\n");
	else
		html_put(f, "<span class=\"v escaped\">DOES NOT ADD UP</span></p>\n");
}

static void put_losses(FILE *f, const struct html_report *p)
{
	bool any = false;

	for (uint32_t i = 0; i < SNT_HOOK_MAX; i++) {
		const struct snt_count *c = &p->r->total[i];

		if (!c->ring_full && !c->oversized && !c->map_full && !p->r->recursion[i])
			continue;
		if (!any)
			html_put(f, "<ul class=\"reasons\">\n");
		any = true;
		html_wrap(f, "<li><span class=\"v inconclusive\">lost</span> <code>",
			  p->hook_name(i), "</code> ");
		(void)fprintf(f,
			      "ring full %llu, oversized %llu, map full %llu, re-entered %" PRIu64
			      "</li>\n",
			      c->ring_full, c->oversized, c->map_full, p->r->recursion[i]);
	}
	if (any)
		html_put(f, "</ul>\n");
	else
		html_put(f, "<p>No hook lost a record.</p>\n");
}

static void put_hooks(FILE *f, const struct html_report *p)
{
	html_put(f, "<p>Attached from start to end:");
	for (uint32_t i = 0; i < SNT_HOOK_MAX; i++)
		if (p->r->hooks & 1u << i)
			html_wrap(f, " <code>", p->hook_name(i), "</code>");
	html_put(f, "</p>\n");
	if (!p->missing_n)
		return;
	html_put(f, "<ul class=\"reasons\">\n");
	for (size_t i = 0; i < p->missing_n; i++) {
		const struct html_missing *m = &p->missing[i];

		html_wrap(f, "<li><code>", p->hook_name(m->hook), "</code> was not attached");
		if (m->lane) {
			html_put(f, " in lane ");
			html_number(f, m->lane);
		}
		html_wrap(f, " at the ", m->final ? "end" : "start", "");
		html_wrap(f, "", m->needed ? ", and is needed" : ", and is no need", "");
		if (m->detail[0])
			html_wrap(f, ": ", m->detail, "");
		html_put(f, "</li>\n");
	}
	html_put(f, "</ul>\n");
}

/* The files that were executed for a target; for "" by the instrument. */
static void put_programs(FILE *f, const struct html_report *p, const char *target)
{
	char digest[2 * EV_DIGEST_BYTES + 1];

	for (size_t i = 0; i < p->programs_n; i++) {
		const struct ev_program *file = &p->programs[i];

		if (strcmp(file->target, target) != 0)
			continue;
		hex_encode(digest, file->digest, sizeof(file->digest));
		html_wrap(f, "<dt>", file->path, "</dt>");
		html_wrap(f, "<dd><code>sha256 ", digest, "</code>, ");
		html_count(f, file->size, "byte", "bytes");
		html_put(f, "</dd>\n");
	}
}

void html_instrument(FILE *f, const struct html_report *p)
{
	html_put(f, "<section id=\"instrument\"><h2>The instrument</h2>\n");
	put_calibrators(f, p);
	put_identity(f, p->r);
	put_losses(f, p);
	put_hooks(f, p);
	html_put(f, "<dl class=\"lists files\">\n");
	put_programs(f, p, "");
	html_put(f, "</dl></section>\n");
}

/* ---- platforms ---- */

static void put_platform(FILE *f, const struct html_report *p, const struct ev_target *t)
{
	char digest[2 * EV_DIGEST_BYTES + 1];

	hex_encode(digest, t->digest, sizeof(t->digest));
	html_wrap(f, "<div class=\"card\"><h3>", t->name, "</h3>\n");
	html_wrap(f, "<p>", t->about, "</p>\n<dl class=\"lists\">\n");
	html_term(f, "Version", t->version);
	html_wrap(f, "<dt>Target file</dt><dd><code>sha256 ", digest, "</code></dd>\n");
	if (t->inferred)
		html_term(f, "Attempt", "inferred: the calls stay inside, only packets are seen");
	html_put(f, "</dl><dl class=\"lists files\">\n");
	put_programs(f, p, t->name);
	html_put(f, "</dl></div>\n");
}

void html_platforms(FILE *f, const struct html_report *p)
{
	html_put(f, "<section id=\"platforms\"><h2>Platforms</h2>\n<div class=\"cards\">\n");
	for (size_t i = 0; i < p->targets_n; i++)
		if (p->targets[i].role == ROLE_TARGET)
			put_platform(f, p, &p->targets[i]);
	html_put(f, "</div></section>\n");
}

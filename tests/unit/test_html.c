// SPDX-License-Identifier: Apache-2.0
/*
 * The HTML page: what anybody chose is text in it, whatever it looks like, and its size has a
 * bound.
 *
 *   test_html --write DIR   writes pages, for tests/golden/report-page.sh to open in a browser
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/report/html.h"

/* Would be a script, an attribute, a tag, a comment's end, an entity, a terminal's command. 62
 * bytes: a name has room for it. */
#define HOSTILE "<script>alert(1)</script>\"><img src=x onerror=alert(1)>'&lt;b>"
#define UGLY "\x1b[31m\r\n\xff\xe2\x80\xae]]>--><!--</style></title></details>" HOSTILE
_Static_assert(sizeof(HOSTILE) <= EV_NAME_MAX, "a name has room for it");

static const char *hook_names(uint32_t hook)
{
	return hook == SNT_HOOK_WORLD ? "tcx/ingress@world" : "raw_tp/sys_exit";
}

static const char *families(const char *probe)
{
	return strstr(probe, "udp") ? "@udp" : strstr(probe, "own") ? NULL : "@tcp";
}

/* ---- pages to write ---- */

#define CELLS_MAX 2400

struct page { /* a page and what it looks at */
	struct html_report p;
	struct run_result r;
	struct ev_run_begin begin;
	struct ev_target targets[64];
	struct ev_program programs[2];
	struct ev_trial trials[4];
	struct html_span spans[4];
	struct html_missing missing[2];
	struct cell_result cells[CELLS_MAX];
	struct html_cell html_cells[CELLS_MAX];
	struct moment moments[8];
};

static void put(char *to, size_t n, const char *text)
{
	(void)str_copy(to, n, text);
}
#define PUT(field, text) put(field, sizeof(field), text)

static void add_cell(struct page *g, const char *target, const char *probe, enum verdict verdict)
{
	static const struct arm_result crossed = { .present = true,
						   .crossed = true,
						   .answered = true,
						   .records_n = 1,
						   .records = { 4242 } };
	static const struct arm_result stopped = { .present = true };
	struct cell_result *c = &g->cells[g->r.cells_n];

	*c = (struct cell_result){ .claimed = verdict != VERDICT_NOT_CLAIMED,
				   .judgement = { .verdict = verdict },
				   .attempt = ATTEMPT_SEEN,
				   .window_ms = 3500,
				   .n = 1 };
	PUT(c->target, target);
	PUT(c->probe, probe);
	PUT(c->source, "manual, Network, 1.0");
	c->arms[ARM_BASELINE_FIRST] = c->arms[ARM_BASELINE_LAST] = c->arms[ARM_OFF] = crossed;
	c->arms[ARM_ON] = c->arms[ARM_ON2] = verdict == VERDICT_ESCAPED ? crossed : stopped;
	if (verdict == VERDICT_CONTAINED) {
		c->stopped_at = VANTAGE_A;
		PUT(c->stopped_by, "no-route");
	}
	if (verdict == VERDICT_INCONCLUSIVE)
		c->judgement.reasons = REASON_BIT(REASON_RECORDS_LOST);
	g->html_cells[g->r.cells_n] = (struct html_cell){ .quote = "It is promised.",
							  .moments = g->moments,
							  .n = ARRAY_SIZE(g->moments),
							  .left_out = 3 };
	g->r.cells_n++;
}

static struct page *page_new(void)
{
	struct page *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	g->r = (struct run_result){ .run = "01JXAMPLE0000000000000000",
				    .identity_holds = true,
				    .hooks = 1u << SNT_HOOK_WORLD,
				    .cells = g->cells };
	g->begin = (struct ev_run_begin){ .kernel = "Linux 6.18",
					  .version = "v1",
					  .realtime_ns = 1796126978930891873ull,
					  .lanes = 8,
					  .repeat = 1 };
	for (size_t i = 0; i < ARRAY_SIZE(g->moments); i++)
		g->moments[i] = (struct moment){ .time_ns = 5000000000ull + 1000 * i,
						 .id = 100 + i,
						 .packet = i & 1,
						 .trial = 1,
						 .arm = ARM_ON + i % 3,
						 .at = "A",
						 .hook = "raw_tp/sys_exit",
						 .process = "sentinel-probe 4242",
						 .what = "connect(3) to 203.0.113.7:9000",
						 .outcome = "= -101 ENETUNREACH" };
	for (size_t i = 0; i < ARRAY_SIZE(g->spans); i++) {
		g->trials[i] = (struct ev_trial){ .lane = 1 + (uint32_t)i % 2,
						  .arm = ARM_BASELINE_FIRST + (uint32_t)i };
		g->spans[i] = (struct html_span){ .trial = &g->trials[i],
						  .from_ns = 5000000000ull + 1000000000ull * i,
						  .to_ns = 5900000000ull + 1000000000ull * i };
	}
	g->p = (struct html_report){ .r = &g->r,
				     .bundle = "DIR",
				     .begin = &g->begin,
				     .begin_ns = 5000000000ull,
				     .end_ns = 9000000000ull,
				     .targets = g->targets,
				     .cells = g->html_cells,
				     .missing = g->missing,
				     .spans = g->spans,
				     .spans_n = ARRAY_SIZE(g->spans),
				     .hook_name = hook_names,
				     .family_of = families };
	return g;
}

static void add_target(struct page *g, const char *name)
{
	struct ev_target *t = &g->targets[g->p.targets_n++];

	PUT(t->name, name);
	PUT(t->about, "a sandbox");
	PUT(t->version, "1.2.3");
}

static struct page *mixed_page(void)
{
	static const char *const probes[] = { "tcp-connect", "tcp6-connect", "udp-send",
					      "udp-write", "my-own" };
	struct page *g = page_new();

	add_target(g, "leaky");
	for (uint32_t i = 0; i < ARRAY_SIZE(probes); i++)
		add_cell(g, "leaky", probes[i], (enum verdict)i);
	add_target(g, "tight");
	for (uint32_t i = 0; i < ARRAY_SIZE(probes); i++)
		add_cell(g, "tight", probes[i], VERDICT_CONTAINED);
	for (uint32_t i = 0; i < ARRAY_SIZE(probes); i++) {
		add_cell(g, "deny-all", probes[i], VERDICT_CONTAINED);
		g->cells[g->r.cells_n - 1].role = ROLE_CONTAINS;
	}
	return g;
}

/* Every text in it is hostile. */
static struct page *hostile_page(void)
{
	struct page *g = page_new();

	PUT(g->r.run, "<script>alert(1)</script>");
	PUT(g->begin.kernel, UGLY);
	PUT(g->begin.version, "<script>alert(1)</script>");
	PUT(g->begin.sabotage, HOSTILE);
	add_target(g, HOSTILE);
	PUT(g->targets[0].about, UGLY);
	PUT(g->targets[0].version, UGLY);
	for (uint32_t v = 0; v < VERDICT_MAX; v++) {
		struct cell_result *c = &g->cells[g->r.cells_n];

		add_cell(g, HOSTILE, HOSTILE, (enum verdict)v);
		c->probe[0] = (char)('a' + v);
		PUT(c->stopped_by, HOSTILE);
		PUT(c->via, HOSTILE);
		PUT(c->probe_view, HOSTILE);
		PUT(c->source, UGLY);
		PUT(c->start_error, UGLY);
		g->html_cells[v].quote = UGLY;
	}
	add_cell(g, HOSTILE "x", HOSTILE, VERDICT_ESCAPED);
	g->cells[VERDICT_MAX].role = ROLE_NEVER;
	for (size_t i = 0; i < ARRAY_SIZE(g->moments); i++)
		g->moments[i].process = g->moments[i].what = g->moments[i].outcome = UGLY;
	PUT(g->trials[0].target, HOSTILE);
	PUT(g->trials[0].probe, HOSTILE);
	g->missing[0] = (struct html_missing){ .hook = SNT_HOOK_WORLD, .lane = 1, .needed = true };
	PUT(g->missing[0].detail, HOSTILE);
	g->p.missing_n = 1;
	PUT(g->programs[0].target, HOSTILE);
	PUT(g->programs[0].path, UGLY);
	PUT(g->programs[1].path, UGLY);
	g->p.programs = g->programs;
	g->p.programs_n = 2;
	g->p.damage = UGLY;
	g->p.bundle = UGLY;
	return g;
}

static struct page *rejected_page(void)
{
	struct page *g = mixed_page();

	g->r.status = RUN_REJECTED;
	g->r.rejections = 1u << REJECT_FAKE_NOT_ESCAPED | 1u << REJECT_ABORTED;
	g->r.identity_holds = false;
	g->r.total[SNT_HOOK_WORLD].ring_full = 7;
	return g;
}

/* 24 targets, 100 attempts each. */
static struct page *many_page(void)
{
	struct page *g = page_new();
	char target[EV_NAME_MAX], probe[EV_NAME_MAX];

	for (uint32_t t = 0; t < 24; t++)
		for (uint32_t i = 0; i < CELLS_MAX / 24; i++) {
			PUT(target, "");
			(void)str_format(target, sizeof(target), "platform-%u", t);
			(void)str_format(probe, sizeof(probe), "%s-%u", i & 1 ? "tcp" : "udp", i);
			add_cell(g, target, probe, VERDICT_CONTAINED);
		}
	return g;
}

/* A run that ended before anything was tried. */
static struct page *empty_page(void)
{
	struct page *g = page_new();

	g->p.begin = NULL;
	g->p.spans_n = 0;
	g->r.status = RUN_REJECTED;
	g->p.damage = "capture-000001.pcapng: the file is cut in the middle of a block";
	return g;
}

static char *html_of(struct page *g, size_t *ret_len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_len);

	assert_non_null(f);
	assert_int_equal(html_write(f, &g->p), 0);
	(void)fclose(f);
	free(g);
	return text;
}

/* ---- what must hold of every page ---- */

/* One of ours, opened or closed. */
static bool is_our_tag(const char *p)
{
	static const char *const ours[] = {
		"!DOCTYPE html>",
		"html",
		"head",
		"meta",
		"title",
		"style",
		"body",
		"header",
		"main",
		"footer",
		"nav",
		"section",
		"div",
		"details",
		"summary",
		"h1",
		"h2",
		"h3",
		"h4",
		"p",
		"ul",
		"ol",
		"li",
		"dl",
		"dt",
		"dd",
		"table",
		"caption",
		"thead",
		"tbody",
		"tr",
		"th",
		"td",
		"a",
		"b",
		"i",
		"u",
		"em",
		"strong",
		"span",
		"code",
		"q",
		"blockquote",
		"time",
		"svg",
		"text",
		"line",
		"rect",
	};

	p += *p == '/';
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		size_t n = strlen(ours[i]);

		if (!strncmp(p, ours[i], n) && (ours[i][n - 1] == '>' || strchr(" >/", p[n])))
			return true;
	}
	return false;
}

static void assert_only_ours(const char *html)
{
	const char *p = strstr(html, "</style>"); /* the style sheet is our own file */

	assert_non_null(p);
	assert_null(strstr(p + 1, "<style"));
	for (; *p; p++) {
		assert_true(*p == '\n' || (*p >= 0x20 && *p < 0x7f));
		if (*p == '<')
			assert_true(is_our_tag(p + 1));
	}
}

static void test_hostile(unused_arg void **state)
{
	size_t len;
	cleanup_free char *html = html_of(hostile_page(), &len);
	const char *p = html;
	size_t n = 0;

	assert_only_ours(html);
	for (; (p = strstr(p, "&lt;script&gt;alert(1)&lt;/script&gt;")); p++)
		n++;
	assert_true(n > 100); /* it is there, and it is text */
	assert_non_null(strstr(html, "&amp;lt;b&gt;"));
	assert_non_null(strstr(html, "\\x1b[31m\\x0d\\x0a\\xff"));
}

static void test_others(unused_arg void **state)
{
	struct page *(*const make[])(void) = { mixed_page, rejected_page, empty_page };

	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		size_t len;
		cleanup_free char *html = html_of(make[i](), &len);

		assert_only_ours(html);
		assert_non_null(strstr(html, "</html>\n"));
	}
}

/* Verdicts stand there by word or letter, an arm's records by number. */
static void test_words(unused_arg void **state)
{
	size_t len;
	cleanup_free char *html = html_of(mixed_page(), &len);

	assert_non_null(strstr(html, "<h1>1 attempt escaped</h1>"));
	assert_non_null(strstr(html, "<b aria-hidden=\"true\">E</b><span>ESCAPED</span>"));
	assert_non_null(strstr(html, "<code>records-lost</code> Records were lost"));
	assert_non_null(strstr(html, "<code>#4242</code>"));
	assert_non_null(strstr(html, "at A: no-route"));
	assert_null(strstr(html, "<dt>Clock</dt>"));
	assert_non_null(strstr(html, "sentinel explain DIR leaky tcp-connect"));
}

/* Rejected, nobody is contained; damaged, that is what the page says first. */
static void test_first_things_first(unused_arg void **state)
{
	size_t len;
	cleanup_free char *html = html_of(rejected_page(), &len);
	struct page *g = mixed_page();
	cleanup_free char *damaged = NULL;

	assert_non_null(strstr(html, "<h1>The run is rejected: nothing is scored</h1>"));
	assert_non_null(strstr(html, "fake-not-escaped"));
	assert_non_null(strstr(html, "DOES NOT ADD UP"));
	assert_null(strstr(html, "<span>contained</span>"));
	g->p.damage = "capture: a byte";
	damaged = html_of(g, &len);
	assert_non_null(strstr(damaged, "<h1>The evidence is damaged</h1>"));
	assert_true(strstr(damaged, "capture: a byte") < strstr(damaged, "<main>"));
}

static void test_size(unused_arg void **state)
{
	size_t len;
	cleanup_free char *html = html_of(many_page(), &len);

	assert_only_ours(html);
	assert_true(len < CELLS_MAX * 4096ul + 65536);
}

/* A forged capture may say of its times what it likes. */
static void test_times(unused_arg void **state)
{
	static const uint64_t ends[] = { 0, 1, 5000000000ull, 5000000001ull, UINT64_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			struct page *g = mixed_page();
			size_t len;

			g->p.end_ns = ends[i];
			g->p.clock_set_ns = (int64_t)ends[k];
			g->begin.realtime_ns = g->spans[1].from_ns = ends[k];
			g->spans[2].to_ns = g->moments[3].time_ns = ends[k];
			g->trials[3].lane = UINT32_MAX;
			free(html_of(g, &len));
		}
}

static void test_full(unused_arg void **state)
{
	struct page *g = mixed_page();
	cleanup_file FILE *f = fopen("/dev/full", "we");

	assert_non_null(f);
	assert_int_equal(html_write(f, &g->p), -EIO);
	free(g);
}

/* ---- for a browser ---- */

static int write_pages(const char *dir)
{
	static const struct {
		const char *name;
		struct page *(*make)(void);
	} pages[] = { { "hostile", hostile_page },
		      { "mixed", mixed_page },
		      { "rejected", rejected_page },
		      { "many", many_page },
		      { "empty", empty_page } };

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		struct page *g = pages[i].make();
		char path[512];
		FILE *f;
		int err = str_format(path, sizeof(path), "%s/%s.html", dir, pages[i].name);

		f = err ? NULL : fopen(path, "we");
		err = !f || html_write(f, &g->p);
		free(g);
		if (!f || fclose(f) || err)
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_others),
		cmocka_unit_test(test_words),	cmocka_unit_test(test_first_things_first),
		cmocka_unit_test(test_size),	cmocka_unit_test(test_times),
		cmocka_unit_test(test_full),
	};

	if (argc == 3 && !strcmp(argv[1], "--write"))
		return write_pages(argv[2]);
	return cmocka_run_group_tests_name("html", tests, NULL, NULL);
}

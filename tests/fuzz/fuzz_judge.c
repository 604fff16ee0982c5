// SPDX-License-Identifier: Apache-2.0
/*
 * The records of a run that somebody made up, with seals that are right: whatever they say, the
 * judge and the reports hold, the same records give the same verdict, and damaged evidence contains
 * nobody. Inputs are as records.h says.
 */
#include "tests/fuzz/records.h"
#include "user/judge/correlate.h"
#include "user/report/html.h"
#include "user/report/junit.h"
#include "user/report/summary.h"
#include "user/report/table.h"
#include "user/report/tap.h"
#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Judges it all; the result is to be released. False where there is none. */
static bool judge(const uint8_t *data, size_t size, bool damaged, struct run_result *ret)
{
	const uint8_t *at = data;
	struct correlate *c;
	struct ev ev;
	int err = 0;

	if (correlate_new(&c) < 0)
		return false;
	while (!err && records_next(&at, data + size, &ev))
		err = correlate_push(c, &ev);
	/* a log that contradicts itself is damaged */
	if (correlate_finish(c, damaged || err ? EVIDENCE_DAMAGED : EVIDENCE_WHOLE, ret) < 0)
		abort();
	correlate_free(c);
	return true;
}

static void check_damaged(const struct run_result *r)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].judgement.verdict == VERDICT_CONTAINED)
			abort();
}

static int write_page(FILE *f, const struct run_result *r)
{
	cleanup_free struct html_cell *cells = calloc(r->cells_n + 1, sizeof(*cells));
	const struct html_report page = {
		.r = r,
		.bundle = "a",
		.cells = cells,
		.hook_name = hook_name,
	};

	for (uint32_t i = 0; cells && i < r->cells_n; i++)
		cells[i].quote = "";
	return cells ? html_write(f, &page) : -ENOMEM;
}

/* Nothing in it drives a terminal, and no line is a command for a CI runner. */
static void check_text(const char *text, size_t len)
{
	bool begins = true; /* only blanks stand before this in its line */

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n')
			abort();
		if (begins && len - i > 1 && text[i] == ':' && text[i + 1] == ':')
			abort();
		begins = text[i] == '\n' || (begins && text[i] == ' ');
	}
	if (memmem(text, len, "##[", 3))
		abort();
}

static void print(const struct run_result *r)
{
	const struct table_opts o = { .hook_name = hook_name };
	char *text = NULL, *html = NULL;
	size_t len = 0, html_len = 0;
	FILE *f = open_memstream(&text, &len), *page = open_memstream(&html, &html_len);

	if (!f || table_print(f, r, &o) < 0 || junit_write(f, r) < 0 || tap_write(f, r) < 0 ||
	    summary_write(f, r) < 0 || fclose(f))
		abort();
	check_text(text, len);
	if (!page || write_page(page, r) < 0 || fclose(page))
		abort();
	free(text);
	free(html);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_result first, again, damaged;
	struct json_out a, b;

	if (!judge(data, size, false, &first) || !judge(data, size, false, &again) ||
	    !judge(data, size, true, &damaged))
		return 0;
	json_out_init(&a);
	json_out_init(&b);
	if (verdict_json(&a, &first, hook_name) < 0 || verdict_json(&b, &again, hook_name) < 0 ||
	    a.len != b.len || memcmp(a.buf, b.buf, a.len) != 0)
		abort();
	print(&first);
	check_damaged(&damaged);
	json_out_done(&a);
	json_out_done(&b);
	run_result_done(&first);
	run_result_done(&again);
	run_result_done(&damaged);
	return 0;
}

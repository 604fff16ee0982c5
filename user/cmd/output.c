// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/output.h"

#include <limits.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "probes/probe.h"
#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/judge/exit.h"
#include "user/report/junit.h"
#include "user/report/summary.h"
#include "user/report/tap.h"
#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

enum { KEY_JSON = 0x1000, KEY_COLOR, KEY_ACCEPT, KEY_EXPECT, KEY_JUNIT, KEY_TAP, KEY_SUMMARY };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print verdict.json instead of the table, and errors as JSON",
	  0 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never", 0 },
	{ "accept", KEY_ACCEPT, "provisional", 0, "Let provisional cells end in exit code 0", 0 },
	{ "expect", KEY_EXPECT, "FILE", 0,
	  "Demand the verdicts that FILE says, whatever they are, and no others", 0 },
	{ "junit", KEY_JUNIT, "FILE", 0, "Write the result as JUnit XML too", 0 },
	{ "tap", KEY_TAP, "FILE", 0, "... in the Test Anything Protocol", 0 },
	{ "summary", KEY_SUMMARY, "FILE", 0, "... in Markdown, added to the end of FILE", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct output *out = state->input;

	switch (key) {
	case KEY_JSON:
		out->json = true;
		return 0;
	case KEY_COLOR:
		if (color_parse(arg, &out->color))
			argp_error(state, "--color takes auto, always or never");
		return 0;
	case KEY_ACCEPT:
		if (strcmp(arg, "provisional") != 0)
			argp_error(state, "only 'provisional' can be accepted");
		out->accept_provisional = true;
		return 0;
	case KEY_EXPECT:
		out->expect_path = arg;
		return 0;
	case KEY_JUNIT:
		out->file[OUTPUT_JUNIT].path = arg;
		return 0;
	case KEY_TAP:
		out->file[OUTPUT_TAP].path = arg;
		return 0;
	case KEY_SUMMARY:
		out->file[OUTPUT_SUMMARY].path = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp output_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

static int print_json(const struct run_result *r)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	err = verdict_json(&j, r, hook_name);
	if (!err && fwrite(j.buf, 1, j.len, stdout) != j.len)
		err = -EIO;
	json_out_done(&j);
	return err;
}

/* The object's members go on with those of verdict.json, which is an object on one line, too. */
static int print_line(const char *bundle, const char *wrong, const struct run_result *r, int code)
{
	struct json_out j, verdict;
	int err = 0;

	json_out_init(&j);
	json_out_init(&verdict);
	json_object_begin(&j, NULL);
	json_text(&j, "bundle", bundle);
	json_u32(&j, "exit", (uint32_t)code);
	if (*wrong)
		json_text(&j, "error", wrong);
	json_object_end(&j);
	if (r)
		err = verdict_json(&verdict, r, hook_name);
	else
		json_newline(&j);
	if (!err)
		err = json_out_error(&j);
	if (!err && r)
		j.buf[j.len - 1] = ',';
	if (!err && (fwrite(j.buf, 1, j.len, stdout) != j.len ||
		     (r && fwrite(verdict.buf + 1, 1, verdict.len - 1, stdout) != verdict.len - 1)))
		err = -EIO;
	json_out_done(&verdict);
	json_out_done(&j);
	return err;
}

const char *output_family(const char *probe)
{
	const struct probe_manifest *p = probe_manifest_find(probe);

	return p ? p->families[0] : NULL;
}

/* 0: not a terminal, or one that does not say. */
static unsigned int terminal_width(int fd)
{
	struct winsize size;

	return ioctl(fd, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

static int print_table(const struct output *out, const struct run_result *r, struct table_opts *o)
{
	o->color = color_wanted(out->color, STDOUT_FILENO);
	o->width = terminal_width(STDOUT_FILENO);
	o->hook_name = hook_name;
	o->family_of = output_family;
	return table_print(stdout, r, o);
}

static int printed(int err)
{
	if (err && ferror(stdout))
		(void)cmd_output_failed();
	else if (err)
		log_error("can't print the result: %s", strerror(-err));
	return err;
}

int output_result(const struct output *out, const struct run_result *r, struct table_opts *o)
{
	return printed(out->json ? print_json(r) : print_table(out, r, o));
}

int output_bundle(const struct output *out, const char *bundle, const char *wrong,
		  const struct run_result *r, struct table_opts *o)
{
	char path[PATH_MAX];
	int err = 0;

	if (out->json) {
		err = print_line(bundle, wrong, r, (int)o->exit_code);
	} else {
		(void)printf("bundle %s\n\n",
			     escape_text(path, sizeof(path), bundle, strlen(bundle)));
		err = r ? print_table(out, r, o) : 0;
		(void)printf("%s", r ? "\n" : "");
	}
	/* whoever reads along, or ends us, has whole bundles */
	if (!err && fflush(stdout))
		err = -EIO;
	return printed(err);
}

/* ---- what is expected ---- */

#define DIFFERENCES_SHOWN 100

static bool in_family(const char *probe, const char *family)
{
	const struct probe_manifest *p = probe_manifest_find(probe);

	for (size_t i = 0; p && i < ARRAY_SIZE(p->families) && p->families[i]; i++)
		if (!strcmp(p->families[i], family))
			return true;
	return false;
}

struct differences {
	uint32_t n;
	bool escaped; /* an escape that is not expected is among them */
};

static void differs(void *arg, const char *text, bool escaped)
{
	struct differences *d = arg;

	d->escaped |= escaped;
	if (d->n++ < DIFFERENCES_SHOWN)
		log_error("not as expected: %s", text);
}

/* What is known is forgiven; damaged evidence and a rejected run, in which nothing is known, are
 * not. */
static int code_of_expected(const struct output *out, const struct run_result *r,
			    bool skipped_named, const char **ret_meaning)
{
	struct differences d = { .n = 0 };

	(void)expect_compare(out->expect, r, in_family, differs, &d);
	if (d.n > DIFFERENCES_SHOWN)
		log_error("not as expected: %u more", d.n - DIFFERENCES_SHOWN);
	*ret_meaning = d.escaped ? "an escape is not as expected"
		       : d.n	 ? "something is not as expected"
				 : "every cell is as expected";
	if (d.escaped)
		return EXIT_ESCAPED;
	if (d.n)
		return EXIT_INCONCLUSIVE;
	if (!skipped_named && anything_scored(r))
		return EXIT_CONTAINED;
	*ret_meaning = NULL;
	return EXIT_INCONCLUSIVE;
}

void output_code(const struct output *out, const struct run_result *r, bool skipped_named,
		 bool damaged, struct table_opts *t)
{
	t->exit_code = run_exit_code(r, skipped_named, damaged, out->accept_provisional);
	t->meaning = NULL;
	if (out->expect && !damaged && r->status == RUN_VALID)
		t->exit_code = code_of_expected(out, r, skipped_named, &t->meaning);
}

/* ---- files ---- */

static const struct {
	const char *mode;
	int (*write)(FILE *f, const struct run_result *r);
} kinds[OUTPUT_FILES] = {
	[OUTPUT_JUNIT] = { "we", junit_write },
	[OUTPUT_TAP] = { "we", tap_write },
	[OUTPUT_SUMMARY] = { "ae", summary_write }, /* CI gives one file to all steps of a job */
};

int output_open(struct output *out, struct diag *d)
{
	int err = out->expect_path ? expect_load(&out->expect, out->expect_path, d) : 0;

	for (size_t i = 0; i < OUTPUT_FILES && !err; i++) {
		if (!out->file[i].path)
			continue;
		out->file[i].f = fopen(out->file[i].path, kinds[i].mode);
		if (!out->file[i].f)
			err = diag_set(d, -errno, NULL, 0, 0, "can't write '%s': %s",
				       out->file[i].path, strerror(errno));
	}
	return err;
}

/* An empty file would be taken for a result. By lstat(): a link such as /dev/stdout stays. */
static void close_file(FILE *f, const char *path)
{
	struct stat st;

	(void)fclose(f);
	if (!lstat(path, &st) && S_ISREG(st.st_mode) && !st.st_size)
		(void)unlink(path);
}

void output_close(struct output *out)
{
	for (size_t i = 0; i < OUTPUT_FILES; i++)
		if (out->file[i].f)
			close_file(out->file[i].f, out->file[i].path);
	expect_free(out->expect);
}

int output_files(const struct output *out, const struct run_result *r)
{
	int err = 0;

	for (size_t i = 0; i < OUTPUT_FILES; i++) {
		int failed = out->file[i].f ? kinds[i].write(out->file[i].f, r) : 0;

		if (failed)
			log_error("can't write '%s': %s", out->file[i].path, strerror(-failed));
		if (failed && !err)
			err = failed;
	}
	return err;
}

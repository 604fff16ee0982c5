// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/output.h"

#include <limits.h>
#include <sys/ioctl.h>

#include "probes/probe.h"
#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

enum { KEY_JSON = 0x1000, KEY_COLOR, KEY_ACCEPT };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print verdict.json instead of the table, and errors as JSON",
	  0 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never", 0 },
	{ "accept", KEY_ACCEPT, "provisional", 0, "Let provisional cells end in exit code 0", 0 },
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

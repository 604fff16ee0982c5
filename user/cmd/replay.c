// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/judge_bundle.h"
#include "user/judge/exit.h"
#include "user/record/bundle.h"
#include "user/report/table.h"
#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

#define VERDICT_FILE_MAX (64u << 20)

enum { KEY_JSON = 256, KEY_COLOR, KEY_ACCEPT };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "Print the recomputed verdict.json, one line a bundle", 0 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never", 0 },
	{ "accept", KEY_ACCEPT, "provisional", 0, "Let provisional cells end in exit code 0", 0 },
	{ 0 },
};

struct replay_args {
	char **bundles;
	int bundles_n;
	bool json, accept_provisional;
	enum color_when color;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_args *a = state->input;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_COLOR:
		if (color_parse(arg, &a->color))
			argp_error(state, "--color takes auto, always or never");
		return 0;
	case KEY_ACCEPT:
		if (strcmp(arg, "provisional") != 0)
			argp_error(state, "only 'provisional' can be accepted");
		a->accept_provisional = true;
		return 0;
	case ARGP_KEY_ARGS:
		a->bundles = state->argv + state->next;
		a->bundles_n = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a bundle: a folder that `sentinel run` left, or a capture");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Whether the bundle's own verdict.json is, byte for byte, what its capture gives. */
static bool same_as_recorded(const char *bundle, const struct json_out *now)
{
	cleanup_free char *recorded = NULL;
	char path[PATH_MAX];
	size_t len;
	int err;

	if (str_format(path, sizeof(path), "%s/verdict.json", bundle))
		return false;
	err = read_file(path, VERDICT_FILE_MAX, &recorded, &len);
	if (err) {
		log_warn("'%s': %s, so there is nothing to compare with", path, strerror(-err));
		return err == -ENOENT;
	}
	if (len == now->len && !memcmp(recorded, now->buf, len)) {
		log_info("'%s' is byte for byte what the capture gives", path);
		return true;
	}
	log_error(
		"'%s' is not what the capture gives: it was changed, or judged by another version",
		path);
	return false;
}

static bool bundle_is_whole(const char *bundle, const struct judged *j)
{
	struct diag d;
	char text[1024];
	int err;

	if (j->damaged) {
		log_error("'%s': the evidence is damaged: %s", bundle, j->report.text);
		return false;
	}
	if (!is_folder(bundle))
		return true;
	err = bundle_check(bundle, &d);
	if (err == -ENOENT) {
		log_warn("%s, ignoring", diag_text(&d, text, sizeof(text)));
		return true;
	}
	if (err)
		log_error("%s", diag_text(&d, text, sizeof(text)));
	return !err;
}

static int replay_one(const struct replay_args *a, const char *bundle)
{
	struct table_opts o = { .color = color_wanted(a->color, STDOUT_FILENO),
				.hook_name = hook_name };
	struct json_out json;
	struct judged j;
	struct diag d;
	bool whole;
	int code;

	if (judge_bundle(bundle, &j, &d))
		return cmd_fail(&d, EXIT_USAGE);
	json_out_init(&json);
	whole = bundle_is_whole(bundle, &j);
	if (verdict_json(&json, &j.result, hook_name)) {
		code = EXIT_USAGE;
	} else {
		if (whole && is_folder(bundle))
			whole = same_as_recorded(bundle, &json);
		code = run_exit_code(&j.result, false, !whole, a->accept_provisional);
		o.exit_code = code;
		if (a->json ? write_all(STDOUT_FILENO, json.buf, json.len)
			    : table_print(stdout, &j.result, &o))
			code = EXIT_USAGE;
	}
	json_out_done(&json);
	judged_done(&j);
	return code;
}

/* DESIGN.md 6.1: usage, damaged, escaped, inconclusive, provisional, contained. */
static int worse(int a, int b)
{
	static const int order[] = { EXIT_USAGE,	EXIT_DAMAGED,	  EXIT_ESCAPED,
				     EXIT_INCONCLUSIVE, EXIT_PROVISIONAL, EXIT_CONTAINED };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"BUNDLE...",
		"Judge recorded runs again, from their captures alone. Needs neither root nor BPF, "
		"and "
		"checks that the recorded verdict is the one that the capture gives.",
		NULL,
		NULL,
		NULL
	};
	struct replay_args a = { .bundles = NULL };
	int code = EXIT_CONTAINED;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	for (int i = 0; i < a.bundles_n; i++)
		code = worse(code, replay_one(&a, a.bundles[i]));
	return code;
}

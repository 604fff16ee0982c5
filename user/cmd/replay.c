// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/foreign.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/output.h"
#include "user/judge/exit.h"
#include "user/record/bundle.h"
#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

#define VERDICT_FILE_MAX (64u << 20)

struct replay_args {
	char **bundles;
	int bundles_n;
	struct output output;
};

static error_t parse(int key, char *arg unused_arg, struct argp_state *state)
{
	struct replay_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->output;
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

static int compare_recorded(const char *bundle, const struct judged *j, bool *ret_same)
{
	struct json_out json;
	int err;

	*ret_same = true;
	if (!is_folder(bundle))
		return 0;
	json_out_init(&json);
	err = verdict_json(&json, &j->result, hook_name);
	if (!err)
		*ret_same = same_as_recorded(bundle, &json);
	json_out_done(&json);
	return err;
}

static int replay_one(const struct replay_args *a, const char *bundle)
{
	struct table_opts o = { .exit_code = EXIT_CONTAINED };
	struct judged j;
	struct diag d;
	bool whole, same = false;
	enum origin origin;
	int err;

	if (foreign_is(bundle, &origin))
		return foreign_replay(bundle, origin, &a->output);
	if (judge_bundle(bundle, &j, &d))
		return cmd_fail(&d, EXIT_USAGE);
	whole = bundle_is_whole(bundle, &j);
	err = whole ? compare_recorded(bundle, &j, &same) : 0;
	o.exit_code =
		run_exit_code(&j.result, false, !whole || !same, a->output.accept_provisional);
	if (err)
		log_error("'%s': can't compare: %s", bundle, strerror(-err));
	else
		err = output_result(&a->output, &j.result, &o);
	judged_done(&j);
	return err ? EXIT_OUTPUT : o.exit_code;
}

/* DESIGN.md 6.1: usage, output, damaged, escaped, inconclusive, provisional, contained. */
static int worse(int a, int b)
{
	static const int order[] = { EXIT_USAGE,    EXIT_OUTPUT,       EXIT_DAMAGED,
				     EXIT_ESCAPED,  EXIT_INCONCLUSIVE, EXIT_PROVISIONAL,
				     EXIT_CONTAINED };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp_child children[] = { { &output_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		NULL,
		parse,
		"BUNDLE...",
		"Judge recorded runs again, from their captures alone. Needs neither root nor BPF, "
		"and "
		"checks that the recorded verdict is the one that the capture gives.",
		children,
		NULL,
		NULL
	};
	struct replay_args a = { .bundles = NULL };
	int code = EXIT_CONTAINED;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.output.json);
	for (int i = 0; i < a.bundles_n; i++)
		code = worse(code, replay_one(&a, a.bundles[i]));
	return code;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/targets.h"

#include <argp.h>
#include <limits.h>

#include "user/cmd/cmd.h"
#include "user/cmd/list_json.h"
#include "user/cmd/select.h"
#include "user/judge/verdict.h"
#include "user/report/text.h"

enum { KEY_JSON = 0x1000 };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line, and errors as JSON", 0 },
	{ 0 },
};

struct targets_args {
	struct select_names names;
	bool json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct targets_args *a = state->input;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (select_names_add(&a->names, arg))
			argp_error(state, "at most %d targets can be named", SELECT_NAMES_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_target(const struct target *t, const char *missing)
{
	char about[256];

	(void)printf("%-28s %s", t->name,
		     escape_text(about, sizeof(about), t->about, strlen(t->about)));
	if (t->role != ROLE_TARGET)
		(void)printf(" [tests the instrument]");
	if (missing)
		(void)printf(" [not here: needs %s]", missing);
	(void)putchar('\n');
}

static int list(const struct selection *s, bool json)
{
	struct json_out j;
	int err = 0;

	json_out_init(&j);
	for (size_t i = 0; i < s->targets_n; i++)
		if (json)
			list_json_target(&j, s->targets[i], NULL);
		else
			print_target(s->targets[i], NULL);
	for (size_t i = 0; i < s->skipped_n; i++)
		if (json)
			list_json_target(&j, s->skipped_targets[i], s->skipped[i].missing);
		else
			print_target(s->skipped_targets[i], s->skipped[i].missing);
	if (json)
		err = list_json_print(&j);
	json_out_done(&j);
	return err ? cmd_output_failed() : 0;
}

static int select_and_list(const struct targets_args *a)
{
	struct selection *s = calloc(1, sizeof(*s));
	struct diag d = { .text = "" };
	int code;

	if (!s)
		return EXIT_USAGE;
	if (select_targets(s, &a->names, &d))
		code = cmd_fail(&d, EXIT_USAGE);
	else
		code = list(s, a->json);
	selection_done(s);
	free(s);
	return code;
}

int cmd_targets(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"[TARGET...]\nnew NAME [FILE]\ncheck [-p FILE] FILE...",
		"List the targets: the sandbox platforms that can be tested, and what is missing "
		"where one can't be tested here. Of those that are named by name, glob or file, "
		"these: the first that is broken ends it, with exit status 2.\v"
		"new writes a target file to begin with, check looks closely at what you made of "
		"it.",
		NULL,
		NULL,
		NULL
	};
	struct targets_args a = { .json = false };

	if (argc > 1 && !strcmp(argv[1], "new"))
		return targets_new(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "check"))
		return targets_check(argc - 1, argv + 1);
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.json);
	return select_and_list(&a);
}

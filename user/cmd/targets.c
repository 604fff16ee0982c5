// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <limits.h>

#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"
#include "user/report/text.h"
#include "user/rig/target.h"

static int print_target(const char *path, struct diag *d)
{
	char missing[256] = "", about[256];
	struct target *t;
	int err = target_load(&t, path, d);

	if (err)
		return err;
	(void)printf("%-28s %s", t->name,
		     escape_text(about, sizeof(about), t->about, strlen(t->about)));
	if (t->role != ROLE_TARGET)
		(void)printf(" [tests the instrument]");
	if (!target_available(t, missing, sizeof(missing)))
		(void)printf(" [not here: needs %s]", missing);
	(void)putchar('\n');
	target_free(t);
	return 0;
}

struct targets_args {
	char **files;
	size_t n;
};

static error_t parse(int key, char *arg unused_arg, struct argp_state *state)
{
	struct targets_args *a = state->input;

	if (key != ARGP_KEY_ARGS)
		return ARGP_ERR_UNKNOWN;
	a->files = state->argv + state->next;
	a->n = (size_t)(state->argc - state->next);
	return 0;
}

static int print_files(const struct targets_args *a)
{
	struct diag d = { .text = "" };

	for (size_t i = 0; i < a->n; i++)
		if (print_target(a->files[i], &d))
			return cmd_fail(&d, EXIT_USAGE);
	return 0;
}

int cmd_targets(int argc, char **argv)
{
	static const struct argp argp = {
		NULL,
		parse,
		"[FILE...]",
		"List the targets: the sandbox platforms that can be tested, and what is missing "
		"where one can't be tested here. Of target files that are named, those: the first "
		"that is broken ends it, with exit status 2.",
		NULL,
		NULL,
		NULL
	};
	char folder[PATH_MAX];
	struct targets_args a = { .n = 0 };
	char **paths = NULL;
	struct diag d = { .text = "" };
	int err;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	if (a.n)
		return print_files(&a);
	if (cmd_policies(folder, sizeof(folder), "targets", &d))
		return cmd_fail(&d, EXIT_USAGE);
	err = targets_find(folder, &paths);
	if (err) {
		(void)diag_set(&d, err, folder, 0, 0, "can't list the targets: %s", strerror(-err));
		return cmd_fail(&d, EXIT_USAGE);
	}
	for (char **p = paths; *p && !err; p++)
		err = print_target(*p, &d);
	target_argv_free(paths);
	return err ? cmd_fail(&d, EXIT_USAGE) : 0;
}

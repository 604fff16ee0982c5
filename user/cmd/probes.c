// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "user/cmd/cmd.h"
#include "user/cmd/list_json.h"
#include "user/cmd/select.h"
#include "user/judge/verdict.h"

enum { KEY_JSON = 0x1000 };

static const struct argp_option options[] = {
	{ "probe", 'p', "FILE", 0, "List this probe file of a user's own beside ours", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line, and errors as JSON", 0 },
	{ 0 },
};

struct probes_args {
	struct select_names names;
	bool named; /* otherwise than by -p: not all of ours */
	bool json;
};

static void add(struct probes_args *a, const char *name, struct argp_state *state)
{
	if (select_names_add(&a->names, name))
		argp_error(state, "at most %d probes can be named", SELECT_NAMES_MAX);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct probes_args *a = state->input;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		return 0;
	case 'p':
		add(a, arg, state);
		return 0;
	case ARGP_KEY_ARG:
		a->named = true;
		add(a, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!a->named && a->names.n)
			add(a, "*", state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_probe(const struct probe_manifest *p)
{
	(void)printf("%-20s %-10s", p->p.name, p->p.attack);
	for (size_t i = 0; i < PROBE_FAMILIES_MAX && p->families[i]; i++)
		(void)printf(" %s", p->families[i]);
	(void)printf("\n%20s %s\n", "", p->about);
}

static int print_json(const struct selection *s)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	for (size_t i = 0; i < s->probes_n; i++)
		list_json_probe(&j, s->probes[i]);
	err = list_json_print(&j);
	json_out_done(&j);
	return err ? cmd_output_failed() : 0;
}

static int print_all(const struct selection *s)
{
	for (size_t i = 0; i < s->probes_n; i++)
		print_probe(s->probes[i]);
	return 0;
}

int cmd_probes(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"[PROBE...]",
		"List the probes: id, ATT&CK technique, families, what it does. Of those that are "
		"named by id, glob, @family or file, these.",
		NULL,
		NULL,
		NULL
	};
	struct probes_args a = { .json = false };
	struct diag d = { .text = "" };
	struct selection *s;
	int code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.json);
	s = calloc(1, sizeof(*s));
	if (!s)
		return EXIT_USAGE;
	if (select_probes(s, &a.names, &d))
		code = cmd_fail(&d, EXIT_USAGE);
	else
		code = a.json ? print_json(s) : print_all(s);
	selection_done(s);
	free(s);
	return code;
}

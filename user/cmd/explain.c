// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/moment_list.h"
#include "user/report/explain.h"

#define LINES_MAX 4096 /* of one cell; of more, those that tell most */

static const struct argp_option options[] = {
	{ "color", 'c', "WHEN", 0, "auto, always or never", 0 },
	{ 0 },
};

struct explain_args {
	const char *bundle, *target, *probe;
	char *cell; /* "TARGET/PROBE", cut in two; owned */
	enum color_when color;
};

/* No name has a '/' in it: TARGET/PROBE is a cell in one word. */
static int split_cell(struct explain_args *a)
{
	char *slash;

	a->cell = strdup(a->target);
	slash = a->cell ? strchr(a->cell, '/') : NULL;
	if (!slash || !slash[1] || slash == a->cell)
		return -EINVAL;
	*slash = '\0';
	a->target = a->cell;
	a->probe = slash + 1;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct explain_args *a = state->input;

	switch (key) {
	case 'c':
		if (color_parse(arg, &a->color))
			argp_error(state, "--color takes auto, always or never");
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 2)
			argp_error(state, "'%s' is too much", arg);
		*(state->arg_num == 0	? &a->bundle
		  : state->arg_num == 1 ? &a->target
					: &a->probe) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->target || (!a->probe && split_cell(a)))
			argp_error(state, "name a bundle, a target and a probe");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct collector {
	const struct explain_args *args;
	const struct correlate *correlate;
	const struct ev_trial *on; /* the cell's first `on` trial, NULL */
	struct moment_list lines;
};

/* Its own trials, and those outside any sandbox that it is compared with: the same attempt, under
 * the same uid, with the same capabilities, towards the same far side. */
static bool concerns(const struct collector *c, const struct ev_trial *t)
{
	if (!t || strcmp(t->probe, c->args->probe) != 0)
		return false;
	if (t->target[0])
		return !strcmp(t->target, c->args->target);
	return c->on && t->far == c->on->far && t->uid == c->on->uid && t->caps == c->on->caps;
}

static const struct ev_trial *first_on(const struct correlate *c, const struct explain_args *a)
{
	const struct ev_trial *t;

	for (uint32_t i = 1; (t = correlate_trial(c, i)); i++)
		if (t->arm == ARM_ON && !strcmp(t->target, a->target) &&
		    !strcmp(t->probe, a->probe))
			return t;
	return NULL;
}

static int collect(void *arg, const struct ev *ev)
{
	struct collector *c = arg;
	const struct ev_trial *t =
		correlate_trial(c->correlate, correlate_trial_of(c->correlate, ev));

	return concerns(c, t) ? moment_list_add(&c->lines, ev, t) : 0;
}

static const struct cell_result *find_cell(const struct judged *j, const struct explain_args *a)
{
	for (uint32_t i = 0; i < j->result.cells_n; i++)
		if (!strcmp(j->result.cells[i].target, a->target) &&
		    !strcmp(j->result.cells[i].probe, a->probe))
			return &j->result.cells[i];
	return NULL;
}

static int explain(const struct explain_args *a, struct judged *j, int *ret_code, struct diag *d)
{
	const struct cell_result *cell = find_cell(j, a);
	struct collector c = { .args = a,
			       .correlate = j->correlate,
			       .on = first_on(j->correlate, a),
			       .lines = { .max = LINES_MAX } };
	int err;

	if (!cell)
		return diag_set(d, -ENOENT, a->bundle, 0, 0,
				"there is no cell '%s' '%s' in this run", a->target, a->probe);
	err = capture_read(a->bundle, collect, &c, &j->report, d);
	moment_list_sort(&c.lines);
	if (!err && explain_print(stdout, cell, c.lines.at, c.lines.n,
				  color_wanted(a->color, STDOUT_FILENO)))
		*ret_code = cmd_output_failed();
	if (!err && c.lines.left_out)
		log_info("%zu records that tell less are in the capture, too: sentinel timeline -t "
			 "%s -p %s",
			 c.lines.left_out, a->target, a->probe);
	moment_list_done(&c.lines);
	return err;
}

static int run(const struct explain_args *a)
{
	struct diag d = { .text = "" };
	struct judged j;
	int code = 0;

	if (judge_bundle_to_explain(a->bundle, &j, &d))
		return cmd_fail(&d, EXIT_USAGE);
	if (j.damaged)
		log_error("%s: the evidence is damaged: %s", a->bundle, j.report.text);
	if (explain(a, &j, &code, &d))
		code = cmd_fail(&d, EXIT_USAGE);
	else if (!code && j.damaged)
		code = EXIT_DAMAGED;
	judged_done(&j);
	return code;
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"BUNDLE TARGET PROBE\nBUNDLE TARGET/PROBE",
		"Show why a cell got its verdict: the records behind it as a time line, with the "
		"trial that each belongs to, where it was seen (A inside the sandbox, B at its "
		"boundary, W on the far side), by which hook, whose doing it was, and what came of "
		"it. The number of a packet finds it in Wireshark: frame.packet_id == N.",
		NULL,
		NULL,
		NULL
	};
	struct explain_args a = { .bundle = NULL };
	int code;

	code = argp_parse(&argp, argc, argv, 0, NULL, &a) ? EXIT_USAGE : run(&a);
	free(a.cell);
	return code;
}

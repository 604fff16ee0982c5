// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/packet_line.h"
#include "user/record/evjson.h"
#include "user/record/message.h"
#include "user/report/explain.h"
#include "user/sense/hook_names.h"

#define LINES_MAX 4096 /* of one cell; more is said, not shown */

static const struct argp_option options[] = {
	{ "color", 'c', "WHEN", 0, "auto, always or never", 0 },
	{ 0 },
};

struct explain_args {
	const char *bundle, *target, *probe;
	enum color_when color;
};

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
		if (!a->probe)
			argp_error(state, "name a bundle, a target and a probe");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct collector {
	const struct explain_args *args;
	const struct correlate *correlate;
	struct explain_line lines[LINES_MAX];
	char *texts[LINES_MAX];
	size_t n, more;
};

static bool concerns(const struct collector *c, const struct ev *ev)
{
	const struct ev_trial *t =
		correlate_trial(c->correlate, correlate_trial_of(c->correlate, ev));

	return t && !strcmp(t->target, c->args->target) && !strcmp(t->probe, c->args->probe);
}

static const char *arm_name(enum arm arm)
{
	static const char *const names[ARM_MAX] = { "",	   "baseline", "on",	 "off",
						    "on2", "baseline", "allowed" };

	return names[arm];
}

static int collect(void *arg, const struct ev *ev)
{
	struct collector *c = arg;
	char text[MESSAGE_MAX], line[MESSAGE_MAX + 64];
	const struct ev_trial *t;

	if (!concerns(c, ev))
		return 0;
	if (c->n == LINES_MAX) {
		c->more++;
		return 0;
	}
	t = correlate_trial(c->correlate, correlate_trial_of(c->correlate, ev));
	if (ev->type == EV_PACKET)
		packet_line(&ev->packet, t, text);
	else
		(void)message_text(ev, text);
	(void)str_format(line, sizeof(line), "%-4s %-22s %s", arm_name(t->arm),
			 ev->hook ? hook_name(ev->hook) : ev_type_name(ev->type), text);
	c->texts[c->n] = strdup(line);
	if (!c->texts[c->n])
		return -ENOMEM;
	c->lines[c->n] = (struct explain_line){ .time_ns = ev->time_ns,
						.id = ev->id,
						.text = c->texts[c->n] };
	c->n++;
	return 0;
}

/* Rings are not in order of time; records of the same time stay in the capture's order. */
static int by_time(const void *a, const void *b)
{
	const struct explain_line *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
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
	struct collector *c;
	int err;

	if (!cell)
		return diag_set(d, -ENOENT, a->bundle, 0, 0,
				"there is no cell '%s' '%s' in this run", a->target, a->probe);
	c = calloc(1, sizeof(*c));
	if (!c)
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	c->args = a;
	c->correlate = j->correlate;
	err = capture_read(a->bundle, collect, c, &j->report, d);
	qsort(c->lines, c->n, sizeof(c->lines[0]), by_time);
	if (!err &&
	    explain_print(stdout, cell, c->lines, c->n, color_wanted(a->color, STDOUT_FILENO)))
		*ret_code = cmd_output_failed();
	if (!err && c->more)
		log_info("%zu more records are in the capture", c->more);
	for (size_t i = 0; i < c->n; i++)
		free(c->texts[i]);
	free(c);
	return err;
}

int cmd_explain(int argc, char **argv)
{
	static const struct argp argp = { options,
					  parse,
					  "BUNDLE TARGET PROBE",
					  "Show why a cell got its verdict: the records behind it "
					  "as a time line, each with the "
					  "packet id that finds it in Wireshark (frame.packet_id).",
					  NULL,
					  NULL,
					  NULL };
	struct explain_args a = { .bundle = NULL };
	struct diag d = { .text = "" };
	struct judged j;
	int code = 0;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	if (judge_bundle(a.bundle, &j, &d))
		return cmd_fail(&d, EXIT_USAGE);
	if (j.damaged)
		log_error("%s: the evidence is damaged: %s", a.bundle, j.report.text);
	if (explain(&a, &j, &code, &d))
		code = cmd_fail(&d, EXIT_USAGE);
	else if (!code && j.damaged)
		code = EXIT_DAMAGED;
	judged_done(&j);
	return code;
}

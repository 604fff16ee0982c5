// SPDX-License-Identifier: Apache-2.0
/* What changed between two runs, by what their captures say. */
#include <argp.h>

#include "user/base/json_out.h"
#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/judge_bundle.h"
#include "user/report/changes.h"
#include "user/report/text.h"

enum { EXIT_SAME = 0, EXIT_DIFFERS = 1 }; /* as diff(1) */

#define ABOUT_MAX 4096 /* facts of a capture: more than a run has targets and programs */

struct diff_args {
	const char *bundle[2];
	bool json;
};

enum { KEY_JSON = 256 };

static const struct argp_option options[] = {
	{ "json", KEY_JSON, NULL, 0,
	  "Print an object a line for each difference, and errors as JSON", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_args *a = state->input;

	switch (key) {
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(state, "'%s' is too much: two bundles are compared", arg);
		a->bundle[state->arg_num] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->bundle[1])
			argp_error(state, "name two bundles");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- what was tested, and by what ---- */

/* A fact with a name: two captures are compared by these. */
struct fact {
	char target[EV_NAME_MAX]; /* "" = the run */
	char field[EV_TEXT_MAX + 16];
	char value[EV_TEXT_MAX];
};

struct about {
	struct fact *fact;
	uint32_t n;
};

static int add(struct about *a, const char *target, const char *field, const char *value)
{
	struct fact *more =
		a->n < ABOUT_MAX ? reallocarray(a->fact, a->n + 1, sizeof(*more)) : NULL;

	if (!more)
		return a->n < ABOUT_MAX ? -ENOMEM : -E2BIG;
	a->fact = more;
	more = &a->fact[a->n++];
	(void)str_copy(more->target, sizeof(more->target), target);
	(void)str_copy(more->field, sizeof(more->field), field);
	(void)str_copy(more->value, sizeof(more->value), value);
	return 0;
}

static int add_digest(struct about *a, const char *target, const char *field,
		      const uint8_t digest[EV_DIGEST_BYTES])
{
	char hex[2 * EV_DIGEST_BYTES + 1];

	hex_encode(hex, digest, EV_DIGEST_BYTES);
	return add(a, target, field, hex);
}

static int take(void *arg, const struct ev *ev)
{
	struct about *a = arg;
	char field[EV_TEXT_MAX + 16];
	int err;

	switch (ev->type) {
	case EV_RUN_BEGIN:
		err = add(a, "", "kernel", ev->run_begin.kernel);
		if (!err)
			err = add(a, "", "sentinel", ev->run_begin.version);
		if (!err)
			err = add_digest(a, "", "bpf_object", ev->run_begin.bpf_digest);
		return err ? err : add(a, "", "sabotage", ev->run_begin.sabotage);
	case EV_TARGET:
		err = add(a, ev->target.name, "version", ev->target.version);
		return err ? err : add_digest(a, ev->target.name, "target_file", ev->target.digest);
	case EV_PROGRAM:
		(void)str_format(field, sizeof(field), "program %s", ev->program.path);
		return add_digest(a, ev->program.target, field, ev->program.digest);
	default:
		return 0;
	}
}

/* ---- one side ---- */

struct side {
	struct judged j;
	struct about about;
};

static int read_side(const char *bundle, struct side *s, struct diag *d)
{
	struct capture_report report;
	int err = judge_bundle(bundle, &s->j, d);

	return err ? err : capture_read(bundle, take, &s->about, &report, d);
}

static void side_done(struct side *s)
{
	judged_done(&s->j);
	free(s->about.fact);
}

/* ---- showing ---- */

struct shown {
	bool json;
	int err;
};

static void show_text(const struct change *c)
{
	char target[TEXT_MAX], probe[TEXT_MAX], field[TEXT_MAX], before[TEXT_MAX], after[TEXT_MAX];

	(void)printf("%s%s%s  %s: %s -> %s\n",
		     *c->target ? printable(target, sizeof(target), c->target) : "the run",
		     *c->probe ? " x " : "", printable(probe, sizeof(probe), c->probe),
		     printable(field, sizeof(field), c->field),
		     *c->before ? printable(before, sizeof(before), c->before) : "nothing",
		     *c->after ? printable(after, sizeof(after), c->after) : "nothing");
}

static void put(struct json_out *j, const char *key, const char *text)
{
	char plain[TEXT_MAX];

	if (*text)
		json_text(j, key, printable(plain, sizeof(plain), text));
	else
		json_null(j, key);
}

static int show_json(const struct change *c)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	json_object_begin(&j, NULL);
	json_u32(&j, "schema", 1);
	json_text(&j, "type", "difference");
	put(&j, "target", c->target);
	put(&j, "probe", c->probe);
	put(&j, "field", c->field);
	put(&j, "before", c->before);
	put(&j, "after", c->after);
	json_object_end(&j);
	json_newline(&j);
	err = json_out_error(&j);
	if (!err && fwrite(j.buf, 1, j.len, stdout) != j.len)
		err = -EIO;
	json_out_done(&j);
	return err;
}

static void show(void *arg, const struct change *c)
{
	struct shown *s = arg;

	if (s->err)
		return;
	if (s->json)
		s->err = show_json(c);
	else
		show_text(c);
}

/* ---- comparing ---- */

static const struct fact *find(const struct about *a, const struct fact *f)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!strcmp(a->fact[i].target, f->target) && !strcmp(a->fact[i].field, f->field))
			return &a->fact[i];
	return NULL;
}

static uint32_t compare_about(const struct about *a, const struct about *b, struct shown *s)
{
	uint32_t n = 0;

	for (int turn = 0; turn < 2; turn++) {
		const struct about *one = turn ? b : a, *other = turn ? a : b;

		for (uint32_t i = 0; i < one->n; i++) {
			const struct fact *f = &one->fact[i], *same = find(other, f);
			const char *value = same ? same->value : "";
			const struct change c = { .target = f->target,
						  .probe = "",
						  .field = f->field,
						  .before = turn ? value : f->value,
						  .after = turn ? f->value : value };

			/* what both have was told in the first turn */
			if ((turn && same) || !strcmp(c.before, c.after))
				continue;
			show(s, &c);
			n++;
		}
	}
	return n;
}

static int compare(const struct diff_args *a, const struct side side[2])
{
	struct shown s = { .json = a->json };
	uint32_t n = compare_about(&side[0].about, &side[1].about, &s);
	bool damaged = false;

	n += changes_find(&side[0].j.result, &side[1].j.result, show, &s);
	for (int i = 0; i < 2; i++)
		if (side[i].j.damaged) {
			log_error("'%s': the evidence is damaged: %s", a->bundle[i],
				  side[i].j.report.text);
			damaged = true;
		}
	if (s.err || ferror(stdout))
		return cmd_output_failed();
	return damaged ? EXIT_DAMAGED : n ? EXIT_DIFFERS : EXIT_SAME;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"BUNDLE BUNDLE",
		"Say what changed from one run to another: verdicts and what belongs to them, "
		"versions and programs of the platforms, the host, the instrument. Both are judged "
		"again, from their captures.\v"
		"Exit status: 0 nothing changed; 1 something did; 2 usage, or there is nothing to "
		"read; 5 damaged evidence; 6 the differences could not be written.",
		NULL,
		NULL,
		NULL
	};
	struct diff_args a = { .json = false };
	struct side side[2] = { { .about = { .n = 0 } } };
	struct diag d;
	int code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.json);
	if (read_side(a.bundle[0], &side[0], &d) || read_side(a.bundle[1], &side[1], &d))
		code = cmd_fail(&d, EXIT_USAGE);
	else
		code = compare(&a, side);
	side_done(&side[0]);
	side_done(&side[1]);
	return code;
}

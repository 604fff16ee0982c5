// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "user/base/log.h"
#include "user/cmd/batch.h"
#include "user/cmd/cmd.h"
#include "user/cmd/foreign.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/output.h"
#include "user/cmd/progress.h"
#include "user/cmd/recorded.h"
#include "user/judge/exit.h"
#include "user/record/bundle.h"

struct replay_args {
	struct output output;
	struct batch batch;
};

static error_t parse(int key, char *arg unused_arg, struct argp_state *state)
{
	struct replay_args *a = state->input;

	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = &a->output;
	state->child_inputs[1] = &a->batch;
	return 0;
}

/* One bundle, and the first thing that is wrong with it. */
struct one {
	const char *bundle;
	char wrong[1024];
};

static void printf_like(2, 3) complain(struct one *o, const char *fmt, ...)
{
	char text[sizeof(o->wrong)];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!o->wrong[0])
		(void)str_copy(o->wrong, sizeof(o->wrong), text);
	log_error("%s", text);
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_whole(struct one *o, const struct judged *j)
{
	if (j->damaged)
		complain(o, "'%s': the evidence is damaged: %s%s%s", o->bundle,
			 j->report.damaged_file, j->report.damaged_file[0] ? ": " : "",
			 j->report.text);
	else if (j->unlisted)
		log_warn("'%s': there is no " BUNDLE_SUMS " to check its files by, ignoring",
			 o->bundle);
	return !j->damaged;
}

/* Whether the bundle's own verdict.json is, byte for byte, what its capture gives. */
static bool same_as_recorded(struct one *o, const struct judged *j)
{
	int same = is_folder(o->bundle) ? recorded_is_same(o->bundle, &j->result) : 1;

	if (same < 0)
		log_warn("'%s/verdict.json': %s, so there is nothing to compare with", o->bundle,
			 strerror(-same));
	else if (!same)
		complain(o,
			 "'%s/verdict.json' is not what the capture gives: it was changed, or "
			 "judged "
			 "by another version",
			 o->bundle);
	else if (is_folder(o->bundle))
		log_info("'%s/verdict.json' is byte for byte what the capture gives", o->bundle);
	return same == 1 || same == -ENOENT;
}

/* r NULL: there is no result. */
static int show(const struct replay_args *a, const struct one *o, const struct run_result *r,
		struct table_opts *t)
{
	int err = 0, written = r ? output_files(&a->output, r) : 0;

	if (a->batch.several)
		err = output_bundle(&a->output, o->bundle, o->wrong, r, t);
	else if (r)
		err = output_result(&a->output, r, t);
	return err || written ? EXIT_OUTPUT : t->exit_code;
}

static int show_none(const struct replay_args *a, const struct one *o, int code)
{
	struct table_opts t = { .exit_code = code };

	return show(a, o, NULL, &t);
}

static int replay_judged(const struct replay_args *a, struct one *o, const struct judged *j)
{
	bool whole = is_whole(o, j) && same_as_recorded(o, j);
	struct table_opts t = { 0 };

	output_code(&a->output, &j->result, false, !whole, &t);
	return show(a, o, &j->result, &t);
}

static void judged_so_far(void *arg, uint64_t bytes)
{
	progress_at(arg, bytes);
}

static int replay_own(const struct replay_args *a, struct one *o, struct progress *p)
{
	char text[sizeof(o->wrong)];
	struct judged j;
	struct diag d;
	int err, code;

	err = judge_bundle_watched(o->bundle, judged_so_far, p, &j, &d);
	progress_end(p);
	if (err) {
		complain(o, "%s", diag_text(&d, text, sizeof(text)));
		return show_none(a, o, EXIT_USAGE);
	}
	code = replay_judged(a, o, &j);
	judged_done(&j);
	return code;
}

static int replay_one(const struct replay_args *a, const char *bundle, struct progress *p)
{
	struct one o = { .bundle = bundle };
	enum origin origin;
	int code;

	if (!foreign_is(bundle, &origin))
		return replay_own(a, &o, p);
	progress_end(p);
	code = foreign_replay(bundle, origin, &a->output);
	return a->batch.several && a->output.json ? show_none(a, &o, code) : code;
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

static int replay_all(const struct replay_args *a)
{
	const struct bundle_list *l = &a->batch.list;
	struct progress progress = { .on = false };
	int code = EXIT_CONTAINED;

	if (!l->n) {
		log_info("part %u of %u has no bundle", a->batch.shard.k, a->batch.shard.n);
		return EXIT_INCONCLUSIVE; /* nothing was scored */
	}
	for (size_t i = 0; i < l->n; i++) {
		progress_begin(&progress, l->path[i], i + 1, l->n);
		code = worse(code, replay_one(a, l->path[i], &progress));
	}
	return code;
}

static int open_output(struct replay_args *a, struct diag *d)
{
	for (size_t i = 0; i < OUTPUT_FILES; i++)
		if (a->output.file[i].path && a->batch.several)
			return diag_set(d, -EINVAL, NULL, 0, 0,
					"'%s' would hold one result, and several bundles are named",
					a->output.file[i].path);
	return output_open(&a->output, d);
}

int cmd_replay(int argc, char **argv)
{
	static const struct argp_child children[] = { { &output_argp, 0, NULL, 0 },
						      { &batch_argp, 0, NULL, 0 },
						      { 0 } };
	static const struct argp argp = {
		NULL,
		parse,
		"BUNDLE...",
		"Judge recorded runs again, from their captures alone. Needs neither root nor BPF, "
		"and "
		"checks that the recorded verdict is the one that the capture gives. A folder "
		"without a capture of its own stands for the bundles below it. What another tool "
		"captured (tcpdump, dumpcap, Wireshark) is shown, and not judged.",
		children,
		NULL,
		NULL
	};
	struct replay_args a = { .batch = { .names = NULL } };
	struct diag d;
	int code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.output.json);
	if (batch_open(&a.batch, &d) || open_output(&a, &d))
		code = cmd_fail(&d, EXIT_USAGE);
	else
		code = batch_exit_code(&a.batch, replay_all(&a));
	output_close(&a.output);
	batch_done(&a.batch);
	return code;
}

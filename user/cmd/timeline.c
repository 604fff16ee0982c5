// SPDX-License-Identifier: Apache-2.0
/*
 * Several bundles in one time line. Each is read by a process of its own, which hands over its
 * lines in order of the wall clock; the parent takes the earliest of those at hand. What is held in
 * memory depends on the number of bundles, not on their size, and one broken bundle harms no other.
 */
#include <argp.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/timeline_source.h"
#include "user/judge/verdict.h"
#include "user/record/bundle_find.h"
#include "user/record/evjson.h"
#include "user/report/color.h"
#include "user/report/text.h"

#define SOURCES_MAX 64 /* processes at a time */

enum { KEY_JSON = 0x1000, KEY_COLOR, KEY_TYPE };

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0, "Only records of trials of this target ('baseline': outside)",
	  0 },
	{ "probe", 'p', "PROBE", 0, "Only records of trials of this probe", 0 },
	{ "type", KEY_TYPE, "TYPE", 0, "Only records of this type: packet, call, exec, ...", 0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a line", 0 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never", 0 },
	{ 0 },
};

struct timeline_args {
	struct timeline_opts opts;
	enum color_when color;
	char **names;
	int names_n;
};

static bool is_type(const char *pattern)
{
	for (uint32_t i = 1; i < EV_TYPE_MAX; i++)
		if (!fnmatch(pattern, ev_type_name((enum ev_type)i), 0))
			return true;
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct timeline_args *a = state->input;

	switch (key) {
	case 't':
		a->opts.target = arg;
		return 0;
	case 'p':
		a->opts.probe = arg;
		return 0;
	case KEY_TYPE:
		if (!is_type(arg))
			argp_error(state,
				   "no record has the type '%s'; sentinel-capture(5) names them",
				   arg);
		a->opts.type = arg;
		return 0;
	case KEY_JSON:
		a->opts.json = true;
		return 0;
	case KEY_COLOR:
		if (color_parse(arg, &a->color))
			argp_error(state, "--color takes auto, always or never");
		return 0;
	case ARGP_KEY_ARGS:
		a->names = state->argv + state->next;
		a->names_n = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a bundle");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- the processes ---- */

struct stream {
	pid_t pid;
	FILE *lines;		     /* NULL: it has no more */
	struct timeline_frame frame; /* of the line at hand */
	char *line;
};

struct streams {
	struct stream at[SOURCES_MAX];
	size_t n;
	const struct bundle_list *bundles;
};

static int child(const struct streams *all, size_t i, int fd, const struct timeline_opts *o)
{
	bool damaged = false;
	struct diag d = { .text = "" };
	FILE *out;
	int err;

	(void)signal(SIGPIPE, SIG_IGN);
	/* the others' ends: else they would not see that the parent is gone */
	for (size_t k = 0; k < i; k++)
		(void)fclose(all->at[k].lines);
	out = fdopen(fd, "w");
	err = out ? timeline_source(all->bundles->path[i], (unsigned int)i + 1, o, out, &damaged,
				    &d)
		  : -errno;
	if (err == -EPIPE)
		return EXIT_OUTPUT; /* the parent stopped reading, and says why */
	if (err)
		return cmd_fail(&d, EXIT_USAGE);
	return damaged ? EXIT_DAMAGED : 0;
}

static int start(struct streams *all, size_t i, const struct timeline_opts *o)
{
	struct stream *s = &all->at[i];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	s->pid = fork();
	if (s->pid < 0) {
		int err = -errno;

		(void)close(ends[0]);
		(void)close(ends[1]);
		return err;
	}
	if (!s->pid) {
		(void)close(ends[0]);
		_exit(child(all, i, ends[1], o));
	}
	(void)close(ends[1]);
	s->lines = fdopen(ends[0], "r");
	all->n = i + 1;
	if (s->lines)
		return 0;
	(void)close(ends[0]);
	return -ENOMEM;
}

/* What the process exited with. */
static int finish(struct stream *s, const char *bundle)
{
	int status = 0;

	if (s->lines)
		(void)fclose(s->lines);
	free(s->line);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	log_error("'%s': its reader was ended by signal %d", bundle, WTERMSIG(status));
	return EXIT_USAGE;
}

/* ---- joining ---- */

static void next_line(struct stream *s)
{
	if (fread(&s->frame, sizeof(s->frame), 1, s->lines) == 1 &&
	    s->frame.len <= TIMELINE_LINE_MAX) {
		s->line = s->line ? s->line : malloc(TIMELINE_LINE_MAX);
		if (s->line && fread(s->line, s->frame.len, 1, s->lines) == 1)
			return;
	}
	(void)fclose(s->lines);
	s->lines = NULL;
}

static struct stream *earliest(struct streams *all)
{
	struct stream *best = NULL;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].lines && (!best || all->at[i].frame.wall_ns < best->frame.wall_ns))
			best = &all->at[i];
	return best;
}

/* 0 or -EIO. */
static int join(struct streams *all, bool json)
{
	struct stream *s;

	for (size_t i = 0; i < all->n; i++)
		next_line(&all->at[i]);
	for (uint64_t seq = 1; (s = earliest(all)); seq++) {
		if (json)
			(void)printf("{\"schema\":1,\"seq\":\"%" PRIu64 "\",", seq);
		if (fwrite(s->line, s->frame.len, 1, stdout) != 1)
			return -EIO;
		next_line(s);
	}
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}

static void print_bundles(const struct bundle_list *l)
{
	char plain[TEXT_MAX];

	for (size_t i = 0; i < l->n; i++)
		(void)printf("[%zu]  %s\n", i + 1, printable(plain, sizeof(plain), l->path[i]));
	(void)putchar('\n');
}

/* Usage, output, damaged, none. */
static int worse(int a, int b)
{
	static const int order[] = { EXIT_USAGE, EXIT_OUTPUT, EXIT_DAMAGED };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return 0;
}

static int run(const struct timeline_args *a, const struct bundle_list *l)
{
	struct streams all = { .bundles = l };
	int code = 0, err = 0;

	if (a->opts.several && !a->opts.json)
		print_bundles(l);
	(void)fflush(stdout); /* or each process would have it, too */
	for (size_t i = 0; i < l->n && !err; i++)
		err = start(&all, i, &a->opts);
	if (err)
		log_error("can't start a reader: %s", strerror(-err));
	else if (join(&all, a->opts.json))
		code = cmd_output_failed();
	for (size_t i = 0; i < all.n; i++) {
		int one = finish(&all.at[i], l->path[i]);

		/* one that we stopped reading from, too, says that its output failed */
		code = worse(code, one == EXIT_OUTPUT && !code ? EXIT_USAGE : one);
	}
	return err ? EXIT_USAGE : code;
}

static int find_bundles(const struct timeline_args *a, struct bundle_list *ret, struct diag *d)
{
	int err = 0;

	for (int i = 0; i < a->names_n && !err; i++)
		err = bundle_list_add(ret, a->names[i], d);
	if (!err && ret->n > SOURCES_MAX)
		err = diag_set(d, -E2BIG, NULL, 0, 0,
			       "%zu bundles are too many for one time line: %d are read at a time",
			       ret->n, SOURCES_MAX);
	return err;
}

int cmd_timeline(int argc, char **argv)
{
	static const struct argp argp = { options,
					  parse,
					  "BUNDLE...",
					  "Join the records of recorded runs into one time line, "
					  "by the wall clock of each. A "
					  "folder without a capture of its own stands for the "
					  "bundles below it. TARGET, PROBE "
					  "and TYPE are patterns with * and ?.",
					  NULL,
					  NULL,
					  NULL };
	struct timeline_args a = { .names = NULL };
	struct bundle_list list = { .path = NULL };
	struct diag d = { .text = "" };
	int code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.opts.json);
	a.opts.color = color_wanted(a.color, STDOUT_FILENO);
	if (find_bundles(&a, &list, &d)) {
		code = cmd_fail(&d, EXIT_USAGE);
	} else {
		a.opts.several = list.n > 1;
		code = run(&a, &list);
	}
	bundle_list_done(&list);
	return code;
}

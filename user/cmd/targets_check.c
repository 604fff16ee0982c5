// SPDX-License-Identifier: Apache-2.0
/* `sentinel targets check`: what a target file will mean, before anybody runs it. */
#include <argp.h>
#include <limits.h>
#include <stdarg.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/probe_path.h"
#include "user/cmd/select.h"
#include "user/cmd/targets.h"
#include "user/cmd/word_diff.h"
#include "user/judge/verdict.h"
#include "user/report/text.h"
#include "user/rig/jobs.h"
#include "user/rig/launch.h"
#include "user/rig/need.h"
#include "user/rig/program.h"
#include "user/rig/version.h"

#define SHOWN_MAX 512

struct check {
	const struct target *t;
	const struct selection *probes;
	unsigned int mistakes; /* of the file */
	unsigned int lacks;    /* of this machine */
};

static const char *shown(char out[SHOWN_MAX], const char *text)
{
	return escape_text(out, SHOWN_MAX, text, strlen(text));
}

/* A line of the page: what it is about, in a column of its own, once. */
static void say(const char *about, const char *fmt, ...) printf_like(2, 3);
static void say(const char *about, const char *fmt, ...)
{
	va_list ap;

	(void)printf("  %-9s ", about);
	va_start(ap, fmt);
	(void)vprintf(fmt, ap);
	va_end(ap);
	(void)putchar('\n');
}

/* ---- what must be here ---- */

static void check_needs(struct check *c)
{
	char path[PATH_MAX], a[SHOWN_MAX], b[SHOWN_MAX];

	for (char *const *need = c->t->needs; *need; need++) {
		if (!need_find(*need, path, sizeof(path))) {
			say("needs", "%s: %s", shown(a, *need), shown(b, path));
			continue;
		}
		say("LACKS", "%s is not here: the target would be named as not tested",
		    shown(a, *need));
		c->lacks++;
	}
}

/* Commands start as the target's user. */
static void check_command(struct check *c, const char *what, const char *command)
{
	char path[PATH_MAX], a[SHOWN_MAX];

	if (command[0] == '{')
		return;
	if (program_find(command, NULL, path, sizeof(path))) {
		say("LACKS", "%s of %s is not here, or is no program", shown(a, command), what);
		c->lacks++;
	} else if (c->t->uid && !probe_path_open(path)) {
		say("LACKS",
		    "%s of %s can't be reached by the user %s: folders above it are closed",
		    shown(a, path), what, c->t->user);
		c->lacks++;
	}
}

static void check_version(struct check *c)
{
	const struct launch_opts o = { .argv = c->t->version,
				       .cgroup_fd = -1,
				       .netns_fd = -1,
				       .uid = c->t->uid,
				       .gid = c->t->gid };
	char line[EV_TEXT_MAX], text[SHOWN_MAX];
	struct diag d = { .text = "" };

	if (!c->t->version[0]) {
		say("version", "none is asked for: the evidence will not say what was tested");
	} else if (geteuid()) {
		say("version", "not tried: only root can start it as %s", c->t->user);
	} else if (version_run(&o, NULL, line, &d)) {
		say("LACKS", "no version: %s%s%s", d.text, line[0] ? ": " : "", shown(text, line));
		c->lacks++;
	} else {
		say("version", "%s", shown(text, line));
	}
}

/* ---- who it is inside ---- */

static void print_expect(const struct target *t)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} namespaces[] = {
		{ EXPECT_NS_MNT, " mnt" },	 { EXPECT_NS_NET, " net" },
		{ EXPECT_NS_PID, " pid" },	 { EXPECT_NS_USER, " user" },
		{ EXPECT_NS_UTS, " uts" },	 { EXPECT_NS_IPC, " ipc" },
		{ EXPECT_NS_CGROUP, " cgroup" },
	};
	static const char *const seccomp[] = { "disabled", "strict", "filter" };
	bool any = false;

	(void)printf("  %-9s", "expect");
	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		if (!(t->expect & namespaces[i].bit))
			continue;
		(void)printf("%s%s", any ? "" : " namespaces", namespaces[i].name);
		any = true;
	}
	if (t->expect & EXPECT_UID)
		(void)printf("%s uid %u", any ? "," : "", t->expect_uid);
	any |= t->expect & EXPECT_UID;
	if (t->expect & EXPECT_NNP)
		(void)printf("%s no_new_privs %s", any ? "," : "", t->expect_nnp ? "on" : "off");
	any |= t->expect & EXPECT_NNP;
	if (t->expect & EXPECT_SECCOMP)
		(void)printf("%s seccomp %s", any ? "," : "", seccomp[t->expect_seccomp]);
	any |= t->expect & EXPECT_SECCOMP;
	if (t->expect & EXPECT_REFUSED_CONNECT)
		(void)printf("%s refused connect", any ? "," : "");
	(void)putchar('\n');
}

static bool tells_inside_from_outside(const struct target *t)
{
	return t->expect & (EXPECT_NS_MNT | EXPECT_NS_NET | EXPECT_NS_PID | EXPECT_NS_USER |
			    EXPECT_NS_UTS | EXPECT_NS_IPC | EXPECT_NS_CGROUP |
			    EXPECT_REFUSED_CONNECT) ||
	       (t->expect & EXPECT_SECCOMP && t->expect_seccomp) ||
	       (t->expect & EXPECT_NNP && t->expect_nnp) ||
	       (t->expect & EXPECT_UID && t->expect_uid != t->uid);
}

static void check_expect(const struct check *c)
{
	const struct target *t = c->t;

	print_expect(t);
	if (t->role == ROLE_TARGET && !tells_inside_from_outside(t))
		say("note", "a process that never entered the sandbox would fit 'expect' too: name "
			    "a namespace, no_new_privs or seccomp where there is one");
	if (t->expect & EXPECT_UID && t->expect_uid != t->uid)
		say("note",
		    "it starts as %s, uid %u, and must be seen as uid %u: right only where "
		    "the platform changes its user",
		    t->user, t->uid, t->expect_uid);
	if (!t->uid && t->role == ROLE_TARGET)
		say("note", "it starts as root: much of what looks like an escape is only root");
}

/* ---- the commands ---- */

static void print_words(const char *about, char *const *words)
{
	char text[SHOWN_MAX];

	(void)printf("  %-9s", about);
	for (; *words; words++)
		(void)printf(" %s", shown(text, *words));
	(void)putchar('\n');
}

static void print_marked(const char *lead, char *const *words, const bool *marks, size_t n)
{
	char text[SHOWN_MAX];

	(void)fputs(lead, stdout);
	for (size_t i = 0; i < n; i++)
		if (marks[i])
			(void)printf(" %s", shown(text, words[i]));
}

/* What loosens nothing makes a cell "control-makes-no-difference", after a run. */
static void check_off(struct check *c, size_t i)
{
	const struct target_off *off = &c->t->off[i];
	char about[16], text[SHOWN_MAX];
	struct word_diff diff;

	word_diff(&diff, c->t->run, off->run);
	(void)str_format(about, sizeof(about), "off %zu", i + 1);
	(void)printf("  %-9s for", about);
	for (char *const *p = off->probes; *p; p++)
		(void)printf(" %s", shown(text, *p));
	if (diff.gone_n)
		print_marked(": without", c->t->run, diff.gone, diff.before_n);
	if (diff.come_n)
		print_marked(diff.gone_n ? ", with" : ": with", off->run, diff.come, diff.after_n);
	if (off->lane != c->t->lane)
		(void)printf("%s lane %s", diff.gone_n || diff.come_n ? "," : ":",
			     off->lane == TARGET_LANE_OPEN ? "open" : "closed");
	(void)putchar('\n');
	if (!diff.gone_n && !diff.come_n && off->lane == c->t->lane) {
		say("MISTAKE", "off %zu loosens nothing: it is the same as run", i + 1);
		c->mistakes++;
	}
	if (diff.gone_n)
		check_command(c, about, off->run[0]);
}

static void check_commands(struct check *c)
{
	print_words("run", c->t->run);
	check_command(c, "run", c->t->run[0]);
	for (size_t i = 0; i < c->t->off_n; i++)
		check_off(c, i);
	if (!c->t->off_n && c->t->role == ROLE_TARGET)
		say("note", "no 'off': what does not cross can be provisional at best");
}

/* By address or by name. */
static bool names_allowed(char *const *words)
{
	for (; *words; words++)
		if (strstr(*words, "{allowed}") || strstr(*words, "{allowed_name}"))
			return true;
	return false;
}

/* What nobody tells the policy, it lets through only by chance. */
static void check_allowed(const struct check *c)
{
	bool told = names_allowed(c->t->run);

	if (c->t->allowed[0] && !told)
		say("note", "'allowed', and neither {allowed} nor {allowed_name} in 'run': the "
			    "policy must let them through all the same");
	if (!c->t->allowed[0] && told)
		say("note", "{allowed} or {allowed_name} in 'run', and no 'allowed': nobody asks "
			    "whether it works");
}

static void check_steady(const struct check *c)
{
	if (c->t->steady_ms)
		say("steady",
		    "each round is made twice: at the start, and %u ms after the session's",
		    c->t->steady_ms);
}

/* ---- what each probe would be ---- */

static bool is_claimed(const struct target *t, const struct probe_manifest *p)
{
	const struct target_claim *claim = probe_claim(t, p);

	return claim && claim->claimed;
}

static void print_probe(const struct target *t, const struct probe_manifest *p)
{
	const struct target_off *off = probe_off(t, p);
	const char *allowed = probe_allowed(t, p) ? "; what is allowed must answer" : "";

	if (!is_claimed(t, p))
		say("", "%-20s not claimed  shown, never scored%s", p->p.name, allowed);
	else if (off)
		say("", "%-20s claimed      compared with off %zu%s", p->p.name,
		    (size_t)(off - t->off) + 1, allowed);
	else
		say("", "%-20s claimed      provisional at best: no 'off' for it%s", p->p.name,
		    allowed);
}

static void print_probes(const struct check *c)
{
	const struct selection *s = c->probes;
	size_t claimed = 0, alone = 0;

	for (size_t i = 0; i < s->probes_n; i++) {
		claimed += is_claimed(c->t, s->probes[i]);
		alone += is_claimed(c->t, s->probes[i]) && !probe_off(c->t, s->probes[i]);
	}
	say("probes", "%zu of %zu claimed, %zu of them provisional at best%s", claimed, s->probes_n,
	    alone, claimed ? "" : ": nothing can be scored");
	for (size_t i = 0; i < s->probes_n; i++)
		print_probe(c->t, s->probes[i]);
}

/* ---- the command ---- */

static int check_file(const struct selection *probes, const char *path)
{
	struct diag d = { .text = "" };
	struct check c = { .probes = probes };
	char name[SHOWN_MAX];
	struct target *t;
	int code = 0;

	if (target_load(&t, path, &d))
		return cmd_fail(&d, EXIT_USAGE);
	if (select_check_target(probes, t, &d)) {
		target_free(t);
		return cmd_fail(&d, EXIT_USAGE);
	}
	c.t = t;
	(void)printf("%s: %s\n", shown(name, path), t->name);
	check_needs(&c);
	check_version(&c);
	check_expect(&c);
	check_commands(&c);
	check_allowed(&c);
	check_steady(&c);
	print_probes(&c);
	if (c.mistakes)
		code = EXIT_USAGE;
	else if (c.lacks)
		code = EXIT_INCONCLUSIVE;
	say("result", "%s",
	    code == EXIT_USAGE ? "to be mended before it means anything"
	    : code	       ? "the file is right, this machine lacks something for it"
			       : "ready to be run");
	target_free(t);
	return code;
}

static const struct argp_option options[] = {
	{ "probe", 'p', "FILE", 0, "Count this probe file of a user's own in", 0 },
	{ 0 },
};

struct check_args {
	struct select_names files, probes;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct check_args *a = state->input;

	switch (key) {
	case 'p':
		if (select_names_add(&a->probes, arg))
			argp_error(state, "at most %d probes can be named", SELECT_NAMES_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (select_names_add(&a->files, arg))
			argp_error(state, "at most %d files can be named", SELECT_NAMES_MAX);
		return 0;
	case ARGP_KEY_END:
		if (!a->files.n)
			argp_error(state, "name a target file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The worse of two: a mistake before what this machine lacks. */
static int worse(int a, int b)
{
	return a == EXIT_USAGE || !b ? a : b;
}

int targets_check(int argc, char **argv)
{
	static char name[] = "sentinel targets check";
	static const struct argp argp = {
		options,
		parse,
		"FILE...",
		"Look closely at target files: whether what they need is here, what 'off' changes, "
		"what each probe would be, and what does not make sense. Starts nothing but the "
		"version's command. Exit status: 2 a mistake in a file; 3 this machine lacks "
		"something.",
		NULL,
		NULL,
		NULL
	};
	/* ours, all of them, and those of the user's that are named */
	struct check_args a = { .files = { .n = 0 }, .probes = { { "*" }, 1 } };
	struct diag d = { .text = "" };
	struct selection *probes;
	int code = 0;

	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(false);
	probes = calloc(1, sizeof(*probes));
	if (!probes)
		return EXIT_USAGE;
	if (select_probes(probes, &a.probes, &d))
		code = cmd_fail(&d, EXIT_USAGE);
	for (size_t i = 0; i < a.files.n && d.text[0] == '\0'; i++)
		code = worse(check_file(probes, a.files.at[i]), code);
	selection_done(probes);
	free(probes);
	return code;
}

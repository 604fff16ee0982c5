// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/probe_path.h"
#include "user/judge/exit.h"
#include "user/record/bundle.h"
#include "user/report/junit.h"
#include "user/report/table.h"
#include "user/report/verdict_json.h"
#include "user/rig/rig.h"
#include "user/rig/schedule.h"
#include "user/sense/hook_names.h"

#define NAMES_MAX 64
#define LANES_DEFAULT 8
#define REPEAT_MAX 1000
#define LISTEN_MAX_MS 60000 /* after the last trial, for late packets */

enum {
	KEY_REPEAT = 256,
	KEY_LANES,
	KEY_ARMS,
	KEY_JUNIT,
	KEY_JSON,
	KEY_COLOR,
	KEY_ACCEPT,
	KEY_WORLD_RING,
	KEY_SABOTAGE
};

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0,
	  "Test this target: a name, or a target file (default: all that are found here)", 0 },
	{ "probe", 'p', "PROBE", 0, "Make this attempt: an id, a glob, or a @family (default: all)",
	  0 },
	{ "repeat", KEY_REPEAT, "N", 0, "Do each round N times (default 1)", 0 },
	{ "lanes", KEY_LANES, "N", 0, "Work in N lanes side by side (default 8)", 0 },
	{ "arms", KEY_ARMS, "LIST", 0,
	  "Run only these of on,off,on2; what is left out can't be concluded from", 0 },
	{ "output", 'o', "DIR", 0, "Put the evidence bundle there (default: a new folder here)",
	  0 },
	{ "junit", KEY_JUNIT, "FILE", 0, "Write the result as JUnit XML too", 0 },
	{ "json", KEY_JSON, NULL, 0, "Print verdict.json instead of the table", 0 },
	{ "color", KEY_COLOR, "WHEN", 0, "auto, always or never", 0 },
	{ "accept", KEY_ACCEPT, "provisional", 0, "Let provisional cells end in exit code 0", 0 },
	{ "quiet", 'q', NULL, 0, "No progress", 0 },
	{ "world-ring", KEY_WORLD_RING, "BYTES", 0, "Size of the ring buffer at W, a power of two",
	  1 },
	{ "sabotage", KEY_SABOTAGE, "NAME", 0,
	  "Break the instrument on purpose, to see it say so: no-collector, quiet-collector, "
	  "no-ipv6. For its own tests",
	  1 },
	{ 0 },
};

struct run_args {
	const char *targets[NAMES_MAX + 1], *probes[NAMES_MAX + 1], *sabotage[NAMES_MAX + 1];
	size_t targets_n, probes_n, sabotage_n;
	uint32_t repeat, lanes, arms, world_ring;
	const char *output, *junit;
	bool json, accept_provisional, quiet;
	enum color_when color;
};

static const char *const sabotages[] = { "no-collector", "quiet-collector", "no-ipv6" };

static int add_name(const char **list, size_t *n, const char *name)
{
	if (*n == NAMES_MAX)
		return -ENOSPC;
	list[(*n)++] = name;
	return 0;
}

static uint32_t parse_arms(const char *text)
{
	static const struct {
		const char *name;
		enum arm arm;
	} names[] = { { "on", ARM_ON }, { "off", ARM_OFF }, { "on2", ARM_ON2 } };
	uint32_t arms = 0;

	while (*text) {
		size_t len = strcspn(text, ",");
		uint32_t bit = 0;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (strlen(names[i].name) == len && !strncmp(text, names[i].name, len))
				bit = 1u << names[i].arm;
		if (!bit)
			return 0;
		arms |= bit;
		text += len + (text[len] == ',');
	}
	return arms;
}

static bool is_sabotage(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sabotages); i++)
		if (!strcmp(name, sabotages[i]))
			return true;
	return false;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_args *a = state->input;

	switch (key) {
	case 't':
		if (add_name(a->targets, &a->targets_n, arg))
			argp_error(state, "at most %d targets can be named", NAMES_MAX);
		return 0;
	case 'p':
		if (add_name(a->probes, &a->probes_n, arg))
			argp_error(state, "at most %d probes can be named", NAMES_MAX);
		return 0;
	case 'o':
		a->output = arg;
		return 0;
	case 'q':
		a->quiet = true;
		return 0;
	case KEY_REPEAT:
		if (parse_u32(arg, 1, REPEAT_MAX, &a->repeat))
			argp_error(state, "--repeat takes a number from 1 to %d", REPEAT_MAX);
		return 0;
	case KEY_LANES:
		if (parse_u32(arg, 1, LANES_MAX, &a->lanes))
			argp_error(state, "--lanes takes a number from 1 to %d", LANES_MAX);
		return 0;
	case KEY_ARMS:
		a->arms = parse_arms(arg);
		if (!a->arms)
			argp_error(state, "--arms takes a list of on, off and on2");
		return 0;
	case KEY_JUNIT:
		a->junit = arg;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_COLOR:
		if (color_parse(arg, &a->color))
			argp_error(state, "--color takes auto, always or never");
		return 0;
	case KEY_ACCEPT:
		if (strcmp(arg, "provisional") != 0)
			argp_error(state, "only 'provisional' can be accepted");
		a->accept_provisional = true;
		return 0;
	case KEY_WORLD_RING:
		if (parse_u32(arg, 4096, 1u << 30, &a->world_ring) ||
		    a->world_ring & (a->world_ring - 1))
			argp_error(state, "--world-ring takes a power of two from 4096");
		return 0;
	case KEY_SABOTAGE:
		if (!is_sabotage(arg) || add_name(a->sabotage, &a->sabotage_n, arg))
			argp_error(state, "there is no sabotage '%s'", arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much; targets are named by -t", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- what is selected ---- */

struct selection {
	struct target *targets[TARGET_LIST_MAX];
	size_t targets_n;
	struct table_skipped skipped[TARGET_LIST_MAX];
	char missing[TARGET_LIST_MAX][256];
	struct target *skipped_targets[TARGET_LIST_MAX];
	size_t skipped_n;
	bool skipped_named;
	const struct probe_manifest *probes[NAMES_MAX];
	size_t probes_n;
};

static void selection_done(struct selection *s)
{
	for (size_t i = 0; i < s->targets_n; i++)
		target_free(s->targets[i]);
	for (size_t i = 0; i < s->skipped_n; i++)
		target_free(s->skipped_targets[i]);
}

static bool has_target(const struct selection *s, const char *name)
{
	for (size_t i = 0; i < s->targets_n; i++)
		if (!strcmp(s->targets[i]->name, name))
			return true;
	for (size_t i = 0; i < s->skipped_n; i++)
		if (!strcmp(s->skipped_targets[i]->name, name))
			return true;
	return false;
}

/* Takes t over. */
static int take_target(struct selection *s, struct target *t, bool named, struct diag *d)
{
	size_t i = s->skipped_n;

	if (has_target(s, t->name)) {
		int err = named ? 0
				: diag_set(d, -EEXIST, t->path, 0, 0,
					   "there is a target '%s' already", t->name);
		target_free(t);
		return err;
	}
	if (s->targets_n == TARGET_LIST_MAX || s->skipped_n == TARGET_LIST_MAX) {
		target_free(t);
		return diag_set(d, -ENOSPC, NULL, 0, 0, "too many targets");
	}
	if (target_available(t, s->missing[i], sizeof(s->missing[i]))) {
		s->targets[s->targets_n++] = t;
		return 0;
	}
	s->skipped_targets[i] = t;
	s->skipped[i] = (struct table_skipped){ .name = t->name, .missing = s->missing[i] };
	s->skipped_n++;
	s->skipped_named |= named;
	return 0;
}

static bool is_path(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') || (len > 5 && !strcmp(name + len - 5, ".yaml"));
}

static int take_named(struct selection *s, const char *folder, const char *name, struct diag *d)
{
	char path[PATH_MAX];
	struct target *t;
	int err;

	if (is_path(name))
		err = str_copy(path, sizeof(path), name);
	else
		err = str_format(path, sizeof(path), "%s/%s.yaml", folder, name);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "the path is too long");
	if (!is_path(name) && access(path, R_OK))
		return diag_set(d, -ENOENT, NULL, 0, 0,
				"no target '%s'; `sentinel targets` lists them", name);
	err = target_load(&t, path, d);
	return err ? err : take_target(s, t, true, d);
}

/* Calibrators are in every run; the others where they are named, or all where none is. */
static int take_folder(struct selection *s, const char *folder, bool all, struct diag *d)
{
	char **paths = NULL;
	int err = targets_find(folder, &paths);

	if (err)
		return diag_set(d, err, folder, 0, 0, "can't list the targets: %s", strerror(-err));
	for (int pass = 0; pass < 2 && !err; pass++) {
		for (char **p = paths; *p && !err; p++) {
			struct target *t;

			err = target_load(&t, *p, d);
			if (err)
				break;
			if ((t->role != ROLE_TARGET) != (pass == 0) || (pass == 1 && !all))
				target_free(t);
			else
				err = take_target(s, t, false, d);
		}
	}
	target_argv_free(paths);
	return err;
}

static int select_probes(struct selection *s, const struct run_args *a, struct diag *d)
{
	size_t n;
	const struct probe_manifest *all = probe_manifests(&n);
	bool used[NAMES_MAX] = { false };

	for (size_t i = 0; i < n && s->probes_n < NAMES_MAX; i++) {
		bool wanted = !a->probes_n;

		for (size_t k = 0; k < a->probes_n; k++)
			if (!fnmatch(a->probes[k], all[i].p.name, 0) ||
			    probe_has_family(&all[i], a->probes[k]))
				wanted = used[k] = true;
		if (wanted)
			s->probes[s->probes_n++] = &all[i];
	}
	for (size_t k = 0; k < a->probes_n; k++)
		if (!used[k])
			return diag_set(d, -ENOENT, NULL, 0, 0,
					"no probe '%s'; `sentinel probes` lists them",
					a->probes[k]);
	return 0;
}

static int select_all(struct selection *s, const struct run_args *a, struct diag *d)
{
	char folder[PATH_MAX];
	int err = cmd_policies(folder, sizeof(folder), "targets");

	if (err)
		return diag_set(d, err, NULL, 0, 0,
				"can't find the folder policies/targets near this program");
	err = take_folder(s, folder, !a->targets_n, d);
	for (size_t i = 0; i < a->targets_n && !err; i++)
		err = take_named(s, folder, a->targets[i], d);
	return err ? err : select_probes(s, a, d);
}

/* ---- the bundle's folder ---- */

static int make_folder(const char *wanted, char ret[PATH_MAX], struct diag *d)
{
	char name[64];
	uint8_t random[3];
	char hex[7];
	time_t now = time(NULL);
	struct tm tm;
	int err = 0;

	if (!wanted) {
		if (random_bytes(random, sizeof(random)) || !gmtime_r(&now, &tm))
			return diag_set(d, -EIO, NULL, 0, 0, "no random numbers");
		hex_encode(hex, random, sizeof(random));
		err = str_format(name, sizeof(name), "sentinel-run-%04d%02d%02dT%02d%02d%02dZ-%s",
				 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
				 tm.tm_min, tm.tm_sec, hex);
		wanted = name;
	}
	if (!err && mkdir(wanted, 0755) && errno != EEXIST)
		err = -errno;
	if (!err && !realpath(wanted, ret))
		err = -errno;
	if (err)
		return diag_set(d, err, wanted, 0, 0, "can't make the bundle's folder: %s",
				strerror(-err));
	if (rmdir(ret) || mkdir(ret, 0755))
		return diag_set(d, -ENOTEMPTY, ret, 0, 0,
				"the bundle's folder is not empty; name another by -o");
	return 0;
}

static int add_inputs(const struct selection *s, const char *dir, struct diag *d)
{
	struct json_out j;
	int err = 0;

	for (size_t i = 0; i < s->targets_n && !err; i++)
		err = bundle_add_file(dir, "targets", s->targets[i]->path, d);
	json_out_init(&j);
	json_array(&j, NULL);
	for (size_t i = 0; i < s->probes_n; i++) {
		const struct probe_manifest *p = s->probes[i];

		json_object_begin(&j, NULL);
		json_text(&j, "id", p->p.name);
		json_text(&j, "about", p->about);
		json_text(&j, "attack", p->p.attack);
		json_u32(&j, "window_ms", p->p.window_ms);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_newline(&j);
	if (!err)
		err = json_out_error(&j);
	if (!err)
		err = bundle_add_bytes(dir, "probes.json", j.buf, j.len, d);
	json_out_done(&j);
	return err;
}

/* ---- progress ---- */

static volatile bool stop_wanted;

static void on_signal(int sig unused_arg)
{
	stop_wanted = true;
}

static void show_progress(void *arg, uint32_t done, uint32_t total)
{
	const struct run_args *a = arg;

	if (!a->quiet && isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\r\x1b[Ksentinel: %u of %u trials", done, total);
}

static void show_wait(const struct run_args *a, uint32_t ms)
{
	if (!a->quiet && isatty(STDERR_FILENO))
		(void)fprintf(stderr, "\r\x1b[Ksentinel: listening for late packets, %u.%u s left",
			      ms / 1000, ms % 1000 / 100);
}

static void end_progress(const struct run_args *a)
{
	if (!a->quiet && isatty(STDERR_FILENO))
		(void)fputs("\r\x1b[K", stderr);
}

/* A process that a platform let survive its trial can go on attempting, and each attempt asks for a
 * window of its own: beyond LISTEN_MAX_MS the run ends, and those cells' windows are too short. */
static int listen_until_quiet(struct client *c, const struct run_args *a, struct diag *d)
{
	uint64_t until = mono_ns() + LISTEN_MAX_MS * NSEC_PER_MSEC;
	uint32_t ms = 0;

	do {
		struct timespec t;
		int err = client_run_wait(c, &ms, d);

		if (err)
			return err;
		if (stop_wanted)
			return diag_set(d, -EINTR, NULL, 0, 0, "interrupted");
		show_wait(a, ms);
		t = (struct timespec){ .tv_nsec = (long)MIN(ms, 100u) * 1000000 };
		(void)nanosleep(&t, NULL);
	} while (ms && mono_ns() < until);
	return 0;
}

/* ---- the run ---- */

static int conduct(const struct run_args *a, const struct selection *s, const char *dir,
		   struct diag *d)
{
	char daemon[PATH_MAX], probe[PATH_MAX], run[32];
	struct client c = { .sock = -1 };
	struct client_run r = { .dir = dir,
				.lanes = a->lanes,
				.repeat = a->repeat,
				.world_ring = a->world_ring,
				.sabotage = a->sabotage };
	struct schedule_opts o = { .targets = (const struct target *const *)s->targets,
				   .targets_n = s->targets_n,
				   .probes = s->probes,
				   .probes_n = s->probes_n,
				   .lanes = a->lanes,
				   .repeat = a->repeat,
				   .arms = a->arms,
				   .probe_exe = probe,
				   .progress = show_progress,
				   .progress_arg = (void *)(uintptr_t)a,
				   .stop = &stop_wanted };
	int err = cmd_beside(daemon, sizeof(daemon), "sentineld");

	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't find sentineld beside this program");
	err = probe_path(probe, sizeof(probe), d);
	if (err)
		return err;
	err = client_start(&c, daemon, d);
	if (!err)
		err = client_run_begin(&c, &r, run, d);
	if (!err)
		err = schedule_run(&c, &o, d);
	if (!err)
		err = listen_until_quiet(&c, a, d);
	if (!err)
		err = add_inputs(s, dir, d);
	if (!err)
		err = client_run_end(&c, d);
	end_progress(a);
	client_stop(&c);
	return err;
}

static int write_junit(const char *path, const struct run_result *r)
{
	cleanup_file FILE *f = fopen(path, "we");
	int err = f ? junit_write(f, r) : -errno;

	if (err)
		log_error("can't write '%s': %s", path, strerror(-err));
	return err;
}

static int print_json(const struct run_result *r)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	err = verdict_json(&j, r, hook_name);
	if (!err)
		err = write_all(STDOUT_FILENO, j.buf, j.len);
	json_out_done(&j);
	return err;
}

/* What is shown is what the bundle says, read back: a run is believed only as far as it replays. */
static int report(const struct run_args *a, const struct selection *s, const char *dir)
{
	struct table_opts o = { .color = color_wanted(a->color, STDOUT_FILENO),
				.hook_name = hook_name,
				.skipped = s->skipped,
				.skipped_n = s->skipped_n };
	struct judged j;
	struct diag d;
	int code;

	if (judge_bundle(dir, &j, &d))
		return cmd_fail(&d, EXIT_DAMAGED);
	if (j.damaged)
		log_error("%s: the evidence is damaged: %s", dir, j.report.text);
	code = run_exit_code(&j.result, s->skipped_named, j.damaged, a->accept_provisional);
	o.exit_code = code;
	if (a->json ? print_json(&j.result) : table_print(stdout, &j.result, &o))
		code = EXIT_USAGE;
	if (a->junit && write_junit(a->junit, &j.result))
		code = EXIT_USAGE;
	judged_done(&j);
	return code;
}

int cmd_run(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		NULL,
		"Make escape attempts in sandboxes, watch what the kernel sees leave, and judge.\v"
		"Exit status: 0 every scored cell contained; 1 at least one escaped; 2 usage; "
		"3 run rejected, a cell inconclusive, nothing scored, or a named target skipped; "
		"4 nothing worse than provisional; 5 damaged evidence.",
		NULL,
		NULL,
		NULL
	};
	struct run_args a = { .repeat = 1,
			      .lanes = LANES_DEFAULT,
			      .arms = 1u << ARM_ON | 1u << ARM_OFF | 1u << ARM_ON2 };
	struct selection *s;
	char dir[PATH_MAX];
	struct diag d = { .text = "" };
	struct sigaction sa = { .sa_handler = on_signal };
	int err, code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	if (geteuid() != 0) {
		log_error("must be root, to enter network namespaces and load BPF; try: sudo "
			  "sentinel run");
		return EXIT_USAGE;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	s = calloc(1, sizeof(*s));
	if (!s)
		return EXIT_USAGE;
	err = select_all(s, &a, &d);
	if (!err)
		err = make_folder(a.output, dir, &d);
	if (err) {
		code = cmd_fail(&d, EXIT_USAGE);
	} else {
		err = conduct(&a, s, dir, &d);
		code = err ? cmd_fail(&d, EXIT_INCONCLUSIVE) : report(&a, s, dir);
		log_info("evidence: %s", dir);
	}
	selection_done(s);
	free(s);
	return code;
}

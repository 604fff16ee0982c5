// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include "user/base/log.h"
#include "user/cmd/bundle_folder.h"
#include "user/cmd/cmd.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/output.h"
#include "user/cmd/probe_path.h"
#include "user/cmd/select.h"
#include "user/cmd/signing_key.h"
#include "user/rig/resolv_conf.h"
#include "user/rig/rig.h"
#include "user/rig/sabotage.h"
#include "user/rig/schedule.h"

#define LANES_DEFAULT 8
#define REPEAT_MAX 1000
#define LISTEN_MAX_MS 60000 /* after the last trial, for late packets */

enum { KEY_REPEAT = 256, KEY_LANES, KEY_ARMS, KEY_WORLD_RING, KEY_SABOTAGE, KEY_KEY };

static const struct argp_option options[] = {
	{ "target", 't', "TARGET", 0,
	  "Test this target: a name, a glob, or a target file (default: all that are found here)",
	  0 },
	{ "probe", 'p', "PROBE", 0,
	  "Make this attempt: an id, a glob, a @family, or a probe file (default: all)", 0 },
	{ "repeat", KEY_REPEAT, "N", 0, "Do each round N times (default 1)", 0 },
	{ "lanes", KEY_LANES, "N", 0, "Work in N lanes side by side (default 8)", 0 },
	{ "arms", KEY_ARMS, "LIST", 0,
	  "Run only these of on,off,on2,allowed; what is left out can't be concluded from", 0 },
	{ "output", 'o', "DIR", 0, "Put the evidence bundle there (default: a new folder here)",
	  0 },
	{ "key", KEY_KEY, "FILE", 0,
	  "Sign the bundle by this key, made where there is none; 'none': don't (default: "
	  "$SENTINEL_KEY, or " SSHSIG_KEY_FILE ")",
	  0 },
	{ "quiet", 'q', NULL, 0, "No progress", 0 },
	{ "world-ring", KEY_WORLD_RING, "BYTES", 0, "Size of the ring buffer at W, a power of two",
	  1 },
	{ "sabotage", KEY_SABOTAGE, "NAME", 0,
	  "Break the instrument on purpose, to see it say so: no-collector, quiet-collector, "
	  "no-ipv6, no-wait, small-packet-ring, small-life-ring. For its own tests",
	  1 },
	{ 0 },
};

struct run_args {
	struct select_names targets, probes;
	uint32_t sabotage; /* SABOTAGE_* */
	uint32_t repeat, lanes, arms, world_ring;
	const char *folder;
	const char *key; /* "none", or NULL: the usual one */
	bool quiet;
	struct output output;
};

static uint32_t parse_arms(const char *text)
{
	static const struct {
		const char *name;
		enum arm arm;
	} names[] = {
		{ "on", ARM_ON }, { "off", ARM_OFF }, { "on2", ARM_ON2 }, { "allowed", ARM_ALLOWED }
	};
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

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->output;
		return 0;
	case 't':
		if (select_names_add(&a->targets, arg))
			argp_error(state, "at most %d targets can be named", SELECT_NAMES_MAX);
		return 0;
	case 'p':
		if (select_names_add(&a->probes, arg))
			argp_error(state, "at most %d probes can be named", SELECT_NAMES_MAX);
		return 0;
	case 'o':
		a->folder = arg;
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
			argp_error(state, "--arms takes a list of on, off, on2 and allowed");
		return 0;
	case KEY_KEY:
		a->key = arg;
		return 0;
	case KEY_WORLD_RING:
		if (parse_u32(arg, 4096, 1u << 30, &a->world_ring) ||
		    a->world_ring & (a->world_ring - 1))
			argp_error(state, "--world-ring takes a power of two from 4096");
		return 0;
	case KEY_SABOTAGE:
		if (!sabotage_find(arg))
			argp_error(state, "there is no sabotage '%s'", arg);
		a->sabotage |= sabotage_find(arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is too much; targets are named by -t", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- progress ---- */

static volatile sig_atomic_t stop_wanted;

/* The second one of a kind ends us at once (SA_RESETHAND): the daemon may be what hangs. */
static void on_signal(int sig unused_arg)
{
	stop_wanted = 1;
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

static void warn_of_target(void *arg, const char *target, const char *text)
{
	end_progress(arg);
	log_warn("%s: its version is not known: %s", target, text);
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

struct run {
	const struct run_args *args;
	const struct selection *selected;
	struct schedule_opts schedule;
	struct jobs *jobs;
	struct bundle_folder folder;
	struct signing_key key;
	struct probe_copies copies;
	struct output output;
	char probe[PATH_MAX], confine[PATH_MAX];
};

static struct schedule_opts schedule_of(const struct run_args *a, const struct selection *s)
{
	return (struct schedule_opts){
		.jobs = { .targets = (const struct target *const *)s->targets,
			  .targets_n = s->targets_n,
			  .probes = s->probes,
			  .probes_n = s->probes_n,
			  .repeat = a->repeat,
			  .arms = a->arms,
			  .trials_max = CORRELATE_TRIALS_MAX },
		.lanes = a->lanes,
		.progress = show_progress,
		.warn = warn_of_target,
		.progress_arg = (void *)(uintptr_t)a,
		.stop = &stop_wanted,
	};
}

static int find_programs(struct run *r, char daemon[PATH_MAX], struct diag *d)
{
	int err = cmd_beside(daemon, PATH_MAX, "sentineld");

	if (!err && access(daemon, X_OK))
		err = -errno;
	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't find sentineld beside this program");
	probe_copies_prune();
	err = probe_path(&r->copies, "sentinel-probe", r->probe, sizeof(r->probe), d);
	if (!err)
		err = probe_path(&r->copies, "sentinel-confine", r->confine, sizeof(r->confine), d);
	for (size_t i = 0; i < r->selected->own_n && !err; i++)
		err = probe_path_own(&r->copies, r->selected->own[i], d);
	return err;
}

/* A platform may ask for the name that its policy allows. */
static bool asks_for_names(const struct selection *s)
{
	for (size_t i = 0; i < s->targets_n; i++)
		if (s->targets[i]->allowed[0])
			return true;
	for (size_t i = 0; i < s->probes_n; i++)
		if (s->probes[i]->p.channel == CHANNEL_RESOLVER ||
		    s->probes[i]->p.channel == CHANNEL_PROXY)
			return true;
	return false;
}

/* The inputs are evidence too: they are there before anything is tested. */
static int begin(struct client *c, struct run *r, struct diag *d)
{
	struct client_run o = { .dir = r->folder.path,
				.key = signing_key_path(&r->key),
				.lanes = r->args->lanes,
				.repeat = r->args->repeat,
				.world_ring = r->args->world_ring,
				.resolver = asks_for_names(r->selected),
				.sabotage = r->args->sabotage };
	char daemon[PATH_MAX], run[32];
	int err = find_programs(r, daemon, d);

	if (!err)
		err = client_start(c, daemon, r->args->output.json, d);
	if (!err)
		err = client_run_begin(c, &o, run, d);
	if (err) {
		bundle_folder_drop(&r->folder);
		return err;
	}
	return bundle_folder_inputs(&r->folder, r->selected, d);
}

/* Before there is a daemon: it must know in which namespaces the sandboxes are started. */
static void set_resolver(void)
{
	struct diag d;
	char text[1024];

	if (resolv_conf_of_lane(&d))
		log_warn("%s; sandboxes ask this machine's resolver, ignoring",
			 diag_text(&d, text, sizeof(text)));
}

static int conduct(struct run *r, struct diag *d)
{
	struct client c = { .sock = -1 };
	int err;

	set_resolver();
	err = begin(&c, r, d);
	r->schedule.probe_exe = r->probe;
	r->schedule.confine_exe = r->confine;
	if (!err)
		err = schedule_run(&c, &r->schedule, r->jobs, d);
	if (!err && !(r->args->sabotage & SABOTAGE_NO_WAIT))
		err = listen_until_quiet(&c, r->args, d);
	if (!err)
		err = client_run_end(&c, d);
	end_progress(r->args);
	if (client_stop(&c))
		log_warn("the daemon did not end, and was killed");
	return err;
}

/* ---- what comes of it ---- */

/* What is shown is what the bundle says, read back: a run is believed only as far as it replays. */
static int report(const struct run *r)
{
	struct table_opts o = { .skipped = r->selected->skipped,
				.skipped_n = r->selected->skipped_n };
	const char *folder = r->folder.path;
	struct judged j;
	struct diag d;
	int shown, written;

	if (judge_bundle(folder, &j, &d))
		return cmd_fail(&d, EXIT_DAMAGED);
	if (j.damaged)
		log_error("%s: the evidence is damaged: %s", folder, j.report.text);
	output_code(&r->output, &j.result, r->selected->skipped_named, j.damaged, &o);
	shown = output_result(&r->output, &j.result, &o);
	written = output_files(&r->output, &j.result);
	judged_done(&j);
	return shown || written ? EXIT_OUTPUT : o.exit_code;
}

/* What was seen until then is in the bundle, and shown where it came to a verdict: whoever reads
 * the result by machine is to find a rejected run, not nothing. */
static int report_aborted(const struct run *r)
{
	char path[PATH_MAX];
	int code;

	if (str_format(path, sizeof(path), "%s/verdict.json", r->folder.path) || access(path, R_OK))
		return EXIT_INCONCLUSIVE;
	code = report(r);
	return code == EXIT_OUTPUT || code == EXIT_DAMAGED ? code : EXIT_INCONCLUSIVE;
}

/* Everything that can be refused is refused before there is a folder. A target file is checked
 * before we ask for root: who writes one needs no more than that. */
static int prepare(struct run *r, struct selection *s, struct diag *d)
{
	const struct run_args *a = r->args;
	int err = select_all(s, &a->targets, &a->probes, d);

	if (err)
		return err;
	if (geteuid() != 0)
		return diag_set(d, -EPERM, NULL, 0, 0,
				"must be root, to enter network namespaces and load BPF; try: sudo "
				"sentinel run");
	r->schedule = schedule_of(a, s);
	err = jobs_new(&r->jobs, &r->schedule.jobs, d);
	if (!err)
		err = signing_key_prepare(&r->key, a->key, d);
	if (!err)
		err = output_open(&r->output, d);
	return err ? err : bundle_folder_make(&r->folder, a->folder, d);
}

static int run(const struct run_args *a, struct selection *s)
{
	struct run r = { .args = a, .selected = s, .output = a->output };
	struct diag d = { .text = "" };
	int code;

	if (prepare(&r, s, &d)) {
		code = cmd_fail(&d, EXIT_USAGE);
	} else {
		if (conduct(&r, &d)) {
			(void)cmd_fail(&d, EXIT_INCONCLUSIVE);
			code = report_aborted(&r);
		} else {
			code = report(&r);
		}
		if (!access(r.folder.path, F_OK))
			log_info("evidence: %s", r.folder.path);
	}
	output_close(&r.output);
	probe_copies_done(&r.copies);
	jobs_free(r.jobs);
	return code;
}

static int select_and_run(const struct run_args *a)
{
	struct selection *s = calloc(1, sizeof(*s));
	int code;

	if (!s) {
		log_error("out of memory");
		return EXIT_USAGE;
	}
	code = run(a, s);
	selection_done(s);
	free(s);
	return code;
}

static void catch_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	(void)signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		(void)sigaction(ending[i], &sa, NULL);
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &output_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse,
		NULL,
		"Make escape attempts in sandboxes, watch what the kernel sees leave, and judge.\v"
		"Exit status: 0 every scored cell contained; 1 at least one escaped; 2 usage; "
		"3 run rejected, a cell inconclusive, nothing scored, or a named target skipped; "
		"4 nothing worse than provisional; 5 damaged evidence; 6 the result could not be "
		"written.",
		children,
		NULL,
		NULL
	};
	struct run_args a = { .repeat = 1,
			      .lanes = LANES_DEFAULT,
			      .arms = 1u << ARM_ON | 1u << ARM_OFF | 1u << ARM_ON2 |
				      1u << ARM_ALLOWED };

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.output.json);
	catch_signals();
	return select_and_run(&a);
}

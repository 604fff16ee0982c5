// SPDX-License-Identifier: Apache-2.0
/* sentinel: the command. A table of subcommands, each a file under cmd/. */
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *text;
} commands[] = {
	{ "run", cmd_run, "make escape attempts in sandboxes and judge them (the main job)" },
	{ "replay", cmd_replay, "judge a recorded run again, from its capture alone" },
	{ "diff", cmd_diff, "say what changed from one run to another" },
	{ "explain", cmd_explain, "show the evidence behind one verdict" },
	{ "report", cmd_report, "write a recorded run as one HTML page" },
	{ "timeline", cmd_timeline, "join the records of several runs into one time line" },
	{ "verify", cmd_verify,
	  "is a recorded run as it was written? names the first damaged byte" },
	{ "targets", cmd_targets,
	  "list the sandbox platforms that can be tested; begin and check a file of your own" },
	{ "probes", cmd_probes, "list the escape attempts, a file of your own among them" },
	{ "doctor", cmd_doctor, "show what this machine lets the observer do" },
};

static void usage(FILE *f)
{
	(void)fputs("usage: sentinel COMMAND [OPTION]...\n\n"
		    "Does this sandbox really hold? The kernel says so, or nobody does.\n\n",
		    f);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		(void)fprintf(f, "  %-8s  %s\n", commands[i].name, commands[i].text);
	(void)fputs("\n`sentinel COMMAND --help` tells more; so does sentinel(1).\n", f);
}

/* A standard descriptor that the caller closed would be taken by the first file that is opened, and
 * what is printed would land in it. What stands there instead can be neither read nor written. */
static void hold_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}

/* argp and getopt call the program what argv[0] says. */
static int run_command(int (*run)(int argc, char **argv), int argc, char **argv)
{
	static char name[32], help[] = "--help";

	/* argp knows no short one */
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "-h"))
			argv[i] = help;
	(void)str_format(name, sizeof(name), "sentinel %s", argv[0]);
	argv[0] = name;
	return run(argc, argv);
}

static int dispatch(int argc, char **argv)
{
	char name[64];

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		(void)printf("sentinel %s, judge %s\n", SENTINEL_VERSION, JUDGE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return run_command(commands[i].run, argc - 1, argv + 1);
	log_error("no command '%s'; `sentinel --help` lists them",
		  escape_text(name, sizeof(name), argv[1], strlen(argv[1])));
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	hold_standard_descriptors();
	argp_err_exit_status = EXIT_USAGE;
	cmd_log(false);
	return cmd_flush(dispatch(argc, argv));
}

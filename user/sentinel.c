// SPDX-License-Identifier: Apache-2.0
/* sentinel: the command. A table of subcommands, each a file under cmd/. */
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
	{ "explain", cmd_explain, "show the evidence behind one verdict" },
	{ "targets", cmd_targets, "list the sandbox platforms that can be tested" },
	{ "probes", cmd_probes, "list the escape attempts" },
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

int main(int argc, char **argv)
{
	char name[64];

	log_open("sentinel", LOG_INFO_, false);
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version")) {
		(void)printf("sentinel %s, judge %s\n", SENTINEL_VERSION, JUDGE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	log_error("no command '%s'; `sentinel --help` lists them",
		  escape_text(name, sizeof(name), argv[1], strlen(argv[1])));
	return EXIT_USAGE;
}

// SPDX-License-Identifier: Apache-2.0
/* `sentinel targets new`: a target file that works as it is, and says what to put in its place. */
#include <argp.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/targets.h"
#include "user/decode/ev.h"
#include "user/judge/verdict.h"

/* The name goes between the two. What they describe is here on any machine, so that the file can be
 * tried before anything in it is changed. */
static const char before_name[] =
	"# A target of sentinel: a sandbox platform in one configuration. sentinel-target(5) says\n"
	"# all about it. As it stands here it describes a network namespace made by unshare(1), "
	"and\n"
	"# works; put your own platform in its place.\n"
	"#\n"
	"#   sentinel targets check FILE      does it hold together?\n"
	"#   sentinel run -t ./FILE           does the sandbox hold?\n"
	"schema: 1\n"
	"name: ";
static const char after_name[] =
	"\n"
	"about: a network namespace of its own that nobody connected\n"
	"\n"
	"# Whose version this is: the first line goes into the evidence.\n"
	"version: [unshare, --version]\n"
	"\n"
	"# What must be here; where it is not, the target is named as not tested. A path with a "
	"'/'\n"
	"# that does not begin with one is looked for beside this file.\n"
	"needs: [unshare]\n"
	"\n"
	"# Who starts it. root only where the platform's own manual says so.\n"
	"user: nobody\n"
	"\n"
	"# What the kernel must see of a process inside, so that another one is not taken for it:\n"
	"# namespaces (of mnt, net, pid, user, uts, ipc, cgroup), uid, no_new_privs, seccomp,\n"
	"# refused (a call that it refuses: connect).\n"
	"expect: {namespaces: [net, user], uid: 65534}\n"
	"\n"
	"# What the platform promises, in its own words. The first entry that matches a probe\n"
	"# counts; what none matches is shown, and never scored. `sentinel probes` lists ids and\n"
	"# families.\n"
	"claims:\n"
	"  - probes: [\"@tcp\", \"@udp\", \"@dns\"]\n"
	"    claimed: true\n"
	"    source:\n"
	"      document: network_namespaces(7)\n"
	"      section: DESCRIPTION\n"
	"      version: \"man-pages 6.03\"\n"
	"      quote: >-\n"
	"        Network namespaces provide isolation of the system resources associated with\n"
	"        networking\n"
	"\n"
	"# How a command is run in it. \"{cmd}\" is the command; {dir} is an empty folder of the\n"
	"# trial's own, {id} a word of its own.\n"
	"run: [unshare, --user, --net, --, \"{cmd}\"]\n"
	"\n"
	"# The same with one thing less: the control that the claims are about. Only where the\n"
	"# attempt crosses now was it this control that stopped it.\n"
	"off:\n"
	"  - {probes: [\"*\"], run: [unshare, --user, --, \"{cmd}\"]}\n"
	"\n"
	"# Where it is needed:\n"
	"# attempt: inferred        # a guest kernel hides the system calls inside\n"
	"# settle: 10s              # the platform holds packets back for longer than the probes "
	"wait\n"
	"# timeout: {start: 60s}    # it takes long to start\n"
	"# allowed: [\"@http\"]       # its policy lets {allowed} or {allowed_name} through: that "
	"must work\n"
	"# steady: 5s               # its control comes late: attempt at the start, and after "
	"that\n";

struct new_args {
	const char *name, *file;
};

static bool is_name(const char *text)
{
	size_t len = strlen(text);

	return len >= 1 && len < EV_NAME_MAX &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct new_args *a = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(state, "'%s' is too much", arg);
		*(state->arg_num ? &a->file : &a->name) = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->name)
			argp_error(state, "give the target a name");
		if (!is_name(a->name))
			argp_error(state, "a name is 1 to %d of a-z, 0-9 and '-'", EV_NAME_MAX - 1);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int write_to(int fd, const char *name)
{
	int err = write_all(fd, before_name, sizeof(before_name) - 1);

	if (!err)
		err = write_all(fd, name, strlen(name));
	return err ? err : write_all(fd, after_name, sizeof(after_name) - 1);
}

/* Nothing of the user's is ever written over. */
static int write_file(const struct new_args *a)
{
	cleanup_fd int fd = open(a->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	struct diag d;
	int err = fd < 0 ? -errno : write_to(fd, a->name);

	if (!err)
		return 0;
	(void)diag_set(&d, err, a->file, 0, 0, "can't write it: %s%s", strerror(-err),
		       err == -EEXIST ? "; name a new one" : "");
	if (fd >= 0)
		(void)unlink(a->file);
	return cmd_fail(&d, fd < 0 ? EXIT_USAGE : EXIT_OUTPUT);
}

int targets_new(int argc, char **argv)
{
	static char name[] = "sentinel targets new";
	static const struct argp argp = {
		NULL,
		parse,
		"NAME [FILE]",
		"Write a target file to begin with: one that works, with a word about each key. To "
		"standard output, or to FILE where there is none of that name.",
		NULL,
		NULL,
		NULL
	};
	struct new_args a = { .name = NULL };
	int err;

	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(false);
	if (a.file)
		return write_file(&a);
	err = write_to(STDOUT_FILENO, a.name);
	if (!err)
		return 0;
	errno = -err;
	return cmd_output_failed();
}

// SPDX-License-Identifier: Apache-2.0
/* sentineld: the privileged half. See daemon.h. */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>

#include "user/base/log.h"
#include "user/daemon.h"

const char *argp_program_version = "sentineld " SENTINEL_VERSION;

struct args {
	int control;
	char collector[4096];
	bool verbose, json;
};

enum { KEY_CONTROL = 256, KEY_COLLECTOR, KEY_JSON };

static const struct argp_option options[] = {
	{ "control-fd", KEY_CONTROL, "FD", 0, "Serve the control connection on this descriptor",
	  0 },
	{ "collector", KEY_COLLECTOR, "FILE", 0,
	  "Use this sentinel-collector (default: the one beside this program)", 0 },
	{ "json", KEY_JSON, NULL, 0, "Log objects, one a line", 0 },
	{ "verbose", 'v', NULL, 0, "Log more", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	uint32_t fd;

	switch (key) {
	case KEY_CONTROL:
		if (parse_u32(arg, 0, 1u << 20, &fd))
			argp_error(state, "'%s' is no descriptor", arg);
		a->control = (int)fd;
		return 0;
	case KEY_COLLECTOR:
		if (str_copy(a->collector, sizeof(a->collector), arg))
			argp_error(state, "the path is too long");
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case ARGP_KEY_END:
		if (a->control < 0)
			argp_error(state, "--control-fd is needed; `sentinel run` gives it");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int beside_us(char *ret, size_t n, const char *name)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (len < 0)
		return -errno;
	self[len] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return str_format(ret, n, "%s/%s", self, name);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		NULL,
		"The Sentinel's privileged half: makes the rig, observes, "
		"records and judges.",
		NULL,
		NULL,
		NULL
	};
	struct args a = { .control = -1 };
	int err;

	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return 2;
	log_open("sentineld", a.verbose ? LOG_DEBUG_ : LOG_INFO_, a.json);
	if (geteuid() != 0) {
		log_error("must be root: it loads BPF programs and makes network namespaces");
		return 2;
	}
	/* Before there is a child: who held it could order runs, and would keep it open. */
	if (fcntl(a.control, F_SETFD, FD_CLOEXEC)) {
		log_error("descriptor %d: %s", a.control, strerror(errno));
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	/* A key pressed at the terminal is the client's matter; when it leaves, so do we. */
	(void)signal(SIGINT, SIG_IGN);
	if (!a.collector[0] && beside_us(a.collector, sizeof(a.collector), "sentinel-collector")) {
		log_error("can't find 'sentinel-collector' beside this program; name it by "
			  "--collector");
		return 2;
	}
	err = daemon_serve(a.control, a.collector);
	if (err)
		log_error("%s", err == -EINTR ? "ended by a signal" : strerror(-err));
	return err ? 1 : 0;
}

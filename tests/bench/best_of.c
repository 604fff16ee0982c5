// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a command several times, its output thrown away, and prints what the fastest one took and
 * the most memory that any of them had: "SECONDS KIB". Exits as the command did, 1 where it could
 * not be run or ended otherwise the next time.
 *
 * usage: best_of TIMES COMMAND [ARGUMENT]...
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "user/base/util.h"

extern char **environ;

/* Its exit status, -1 where there is none. */
static int run_once(char **argv, double *ret_seconds, long *ret_kib)
{
	posix_spawn_file_actions_t actions;
	uint64_t start = mono_ns();
	struct rusage usage;
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return -1;
	if (posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) ||
	    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) ||
	    posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) ||
	    wait4(pid, &status, 0, &usage) != pid) {
		(void)posix_spawn_file_actions_destroy(&actions);
		return -1;
	}
	*ret_seconds = (double)(mono_ns() - start) / NSEC_PER_SEC;
	*ret_kib = usage.ru_maxrss;
	(void)posix_spawn_file_actions_destroy(&actions);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char **argv)
{
	double best = 0, seconds = 0;
	long most = 0, kib = 0;
	int first = -1, code;
	uint32_t times;

	if (argc < 3 || parse_u32(argv[1], 1, 1000, &times)) {
		(void)fputs("usage: best_of TIMES COMMAND [ARGUMENT]...\n", stderr);
		return 2;
	}
	for (uint32_t i = 0; i < times; i++) {
		code = run_once(argv + 2, &seconds, &kib);
		if (code < 0 || (i && code != first)) {
			(void)fprintf(stderr, "best_of: '%s' failed\n", argv[2]);
			return 1;
		}
		first = code;
		best = i ? MIN(best, seconds) : seconds;
		most = MAX(most, kib);
	}
	(void)printf("%.3f %ld\n", best, most);
	return first;
}

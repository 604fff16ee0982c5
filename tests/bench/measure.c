// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a command, its output thrown away, and prints what it took by the clock and of all
 * processors, and the most memory that it had: "SECONDS CPU-SECONDS KIB". Exits as the command did,
 * with 127 where it could not be run or was killed.
 *
 * usage: measure COMMAND [ARGUMENT]...
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "user/base/util.h"

#define FAILED 127

extern char **environ;

static int start(char **argv, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return err;
	err = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	if (!err)
		err = posix_spawnp(ret, argv[0], &actions, NULL, argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return err;
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	uint64_t start_ns = mono_ns();
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2) {
		(void)fputs("usage: measure COMMAND [ARGUMENT]...\n", stderr);
		return 2;
	}
	if (start(argv + 1, &pid) || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status)) {
		(void)fprintf(stderr, "measure: '%s' failed\n", argv[1]);
		return FAILED;
	}
	(void)printf("%.4f %.4f %ld\n", (double)(mono_ns() - start_ns) / NSEC_PER_SEC,
		     seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
	return WEXITSTATUS(status);
}

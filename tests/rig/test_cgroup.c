// SPDX-License-Identifier: Apache-2.0
/* Runs' cgroups on the real kernel: what a run leaves, and what a sweep takes. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "user/base/cgroup_root.h"
#include "user/rig/cgroup.h"

/* Apart from every other process that runs this test, or a sentinel. */
static char *id_of(const char *what)
{
	static char ids[8][CGROUP_RUN_ID_MAX + 1];
	static unsigned int n;
	char *id = ids[n++ % ARRAY_SIZE(ids)];

	assert_int_equal(str_format(id, sizeof(ids[0]), "test-%s-%d", what, (int)getpid()), 0);
	return id;
}

static void make(struct cgroup_run *r, const char *id)
{
	struct diag d = { 0 };
	int err = cgroup_run_make(r, id, &d);

	if (err)
		fail_msg("%s (%d)", d.text, err);
}

static bool lock_exists(const char *id)
{
	char path[128];

	assert_int_equal(str_format(path, sizeof(path), CGROUP_LOCK_DIR "/%s", id), 0);
	return access(path, F_OK) == 0;
}

static bool tree_exists(const char *id)
{
	cleanup_fd int root = cgroup_open_root(NULL);
	char name[64];

	assert_true(root >= 0);
	assert_int_equal(str_format(name, sizeof(name), CGROUP_NAME_PREFIX "%s", id), 0);
	return faccessat(root, name, F_OK, 0) == 0;
}

static void assert_gone(const char *id)
{
	assert_false(tree_exists(id));
	assert_false(lock_exists(id));
}

/* A process that moves itself into the cgroup of fd and stays there, with n children. */
static pid_t inhabit(int fd, int n)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_return_code(pipe2(ready, O_CLOEXEC), errno);
	pid = fork();
	if (pid == 0) {
		cleanup_fd int procs = openat(fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

		if (write_all(procs, "0", 1) < 0)
			_exit(1);
		for (int i = 0; i < n && fork() > 0; i++)
			;
		(void)!write(ready[1], "x", 1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	for (int i = 0; i <= n; i++)
		assert_int_equal(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void assert_killed(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_run(void **state unused_arg)
{
	const char *id = id_of("run");
	struct cgroup_run r, twin;
	struct stat st;
	uint64_t trial_id = 0;
	int fd = -1;

	make(&r, id);
	assert_true(lock_exists(id) && tree_exists(id));
	assert_return_code(fstat(r.dir_fd, &st), errno);
	assert_int_equal(r.id, st.st_ino);
	assert_int_equal(r.level, 1);
	assert_return_code(fstat(r.root_fd, &st), errno);
	assert_int_equal(st.st_ino, 1);
	assert_int_equal(cgroup_run_make(&twin, id, NULL), -EBUSY);

	assert_int_equal(cgroup_trial_make(&r, 5, &fd, &trial_id), 0);
	assert_return_code(fstat(fd, &st), errno);
	assert_int_equal(trial_id, st.st_ino);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	(void)close(fd);
	assert_int_equal(cgroup_trial_make(&r, 5, &fd, &trial_id), -EEXIST);
	assert_int_equal(cgroup_trial_kill(&r, 5), 0);
	assert_int_equal(cgroup_trial_kill(&r, 6), -ENOENT);
	assert_int_equal(cgroup_trial_remove(&r, 5), 0);
	assert_int_equal(cgroup_trial_remove(&r, 5), 0);
	cgroup_run_remove(&r);
	cgroup_run_remove(&r);
	assert_gone(id);
}

/* Kills a whole family, and removes what it made below its own cgroup. */
static void test_trial(void **state unused_arg)
{
	const char *id = id_of("trial");
	struct cgroup_run r;
	uint64_t trial_id, start;
	int fd, below;
	pid_t a, b;

	make(&r, id);
	assert_int_equal(cgroup_trial_make(&r, 1, &fd, &trial_id), 0);
	assert_return_code(mkdirat(fd, "made", 0755), errno);
	assert_return_code(mkdirat(fd, "made/by", 0755), errno);
	assert_return_code(mkdirat(fd, "made/by/it", 0755), errno);
	below = openat(fd, "made/by/it", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(below >= 0);
	a = inhabit(fd, 3);
	b = inhabit(below, 3);
	(void)close(below);
	(void)close(fd);

	start = mono_ns();
	assert_int_equal(cgroup_trial_kill(&r, 1), 0);
	print_message("kill: %.2f ms\n", (double)(mono_ns() - start) / 1e6);
	assert_killed(a);
	assert_killed(b);
	start = mono_ns();
	assert_int_equal(cgroup_trial_remove(&r, 1), 0);
	print_message("remove: %.2f ms\n", (double)(mono_ns() - start) / 1e6);
	cgroup_run_remove(&r);
	assert_gone(id);
}

static void test_remove_inhabited(void **state unused_arg)
{
	const char *id = id_of("inhabited");
	struct cgroup_run r;
	uint64_t trial_id;
	pid_t pid[3];
	int fd;

	make(&r, id);
	for (uint32_t i = 0; i < ARRAY_SIZE(pid); i++) {
		assert_int_equal(cgroup_trial_make(&r, i, &fd, &trial_id), 0);
		pid[i] = inhabit(fd, 2);
		(void)close(fd);
	}
	cgroup_run_remove(&r);
	assert_gone(id);
	for (uint32_t i = 0; i < ARRAY_SIZE(pid); i++)
		assert_killed(pid[i]);
}

/* A process that makes a run with a populated trial, and lives until it is killed. */
static pid_t run_elsewhere(const char *id)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_return_code(pipe2(ready, O_CLOEXEC), errno);
	pid = fork();
	if (pid == 0) {
		struct cgroup_run r;
		uint64_t trial_id;
		int fd;

		if (cgroup_run_make(&r, id, NULL) < 0 ||
		    cgroup_trial_make(&r, 1, &fd, &trial_id) < 0)
			_exit(1);
		/* The orphan executes, as a sandbox does: it must not keep our lock. */
		if (fork() == 0) {
			cleanup_fd int procs = openat(fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

			if (write_all(procs, "0", 1) == 0 && dup2(ready[1], 1) == 1)
				(void)execl("/bin/sh", "sh", "-c", "echo; exec sleep 1000", NULL);
			_exit(1);
		}
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void end_elsewhere(pid_t pid)
{
	assert_return_code(kill(pid, SIGKILL), errno);
	assert_killed(pid);
}

/* Sweeps see other runs of this machine too, so only ours are asserted. */
static void test_sweep(void **state unused_arg)
{
	const char *dead = id_of("dead"), *live = id_of("live"), *mine = id_of("mine");
	pid_t dead_pid = run_elsewhere(dead), live_pid = run_elsewhere(live);
	struct cgroup_run r;
	unsigned int runs = 0;
	uint64_t start;
	int fd;

	make(&r, mine);
	assert_int_equal(cgroup_sweep(&runs), 0);
	assert_true(tree_exists(dead) && tree_exists(live) && tree_exists(mine));

	end_elsewhere(dead_pid);
	assert_true(tree_exists(dead) && lock_exists(dead));
	start = mono_ns();
	assert_int_equal(cgroup_sweep(&runs), 0);
	print_message("sweep: %.2f ms\n", (double)(mono_ns() - start) / 1e6);
	assert_true(runs >= 1);
	assert_gone(dead);
	assert_true(tree_exists(live) && lock_exists(live));
	assert_true(tree_exists(mine) && lock_exists(mine));

	/* A lock file alone (killed between lock and tree), and a tree alone. */
	fd = open(CGROUP_LOCK_DIR "/test-stale", O_CREAT | O_CLOEXEC | O_RDONLY, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	assert_int_not_equal(mkdirat(r.root_fd, CGROUP_NAME_PREFIX "test-bare", 0755), -1);
	assert_int_equal(cgroup_sweep(NULL), 0);
	assert_gone("test-stale");
	assert_gone("test-bare");

	end_elsewhere(live_pid);
	assert_int_equal(cgroup_sweep(NULL), 0);
	assert_gone(live);
	assert_true(tree_exists(mine));
	cgroup_run_remove(&r);
	assert_gone(mine);
}

/* Many sweeps at once over dead runs, while others begin and end: no error, nothing left, and a run
 * that lives never loses its tree. */
static void test_sweeps_at_once(void **state unused_arg)
{
	enum { SWEEPERS = 4, RUNNERS = 3, ROUNDS = 30 };
	const char *dead[4];
	pid_t pid[SWEEPERS + RUNNERS];
	char what[16];

	for (size_t i = 0; i < ARRAY_SIZE(dead); i++) {
		(void)str_format(what, sizeof(what), "many%zu", i);
		dead[i] = id_of(what);
		end_elsewhere(run_elsewhere(dead[i]));
	}
	for (int i = 0; i < SWEEPERS + RUNNERS; i++) {
		pid[i] = fork();
		if (pid[i])
			continue;
		for (int round = 0; round < ROUNDS; round++) {
			const char *id = id_of("brief");
			struct cgroup_run r;
			uint64_t trial_id;
			int fd;

			if (i < SWEEPERS) {
				if (cgroup_sweep(NULL) < 0)
					_exit(1);
				continue;
			}
			if (cgroup_run_make(&r, id, NULL) < 0)
				_exit(2);
			if (cgroup_trial_make(&r, 1, &fd, &trial_id) < 0)
				_exit(3);
			(void)usleep(500);
			if (cgroup_trial_remove(&r, 1) < 0 || !tree_exists(id))
				_exit(4);
			cgroup_run_remove(&r);
			if (tree_exists(id))
				_exit(5);
		}
		_exit(0);
	}
	for (int i = 0; i < SWEEPERS + RUNNERS; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(dead); i++)
		assert_gone(dead[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_trial),
		cmocka_unit_test(test_remove_inhabited),
		cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_sweeps_at_once),
	};
	int root = cgroup_open_root(NULL);

	if (geteuid() != 0 || root < 0) {
		(void)fprintf(stderr, "skipped: %s is missing\n",
			      root < 0 ? "the root of cgroup v2" : "root");
		return 77;
	}
	(void)close(root);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* Commands as a trial starts them, on the real kernel. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/rig/open_fds.h"
#include "user/rig/cgroup.h"
#include "user/rig/lane.h"
#include "user/rig/launch.h"

#define NOBODY 65534

struct rig {
	struct lane lane;
	struct cgroup_run run;
	int cgroup_fd;
};

static int set_up(void **state)
{
	static struct rig rig;
	struct diag d = { 0 };
	uint64_t id;
	char run[CGROUP_RUN_ID_MAX];

	(void)str_format(run, sizeof(run), "test-launch-%d", (int)getpid());
	if (lane_make(&rig.lane, 1, 1, NULL, &d) < 0 || cgroup_run_make(&rig.run, run, &d) < 0 ||
	    cgroup_trial_make(&rig.run, 1, &rig.cgroup_fd, &id) < 0) {
		print_error("%s\n", d.text);
		return -1;
	}
	*state = &rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	(void)close(rig->cgroup_fd);
	cgroup_run_remove(&rig->run);
	lane_drop(&rig->lane);
	return 0;
}

static struct launch_opts opts(const struct rig *rig, char *const *argv)
{
	return (struct launch_opts){ .argv = argv,
				     .cgroup_fd = rig->cgroup_fd,
				     .netns_fd = rig->lane.box_ns,
				     .uid = NOBODY,
				     .gid = NOBODY };
}

static void start(struct launch *l, const struct launch_opts *o)
{
	struct diag d = { 0 };
	int err = launch_start(l, o, &d);

	if (err)
		fail_msg("%s (%d)", d.text, err);
}

/* All output until its end, as text. */
static void read_all(const struct launch *l, char *out, size_t n)
{
	size_t len = 0;

	for (;;) {
		struct pollfd p = { .fd = l->out, .events = POLLIN };
		ssize_t got;

		assert_int_equal(poll(&p, 1, 5000), 1);
		got = read(l->out, out + len, n - 1 - len);
		if (got < 0 && errno == EAGAIN)
			continue;
		assert_true(got >= 0);
		if (!got)
			break;
		len += (size_t)got;
	}
	out[len] = '\0';
}

static int wait_end(struct launch *l)
{
	struct pollfd p = { .fd = l->pidfd, .events = POLLIN };
	int status = -1;

	assert_int_equal(poll(&p, 1, 5000), 1);
	assert_int_equal(launch_reap(l, &status), 0);
	assert_int_equal(launch_reap(l, &status), -ECHILD);
	return status;
}

/* What /bin/sh prints, run with these options. */
static void shell(struct launch_opts o, const char *script, char *out, size_t n)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct launch l;

	o.argv = argv;
	start(&l, &o);
	read_all(&l, out, n);
	assert_int_equal(wait_end(&l), 0);
	launch_done(&l);
	launch_done(&l);
}

/* ---- where and who ---- */

static void test_place(void **state)
{
	struct rig *rig = *state;
	char out[4096], want[128];

	shell(opts(rig, NULL), "readlink /proc/self/ns/net; grep ^0:: /proc/self/cgroup; pwd", out,
	      sizeof(out));
	(void)str_format(want, sizeof(want), "net:[%u]\n0::/%s/trial-1\n/\n", rig->lane.box_inum,
			 rig->run.name);
	assert_string_equal(out, want);
}

static void test_unprivileged(void **state)
{
	char out[4096];

	shell(opts(*state, NULL),
	      "id -u; id -g; id -G; grep -E '^(Cap|NoNewPrivs)' /proc/self/status", out,
	      sizeof(out));
	assert_string_equal(out, "65534\n65534\n65534\n"
				 "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
				 "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
				 "CapAmb:\t0000000000000000\nNoNewPrivs:\t0\n");
}

/* A capability that it is given survives exec, also through a program that knows nothing of it. */
static void test_capabilities(void **state)
{
	struct launch_opts o = opts(*state, NULL);
	char out[4096];

	o.caps = 1u << CAP_NET_RAW;
	shell(o, "id -u; env grep -E '^Cap' /proc/self/status", out, sizeof(out));
	assert_string_equal(out, "65534\n"
				 "CapInh:\t0000000000002000\nCapPrm:\t0000000000002000\n"
				 "CapEff:\t0000000000002000\nCapBnd:\t0000000000002000\n"
				 "CapAmb:\t0000000000002000\n");
}

/* One that this machine has not is an error that says which step failed. */
static void test_capability_unknown(void **state)
{
	char *const argv[] = { (char *)"true", NULL };
	struct launch_opts o = opts(*state, argv);
	struct diag d = { .text = "" };
	struct launch l;

	o.caps = 1ull << 63;
	assert_true(launch_start(&l, &o, &d) < 0);
	assert_non_null(strstr(d.text, "setting its capabilities"));
}

static void test_root(void **state)
{
	struct launch_opts o = opts(*state, NULL);
	char out[4096], mine[4096];

	o.uid = o.gid = 0;
	shell(o, "id -u; grep -E '^CapBnd' /proc/self/status", out, sizeof(out));
	o.cgroup_fd = o.netns_fd = -1;
	shell(o, "id -u; grep -E '^CapBnd' /proc/self/status", mine, sizeof(mine));
	assert_string_equal(out, mine);
	assert_null(strstr(out, "CapBnd:\t0000000000000000"));
}

/*
 * glibc's posix_spawn() starts a program with glibc's own two signals, 32 and 33, ignored (make
 * does so), and its sigaction() refuses to say otherwise. Every libc installs them anew where it
 * needs them, so that here they count as not ignored.
 */
static void without_libc_signals(char *status)
{
	char *mask = strstr(status, "SigIgn:\t");

	assert_non_null(mask);
	mask += strlen("SigIgn:\t");
	assert_in_range(mask[7], '0', '1'); /* signal 33: bit 32 */
	mask[7] = '0';
	assert_true(mask[8] == '0' || mask[8] == '8'); /* signal 32: bit 31 */
	mask[8] = '0';
}

/* Nothing of ours: descriptors, signal dispositions and mask, variables, session. */
static void test_inherits_nothing(void **state)
{
	cleanup_fd int leak = open("/dev/null", O_RDONLY); /* without CLOEXEC */
	char out[4096];
	sigset_t block, before;

	assert_true(leak > 2);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGUSR1, SIG_IGN);
	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &block, &before);
	assert_return_code(setenv("SECRET", "1", 1), errno);
	/* The last command takes the shell's place: a shell blocks signals while it forks. */
	shell(opts(*state, NULL),
	      "ls /proc/$$/fd; env | grep -v -e ^PWD= -e ^_= -e ^OLDPWD= | sort;"
	      "[ $(ps -o sid= -p $$) = $$ ] && echo own; umask; echo error >&2;"
	      "exec grep -E '^Sig(Ign|Blk)' /proc/self/status",
	      out, sizeof(out));
	without_libc_signals(out);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGUSR1, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	assert_string_equal(out,
			    "0\n1\n2\n"
			    "HOME=/\nLANG=C\n"
			    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
			    "own\n0022\nerror\n"
			    "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void test_env(void **state)
{
	char *const env[] = { (char *)"A=b", NULL };
	struct launch_opts o = opts(*state, NULL);
	char out[256];

	o.env = env;
	shell(o, "echo $A$HOME", out, sizeof(out));
	assert_string_equal(out, "b\n");
}

/* ---- talking ---- */

static void test_pipes(void **state)
{
	char *const argv[] = { (char *)"cat", NULL };
	struct launch_opts o = opts(*state, argv);
	struct launch l;
	char out[64];
	int status;

	start(&l, &o);
	assert_int_equal(read(l.out, out, sizeof(out)), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(launch_reap(&l, &status), -EAGAIN);
	assert_int_equal(write_all(l.in, "hello\n", 6), 0);
	(void)close(l.in);
	l.in = -1;
	read_all(&l, out, sizeof(out));
	assert_string_equal(out, "hello\n");
	assert_int_equal(wait_end(&l), 0);
	launch_done(&l);
}

static void test_status(void **state)
{
	char *const seven[] = { (char *)"sh", (char *)"-c", (char *)"exit 7", NULL };
	char *const kill_self[] = { (char *)"sh", (char *)"-c", (char *)"kill -9 $$", NULL };
	struct launch_opts o = opts(*state, seven);
	struct launch l;
	int status;

	start(&l, &o);
	status = wait_end(&l);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	launch_done(&l);
	o.argv = kill_self;
	start(&l, &o);
	status = wait_end(&l);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	launch_done(&l);
}

/* ---- failing and ending ---- */

static void assert_fails(const struct launch_opts *o, int want, const char *text)
{
	const unsigned int fds = open_fds();
	struct launch l;
	struct diag d;

	assert_int_equal(launch_start(&l, o, &d), want);
	if (!strstr(d.text, text))
		fail_msg("'%s' is not in '%s'", text, d.text);
	launch_done(&l);
	assert_int_equal(open_fds(), fds);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	assert_int_equal(errno, ECHILD);
}

static void test_failures(void **state)
{
	char *const nothing[] = { NULL };
	char *const missing[] = { (char *)"no-such-command", NULL };
	char *const absolute[] = { (char *)"/no/such/command", NULL };
	char *const no_program[] = { (char *)"/proc/version", NULL };
	char *const fine[] = { (char *)"true", NULL };
	cleanup_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct launch_opts o = opts(*state, nothing);

	assert_fails(&o, -EINVAL, "no command");
	o.argv = missing;
	assert_fails(&o, -ENOENT, "looking for it");
	o.argv = absolute;
	assert_fails(&o, -ENOENT, "executing it");
	o.argv = no_program;
	assert_fails(&o, -EACCES, "executing it");
	o.argv = fine;
	o.netns_fd = null;
	assert_fails(&o, -EINVAL, "network namespace");
	o = opts(*state, fine);
	o.cgroup_fd = null;
	assert_fails(&o, -EBADF, "making a process");
	launch_done(NULL);
	launch_done(&(struct launch){ 0 });
}

static void test_done_kills(void **state)
{
	char *const argv[] = { (char *)"sleep", (char *)"1000", NULL };
	struct launch_opts o = opts(*state, argv);
	struct launch l;
	pid_t pid;

	start(&l, &o);
	pid = l.pid;
	launch_done(&l);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* The kill of its cgroup reaches it and its heirs, and it can still be reaped. What is started
 * there afterwards runs or is reported as killed: never a success that nobody lives behind. */
static void test_cgroup_kill(void **state)
{
	char *const argv[] = { (char *)"sh", (char *)"-c",
			       (char *)"setsid sleep 1000 & echo ready; wait", NULL };
	struct launch_opts o = opts(*state, argv);
	struct rig *rig = *state;
	cleanup_fd int cgroup = -1;
	struct launch l;
	uint64_t id;
	char out[64];
	int status;

	assert_int_equal(cgroup_trial_make(&rig->run, 2, &cgroup, &id), 0);
	o.cgroup_fd = cgroup;
	start(&l, &o);
	assert_int_equal(poll(&(struct pollfd){ .fd = l.out, .events = POLLIN }, 1, 5000), 1);
	assert_int_equal(cgroup_trial_kill(&rig->run, 2), 0);
	read_all(&l, out, sizeof(out)); /* ends, so nobody holds the pipe */
	assert_string_equal(out, "ready\n");
	status = wait_end(&l);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	launch_done(&l);

	status = launch_start(&l, &o, NULL);
	if (status == 0)
		assert_int_equal(launch_reap(&l, &status), -EAGAIN);
	else
		assert_int_equal(status, -ECANCELED);
	launch_done(&l);
	assert_int_equal(cgroup_trial_remove(&rig->run, 2), 0);
}

/* ---- with threads: the child may not wait for threads that it doesn't have ---- */

static void *launch_many(void *arg)
{
	char *const argv[] = { (char *)"true", NULL };
	struct launch_opts o = opts(arg, argv);
	size_t failures = 0;

	for (int i = 0; i < 25; i++) {
		struct pollfd ended = { .events = POLLIN };
		struct launch l;
		int status = -1;

		if (launch_start(&l, &o, NULL) < 0) {
			failures++;
			continue;
		}
		ended.fd = l.pidfd;
		if (poll(&ended, 1, 5000) != 1 || launch_reap(&l, &status) < 0 || status != 0)
			failures++;
		launch_done(&l);
	}
	return (void *)failures;
}

static void test_threads(void **state)
{
	const uint64_t begin = mono_ns();
	pthread_t threads[4];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launch_many, *state), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		void *failures;

		assert_int_equal(pthread_join(threads[i], &failures), 0);
		assert_ptr_equal(failures, NULL);
	}
	print_message("launch to end, four at once: %.2f ms each\n",
		      (double)(mono_ns() - begin) / 1e6 / (25 * ARRAY_SIZE(threads)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),	     cmocka_unit_test(test_unprivileged),
		cmocka_unit_test(test_capabilities), cmocka_unit_test(test_capability_unknown),
		cmocka_unit_test(test_root),	     cmocka_unit_test(test_inherits_nothing),
		cmocka_unit_test(test_env),	     cmocka_unit_test(test_pipes),
		cmocka_unit_test(test_status),	     cmocka_unit_test(test_failures),
		cmocka_unit_test(test_done_kills),   cmocka_unit_test(test_cgroup_kill),
		cmocka_unit_test(test_threads),
	};

	if (geteuid() != 0) {
		(void)fprintf(stderr, "skipped: root is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

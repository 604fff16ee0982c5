// SPDX-License-Identifier: Apache-2.0
#include "user/rig/launch.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "user/rig/program.h"

#define KILL_WAIT_MS 2000 /* for a killed command to be dead */

static char *const env_default[] = { (char *)"PATH=" PROGRAM_PATH, (char *)"HOME=/",
				     (char *)"LANG=C", NULL };

/* The child's steps, for the message about the one that failed. */
enum step {
	STEP_DESCRIPTORS = 0,
	STEP_NETNS,
	STEP_SESSION,
	STEP_USER,
	STEP_CAPABILITIES,
	STEP_PARENT,
	STEP_EXEC,
	STEP_KILLED,
};
static const char *const step_text[] = {
	[STEP_DESCRIPTORS] = "setting its descriptors",
	[STEP_NETNS] = "entering its network namespace",
	[STEP_SESSION] = "setting its session",
	[STEP_USER] = "setting its user",
	[STEP_CAPABILITIES] = "setting its capabilities",
	[STEP_PARENT] = "binding its life to ours",
	[STEP_EXEC] = "executing it",
	[STEP_KILLED] = "killed before it began (was its cgroup, or ours, killed earlier?)",
};

/* What the child tells of itself: that it is about to execute (err 0), or what failed. */
struct report {
	int step, err;
};

/* What the child needs, made before it is cloned: it may not allocate. */
struct plan {
	const struct launch_opts *o;
	const char *path;
	pid_t parent;
	char *const *env;
	int in, out, report; /* the child's ends of the pipes */
};

/* ---- the child ----
 *
 * Between clone and exec it is a copy of one thread of a program that may have many. Only system
 * calls, and those that change credentials bare: glibc's wrappers would signal the threads that it
 * believes to have, and wait for them.
 */

/* Standard descriptors from pipes that may themselves be 0, 1 or 2; the rest closes with exec. */
static int child_descriptors(struct plan *p)
{
	int in = fcntl(p->in, F_DUPFD_CLOEXEC, 3), out = fcntl(p->out, F_DUPFD_CLOEXEC, 3);
	int report = fcntl(p->report, F_DUPFD_CLOEXEC, 3);

	if (report < 0)
		return -errno;
	p->report = report;
	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		return -errno;
	if (syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		return -errno;
	return 0;
}

static int child_session(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	/* exec resets handlers, but keeps what is ignored. Some numbers refuse: none of ours. */
	for (int sig = 1; sig < NSIG; sig++)
		(void)sigaction(sig, &dfl, NULL);
	(void)sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0 || setsid() < 0 || chdir("/") < 0)
		return -errno;
	(void)umask(022);
	return 0;
}

static int child_user(const struct launch_opts *o)
{
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
	    syscall(SYS_setresgid, o->gid, o->gid, o->gid) < 0 ||
	    syscall(SYS_setresuid, o->uid, o->uid, o->uid) < 0)
		return -errno;
	return 0;
}

static bool is_kept(const struct launch_opts *o, unsigned long cap)
{
	return cap < 64 && o->caps >> cap & 1;
}

/* Needs CAP_SETPCAP, so it comes before the user is set. */
static int child_drop_bounding(const struct launch_opts *o)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!is_kept(o, cap) && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -errno;
	/* The new user's permitted ones stay; exec sets it back. */
	return o->caps && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

static int child_set_capabilities(const struct launch_opts *o)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		sets[i].effective = sets[i].permitted = sets[i].inheritable =
			(uint32_t)(o->caps >> (32 * i));
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
	    syscall(SYS_capset, &head, sets) < 0)
		return -errno;
	for (unsigned long cap = 0; cap < 64; cap++)
		if (is_kept(o, cap) && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -errno;
	return 0;
}

static int child_credentials(const struct launch_opts *o, enum step *step)
{
	int err = 0;

	*step = STEP_CAPABILITIES;
	if (o->uid != 0)
		err = child_drop_bounding(o);
	if (!err) {
		*step = STEP_USER;
		err = child_user(o);
	}
	if (!err && o->uid != 0) {
		*step = STEP_CAPABILITIES;
		err = child_set_capabilities(o);
	}
	return err;
}

/* After the credentials, whose change clears it. A parent that ended before told nobody. */
static int child_die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return -errno;
	return getppid() == parent ? 0 : -ESRCH;
}

static void child_report(const struct plan *p, enum step step, int err)
{
	const struct report r = { .step = step, .err = err };

	(void)!write(p->report, &r, sizeof(r));
}

static __attribute__((noreturn)) void child_main(struct plan *p)
{
	const struct launch_opts *o = p->o;
	enum step step = STEP_DESCRIPTORS;
	int err = child_descriptors(p);

	if (!err && o->netns_fd >= 0) {
		step = STEP_NETNS;
		err = setns(o->netns_fd, CLONE_NEWNET) < 0 ? -errno : 0;
	}
	if (!err) {
		step = STEP_SESSION;
		err = child_session();
	}
	if (!err)
		err = child_credentials(o, &step);
	if (!err && o->dies_with_us) {
		step = STEP_PARENT;
		err = child_die_with(p->parent);
	}
	if (!err) {
		step = STEP_EXEC;
		child_report(p, step, 0);
		(void)execve(p->path, o->argv, p->env);
		err = -errno;
	}
	child_report(p, step, err);
	_exit(127);
}

/* ---- the parent ---- */

static const char *env_path(char *const *env)
{
	for (; *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return PROGRAM_PATH;
}

/* As the child's own PATH finds it, looked up here, since the child may not allocate. A path is
 * left to exec, which says best what is wrong with it. */
static int find_command(const char *name, char *const *env, char *ret, size_t n)
{
	return strchr(name, '/') ? str_copy(ret, n, name)
				 : program_find(name, env_path(env), ret, n);
}

/* A process in its cgroup from its first moment: its pid, 0 in the child, or -errno. */
static pid_t clone_into(int cgroup_fd, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
	};
	long pid;

	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned int)cgroup_fd;
	}
	pid = syscall(SYS_clone3, &args, sizeof(args));
	return pid < 0 ? -errno : (pid_t)pid;
}

/* One report; false at the end of file. */
static bool read_report(int fd, struct report *r)
{
	ssize_t n;

	do {
		n = read(fd, r, sizeof(*r));
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*r);
}

/*
 * Waits until the child executed: 0, or -errno and the step that failed. It announces exec, and
 * then exec closes the pipe. A pipe closed without a word is a child killed on the way: Linux 6.18
 * does so to whatever is cloned into a cgroup that cgroup.kill was used on before, or out of one
 * (kill_seq in cgroup_css_set_fork() is taken from the parent's cgroup and compared with the
 * child's). Silence would make this look like a sandbox that died.
 */
static int wait_exec(int fd, enum step *ret_step)
{
	struct report r;

	if (!read_report(fd, &r)) {
		*ret_step = STEP_KILLED;
		return -ECANCELED;
	}
	if (!r.err && !read_report(fd, &r))
		return 0;
	*ret_step = (enum step)r.step;
	return r.err;
}

static int set_nonblocking(int fd)
{
	return fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

/* Runs the child with all signals blocked until it has reset what it inherited. */
static pid_t start_child(struct plan *p, int *ret_pidfd)
{
	sigset_t all, before;
	pid_t pid;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, &before);
	pid = clone_into(p->o->cgroup_fd, ret_pidfd);
	if (pid == 0)
		child_main(p);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static void close_pair(int fds[2])
{
	cleanup_fd_(&fds[0]);
	cleanup_fd_(&fds[1]);
}

struct pipes {
	int in[2], out[2], report[2];
};

static void cleanup_pipes_(struct pipes *p)
{
	close_pair(p->in);
	close_pair(p->out);
	close_pair(p->report);
}
#define cleanup_pipes __attribute__((cleanup(cleanup_pipes_)))

static int open_pipes(struct pipes *p)
{
	int err;

	if (pipe2(p->in, O_CLOEXEC) < 0 || pipe2(p->out, O_CLOEXEC) < 0 ||
	    pipe2(p->report, O_CLOEXEC) < 0)
		return -errno;
	err = set_nonblocking(p->in[1]);
	return err ? err : set_nonblocking(p->out[0]);
}

static int fail(struct diag *d, int err, const char *command, const char *what)
{
	char name[128];

	return diag_set(d, err, NULL, 0, 0, "'%s': %s: %s",
			escape_text(name, sizeof(name), command, strlen(command)), what,
			strerror(-err));
}

int launch_start(struct launch *l, const struct launch_opts *o, struct diag *d)
{
	cleanup_pipes struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	struct launch started = { .started = true, .pidfd = -1, .in = -1, .out = -1 };
	struct plan plan = { .o = o, .env = o->env ? o->env : env_default };
	enum step step;
	char path[4096];
	int err;

	*l = (struct launch){ .pidfd = -1, .in = -1, .out = -1 };
	if (!o->argv || !o->argv[0])
		return diag_set(d, -EINVAL, NULL, 0, 0, "no command to start");
	err = find_command(o->argv[0], plan.env, path, sizeof(path));
	if (err)
		return fail(d, err, o->argv[0], "looking for it");
	err = open_pipes(&p);
	if (err)
		return fail(d, err, o->argv[0], "making pipes");
	plan.path = path;
	plan.parent = getpid();
	plan.in = p.in[0];
	plan.out = p.out[1];
	plan.report = p.report[1];

	started.pid = start_child(&plan, &started.pidfd);
	if (started.pid < 0)
		return fail(d, started.pid, o->argv[0], "making a process");
	cleanup_fd_(&p.report[1]);
	p.report[1] = -1;
	started.in = TAKE_FD(p.in[1]);
	started.out = TAKE_FD(p.out[0]);

	err = wait_exec(p.report[0], &step);
	if (err) {
		launch_done(&started);
		return fail(d, err, o->argv[0], step_text[step]);
	}
	*l = started;
	return 0;
}

/* siginfo of waitid() as the status of wait(). */
static int wait_status(const siginfo_t *si)
{
	switch (si->si_code) {
	case CLD_EXITED:
		return (si->si_status & 0xff) << 8;
	case CLD_DUMPED:
		return (si->si_status & 0x7f) | 0x80;
	default:
		return si->si_status & 0x7f;
	}
}

int launch_reap(struct launch *l, int *ret_status)
{
	siginfo_t si = { 0 };

	if (!l->started || !l->pid)
		return -ECHILD;
	if (waitid(P_PIDFD, (id_t)l->pidfd, &si, WEXITED | WNOHANG) < 0)
		return -errno;
	if (!si.si_pid)
		return -EAGAIN;
	l->pid = 0;
	*ret_status = wait_status(&si);
	return 0;
}

void launch_done(struct launch *l)
{
	struct pollfd ended;
	int status;

	if (!l || !l->started)
		return;
	if (l->pid) {
		(void)pidfd_send_signal(l->pidfd, SIGKILL, NULL, 0);
		ended = (struct pollfd){ .fd = l->pidfd, .events = POLLIN };
		while (poll(&ended, 1, KILL_WAIT_MS) < 0 && errno == EINTR)
			;
		(void)!launch_reap(l, &status);
	}
	cleanup_fd_(&l->in);
	cleanup_fd_(&l->out);
	cleanup_fd_(&l->pidfd);
	*l = (struct launch){ .pidfd = -1, .in = -1, .out = -1 };
}

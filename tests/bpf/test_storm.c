// SPDX-License-Identifier: Apache-2.0
/*
 * A sandbox that attacks the observer's own books: it forks, opens sockets, makes calls and dies as
 * fast as it can, in the middle of calls and with many threads, and it does so while the tables are
 * full. At the end each hook's counters add up, every process that was born has died exactly once,
 * and nothing of it is left in the tables.
 *
 * The program starts itself as the session: argv[1] is a session's, argv[2] says what to do.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
/* cmocka wants those two first */
#include <cmocka.h>

#include "user/base/cgroup_root.h"
#include "user/sense/sense_priv.h"

#define MARK 0xfeedfacecafe0001ull
#define SESSION "SENTINEL1:feedfacecafe000100112233445566ff"
#define SLOT 9
#define FORKERS 2
#define FORKS 20000 /* of each forker */
#define SOCKETS 10000
#define CALLS 300000
#define THREADS 16
#define DEATHS 200   /* processes of so many threads that die at once, each way */
#define EXECS 50     /* ... that become another program */
#define TIDY_MS 3000 /* for the last dead to be released */

/* ---- the session's side ---- */

static int wait_for(pid_t pid)
{
	int status;

	if (pid < 0)
		return 50;
	while (waitpid(pid, &status, 0) != pid)
		if (errno != EINTR)
			return 51;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0; /* killed: as it was meant to be */
}

/* vfork() copies nothing: it makes the most processes in a second. */
static int fork_one(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	return wait_for(pid);
}

static int fork_many(void)
{
	for (int i = 0; i < FORKS; i++)
		if (fork_one())
			return 1;
	return 0;
}

static int do_forks(void)
{
	pid_t pid[FORKERS];
	int bad = 0;

	for (int i = 0; i < FORKERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			_exit(fork_many());
	}
	for (int i = 0; i < FORKERS; i++)
		bad |= wait_for(pid[i]);
	return bad;
}

static int do_sockets(void)
{
	for (int i = 0; i < SOCKETS; i++) {
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || close(fd))
			return 1;
	}
	return 0;
}

static int do_calls(void)
{
	for (int i = 0; i < CALLS; i++)
		if (sendto(-1, SESSION, sizeof(SESSION), 0, NULL, 0) >= 0)
			return 1;
	return 0;
}

static struct {
	pthread_barrier_t all_there;
	int full_pipe; /* who writes to it stays in the call */
} crowd;

static void *stay_in_call(void *arg)
{
	(void)arg;
	(void)pthread_barrier_wait(&crowd.all_there);
	(void)!write(crowd.full_pipe, SESSION, sizeof(SESSION));
	return NULL;
}

static void *end_thread(void *arg)
{
	(void)arg;
	(void)pthread_barrier_wait(&crowd.all_there);
	(void)syscall(SYS_exit, 0); /* this thread alone */
	return NULL;
}

/* Becomes another program while the others, the leader among them, are in the middle of calls. */
static void *exec_in_thread(void *arg)
{
	char *argv[] = { (char *)(uintptr_t) "session", (char *)(uintptr_t)SESSION,
			 (char *)(uintptr_t) "nothing", NULL };

	(void)arg;
	(void)pthread_barrier_wait(&crowd.all_there);
	(void)execve("/proc/self/exe", argv, environ);
	_exit(60);
}

static void *kill_all(void *arg)
{
	(void)arg;
	(void)pthread_barrier_wait(&crowd.all_there);
	(void)kill(getpid(), SIGKILL);
	return NULL;
}

/* In a process of its own: THREADS - 2 threads and its leader do one thing, one another. */
static int be_crowd(void *(*most)(void *), void *(*one)(void *))
{
	char junk[4096] = { 0 };
	int pipe_fd[2];
	pthread_t t;

	if (pipe2(pipe_fd, O_CLOEXEC) || fcntl(pipe_fd[1], F_SETFL, O_NONBLOCK))
		return 70;
	while (write(pipe_fd[1], junk, sizeof(junk)) > 0)
		;
	crowd.full_pipe = pipe_fd[1];
	if (fcntl(pipe_fd[1], F_SETFL, 0) || pthread_barrier_init(&crowd.all_there, NULL, THREADS))
		return 71;
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&t, NULL, i == 1 ? one : most, NULL))
			return 72;
	(void)most(NULL);
	return 0;
}

static int crowds(int n, void *(*most)(void *), void *(*one)(void *))
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();
		int bad;

		if (!pid)
			_exit(be_crowd(most, one));
		bad = wait_for(pid);
		if (bad)
			return bad;
	}
	return 0;
}

static int do_killed(void)
{
	return crowds(DEATHS, stay_in_call, kill_all);
}

static int do_ended(void)
{
	return crowds(DEATHS, end_thread, end_thread);
}

static int do_execs(void)
{
	return crowds(EXECS, stay_in_call, exec_in_thread);
}

static int do_few(void)
{
	int bad = 0;

	for (int i = 0; i < 100 && !bad; i++) {
		bad = fork_one();
		(void)sendto(-1, SESSION, sizeof(SESSION), 0, NULL, 0);
	}
	return bad;
}

static int do_nothing(void)
{
	return 0;
}

static const struct {
	const char *name;
	int (*fn)(void);
} acts[] = {
	{ "forks", do_forks },	 { "sockets", do_sockets }, { "calls", do_calls },
	{ "killed", do_killed }, { "ended", do_ended },	    { "execs", do_execs },
	{ "few", do_few },	 { "nothing", do_nothing },
};

static int act(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++)
		if (!strcmp(acts[i].name, name))
			return acts[i].fn();
	return 99;
}

/* ---- the observer's side ---- */

static struct {
	struct sense *sense;
	int root_fd;
	char run[64], trial[80]; /* cgroups, below the root */
} stage;

/* What came out of the rings in one storm. */
static struct {
	uint64_t of_hook[SNT_HOOK_MAX];
	uint64_t no_enter, unmarked;
	uint64_t opens; /* by the dynamic loader, at each program's start: no part of a storm */
} came;

static bool is_open(const struct snt_hdr *h)
{
	return h->type == SNT_EV_CALL && ((const struct snt_call *)h)->nr == SYS_openat;
}

static void count_record(void *arg, const void *rec, size_t len)
{
	const struct snt_hdr *h = rec;

	(void)arg;
	(void)len;
	if (h->slot != SLOT)
		return;
	came.of_hook[h->hook]++;
	came.unmarked += h->mark != MARK;
	came.no_enter += !!(h->flags & SNT_F_NO_ENTER);
	came.opens += is_open(h);
}

static uint64_t make_cgroup(const char *path)
{
	struct stat st;

	assert_int_equal(0, mkdirat(stage.root_fd, path, 0755));
	assert_int_equal(0, fstatat(stage.root_fd, path, &st, 0));
	return st.st_ino;
}

static int set_up(void **state)
{
	struct sense_opts o = { .known_marks_only = true, .run_cgroup_level = 1 };
	struct diag d = { 0 };
	uint64_t trial;

	(void)state;
	stage.root_fd = cgroup_open_root(&d);
	if (stage.root_fd < 0)
		fail_msg("%s", d.text);
	(void)str_format(stage.run, sizeof(stage.run), "snt-storm-%d", getpid());
	(void)str_format(stage.trial, sizeof(stage.trial), "%s/trial", stage.run);
	o.run_cgroup_id = make_cgroup(stage.run);
	trial = make_cgroup(stage.trial);
	if (sense_new(&stage.sense, &o, &d) || sense_attach_host(stage.sense, stage.root_fd, &d))
		fail_msg("%s", d.text);
	assert_int_equal(0, sense_watch_mark(stage.sense, MARK, SLOT));
	assert_int_equal(0, sense_watch_cgroup(stage.sense, trial, SLOT));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sense_free(stage.sense);
	(void)unlinkat(stage.root_fd, stage.trial, AT_REMOVEDIR);
	(void)unlinkat(stage.root_fd, stage.run, AT_REMOVEDIR);
	(void)close(stage.root_fd);
	return 0;
}

static void become(const char *name)
{
	char *argv[] = { (char *)(uintptr_t) "session", (char *)(uintptr_t)SESSION,
			 (char *)(uintptr_t)name, NULL };
	char path[128];
	int fd;

	(void)str_format(path, sizeof(path), "%s/cgroup.procs", stage.trial);
	fd = openat(stage.root_fd, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write_all(fd, "0", 1))
		_exit(101);
	(void)execve("/proc/self/exe", argv, environ);
	_exit(100);
}

static uint32_t entries(const char *map)
{
	uint32_t key, n = 0, *last = NULL;
	int fd = sense_map(stage.sense, map);

	for (; !bpf_map_get_next_key(fd, last, &key); last = &key)
		n++;
	return n;
}

/* The last threads of a killed process die after its parent was told. */
static void check_tidy(uint32_t expected)
{
	uint64_t until = mono_ns() + TIDY_MS * NSEC_PER_MSEC;

	while ((entries("snt_marks") != expected || entries("snt_entered")) && mono_ns() < until)
		(void)usleep(1000);
	assert_int_equal(expected, entries("snt_marks"));
	assert_int_equal(0, entries("snt_entered"));
}

static void counts_now(struct snt_count ret[SNT_HOOK_MAX])
{
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++)
		assert_int_equal(0, sense_count(stage.sense, hook, SLOT, &ret[hook]));
}

/* One storm; what it added to the counters of each hook. */
static void storm(const char *name, uint32_t left_in_marks, struct snt_count ret[SNT_HOOK_MAX])
{
	struct snt_count before[SNT_HOOK_MAX];
	uint64_t begin = mono_ns();
	int status;
	pid_t pid;

	(void)sense_drain(stage.sense, count_record, NULL);
	memset(&came, 0, sizeof(came));
	counts_now(before);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		become(name);
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);

		assert_int_equal(0, sense_wait(stage.sense, 2));
		(void)sense_drain(stage.sense, count_record, NULL);
		if (r == pid)
			break;
	}
	assert_true(WIFEXITED(status));
	assert_int_equal(0, WEXITSTATUS(status));
	check_tidy(left_in_marks);
	(void)sense_drain(stage.sense, count_record, NULL);
	counts_now(ret);
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++) {
		struct snt_count *c = &ret[hook], *b = &before[hook];

		c->seen -= b->seen;
		c->delivered -= b->delivered;
		c->ring_full -= b->ring_full;
		c->map_full -= b->map_full;
		c->oversized -= b->oversized;
		assert_int_equal(c->seen, c->delivered + c->ring_full + c->map_full + c->oversized);
		assert_int_equal(c->delivered, came.of_hook[hook]);
	}
	print_message(
		"%s: %llu ms, %llu records of processes, %llu of sockets, %llu of calls\n", name,
		(unsigned long long)((mono_ns() - begin) / NSEC_PER_MSEC),
		(unsigned long long)(came.of_hook[SNT_HOOK_FORK] + came.of_hook[SNT_HOOK_EXIT]),
		(unsigned long long)(came.of_hook[SNT_HOOK_SOCK_CREATE] +
				     came.of_hook[SNT_HOOK_SOCK_RELEASE]),
		(unsigned long long)came.of_hook[SNT_HOOK_SYS_EXIT]);
}

/* As many were born as died, and the session itself died too. */
static void check_lives(const struct snt_count c[SNT_HOOK_MAX], uint64_t born)
{
	assert_int_equal(born, c[SNT_HOOK_FORK].seen);
	assert_int_equal(born + 1, c[SNT_HOOK_EXIT].seen);
	assert_int_equal(0, came.unmarked);
}

static void test_forks(void **state)
{
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("forks", 0, c);
	check_lives(c, FORKERS + FORKERS * FORKS);
}

static void test_sockets(void **state)
{
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("sockets", 0, c);
	assert_int_equal(SOCKETS, c[SNT_HOOK_SOCK_CREATE].seen);
	assert_int_equal(SOCKETS, c[SNT_HOOK_SOCK_RELEASE].seen);
	assert_int_equal(SOCKETS, c[SNT_HOOK_SYS_EXIT].seen - came.opens);
}

static void test_calls(void **state)
{
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("calls", 0, c);
	assert_int_equal(CALLS, c[SNT_HOOK_SYS_EXIT].seen - came.opens);
	assert_int_equal(0, came.no_enter);
}

/* SIGKILL while every thread is in a call: none of the calls is left as entered. */
static void test_killed(void **state)
{
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("killed", 0, c);
	check_lives(c, DEATHS);
}

/* All threads end at once: the process ends once, whichever was the last. */
static void test_ended(void **state)
{
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("ended", 0, c);
	check_lives(c, DEATHS);
}

static void test_execs(void **state)
{
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("execs", 0, c);
	check_lives(c, EXECS);
	assert_int_equal(2 * (EXECS + 1), c[SNT_HOOK_EXEC].seen); /* and its environment */
}

/* Entries of nobody, so that room is left for `room` more. Numbers beyond the largest pid. */
static uint32_t fill(const char *map, size_t value_size, uint32_t room)
{
	uint8_t value[64] = { 0 };
	int fd = sense_map(stage.sense, map);
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info), n;

	assert_true(value_size <= sizeof(value));
	assert_int_equal(0, bpf_obj_get_info_by_fd(fd, &info, &len));
	assert_int_equal(value_size, info.value_size);
	for (n = 0; n < info.max_entries - room; n++) {
		uint32_t key = 0x40000000 + n;

		assert_int_equal(0, bpf_map_update_elem(fd, &key, value, BPF_NOEXIST));
	}
	return n;
}

static void empty(const char *map, uint32_t n)
{
	int fd = sense_map(stage.sense, map);

	while (n--) {
		uint32_t key = 0x40000000 + n;

		assert_int_equal(0, bpf_map_delete_elem(fd, &key));
	}
}

/* No room for a child's mark: the fork is counted as lost, and the child is known by its cgroup. */
static void test_marks_full(void **state)
{
	uint32_t n = fill("snt_marks", 16, 1);
	struct snt_count c[SNT_HOOK_MAX];

	(void)state;
	storm("few", n, c);
	assert_int_equal(100, c[SNT_HOOK_FORK].seen);
	assert_int_equal(100, c[SNT_HOOK_FORK].map_full);
	assert_int_equal(101, c[SNT_HOOK_EXIT].seen);
	assert_int_equal(100, came.unmarked);
	n++; /* none at all, not even for the session */
	{
		const uint32_t key = 0x40000000 + n - 1;
		const uint8_t value[16] = { 0 };

		assert_int_equal(0, bpf_map_update_elem(sense_map(stage.sense, "snt_marks"), &key,
							value, BPF_NOEXIST));
	}
	storm("few", n, c);
	assert_int_equal(1, c[SNT_HOOK_EXEC].map_full);
	assert_int_equal(0, c[SNT_HOOK_EXEC].delivered);
	empty("snt_marks", n);
}

/* Last of the storms, since it can't be undone: where a call could not be remembered once, no later
 * one is said to have been answered by seccomp. */
static void test_entered_full(void **state)
{
	uint32_t key = 0x40000000, n = fill("snt_entered", 4, 0);
	struct snt_count c[SNT_HOOK_MAX];
	int status;
	pid_t pid;

	(void)state;
	counts_now(c);
	assert_int_equal(0, c[SNT_HOOK_SYS_ENTER].map_full);
	memset(&came, 0, sizeof(came));
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		become("few");
	assert_int_equal(pid, waitpid(pid, &status, 0));
	(void)sense_drain(stage.sense, count_record, NULL);
	counts_now(c);
	assert_int_equal(100, c[SNT_HOOK_SYS_ENTER].map_full - came.opens);
	assert_int_equal(100, came.of_hook[SNT_HOOK_SYS_EXIT] - came.opens);
	assert_int_equal(0, came.no_enter);
	assert_int_equal(n, entries("snt_entered"));
	for (; n--; key++)
		assert_int_equal(0,
				 bpf_map_delete_elem(sense_map(stage.sense, "snt_entered"), &key));
	check_tidy(0);
}

/* After all of that, each hook's counters add up, in every slot. */
static void test_identity(void **state)
{
	(void)state;
	sense_stop(stage.sense);
	(void)sense_drain(stage.sense, count_record, NULL);
	for (uint32_t hook = 1; hook < SNT_HOOK_MAX; hook++) {
		for (uint32_t slot = 0; slot < SNT_SLOT_MAX; slot++) {
			struct snt_count c;

			assert_int_equal(0, sense_count(stage.sense, hook, slot, &c));
			assert_int_equal(c.seen, c.delivered + c.ring_full + c.oversized +
							 c.map_full + c.filtered);
		}
		if (sense_recursion(stage.sense, hook))
			print_message("'%s': %llu re-entered\n", hook_name(hook),
				      (unsigned long long)sense_recursion(stage.sense, hook));
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forks),	   cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_calls),	   cmocka_unit_test(test_killed),
		cmocka_unit_test(test_ended),	   cmocka_unit_test(test_execs),
		cmocka_unit_test(test_marks_full), cmocka_unit_test(test_entered_full),
		cmocka_unit_test(test_identity),
	};

	if (argc > 2 && !strncmp(argv[1], "SENTINEL1:", 10))
		_exit(act(argv[2])); /* at once: a leak checker would fork */
	if (geteuid()) {
		(void)fprintf(stderr, "skipped: needs root to load programs\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

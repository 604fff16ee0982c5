// SPDX-License-Identifier: Apache-2.0
/* Who it was: what the kernel tells of a program that is executed, and whose trial it is of. */
#include "tests/bpf/stage.h"

/* At exec the kernel says who it is: the expected facts of a `bwrap`-like launch, all of them. */
static void test_identity(void **state)
{
	pid_t pid = play("socket", IN_CGROUP | AS_NOBODY | NO_SOCKETS);
	const struct snt_exec *e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	struct stat self, ns;

	(void)state;
	assert_ours(&e->h);
	assert_int_equal(stage.trial_id, e->h.cgroup_id);
	assert_int_equal(stage.lane.cookie[NS_BOX], e->h.netns_cookie);
	assert_int_equal(0, e->h.flags);
	assert_int_equal(pid, e->task.tgid);
	assert_int_equal(pid, e->task.tid);
	assert_true(e->task.start_ns && e->task.start_ns < e->h.ktime_ns);
	assert_int_equal(getpid(), e->parent.tgid);
	assert_string_equal("test_identity", e->parent.comm);

	assert_int_equal(0, stat("/proc/self/exe", &self));
	assert_int_equal(self.st_ino, e->exe_ino);
	assert_int_equal(self.st_ino, e->parent_exe_ino);
	assert_int_equal(e->exe_dev, e->parent_exe_dev);
	assert_int_equal(stage.lane.inum[NS_BOX], e->ns_net);
	assert_int_equal(0, stat("/proc/self/ns/mnt", &ns));
	assert_int_equal(ns.st_ino, e->ns_mnt);
	assert_int_equal(0, stat("/proc/self/ns/pid", &ns));
	assert_int_equal(ns.st_ino, e->ns_pid);
	assert_int_equal(0, stat("/proc/self/ns/user", &ns));
	assert_int_equal(ns.st_ino, e->ns_user);
	assert_int_equal(0, stat("/proc/self/ns/uts", &ns));
	assert_int_equal(ns.st_ino, e->ns_uts);
	assert_int_equal(0, stat("/proc/self/ns/ipc", &ns));
	assert_int_equal(ns.st_ino, e->ns_ipc);
	assert_int_equal(0, stat("/proc/self/ns/cgroup", &ns));
	assert_int_equal(ns.st_ino, e->ns_cgroup);

	assert_int_equal(NOBODY, e->uid);
	assert_int_equal(NOBODY, e->gid);
	assert_int_equal(0, e->cap_effective);
	assert_int_equal(0, e->cap_permitted);
	assert_int_equal(2, e->seccomp);
	assert_int_equal(1, e->no_new_privs);
	assert_int_equal(sizeof("session\0SENTINEL1:" NONCE "\0socket"), e->argv_len);
	assert_memory_equal("session\0SENTINEL1:" NONCE "\0socket", e->argv, e->argv_len);
}

/* As root: capabilities are there, and nothing was given up. */
static void test_identity_of_root(void **state)
{
	const struct snt_exec *e;

	(void)state;
	(void)play("nothing", IN_CGROUP);
	e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_int_equal(0, e->uid);
	assert_true(e->cap_effective & 1ull << 12); /* CAP_NET_ADMIN */
	assert_int_equal(e->cap_effective, e->cap_permitted);
	assert_int_equal(0, e->no_new_privs);
}

/* A wrapper that carries the session's argument further on is watched, and not marked. */
static void test_wrapper(void **state)
{
	const struct snt_exec *e;

	(void)state;
	(void)play_status("nothing", IN_CGROUP | WRAPPED, 98);
	e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_int_equal(0, e->h.mark);
	assert_int_equal(LANE, e->h.slot);
	assert_memory_equal("wrapper", e->argv, 8);
	assert_null(next_of(NULL, SNT_HOOK_SYS_EXIT, SNT_EV_CALL));
}

/* A platform that leaves the run's cgroup: the mark says whose it is. */
static void test_outside_cgroup(void **state)
{
	const struct snt_exec *e;
	const struct snt_sock *s;

	(void)state;
	(void)play("udp", 0);
	e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_ours(&e->h);
	assert_true(e->h.cgroup_id != stage.trial_id);
	s = first_of(SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK);
	assert_ours(&s->h);
}

/* Somebody else's run on this machine: its sessions are strangers. */
static void test_unknown_mark(void **state)
{
	(void)state;
	sense_unwatch_mark(stage.sense, MARK);
	(void)play("nothing", 0);
	assert_int_equal(0, sense_watch_mark(stage.sense, MARK, LANE));
	/* seen, since it is in our lane, but nobody's trial */
	assert_int_equal(0,
			 ((const struct snt_exec *)first_of(SNT_HOOK_EXEC, SNT_EV_EXEC))->h.mark);
}

/* ---- what it was given ---- */

#define SECRET "SENTINEL_SECRET=00112233445566778899aabbccddeeff"

/* All that the kernel told of environments is this one record, of this text. */
static const struct snt_env *check_env(const char *text, size_t len, uint64_t mark)
{
	const struct snt_exec *x = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	const struct snt_env *e = first_of(SNT_HOOK_EXEC, SNT_EV_ENV);

	assert_int_equal(mark, e->h.mark);
	assert_int_equal(LANE, e->h.slot);
	assert_int_equal(x->h.cgroup_id, e->h.cgroup_id);
	assert_int_equal(x->task.tgid, e->task.tgid);
	assert_int_equal(x->task.start_ns, e->task.start_ns);
	assert_true(e->h.cpu_seq > x->h.cpu_seq || e->h.cpu != x->h.cpu);
	assert_int_equal(len, e->env_len);
	assert_memory_equal(text, e->env, len);
	for (size_t i = len; i < sizeof(e->env); i++)
		assert_int_equal(0, e->env[i]);
	assert_null(next_of(e, SNT_HOOK_EXEC, SNT_EV_ENV));
	return e;
}

static const struct snt_env *play_env(char *const *env, const char *text, size_t len, uint32_t how)
{
	play_with_env(env);
	(void)play_status("nothing", how, how & WRAPPED ? 98 : 0);
	play_with_env(NULL);
	return check_env(text, len, how & WRAPPED ? 0 : MARK);
}

static char *const with_secret[] = { (char *)(uintptr_t) "A=1", (char *)(uintptr_t)SECRET, NULL };

/* The session's, and that of the launcher, which has no mark; every byte of it, no less, no more.
 */
static void test_environment(void **state)
{
	static const char want[] = "A=1\0" SECRET;
	const struct snt_env *e;

	(void)state;
	e = play_env(with_secret, want, sizeof(want), IN_CGROUP | AS_NOBODY);
	assert_int_equal(0, e->h.flags);
	assert_int_equal(sizeof(want), e->env_bytes);
	assert_int_equal(stage.lane.cookie[NS_BOX], e->h.netns_cookie);
	e = play_env(with_secret, want, sizeof(want), IN_CGROUP | WRAPPED);
	assert_int_equal(stage.trial_id, e->h.cgroup_id);
	e = play_env((char *[]){ NULL }, "", 0, IN_CGROUP);
	assert_int_equal(0, e->env_bytes);
	assert_int_equal(0, e->h.flags);
}

/* A platform that leaves the run's cgroup: the session's shows. What is in the lane, and neither in
 * the cgroup nor marked, is the rig's own. */
static void test_environment_outside(void **state)
{
	static const char want[] = "A=1\0" SECRET;

	(void)state;
	(void)play_env(with_secret, want, sizeof(want), 0);
	(void)play_status("nothing", WRAPPED, 98);
	(void)first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_null(next_of(NULL, SNT_HOOK_EXEC, SNT_EV_ENV));
}

/* One that does not fit says so: what is not seen in it may have been there. */
static void test_environment_cut(void **state)
{
	static char full[SNT_ENV_MAX + 1];
	char *env[] = { full, NULL };
	const struct snt_env *e;

	(void)state;
	memset(full, 'x', SNT_ENV_MAX - 1);
	e = play_env(env, full, SNT_ENV_MAX, IN_CGROUP); /* its NUL is the last byte */
	assert_int_equal(0, e->h.flags);
	assert_int_equal(SNT_ENV_MAX, e->env_bytes);
	full[SNT_ENV_MAX - 1] = 'x';
	e = play_env(env, full, SNT_ENV_MAX, IN_CGROUP);
	assert_int_equal(SNT_F_TRUNCATED, e->h.flags);
	assert_int_equal(SNT_ENV_MAX + 1, e->env_bytes);
}

/* Each record counts: an exec with its environment is two. */
static void test_environment_count(void **state)
{
	struct snt_count before, after;

	(void)state;
	assert_int_equal(0, sense_count(stage.sense, SNT_HOOK_EXEC, LANE, &before));
	(void)play("nothing", IN_CGROUP);
	assert_int_equal(0, sense_count(stage.sense, SNT_HOOK_EXEC, LANE, &after));
	assert_int_equal(before.seen + 2, after.seen);
	assert_int_equal(before.delivered + 2, after.delivered);
}

static const struct stage_act acts[] = {
	{ "socket", do_socket },
	{ "udp", do_udp },
	{ "nothing", do_nothing },
};

static int tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_identity_of_root),
		cmocka_unit_test(test_wrapper),
		cmocka_unit_test(test_outside_cgroup),
		cmocka_unit_test(test_unknown_mark),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_environment_outside),
		cmocka_unit_test(test_environment_cut),
		cmocka_unit_test(test_environment_count),
		cmocka_unit_test(stage_test_count),
	};

	return cmocka_run_group_tests(list, stage_set_up, stage_tear_down);
}

int main(int argc, char **argv)
{
	return stage_main(argc, argv, acts, ARRAY_SIZE(acts), tests);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Identity: who was started as what, and which processes carry a trial's mark.
 *
 * Hook:   tp_btf sched_process_exec, sched_process_fork, sched_process_exit.
 * Why:    at exec the kernel tells what no program can claim about itself: namespaces, user,
 *         capabilities, seccomp, the file. Where argv[1] is a session's, the thread group is marked
 *         with the trial's number; children inherit it, wherever they go. What is executed in the
 *         run's cgroup, or by a marked task, shows with its environment (bpf/environ.bpf.h).
 * Blind:  what a guest kernel or a language runtime starts inside itself; argv of a process that
 *         overwrote it before (not possible between execve and here).
 * Floor:  5.15. Only since 6.16 does the kernel say which thread is its group's last one: a program
 *         for each form, chosen by the kernel's BTF.
 * Cost:   about 1 us per exec of ours, 60 ns for a stranger's; fork and exit 30 ns.
 */
#include "bpf/emit.bpf.h"
#include "bpf/environ.bpf.h"
#include "bpf/watch.bpf.h"

#define PFA_NO_NEW_PRIVS 0 /* include/linux/sched.h */
#define EEXIST 17

/* A function of its own for the verifier: inlined, 32 digits are 58,000 instructions to check. */
__noinline int hex_digit(__u32 c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

struct session_arg {
	char prefix[SNT_SESSION_PREFIX_LEN];
	char nonce[SNT_NONCE_HEX_LEN];
};

/* Reads argv[1] as a session's. The mark is the first half of the nonce; false where it is none. */
static __always_inline bool session_mark(struct mm_struct *mm, __u64 *ret_mark)
{
	unsigned long start = BPF_CORE_READ(mm, arg_start);
	struct snt_argv0 *argv0;
	struct session_arg arg;
	__u64 mark = 0;
	int bad = 0;
	__u32 zero = 0;
	long n;

	argv0 = bpf_map_lookup_elem(&snt_argv, &zero);
	if (!argv0)
		return false;
	n = bpf_probe_read_user_str(argv0->text, sizeof(argv0->text), (void *)start);
	if (n <= 0 || bpf_probe_read_user(&arg, sizeof(arg), (void *)(start + n)))
		return false;
	for (int i = 0; i < SNT_SESSION_PREFIX_LEN; i++)
		bad |= arg.prefix[i] ^ SNT_SESSION_PREFIX[i];
	for (int i = 0; i < SNT_NONCE_HEX_LEN; i++) {
		int digit = hex_digit((__u8)arg.nonce[i]);

		bad |= digit & ~0xf;
		if (i < 16)
			mark = mark << 4 | (digit & 0xf);
	}
	if (bad || !mark)
		return false;
	*ret_mark = mark;
	return true;
}

/* Is it a trial of this run? Where it was announced, its slot is known wherever the platform put
 * it. */
static __always_inline bool session_slot(__u64 mark, __u32 *slot)
{
	__u32 *known = bpf_map_lookup_elem(&snt_trials, &mark);

	if (known)
		*slot = *known;
	return known || !snt_known_marks;
}

/* Marks the current thread group. -1: no room. */
static __always_inline int mark_put(__u32 tgid, __u64 mark, __u32 slot)
{
	struct snt_mark m = { .mark = mark, .slot = slot };

	return bpf_map_update_elem(&snt_marks, &tgid, &m, BPF_ANY) ? -1 : 0;
}

static __always_inline void exec_file(struct mm_struct *mm, __u64 *ret_ino, __u32 *ret_dev)
{
	struct inode *inode = BPF_CORE_READ(mm, exe_file, f_inode);

	*ret_ino = BPF_CORE_READ(inode, i_ino);
	*ret_dev = BPF_CORE_READ(inode, i_sb, s_dev);
}

/* /proc/PID/ns/pid: of the innermost of the task's numbers. */
static __always_inline __u32 exec_pidns(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u64 level = BPF_CORE_READ(pid, level);
	struct upid *u = (void *)pid + bpf_core_field_offset(struct pid, numbers) +
			 level * bpf_core_type_size(struct upid);

	return BPF_CORE_READ(u, ns, ns.inum);
}

static __always_inline void exec_namespaces(struct snt_exec *r, struct task_struct *task)
{
	struct nsproxy *ns = BPF_CORE_READ(task, nsproxy);

	r->ns_mnt = BPF_CORE_READ(ns, mnt_ns, ns.inum);
	r->ns_net = BPF_CORE_READ(ns, net_ns, ns.inum);
	r->ns_uts = BPF_CORE_READ(ns, uts_ns, ns.inum);
	r->ns_ipc = BPF_CORE_READ(ns, ipc_ns, ns.inum);
	r->ns_cgroup = BPF_CORE_READ(ns, cgroup_ns, ns.inum);
	r->ns_user = BPF_CORE_READ(task, cred, user_ns, ns.inum);
	r->ns_pid = exec_pidns(task);
}

static __always_inline void exec_privileges(struct snt_exec *r, struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);

	r->uid = BPF_CORE_READ(cred, euid.val);
	r->gid = BPF_CORE_READ(cred, egid.val);
	bpf_core_read(&r->cap_effective, sizeof(r->cap_effective), &cred->cap_effective);
	bpf_core_read(&r->cap_permitted, sizeof(r->cap_permitted), &cred->cap_permitted);
	r->seccomp = BPF_CORE_READ(task, seccomp.mode);
	r->no_new_privs = BPF_CORE_READ(task, atomic_flags) >> PFA_NO_NEW_PRIVS & 1;
}

static __always_inline void exec_argv(struct snt_exec *r, struct mm_struct *mm)
{
	unsigned long start = BPF_CORE_READ(mm, arg_start);
	__u64 n = BPF_CORE_READ(mm, arg_end) - start;

	r->argv_len = 0;
	__builtin_memset(r->argv, 0, sizeof(r->argv));
	asm volatile("" : "+r"(n));
	if (n > SNT_ARGV_MAX) {
		n = SNT_ARGV_MAX;
		r->h.flags |= SNT_F_TRUNCATED;
	}
	if (bpf_probe_read_user(r->argv, n, (void *)start))
		r->h.flags |= SNT_F_PARTIAL;
	else
		r->argv_len = n;
}

static __always_inline void exec_emit(struct task_struct *task, const struct who *w,
				      struct snt_count *c)
{
	struct snt_exec *r = emit_begin(SNT_HOOK_EXEC, SNT_EV_EXEC, sizeof(*r));
	struct task_struct *parent;
	struct mm_struct *mm;

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	parent = BPF_CORE_READ(task, real_parent);
	mm = BPF_CORE_READ(task, mm);
	task_fill(&r->task, task);
	task_fill(&r->parent, parent);
	exec_file(mm, &r->exe_ino, &r->exe_dev);
	exec_file(BPF_CORE_READ(parent, mm), &r->parent_exe_ino, &r->parent_exe_dev);
	exec_namespaces(r, task);
	exec_privileges(r, task);
	exec_argv(r, mm);
	emit_end(SNT_HOOK_EXEC, r);
	count_up(c->delivered);
}

SEC("tp_btf/sched_process_exec")
int snt_exec(__u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	bool watched, session;
	struct snt_count *c;
	struct who w;
	__u64 mark;

	if (gate_closed())
		return 0;
	watched = who_current(&w, task_netns_cookie(task));
	session = session_mark(BPF_CORE_READ(task, mm), &mark) && session_slot(mark, &w.slot);
	if (!watched && !session) {
		count_filtered(SNT_HOOK_EXEC);
		return 0;
	}
	c = count_seen(SNT_HOOK_EXEC, w.slot);
	if (!c)
		return 0;
	if (session) {
		w.mark = mark;
		if (mark_put(task_current_tgid(), mark, w.slot)) {
			count_up(c->map_full);
			return 0;
		}
	}
	exec_emit(task, &w, c);
	if (w.mark || in_run_cgroup())
		env_emit(task, &w);
	return 0;
}

static __always_inline void fork_emit(struct task_struct *parent, struct task_struct *child,
				      const struct who *w, struct snt_count *c)
{
	struct snt_fork *r = emit_begin(SNT_HOOK_FORK, SNT_EV_FORK, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill(&r->parent, parent);
	task_fill(&r->child, child);
	emit_end(SNT_HOOK_FORK, r);
	count_up(c->delivered);
}

/* Before the child runs for the first time. A thread is in its group's entry already. */
SEC("tp_btf/sched_process_fork")
int snt_fork(__u64 *ctx)
{
	struct task_struct *parent = (struct task_struct *)ctx[0];
	struct task_struct *child = (struct task_struct *)ctx[1];
	__u32 tgid = BPF_CORE_READ(child, tgid);
	struct snt_count *c;
	struct who w;

	if (gate_closed() || tgid == (__u32)BPF_CORE_READ(parent, tgid))
		return 0;
	if (!who_current(&w, task_netns_cookie(parent))) {
		count_filtered(SNT_HOOK_FORK);
		return 0;
	}
	c = count_seen(SNT_HOOK_FORK, w.slot);
	if (!c)
		return 0;
	if (w.mark && mark_put(tgid, w.mark, w.slot)) {
		count_up(c->map_full);
		return 0;
	}
	fork_emit(parent, child, &w, c);
	return 0;
}

/* As wait() gives it: the group's code where it has one, else the leader's. */
static __always_inline __u32 exit_code(struct task_struct *task)
{
	int code = BPF_CORE_READ(task, signal, group_exit_code);

	return code ?: BPF_CORE_READ(task, group_leader, exit_code);
}

static __always_inline void exit_emit(struct task_struct *task, const struct who *w,
				      struct snt_count *c)
{
	struct snt_exit *r = emit_begin(SNT_HOOK_EXIT, SNT_EV_EXIT, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill(&r->task, BPF_CORE_READ(task, group_leader));
	r->code = exit_code(task);
	r->_pad = 0;
	emit_end(SNT_HOOK_EXIT, r);
	count_up(c->delivered);
}

static __always_inline void exit_of(struct task_struct *task, bool last)
{
	__u32 tid = BPF_CORE_READ(task, pid), tgid = BPF_CORE_READ(task, tgid);
	struct snt_count *c;
	struct who w;

	bpf_map_delete_elem(&snt_entered, &tid);
	if (!last)
		return;
	if (gate_closed())
		goto forget;
	if (!who_current(&w, task_netns_cookie(task))) {
		count_filtered(SNT_HOOK_EXIT);
		return;
	}
	c = count_seen(SNT_HOOK_EXIT, w.slot);
	if (c)
		exit_emit(task, &w, c);
forget:
	bpf_map_delete_elem(&snt_marks, &tgid);
}

/* sched_process_exit(task, group_dead): true once for a thread group. */
SEC("?tp_btf/sched_process_exit")
int snt_exit(__u64 *ctx)
{
	exit_of((struct task_struct *)ctx[0], ctx[1]);
	return 0;
}

/* Threads that end at the same moment may each find none alive: which of them is the first to say
 * so? All have left user space for good, so it may as well be that one. */
static __always_inline bool exit_is_first(struct task_struct *task)
{
	struct snt_ended key = { .tgid = BPF_CORE_READ(task, tgid),
				 .start_ns = BPF_CORE_READ(task, group_leader, start_time) };
	__u32 yes = 1;
	/* An int, whatever the helper is said to return: until 6.4 (d7ba4cc900bf) the map's own
	 * function, which the verifier puts in its place, left the upper half of r0 as zeroes. */
	int r = (int)bpf_map_update_elem(&snt_ended, &key, &yes, BPF_NOEXIST);

	return r != -EEXIST;
}

/* sched_process_exit(task) */
SEC("?tp_btf/sched_process_exit")
int snt_exit_live(__u64 *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];

	exit_of(task, !BPF_CORE_READ(task, signal, live.counter) && exit_is_first(task));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: what a marked task asked the kernel for, and what it was told.
 *
 * Hook:   raw_tp sys_enter and sys_exit.
 * Why:    a refusal by seccomp, Landlock or a missing route or capability shows nowhere else. A
 *         call that returns without having entered was answered by seccomp (hooks.md answer b);
 *         its arguments are still in the saved registers. The 32-bit entries and x32 show as the
 *         64-bit call that does the same, with SNT_F_COMPAT.
 *         Files that a session opens show too, so that the attempt at a planted one is seen, with
 *         its errno, by open(), openat() or openat2().
 * Blind:  io_uring (only io_uring_setup and io_uring_enter show), buffers beyond the first element
 *         of a vector, user pages that are not in memory, open_by_handle_at().
 * Floor:  5.15.
 * Cost:   of both programs, as the difference in the fastest tenth of batches of one process that
 *         does nothing else: 40 ns per system call of anybody; 70 ns for the listed ones, 90 ns
 *         for those that open files, and as much for stat, fstat, preadv and getuid, whose
 *         numbers are listed for the 32-bit entry; 250 to 500 ns for a marked task's.
 *
 * sys_enter emits nothing, so it counts only where it had no room to remember a call; from then on
 * no call is said to have been answered by seccomp.
 */
#include "bpf/emit.bpf.h"
#include "bpf/syscall_data.bpf.h"
#include "bpf/watch.bpf.h"

#define WRITE_MAX 4096 /* a longer write that went well is a file's, or shows as packets */

static __u32 enter_lost; /* snt_entered was full once */

SEC("raw_tp/sys_enter")
int snt_sys_enter(__u64 *ctx)
{
	__u32 nr = ctx[1], tid;
	struct snt_mark *m;
	struct snt_count *c;

	if (!syscall_may_be_watched(nr) || gate_closed())
		return 0;
	m = mark_of_current();
	if (!m)
		return 0;
	tid = bpf_get_current_pid_tgid();
	if (!bpf_map_update_elem(&snt_entered, &tid, &nr, BPF_ANY))
		return 0;
	enter_lost = 1;
	c = count_seen(SNT_HOOK_SYS_ENTER, m->slot);
	if (c)
		count_up(c->map_full);
	return 0;
}

/* Did the call of this thread that now returns pass sys_enter? Forgets it. */
static __always_inline bool call_entered(__u32 nr)
{
	__u32 tid = bpf_get_current_pid_tgid();
	__u32 *entered = bpf_map_lookup_elem(&snt_entered, &tid);
	bool yes = entered && *entered == nr;

	if (entered)
		bpf_map_delete_elem(&snt_entered, &tid);
	return yes || *(volatile __u32 *)&enter_lost;
}

/* A session talks to its launcher by write() all the time: descriptors 0 to 2 are not of interest,
 * nor are long writes that went well. */
static __always_inline bool call_is_dull(const struct syscall *s, long ret)
{
	if (s->nr != NR_WRITE && s->nr != NR_WRITEV)
		return false;
	return s->a[0] <= 2 || ret > WRITE_MAX;
}

/* An interrupted call that the kernel will restart, or end with EINTR, when it has looked at the
 * signals: include/linux/errno.h. */
#define ERESTARTSYS 512
#define ERESTART_RESTARTBLOCK 516
#define EINTR 4

static __always_inline long call_result(long ret)
{
	return ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK ? -EINTR : ret;
}

static __always_inline void call_emit(const struct syscall *s, long ret, const struct snt_mark *m,
				      struct snt_count *c)
{
	struct snt_call *r = emit_begin(SNT_HOOK_SYS_EXIT, SNT_EV_CALL, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	__builtin_memset((void *)r + sizeof(r->h), 0, sizeof(*r) - sizeof(r->h));
	r->h.slot = m->slot;
	r->h.mark = m->mark;
	r->h.flags = s->flags;
	r->h.netns_cookie = task_netns_cookie(task_current());
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill_current(&r->task);
	r->nr = s->nr;
	r->fd = s->a[0];
	r->ret = call_result(ret);
	r->arg1 = s->a[1];
	r->arg2 = s->a[2];
	call_arguments(r, s);
	emit_end(SNT_HOOK_SYS_EXIT, r);
	count_up(c->delivered);
}

/* Of a marked task. */
static __always_inline void call_returned(struct pt_regs *regs, long ret, const struct snt_mark *m)
{
	__u32 nr = syscall_nr(regs); /* afresh: of the filtered one the verifier knows too much */
	bool entered = call_entered(nr);
	struct snt_count *c;
	struct syscall s;

	syscall_read(&s, task_current(), regs, nr);
	if (s.nr == NR_NONE || call_is_dull(&s, ret)) {
		count_filtered(SNT_HOOK_SYS_EXIT);
		return;
	}
	if (!entered)
		s.flags |= SNT_F_NO_ENTER;
	c = count_seen(SNT_HOOK_SYS_EXIT, m->slot);
	if (c)
		call_emit(&s, ret, m, c);
}

SEC("raw_tp/sys_exit")
int snt_sys_exit(__u64 *ctx)
{
	struct pt_regs *regs = (struct pt_regs *)ctx[0];
	struct snt_mark *m;

	if (!syscall_may_be_watched(syscall_nr(regs)) || gate_closed())
		return 0;
	m = mark_of_current();
	if (m)
		call_returned(regs, ctx[1], m);
	else
		count_filtered(SNT_HOOK_SYS_EXIT);
	return 0;
}

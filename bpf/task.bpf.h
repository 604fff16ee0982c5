/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reading a task. Every read is fault-tolerant: what can't be read is zero. */
#ifndef SNT_TASK_BPF_H
#define SNT_TASK_BPF_H

#include "bpf/events.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

static __always_inline struct task_struct *task_current(void)
{
	return (struct task_struct *)bpf_get_current_task();
}

static __always_inline __u32 task_current_tgid(void)
{
	return bpf_get_current_pid_tgid() >> 32;
}

static __always_inline void task_fill(struct snt_task *t, struct task_struct *task)
{
	t->tgid = BPF_CORE_READ(task, tgid);
	t->tid = BPF_CORE_READ(task, pid);
	t->start_ns = BPF_CORE_READ(task, group_leader, start_time);
	bpf_core_read(t->comm, sizeof(t->comm), &task->comm);
}

static __always_inline void task_fill_current(struct snt_task *t)
{
	task_fill(t, task_current());
}

static __always_inline __u64 task_netns_cookie(struct task_struct *task)
{
	return BPF_CORE_READ(task, nsproxy, net_ns, net_cookie);
}

static __always_inline __u64 sock_netns_cookie(const struct sock *sk)
{
	return BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie);
}

#endif

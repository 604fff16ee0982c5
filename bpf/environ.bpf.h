/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment that an executed program was given: whether a planted secret went in by it, and
 * whether it came through to the session. Read between execve and the program's first instruction.
 */
#ifndef SNT_ENVIRON_BPF_H
#define SNT_ENVIRON_BPF_H

#include "bpf/emit.bpf.h"
#include "bpf/watch.bpf.h"

static __always_inline void env_copy(struct snt_env *r, struct mm_struct *mm)
{
	unsigned long start = BPF_CORE_READ(mm, env_start);
	__u64 n = BPF_CORE_READ(mm, env_end) - start;

	r->env_bytes = n; /* execve takes less than 4 GiB */
	r->env_len = 0;
	__builtin_memset(r->env, 0, SNT_ENV_MAX / 2); /* whole is more than clang allows */
	asm volatile("" ::: "memory");
	__builtin_memset(r->env + SNT_ENV_MAX / 2, 0, SNT_ENV_MAX / 2);
	asm volatile("" : "+r"(n));
	if (n > SNT_ENV_MAX) {
		n = SNT_ENV_MAX;
		r->h.flags |= SNT_F_TRUNCATED;
	}
	if (bpf_probe_read_user(r->env, n, (void *)start))
		r->h.flags |= SNT_F_PARTIAL;
	else
		r->env_len = n;
}

/* A record of its own, and counted as one: where it found no room, that is a loss of hook EXEC. */
static __always_inline void env_emit(struct task_struct *task, const struct who *w)
{
	struct snt_count *c = count_seen(SNT_HOOK_EXEC, w->slot);
	struct snt_env *r;

	if (!c)
		return;
	r = emit_begin(SNT_HOOK_EXEC, SNT_EV_ENV, sizeof(*r));
	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill(&r->task, task);
	env_copy(r, BPF_CORE_READ(task, mm));
	emit_end(SNT_HOOK_EXEC, r);
	count_up(c->delivered);
}

#endif

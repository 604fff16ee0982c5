/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The owner of a socket, kept on the socket itself: at a packet hook the current task is whoever
 * was interrupted (hooks.md answer a).
 */
#ifndef SNT_OWNER_BPF_H
#define SNT_OWNER_BPF_H

#include "bpf/watch.bpf.h"

static __always_inline void owner_fill(struct snt_owner *o, const struct who *w)
{
	task_fill_current(&o->task);
	o->mark = w->mark;
	o->cgroup_id = bpf_get_current_cgroup_id();
	o->slot = w->slot;
	o->_pad = 0;
}

/* A socket that is passed to a task without a mark stays its trial's; a marked task takes it. */
static __always_inline void owner_renew(struct snt_owner *o, const struct who *w)
{
	if (w->mark || !o->mark)
		owner_fill(o, w);
}

/* What an address hook found: the task, or else the socket, is ours. */
static __always_inline bool owner_who(struct who *w, const struct snt_owner *o)
{
	if (!o)
		return false;
	w->mark = o->mark;
	w->slot = o->slot;
	return true;
}

static __always_inline void owner_task(struct snt_task *t, const struct snt_owner *o)
{
	if (o)
		*t = o->task;
	else
		__builtin_memset(t, 0, sizeof(*t));
}

#endif

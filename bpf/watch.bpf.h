/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whose is it? Three ways to be watched, in this order: the current task is marked (it, or an
 * ancestor, is a session), its cgroup is below the run's, or the network namespace is a lane's box
 * (some platforms leave the cgroup that they were started in).
 */
#ifndef SNT_WATCH_BPF_H
#define SNT_WATCH_BPF_H

#include "bpf/maps.bpf.h"
#include "bpf/task.bpf.h"

struct who {
	__u64 mark;
	__u64 netns_cookie;
	__u32 slot;
};

static __always_inline struct snt_mark *mark_of_current(void)
{
	__u32 tgid = task_current_tgid();

	return bpf_map_lookup_elem(&snt_marks, &tgid);
}

static __always_inline __u32 slot_of_cgroup(__u64 cgroup_id)
{
	__u32 *slot = bpf_map_lookup_elem(&snt_cgroups, &cgroup_id);

	return slot ? *slot : SNT_SLOT_NONE;
}

static __always_inline bool who_by_netns(struct who *w, __u64 cookie)
{
	__u32 *slot;

	w->netns_cookie = cookie;
	slot = bpf_map_lookup_elem(&snt_netns, &cookie);
	if (!slot)
		return false;
	w->slot = *slot;
	return true;
}

static __always_inline bool in_run_cgroup(void)
{
	return snt_run_cgroup &&
	       bpf_get_current_ancestor_cgroup_id(snt_run_level) == snt_run_cgroup;
}

static __always_inline bool who_by_cgroup(struct who *w)
{
	if (!in_run_cgroup())
		return false;
	w->slot = slot_of_cgroup(bpf_get_current_ancestor_cgroup_id(snt_run_level + 1));
	return true;
}

/* The current task; only where the current task is the one that acts. */
static __always_inline bool who_current(struct who *w, __u64 cookie)
{
	struct snt_mark *m = mark_of_current();

	w->mark = 0;
	w->slot = SNT_SLOT_NONE;
	w->netns_cookie = cookie;
	if (m) {
		w->mark = m->mark;
		w->slot = m->slot;
		return true;
	}
	return who_by_cgroup(w) || who_by_netns(w, cookie);
}

static __always_inline void who_fill(struct snt_hdr *h, const struct who *w)
{
	h->slot = w->slot;
	h->mark = w->mark;
	h->netns_cookie = w->netns_cookie;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of the maps. Records, which leave the kernel, are in events.h. */
#ifndef SNT_STATE_BPF_H
#define SNT_STATE_BPF_H

#include "bpf/events.h"

/* Written by user space (user/sense/lane.c has its twin). */
struct snt_dev {
	__u32 slot;
	__u32 is_box;	    /* the sandbox's own end */
	__u64 netns_cookie; /* of the namespace that the device is in */
};

struct snt_mark {
	__u64 mark;
	__u32 slot;
	__u32 _pad;
};

struct snt_owner {
	struct snt_task task;
	__u64 mark;
	__u64 cgroup_id;
	__u32 slot;
	__u32 _pad;
};

/* A thread group, now and ever. */
struct snt_ended {
	__u32 tgid;
	__u32 _pad;
	__u64 start_ns;
};

struct snt_argv0 {
	char text[SNT_ARGV_MAX];
};

#endif

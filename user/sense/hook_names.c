// SPDX-License-Identifier: Apache-2.0
#include "user/sense/hook_names.h"

#include "bpf/events.h"
#include "user/base/util.h"

enum { NEEDED = 1 << 0, PER_LANE = 1 << 1 };

static const struct {
	const char *name;
	unsigned int is;
} hooks[SNT_HOOK_MAX] = {
	[SNT_HOOK_NONE] = { "none", 0 },
	[SNT_HOOK_WORLD] = { "tcx/ingress@world", NEEDED | PER_LANE },
	[SNT_HOOK_BOUNDARY] = { "tcx/ingress@boundary", NEEDED | PER_LANE },
	[SNT_HOOK_BOX] = { "tcx/egress@box", PER_LANE },
	[SNT_HOOK_CG_EGRESS] = { "cgroup_skb/egress", NEEDED },
	[SNT_HOOK_CG_INGRESS] = { "cgroup_skb/ingress", NEEDED },
	[SNT_HOOK_SOCK_CREATE] = { "cgroup/sock_create", NEEDED },
	[SNT_HOOK_SOCK_RELEASE] = { "cgroup/sock_release", NEEDED },
	[SNT_HOOK_CONNECT4] = { "cgroup/connect4", NEEDED },
	[SNT_HOOK_CONNECT6] = { "cgroup/connect6", NEEDED },
	[SNT_HOOK_SENDMSG4] = { "cgroup/sendmsg4", NEEDED },
	[SNT_HOOK_SENDMSG6] = { "cgroup/sendmsg6", NEEDED },
	[SNT_HOOK_CONNECT_UNIX] = { "cgroup/connect_unix", 0 },
	[SNT_HOOK_SENDMSG_UNIX] = { "cgroup/sendmsg_unix", 0 },
	[SNT_HOOK_SETSOCKOPT] = { "cgroup/setsockopt", 0 },
	[SNT_HOOK_SEND_LENGTH] = { "tp_btf/sock_send_length", 0 },
	[SNT_HOOK_SOCK_STATE] = { "tp_btf/inet_sock_set_state", 0 },
	[SNT_HOOK_SYS_ENTER] = { "raw_tp/sys_enter", 0 },
	[SNT_HOOK_SYS_EXIT] = { "raw_tp/sys_exit", 0 },
	[SNT_HOOK_URING] = { "tp_btf/io_uring_complete", 0 },
	[SNT_HOOK_KFREE_SKB] = { "tp_btf/kfree_skb", 0 },
	[SNT_HOOK_EXEC] = { "tp_btf/sched_process_exec", NEEDED },
	[SNT_HOOK_FORK] = { "tp_btf/sched_process_fork", NEEDED },
	[SNT_HOOK_EXIT] = { "tp_btf/sched_process_exit", NEEDED },
};

const char *hook_name(uint32_t hook)
{
	return hook < SNT_HOOK_MAX ? hooks[hook].name : "unknown";
}

bool sense_hook_needed(uint32_t hook)
{
	return hook < SNT_HOOK_MAX && (hooks[hook].is & NEEDED);
}

bool sense_hook_per_lane(uint32_t hook)
{
	return hook < SNT_HOOK_MAX && (hooks[hook].is & PER_LANE);
}

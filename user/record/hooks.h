/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the hooks in a capture. Part of the format: append-only, as SNT_HOOK_* are. */
#ifndef SENTINEL_RECORD_HOOKS_H
#define SENTINEL_RECORD_HOOKS_H

#include "bpf/events.h"

/* X(number without SNT_HOOK_, name) */
#define RECORD_HOOKS(X)                                                                            \
	X(WORLD, "world")                                                                          \
	X(BOUNDARY, "boundary")                                                                    \
	X(BOX, "box")                                                                              \
	X(CG_EGRESS, "cgroup_skb/egress")                                                          \
	X(CG_INGRESS, "cgroup_skb/ingress")                                                        \
	X(SOCK_CREATE, "cgroup/sock_create")                                                       \
	X(SOCK_RELEASE, "cgroup/sock_release")                                                     \
	X(CONNECT4, "cgroup/connect4")                                                             \
	X(CONNECT6, "cgroup/connect6")                                                             \
	X(SENDMSG4, "cgroup/sendmsg4")                                                             \
	X(SENDMSG6, "cgroup/sendmsg6")                                                             \
	X(CONNECT_UNIX, "cgroup/connect_unix")                                                     \
	X(SENDMSG_UNIX, "cgroup/sendmsg_unix")                                                     \
	X(SETSOCKOPT, "cgroup/setsockopt")                                                         \
	X(SEND_LENGTH, "sock_send_length")                                                         \
	X(SOCK_STATE, "inet_sock_set_state")                                                       \
	X(SYS_ENTER, "sys_enter")                                                                  \
	X(SYS_EXIT, "sys_exit")                                                                    \
	X(URING, "io_uring_complete")                                                              \
	X(KFREE_SKB, "kfree_skb")                                                                  \
	X(EXEC, "sched_process_exec")                                                              \
	X(FORK, "sched_process_fork")                                                              \
	X(EXIT, "sched_process_exit")

#endif

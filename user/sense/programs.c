// SPDX-License-Identifier: Apache-2.0
#include <bpf/bpf.h> /* before banned.h: it names functions that are */

#include "user/sense/programs.h"

#include "bpf/events.h"
#include "user/sense/attach_types.h"

int probe_program(uint32_t type, uint32_t expected_attach, const struct bpf_insn *insns,
		  size_t insns_n)
{
	static const struct bpf_insn return_1[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = expected_attach);
	cleanup_fd int fd = -1;

	if (!insns) {
		insns = return_1;
		insns_n = ARRAY_SIZE(return_1);
	}
	fd = bpf_prog_load(type, "snt_probe", "Dual BSD/GPL", insns, insns_n, &opts);
	return fd < 0 ? fd : 0;
}

int probe_skb_cookie(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_netns_cookie },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return probe_program(BPF_PROG_TYPE_CGROUP_SKB, 0, insns, ARRAY_SIZE(insns));
}

int probe_unix_addr(void)
{
	return probe_program(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, CGROUP_UNIX_CONNECT, NULL, 0);
}

static int no_skb_cookie(void)
{
	return probe_skb_cookie() ? 0 : -EALREADY;
}

#define CGROUP(HOOK, NAME)                                                                         \
	{                                                                                          \
		.hook = HOOK, .name = NAME, .kind = ATTACH_CGROUP                                  \
	}
#define CGROUP_IF(HOOK, NAME, WANTED)                                                              \
	{                                                                                          \
		.hook = HOOK, .name = NAME, .kind = ATTACH_CGROUP, .wanted = WANTED                \
	}
#define CGROUP_UNIX(HOOK, NAME, TYPE)                                                              \
	{                                                                                          \
		.hook = HOOK, .name = NAME, .kind = ATTACH_CGROUP, .wanted = probe_unix_addr,      \
		.attach_type = TYPE                                                                \
	}
#define DEVICE(HOOK, NAME)                                                                         \
	{                                                                                          \
		.hook = HOOK, .name = NAME, .kind = ATTACH_DEVICE                                  \
	}
#define RAW(HOOK, NAME)                                                                            \
	{                                                                                          \
		.hook = HOOK, .name = NAME, .kind = ATTACH_TRACE                                   \
	}
#define TRACE(HOOK, NAME, TP, MIN, MAX)                                                            \
	{                                                                                          \
		.hook = HOOK, .name = NAME, .kind = ATTACH_TRACE, .tracepoint = TP,                \
		.args_min = MIN, .args_max = MAX                                                   \
	}

const struct program programs[] = {
	TRACE(SNT_HOOK_EXIT, "snt_exit", "sched_process_exit", 2, 9),
	TRACE(SNT_HOOK_EXIT, "snt_exit_live", "sched_process_exit", 1, 1),
	TRACE(SNT_HOOK_FORK, "snt_fork", "sched_process_fork", 2, 9),
	RAW(SNT_HOOK_SYS_ENTER, "snt_sys_enter"),
	RAW(SNT_HOOK_SYS_EXIT, "snt_sys_exit"),
	TRACE(SNT_HOOK_EXEC, "snt_exec", "sched_process_exec", 1, 9),
	CGROUP(SNT_HOOK_SOCK_RELEASE, "snt_sock_close"),
	CGROUP(SNT_HOOK_SOCK_CREATE, "snt_sock_create"),
	CGROUP(SNT_HOOK_CONNECT4, "snt_connect4"),
	CGROUP(SNT_HOOK_CONNECT6, "snt_connect6"),
	CGROUP(SNT_HOOK_SENDMSG4, "snt_sendmsg4"),
	CGROUP(SNT_HOOK_SENDMSG6, "snt_sendmsg6"),
	CGROUP_UNIX(SNT_HOOK_CONNECT_UNIX, "snt_connect_un", CGROUP_UNIX_CONNECT),
	CGROUP_UNIX(SNT_HOOK_SENDMSG_UNIX, "snt_sendmsg_un", CGROUP_UNIX_SENDMSG),
	CGROUP(SNT_HOOK_SETSOCKOPT, "snt_setsockopt"),
	CGROUP_IF(SNT_HOOK_CG_EGRESS, "snt_cg_egress", probe_skb_cookie),
	CGROUP_IF(SNT_HOOK_CG_INGRESS, "snt_cg_ingress", probe_skb_cookie),
	CGROUP_IF(SNT_HOOK_CG_EGRESS, "snt_cg_egress_d", no_skb_cookie),
	CGROUP_IF(SNT_HOOK_CG_INGRESS, "snt_cg_ingress_d", no_skb_cookie),
	TRACE(SNT_HOOK_SEND_LENGTH, "snt_send_length", "sock_send_length", 3, 9),
	TRACE(SNT_HOOK_SOCK_STATE, "snt_sock_state", "inet_sock_set_state", 3, 9),
	TRACE(SNT_HOOK_URING, "snt_uring", "io_uring_complete", 3, 3),
	TRACE(SNT_HOOK_URING, "snt_uring_args", "io_uring_complete", 5, 9),
	TRACE(SNT_HOOK_KFREE_SKB, "snt_kfree_skb", "kfree_skb", 3, 9),
	DEVICE(SNT_HOOK_WORLD, "snt_world"),
	DEVICE(SNT_HOOK_BOUNDARY, "snt_boundary"),
	DEVICE(SNT_HOOK_BOX, "snt_box"),
};
const size_t programs_n = ARRAY_SIZE(programs);

int program_wanted(const struct program *p, const struct kernel_btf *k)
{
	int args;

	if (p->wanted)
		return p->wanted();
	if (!p->tracepoint)
		return 0;
	args = kernel_btf_tracepoint(k, p->tracepoint);
	if (args < 0)
		return args;
	return args < p->args_min || args > p->args_max ? -EOPNOTSUPP : 0;
}

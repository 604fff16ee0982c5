// SPDX-License-Identifier: Apache-2.0
/* The table of what this machine can do. Each probe does the thing itself and undoes it. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "user/base/cgroup_root.h"
#include "user/base/netns.h"
#include "user/sense/attach_types.h"
#include "user/sense/features.h"
#include "user/sense/sense_priv.h"

#define LO_IFINDEX 1
#define NOBODY 65534

static int probe_root(void)
{
	return geteuid() ? -EPERM : 0;
}

static int probe_btf(void)
{
	struct kernel_btf *k;
	int r = kernel_btf_new(&k);

	if (!r)
		kernel_btf_free(k);
	return r;
}

static int probe_cgroup2(void)
{
	struct diag d;
	cleanup_fd int fd = cgroup_open_root(&d);

	return fd < 0 ? fd : 0;
}

static int probe_ring(void)
{
	cleanup_fd int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "snt_probe", 0, 0,
					   (uint32_t)sysconf(_SC_PAGESIZE), NULL);

	return fd < 0 ? fd : 0;
}

/* A map with type information, that a listener's child inherits from. */
static int probe_storage(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC | BPF_F_CLONE);
	struct btf *btf = btf__new_empty();
	cleanup_fd int fd = -1;
	int type, r;

	if (!btf)
		return -errno;
	type = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	r = type < 0 ? type : btf__load_into_kernel(btf);
	if (!r) {
		opts.btf_fd = (uint32_t)btf__fd(btf);
		opts.btf_key_type_id = opts.btf_value_type_id = (uint32_t)type;
		fd = bpf_map_create(BPF_MAP_TYPE_SK_STORAGE, "snt_probe", 4, 4, 0, &opts);
		r = fd < 0 ? fd : 0;
	}
	btf__free(btf);
	return r;
}

static int load_return(uint32_t type, uint32_t expected, int32_t value)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = value },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = expected);

	return bpf_prog_load(type, "snt_probe", "Dual BSD/GPL", insns, ARRAY_SIZE(insns), &opts);
}

static int new_netns(void)
{
	cleanup_fd int fd = netns_move_new();

	return fd < 0 ? fd : 0;
}

static int tcx_here(void *arg)
{
	cleanup_fd int prog = load_return(BPF_PROG_TYPE_SCHED_CLS, 0, -1);
	cleanup_fd int link = -1;
	int r = prog < 0 ? prog : new_netns();

	(void)arg;
	if (r)
		return r;
	link = bpf_link_create(prog, LO_IFINDEX, (enum bpf_attach_type)TCX_INGRESS, NULL);
	return link < 0 ? link : 0;
}

static int clsact_here(void *arg)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = LO_IFINDEX, .attach_point = BPF_TC_INGRESS);
	cleanup_fd int prog = load_return(BPF_PROG_TYPE_SCHED_CLS, 0, -1);
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = 1, .priority = 1, .prog_fd = prog);
	int r = prog < 0 ? prog : new_netns();

	(void)arg;
	if (!r)
		r = bpf_tc_hook_create(&hook);
	return r ? r : bpf_tc_attach(&hook, &opts);
}

static int netns_here(void *arg)
{
	(void)arg;
	return new_netns();
}

static int probe_netns(void)
{
	return netns_run(netns_here, NULL);
}

static int probe_tcx(void)
{
	return feature_is_off("tcx") ? -EOPNOTSUPP : netns_run(tcx_here, NULL);
}

static int probe_clsact(void)
{
	return netns_run(clsact_here, NULL);
}

/* On the root itself, for a moment: there lies the difference between loading and being allowed. */
static int probe_cgroup_attach(void)
{
	struct diag d;
	cleanup_fd int root = cgroup_open_root(&d);
	cleanup_fd int prog = load_return(BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 1);
	cleanup_fd int link = -1;

	if (root < 0)
		return root;
	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, root, BPF_CGROUP_INET_EGRESS, NULL);
	return link < 0 ? link : 0;
}

static int probe_cgroup_sock(void)
{
	return probe_program(BPF_PROG_TYPE_CGROUP_SOCK, BPF_CGROUP_INET_SOCK_CREATE, NULL, 0);
}

static int probe_cgroup_addr(void)
{
	return probe_program(BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, NULL, 0);
}

static int probe_cgroup_opt(void)
{
	return probe_program(BPF_PROG_TYPE_CGROUP_SOCKOPT, BPF_CGROUP_SETSOCKOPT, NULL, 0);
}

static int probe_raw_tp(void)
{
	cleanup_fd int prog = load_return(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);
	cleanup_fd int link = prog < 0 ? prog : bpf_raw_tracepoint_open("sys_exit", prog);

	return link < 0 ? link : 0;
}

/* Loads a program on a kernel function or tracepoint that the kernel's types name. */
static int load_on_btf(uint32_t type, uint32_t attach, const char *name, uint32_t kind)
{
	static const struct bpf_insn return_0[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = attach);
	struct kernel_btf *k;
	int r = kernel_btf_new(&k);

	if (r)
		return r;
	r = kernel_btf_id(k, name, kind);
	kernel_btf_free(k);
	if (r < 0)
		return r;
	opts.attach_btf_id = (uint32_t)r;
	return bpf_prog_load(type, "snt_probe", "Dual BSD/GPL", return_0, ARRAY_SIZE(return_0),
			     &opts);
}

static int attach_tp_btf(const char *name)
{
	char type[64];
	cleanup_fd int prog = -1;
	cleanup_fd int link = -1;
	int r = str_format(type, sizeof(type), "btf_trace_%s", name);

	if (r)
		return r;
	prog = load_on_btf(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, type, BTF_KIND_TYPEDEF);
	if (prog < 0)
		return prog;
	link = bpf_raw_tracepoint_open(NULL, prog);
	return link < 0 ? link : 0;
}

static int probe_exec(void)
{
	return attach_tp_btf("sched_process_exec");
}

static int probe_send_length(void)
{
	return attach_tp_btf("sock_send_length");
}

static int probe_sock_state(void)
{
	return attach_tp_btf("inet_sock_set_state");
}

static int probe_uring(void)
{
	return attach_tp_btf("io_uring_complete");
}

static int probe_kfree_skb(void)
{
	struct kernel_btf *k;
	int r = kernel_btf_new(&k);

	if (r)
		return r;
	r = kernel_btf_tracepoint(k, "kfree_skb");
	kernel_btf_free(k);
	if (r >= 0 && r < 3)
		return -EOPNOTSUPP; /* it tells no reason */
	return r < 0 ? r : attach_tp_btf("kfree_skb");
}

static int probe_fentry(void)
{
	cleanup_fd int prog = load_on_btf(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY,
					  "security_socket_connect", BTF_KIND_FUNC);

	return prog < 0 ? prog : 0;
}

static int probe_lsm(void)
{
	cleanup_fd int prog = load_on_btf(BPF_PROG_TYPE_LSM, BPF_LSM_MAC, "bpf_lsm_socket_connect",
					  BTF_KIND_FUNC);

	return prog < 0 ? prog : 0;
}

static int probe_userns(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
			_exit(errno);
		_exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) ? errno : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

static int probe_ipv6(void)
{
	cleanup_fd int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? -errno : 0;
}

static int probe_symbols(void)
{
	struct symbols *s = symbols_new();
	char name[SYMBOL_NAME_MAX];
	bool known;

	if (!s)
		return -errno;
	symbols_wait(s);
	known = symbols_find(s, UINT64_MAX, name);
	symbols_free(s);
	return known ? 0 : -EPERM;
}

#define BTF_REMEDY "boot a kernel with CONFIG_DEBUG_INFO_BTF=y"
#define ROOT_REMEDY "run it as root"

static const struct feature features[] = {
	{ "root", "everything", "nothing can be loaded", ROOT_REMEDY, true, probe_root },
	{ "btf", "every program", "nothing can be loaded", BTF_REMEDY, true, probe_btf },
	{ "cgroup2", "A: the root-cgroup set", "no trial can be told from another",
	  "mount it: mount -t cgroup2 none /sys/fs/cgroup/unified", true, probe_cgroup2 },
	{ "netns", "the rig", "no lane can be made", "boot a kernel with CONFIG_NET_NS=y", true,
	  probe_netns },
	{ "ring-buffer", "every record", "nothing can be read", "needs Linux 5.8", true,
	  probe_ring },
	{ "sk-storage-clone", "owners of packets", "no packet has an owner", "needs Linux 5.10",
	  true, probe_storage },
	{ "tcx", "W, B and box", "clsact filters are used instead", NULL, false, probe_tcx },
	{ "clsact", "W, B and box where there is no tcx", "none where tcx works",
	  "boot a kernel with CONFIG_NET_SCH_INGRESS and CONFIG_NET_CLS_BPF", false, probe_clsact },
	{ "cgroup-skb", "A: packets of sockets", "packets at A are not seen",
	  "boot a kernel with CONFIG_CGROUP_BPF=y", true, probe_cgroup_attach },
	{ "cgroup-sock", "A: sockets made and closed", "packets have no owner",
	  "boot a kernel with CONFIG_CGROUP_BPF=y", true, probe_cgroup_sock },
	{ "cgroup-sock-addr", "A: connect and sendmsg", "destinations are seen in packets only",
	  "boot a kernel with CONFIG_CGROUP_BPF=y", true, probe_cgroup_addr },
	{ "cgroup-unix-addr", "A: connect and sendmsg of UNIX sockets",
	  "names of UNIX sockets are not seen", NULL, false, probe_unix_addr },
	{ "cgroup-sockopt", "A: setsockopt", "PACKET_QDISC_BYPASS and SOL_XDP go unseen", NULL,
	  false, probe_cgroup_opt },
	{ "netns-cookie-skb", "A: packets of a box that left its cgroup",
	  "known by the box's device instead; its loopback is not seen", NULL, false,
	  probe_skb_cookie },
	{ "tp-btf", "identity: exec, fork, exit", "no session can be identified", BTF_REMEDY, true,
	  probe_exec },
	{ "raw-tp", "A: refused system calls", "refusals by seccomp go unseen", NULL, false,
	  probe_raw_tp },
	{ "kfree-skb-reason", "where and why a packet died", "'stopped by' is often unknown", NULL,
	  false, probe_kfree_skb },
	{ "sock-send-length", "A: messages of every family", "sends of AF_PACKET go unseen at A",
	  NULL, false, probe_send_length },
	{ "inet-sock-set-state", "A: states of TCP", "states are seen in packets only", NULL, false,
	  probe_sock_state },
	{ "io-uring-complete", "A: refusals by io_uring", "refusals inside io_uring go unseen",
	  NULL, false, probe_uring },
	{ "kernel-symbols", "names of functions that drop", "a drop names its reason only",
	  "set kernel.kptr_restrict below 2", false, probe_symbols },
	{ "fentry", "nothing (a bonus)", "none: tracepoints are used", NULL, false, probe_fentry },
	{ "lsm", "nothing (a bonus)", "none: it would only enforce", NULL, false, probe_lsm },
	{ "user-namespaces", "targets that run without root", "such targets are not tested",
	  "set kernel.unprivileged_userns_clone=1, or user.max_user_namespaces above 0", false,
	  probe_userns },
	{ "ipv6", "probes over IPv6", "those probes are inconclusive",
	  "boot without ipv6.disable=1", false, probe_ipv6 },
};
_Static_assert(ARRAY_SIZE(features) <= FEATURES_MAX, "features_probe()'s result");

static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
	printf_like(2, 0);
static int say_nothing(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level;
	(void)fmt;
	(void)ap;
	return 0;
}

int features_probe(struct feature_result ret[FEATURES_MAX])
{
	libbpf_print_fn_t said = libbpf_set_print(say_nothing);

	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		struct feature_result *r = &ret[i];

		r->feature = &features[i];
		r->error = features[i].probe();
		(void)str_copy(r->detail, sizeof(r->detail), r->error ? strerror(-r->error) : "ok");
	}
	(void)libbpf_set_print(said);
	return ARRAY_SIZE(features);
}

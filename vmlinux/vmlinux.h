/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own types, as far as we read them: fields by name only. Offsets and sizes here mean
 * nothing; CO-RE finds the real ones in the BTF of the running kernel (README.md beside this file).
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <stdbool.h>

#include <linux/types.h>
#include <linux/bpf.h>

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#endif

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
	__u64 net_cookie;
};

struct mnt_namespace {
	struct ns_common ns;
};

struct pid_namespace {
	struct ns_common ns;
};

struct user_namespace {
	struct ns_common ns;
};

struct uts_namespace {
	struct ns_common ns;
};

struct ipc_namespace {
	struct ns_common ns;
};

struct cgroup_namespace {
	struct ns_common ns;
};

struct nsproxy {
	struct uts_namespace *uts_ns;
	struct ipc_namespace *ipc_ns;
	struct mnt_namespace *mnt_ns;
	struct net *net_ns;
	struct cgroup_namespace *cgroup_ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct snt_kid { /* kuid_t and kgid_t are anonymous: only the path to .val counts */
	__u32 val;
};

struct snt_kcap { /* kernel_cap_t: two words until 6.2, one since; 8 bytes from its start always */
	__u64 val;
};

struct cred {
	struct snt_kid euid, egid;
	struct snt_kcap cap_permitted, cap_effective;
	struct user_namespace *user_ns;
};

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
};

struct file {
	struct inode *f_inode;
};

struct mm_struct {
	unsigned long arg_start, arg_end, env_start, env_end;
	struct file *exe_file;
};

struct snt_atomic {
	int counter;
};

struct signal_struct {
	struct snt_atomic live;
	int group_exit_code;
};

struct seccomp {
	int mode;
};

struct thread_info {
	unsigned long flags;
	__u32 status; /* x86 only */
};

struct task_struct {
	struct thread_info thread_info;
	struct mm_struct *mm;
	int exit_code;
	int pid, tgid;
	unsigned long atomic_flags;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	__u64 start_time;
	const struct cred *cred;
	char comm[16];
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct seccomp seccomp;
};

struct snt_possible_net { /* possible_net_t */
	struct net *net;
};

struct snt_in6 { /* struct in6_addr: always read whole */
	__u8 bytes[16];
};

struct snt_atomic64 {
	__u64 counter;
};

struct sock_common {
	__be32 skc_daddr, skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	struct snt_possible_net skc_net;
	struct snt_in6 skc_v6_daddr, skc_v6_rcv_saddr;
	struct snt_atomic64 skc_cookie; /* 0 until somebody asked for it: sock_create does */
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol, sk_type;
};

struct net_device {
	int ifindex;
	struct snt_possible_net nd_net;
};

struct sk_buff {
	struct net_device *dev;
	struct sock *sk;
	unsigned int len;
	__be16 protocol;
	__u16 network_header;
	__u32 tail; /* an offset from head on every 64-bit kernel */
	unsigned char *head;
	unsigned char *data;
};

/* What a cgroup program's context really points to; the verifier shows it as the user's struct of
 * almost the same name. */
struct bpf_sock_addr_kern {
	void *uaddr;
	__u32 uaddrlen; /* since 6.7 */
};

struct bpf_sockopt_kern {
	struct sock *sk;
};

struct io_uring_cqe {
	__s32 res;
};

struct io_kiocb {
	__u8 opcode;
};

/* Saved registers of a system call. */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long bp, bx, r10, r9, r8, cx, dx, si, di, orig_ax;
};
#elif defined(__TARGET_ARCH_arm64)
struct pt_regs {
	__u64 regs[31];
	__u64 orig_x0;
	__s32 syscallno;
};
#endif

#ifndef BPF_NO_PRESERVE_ACCESS_INDEX
#pragma clang attribute pop
#endif

#endif

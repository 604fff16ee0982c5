/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A system call as one thing, whichever entry it came by: 64-bit, 32-bit (int 0x80, SYSENTER,
 * AArch32), or x32. A filter that knows only one of them is a classic way out of a sandbox.
 */
#ifndef SNT_SYSCALL_ENTRY_BPF_H
#define SNT_SYSCALL_ENTRY_BPF_H

#include "bpf/syscall_arch.bpf.h"

#include <bpf/bpf_helpers.h>

struct syscall {
	__u32 nr;    /* of the 64-bit call that does the same; NR_NONE: none that we watch */
	__u32 flags; /* SNT_F_COMPAT: its structures have 32-bit pointers; SNT_F_PARTIAL */
	__u64 a[6];
};

/* Arguments of socketcall(): their number depends on the call, and what lies behind the last one
 * may be another page. */
static __always_inline __u32 socketcall_bytes(__u32 call)
{
	switch (call) {
	case SYS_SENDTO:
		return 6 * sizeof(__u32);
	case SYS_SEND:
	case SYS_SENDMMSG:
		return 4 * sizeof(__u32);
	default:
		return 3 * sizeof(__u32);
	}
}

static __always_inline void syscall_socketcall(struct syscall *s)
{
	__u32 call = s->a[0], v[6] = {};

	s->nr = syscall_nr_of_socketcall(call);
	if (bpf_probe_read_user(v, socketcall_bytes(call), (void *)s->a[1]))
		s->flags |= SNT_F_PARTIAL;
	for (int i = 0; i < 6; i++)
		s->a[i] = v[i];
	if (call == SYS_SEND)
		s->a[4] = s->a[5] = 0;
}

#define AT_FDCWD ((__u64)-100) /* include/uapi/linux/fcntl.h */

/* open() and openat2() as openat(): folder, path, flags. The flags of openat2() are the first
 * member of its struct open_how. */
static __always_inline void syscall_open(struct syscall *s)
{
	__u64 flags = 0;

	if (s->nr == NR_OPEN) {
		s->a[2] = s->a[1];
		s->a[1] = s->a[0];
		s->a[0] = AT_FDCWD;
	} else if (s->nr == NR_OPENAT2) {
		if (bpf_probe_read_user(&flags, sizeof(flags), (void *)s->a[2]))
			s->flags |= SNT_F_PARTIAL;
		s->a[2] = flags;
	} else {
		return;
	}
	s->nr = NR_OPENAT;
}

static __always_inline void syscall_read(struct syscall *s, struct task_struct *task,
					 struct pt_regs *regs, __u32 nr)
{
	s->flags = 0;
	if (!syscall_is_32bit(task)) {
		syscall_args(s->a, regs);
		s->nr = syscall_nr_of_64(nr);
		if (nr & NR_X32_BIT)
			s->flags = SNT_F_COMPAT;
	} else {
		syscall_args32(s->a, regs);
		s->flags = SNT_F_COMPAT;
		s->nr = syscall_nr_of_32(nr);
		if (nr == NR32_SOCKETCALL)
			syscall_socketcall(s);
	}
	syscall_open(s);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * System calls of the architectures that we know: numbers, saved arguments, and whether a call came
 * by the 32-bit entry, whose numbers mean something else.
 * arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h
 */
#ifndef SNT_SYSCALL_ARCH_BPF_H
#define SNT_SYSCALL_ARCH_BPF_H

#include "bpf/events.h"

#include <bpf/bpf_core_read.h>

#if defined(__TARGET_ARCH_x86)
#define NR_WRITE 1
#define NR_WRITEV 20
#define NR_SENDFILE 40
#define NR_SOCKET 41
#define NR_CONNECT 42
#define NR_SENDTO 44
#define NR_SENDMSG 46
#define NR_SPLICE 275
#define NR_SENDMMSG 307
#elif defined(__TARGET_ARCH_arm64)
#define NR_WRITE 64
#define NR_WRITEV 66
#define NR_SENDFILE 71
#define NR_SPLICE 76
#define NR_SOCKET 198
#define NR_CONNECT 203
#define NR_SENDTO 206
#define NR_SENDMSG 211
#define NR_SENDMMSG 269
#else
#error "system call numbers of this architecture are not known"
#endif
#define NR_IO_URING_ENTER 426 /* the same everywhere */

struct syscall_args {
	__u64 a[6];
};

#if defined(__TARGET_ARCH_x86)

#define TS_COMPAT 0x0002 /* arch/x86/include/asm/thread_info.h */

static __always_inline bool syscall_is_32bit(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

static __always_inline __u32 syscall_nr(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, orig_ax);
}

static __always_inline void syscall_args(struct syscall_args *s, struct pt_regs *regs)
{
	s->a[0] = BPF_CORE_READ(regs, di);
	s->a[1] = BPF_CORE_READ(regs, si);
	s->a[2] = BPF_CORE_READ(regs, dx);
	s->a[3] = BPF_CORE_READ(regs, r10);
	s->a[4] = BPF_CORE_READ(regs, r8);
	s->a[5] = BPF_CORE_READ(regs, r9);
}

#else

#define TIF_32BIT 22 /* arch/arm64/include/asm/thread_info.h */

static __always_inline bool syscall_is_32bit(struct task_struct *task)
{
	return BPF_CORE_READ(task, thread_info.flags) >> TIF_32BIT & 1;
}

static __always_inline __u32 syscall_nr(struct pt_regs *regs)
{
	return BPF_CORE_READ(regs, syscallno);
}

/* The result has taken the place of the first argument. */
static __always_inline void syscall_args(struct syscall_args *s, struct pt_regs *regs)
{
	s->a[0] = BPF_CORE_READ(regs, orig_x0);
	for (int i = 1; i < 6; i++)
		bpf_core_read(&s->a[i], sizeof(s->a[i]), &regs->regs[i]);
}

#endif

static __always_inline bool syscall_is_watched(__u32 nr)
{
	switch (nr) {
	case NR_WRITE:
	case NR_WRITEV:
	case NR_SENDFILE:
	case NR_SOCKET:
	case NR_CONNECT:
	case NR_SENDTO:
	case NR_SENDMSG:
	case NR_SENDMMSG:
	case NR_SPLICE:
	case NR_IO_URING_ENTER:
		return true;
	default:
		return false;
	}
}

#endif

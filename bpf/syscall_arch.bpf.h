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
#define NR_OPEN 2
#define NR_WRITEV 20
#define NR_SENDFILE 40
#define NR_SOCKET 41
#define NR_CONNECT 42
#define NR_SENDTO 44
#define NR_SENDMSG 46
#define NR_OPENAT 257
#define NR_SPLICE 275
#define NR_SENDMMSG 307
#elif defined(__TARGET_ARCH_arm64)
#define NR_OPEN 0xfffffffe /* 32-bit programs only; for our own use */
#define NR_OPENAT 56
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
#define NR_IO_URING_SETUP 425 /* from here on the same everywhere */
#define NR_IO_URING_ENTER 426
#define NR_OPENAT2 437

/* Numbers of the 32-bit entry: arch/x86/entry/syscalls/syscall_32.tbl, arch/arm64/tools/
 * syscall_32.tbl. All sends and connects of old x86 programs come by socketcall(), whose first
 * argument says which (include/uapi/linux/net.h). */
#define NR32_WRITE 4
#define NR32_OPEN 5
#define NR32_SOCKETCALL 102
#define NR32_WRITEV 146
#define NR32_SENDFILE 187
#define NR32_SENDFILE64 239
#if defined(__TARGET_ARCH_x86)
#define NR32_OPENAT 295
#define NR32_SPLICE 313
#define NR32_SENDMMSG 345
#define NR32_SOCKET 359
#define NR32_CONNECT 362
#define NR32_SENDTO 369
#define NR32_SENDMSG 370
#else
#define NR32_SOCKET 281
#define NR32_CONNECT 283
#define NR32_SENDTO 290
#define NR32_SENDMSG 296
#define NR32_OPENAT 322
#define NR32_SPLICE 340
#define NR32_SENDMMSG 374
#endif

#define SYS_SOCKET 1
#define SYS_CONNECT 3
#define SYS_SEND 9
#define SYS_SENDTO 11
#define SYS_SENDMSG 16
#define SYS_SENDMMSG 20

/* x32: 64-bit registers and 32-bit pointers, by the 64-bit entry. Most numbers are those of 64-bit
 * calls with this bit; where a structure has pointers they are of their own. */
#define NR_X32_BIT 0x40000000
#define NR_X32_WRITEV 516
#define NR_X32_SENDMSG 518
#define NR_X32_SENDMMSG 538

#define NR_NONE 0xffffffff /* none that we watch */

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

static __always_inline void syscall_args(__u64 a[6], struct pt_regs *regs)
{
	a[0] = BPF_CORE_READ(regs, di);
	a[1] = BPF_CORE_READ(regs, si);
	a[2] = BPF_CORE_READ(regs, dx);
	a[3] = BPF_CORE_READ(regs, r10);
	a[4] = BPF_CORE_READ(regs, r8);
	a[5] = BPF_CORE_READ(regs, r9);
}

static __always_inline void syscall_args32(__u64 a[6], struct pt_regs *regs)
{
	a[0] = (__u32)BPF_CORE_READ(regs, bx);
	a[1] = (__u32)BPF_CORE_READ(regs, cx);
	a[2] = (__u32)BPF_CORE_READ(regs, dx);
	a[3] = (__u32)BPF_CORE_READ(regs, si);
	a[4] = (__u32)BPF_CORE_READ(regs, di);
	a[5] = (__u32)BPF_CORE_READ(regs, bp);
}

static __always_inline __u32 syscall_nr_x32(__u32 nr)
{
	if (!(nr & NR_X32_BIT))
		return nr;
	switch (nr & ~NR_X32_BIT) {
	case NR_X32_WRITEV:
		return NR_WRITEV;
	case NR_X32_SENDMSG:
		return NR_SENDMSG;
	case NR_X32_SENDMMSG:
		return NR_SENDMMSG;
	default:
		return nr & ~NR_X32_BIT;
	}
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
static __always_inline void syscall_args(__u64 a[6], struct pt_regs *regs)
{
	a[0] = BPF_CORE_READ(regs, orig_x0);
	for (int i = 1; i < 6; i++)
		bpf_core_read(&a[i], sizeof(a[i]), &regs->regs[i]);
}

static __always_inline void syscall_args32(__u64 a[6], struct pt_regs *regs)
{
	syscall_args(a, regs);
	for (int i = 0; i < 6; i++)
		a[i] = (__u32)a[i];
}

static __always_inline __u32 syscall_nr_x32(__u32 nr)
{
	return nr;
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
	case NR_OPEN:
	case NR_OPENAT:
	case NR_OPENAT2:
	case NR_IO_URING_SETUP:
	case NR_IO_URING_ENTER:
		return true;
	default:
		return false;
	}
}

/* The 64-bit call that does the same as what came by the 64-bit entry, by the 32-bit entry, by
 * socketcall(); NR_NONE where we don't watch it. Functions of their own for the verifier, to which
 * each number that it can tell from the others is a path of its own to the end of the program. */
__noinline __u32 syscall_nr_of_64(__u32 nr)
{
	nr = syscall_nr_x32(nr);
	return syscall_is_watched(nr) ? nr : NR_NONE;
}

static __always_inline __u32 nr_of_32(__u32 nr)
{
	switch (nr) {
	case NR32_WRITE:
		return NR_WRITE;
	case NR32_WRITEV:
		return NR_WRITEV;
	case NR32_SENDFILE:
	case NR32_SENDFILE64:
		return NR_SENDFILE;
	case NR32_SPLICE:
		return NR_SPLICE;
	case NR32_SOCKET:
		return NR_SOCKET;
	case NR32_CONNECT:
		return NR_CONNECT;
	case NR32_SENDTO:
		return NR_SENDTO;
	case NR32_SENDMSG:
		return NR_SENDMSG;
	case NR32_SENDMMSG:
		return NR_SENDMMSG;
	case NR32_OPEN:
		return NR_OPEN;
	case NR32_OPENAT:
		return NR_OPENAT;
	case NR_OPENAT2:
	case NR_IO_URING_SETUP:
	case NR_IO_URING_ENTER:
		return nr;
	default:
		return NR_NONE;
	}
}

__noinline __u32 syscall_nr_of_32(__u32 nr)
{
	return nr_of_32(nr);
}

__noinline __u32 syscall_nr_of_socketcall(__u32 call)
{
	switch (call) {
	case SYS_SOCKET:
		return NR_SOCKET;
	case SYS_CONNECT:
		return NR_CONNECT;
	case SYS_SEND: /* sendto() to nobody */
	case SYS_SENDTO:
		return NR_SENDTO;
	case SYS_SENDMSG:
		return NR_SENDMSG;
	case SYS_SENDMMSG:
		return NR_SENDMMSG;
	default:
		return NR_NONE;
	}
}

/* By its number alone, whatever the entry: cheap, and true for some that are not watched. */
static __always_inline bool syscall_may_be_watched(__u32 nr)
{
	return syscall_is_watched(nr) || nr_of_32(nr) != NR_NONE || nr == NR32_SOCKETCALL ||
	       nr & NR_X32_BIT;
}

#endif

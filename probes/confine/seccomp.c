// SPDX-License-Identifier: Apache-2.0
#include "probes/confine/seccomp.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#else
#define OUR_ARCH 0
#endif

/* arch/x86: the bit of x32 calls, which come with the architecture of the 64-bit ones. Elsewhere no
 * number is as large. */
#define X32_BIT 0x40000000u

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Forward over so many instructions where it holds, and where it does not. */
#define IF_EQUAL(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define IF_BITS(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, k, yes, no)
#define ANSWER(k) BPF_STMT(BPF_RET | BPF_K, k)

int seccomp_no_unix(void)
{
	struct sock_filter code[] = {
		LOAD(arch),
		IF_EQUAL(OUR_ARCH, 0, 6),
		LOAD(nr),
		IF_BITS(X32_BIT, 4, 0),
		IF_EQUAL(SYS_socket, 0, 2),
		/* int domain: the kernel takes its lower half, which stands first (little endian)
		 */
		LOAD(args[0]),
		IF_EQUAL(AF_UNIX, 1, 0),
		ANSWER(SECCOMP_RET_ALLOW),
		ANSWER(SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = { .len = ARRAY_SIZE(code), .filter = code };

	if (!OUR_ARCH)
		return -EOPNOTSUPP;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0 ? -errno : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/decode/syscall_name.h"

#include <sys/syscall.h>

#include "user/base/util.h"

/* A ring is read on the machine that filled it, so the numbers are those of our own headers. */
static const struct {
	uint32_t nr;
	const char *name;
} names[] = {
	{ SYS_socket, "socket" },
	{ SYS_socketpair, "socketpair" },
	{ SYS_bind, "bind" },
	{ SYS_listen, "listen" },
	{ SYS_accept, "accept" },
	{ SYS_accept4, "accept4" },
	{ SYS_connect, "connect" },
	{ SYS_setsockopt, "setsockopt" },
	{ SYS_sendto, "sendto" },
	{ SYS_sendmsg, "sendmsg" },
	{ SYS_sendmmsg, "sendmmsg" },
	{ SYS_recvfrom, "recvfrom" },
	{ SYS_recvmsg, "recvmsg" },
	{ SYS_recvmmsg, "recvmmsg" },
	{ SYS_shutdown, "shutdown" },
	{ SYS_write, "write" },
	{ SYS_writev, "writev" },
	{ SYS_pwrite64, "pwrite64" },
	{ SYS_pwritev, "pwritev" },
	{ SYS_pwritev2, "pwritev2" },
	{ SYS_sendfile, "sendfile" },
	{ SYS_openat, "openat" },
	{ SYS_splice, "splice" },
	{ SYS_tee, "tee" },
	{ SYS_vmsplice, "vmsplice" },
	{ SYS_ioctl, "ioctl" },
	{ SYS_prctl, "prctl" },
	{ SYS_setns, "setns" },
	{ SYS_unshare, "unshare" },
	{ SYS_bpf, "bpf" },
#ifdef SYS_io_uring_setup
	{ SYS_io_uring_setup, "io_uring_setup" },
	{ SYS_io_uring_enter, "io_uring_enter" },
	{ SYS_io_uring_register, "io_uring_register" },
#endif
};

const char *syscall_name(uint32_t nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].nr == nr)
			return names[i].name;
	return "";
}

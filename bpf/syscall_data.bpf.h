/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a system call's arguments point to: the destination, and the first bytes of what it sends.
 */
#ifndef SNT_SYSCALL_DATA_BPF_H
#define SNT_SYSCALL_DATA_BPF_H

#include "bpf/addr.bpf.h"
#include "bpf/syscall_arch.bpf.h"

/* The layouts of the user's own structures, 64-bit (include/linux/socket.h, linux/uio.h). */
struct user_iovec {
	__u64 base, len;
};

struct user_msghdr {
	__u64 name;
	__u32 namelen, _pad;
	__u64 iov, iovlen;
};

struct user_sockaddr {
	__u16 family;
	__be16 port;
	__be32 v4_or_flow;
	__be32 v6[4];
};

#define SOCKADDR_IN_LEN 16  /* sizeof(struct sockaddr_in) */
#define SOCKADDR_IN6_LEN 24 /* sizeof(struct sockaddr_in6) without its scope */

static __always_inline void call_addr(struct snt_call *r, __u64 addr, __u64 len)
{
	struct user_sockaddr sa = {};
	__u64 want = len >= SOCKADDR_IN6_LEN ? SOCKADDR_IN6_LEN : SOCKADDR_IN_LEN;

	if (!addr || len < sizeof(sa.family))
		return;
	if (len <
	    SOCKADDR_IN_LEN) /* AF_UNIX with a short path, or nonsense: the family is enough */
		want = sizeof(sa.family);
	asm volatile("" : "+r"(want));
	if (want > sizeof(sa))
		want = sizeof(sa);
	if (bpf_probe_read_user(&sa, want, (void *)addr)) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	r->family = sa.family;
	if (sa.family == AF_INET && want >= SOCKADDR_IN_LEN)
		addr_v4(r->daddr, sa.v4_or_flow);
	else if (sa.family == AF_INET6 && want == SOCKADDR_IN6_LEN)
		addr_v6(r->daddr, sa.v6[0], sa.v6[1], sa.v6[2], sa.v6[3]);
	else
		return;
	r->dport = bpf_ntohs(sa.port);
}

static __always_inline void call_data(struct snt_call *r, __u64 base, __u64 len)
{
	__u64 n = len;

	r->data_len = len > 0xffffffff ? 0xffffffff : len;
	if (!base || !len)
		return;
	asm volatile("" : "+r"(n));
	if (n > SNT_CALL_DATA_MAX) {
		n = SNT_CALL_DATA_MAX;
		r->h.flags |= SNT_F_TRUNCATED;
	}
	if (bpf_probe_read_user(r->data, n, (void *)base))
		r->h.flags |= SNT_F_PARTIAL;
	else
		r->data_cap = n;
}

/* The first element of an I/O vector. */
static __always_inline void call_iov(struct snt_call *r, __u64 iov, __u64 n)
{
	struct user_iovec v;

	if (!iov || !n)
		return;
	if (bpf_probe_read_user(&v, sizeof(v), (void *)iov)) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	if (n > 1)
		r->h.flags |= SNT_F_TRUNCATED;
	call_data(r, v.base, v.len);
}

/* Of sendmsg, and the first one of sendmmsg, whose struct mmsghdr starts with it. */
static __always_inline void call_msghdr(struct snt_call *r, __u64 msg)
{
	struct user_msghdr m;

	if (bpf_probe_read_user(&m, sizeof(m), (void *)msg)) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	call_addr(r, m.name, m.namelen);
	call_iov(r, m.iov, m.iovlen);
}

static __always_inline void call_arguments(struct snt_call *r, __u32 nr,
					   const struct syscall_args *s)
{
	switch (nr) {
	case NR_SOCKET:
		r->family = s->a[0];
		break;
	case NR_CONNECT:
		call_addr(r, s->a[1], (__u32)s->a[2]);
		break;
	case NR_SENDTO:
		call_addr(r, s->a[4], (__u32)s->a[5]);
		call_data(r, s->a[1], s->a[2]);
		break;
	case NR_SENDMSG:
	case NR_SENDMMSG:
		call_msghdr(r, s->a[1]);
		break;
	case NR_WRITE:
		call_data(r, s->a[1], s->a[2]);
		break;
	case NR_WRITEV:
		call_iov(r, s->a[1], s->a[2]);
		break;
	}
}

#endif

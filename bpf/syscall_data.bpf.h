/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a system call's arguments point to: the destination, and the first bytes of what it sends.
 */
#ifndef SNT_SYSCALL_DATA_BPF_H
#define SNT_SYSCALL_DATA_BPF_H

#include "bpf/addr.bpf.h"
#include "bpf/syscall_entry.bpf.h"

/* The layouts of the user's own structures (include/linux/socket.h, linux/uio.h), and those of
 * 32-bit programs (include/linux/compat.h, net/compat.h). */
struct user_iovec {
	__u64 base, len;
};

struct user_iovec32 {
	__u32 base, len;
};

struct user_msghdr {
	__u64 name;
	__u32 namelen, _pad;
	__u64 iov, iovlen;
};

struct user_msghdr32 {
	__u32 name;
	__u32 namelen;
	__u32 iov, iovlen;
};

struct user_sockaddr {
	__u16 family;
	__be16 port;
	__be32 v4_or_flow;
	__be32 v6[4];
};

#define SOCKADDR_IN_LEN 16  /* sizeof(struct sockaddr_in) */
#define SOCKADDR_IN6_LEN 24 /* sizeof(struct sockaddr_in6) without its scope */

/* The name of an AF_UNIX address, which is len bytes long. */
static __always_inline void call_unix(struct snt_call *r, __u64 addr, __u64 len)
{
	__u64 n = len - SUN_PATH_OFFSET;

	asm volatile("" : "+r"(n));
	if (n > SNT_PATH_MAX) { /* the kernel refuses it */
		n = SNT_PATH_MAX;
		r->h.flags |= SNT_F_TRUNCATED;
	}
	if (bpf_probe_read_user(r->path, n, (void *)(addr + SUN_PATH_OFFSET)))
		r->h.flags |= SNT_F_PARTIAL;
	else
		r->path_len = n;
}

static __always_inline void call_addr(struct snt_call *r, __u64 addr, __u64 len)
{
	struct user_sockaddr sa = {};
	__u64 want = len >= SOCKADDR_IN6_LEN ? SOCKADDR_IN6_LEN : SOCKADDR_IN_LEN;

	if (!addr || len < sizeof(sa.family))
		return;
	if (len < SOCKADDR_IN_LEN) /* AF_UNIX with a short path, or nonsense */
		want = sizeof(sa.family);
	asm volatile("" : "+r"(want));
	if (want > sizeof(sa))
		want = sizeof(sa);
	if (bpf_probe_read_user(&sa, want, (void *)addr)) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	r->family = sa.family;
	if (sa.family == AF_UNIX)
		return call_unix(r, addr, len);
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

/* A path of a file. One that just fits and one that was cut look alike but for the next byte. */
static __always_inline void call_path(struct snt_call *r, __u64 path)
{
	long n = bpf_probe_read_user_str(r->data, sizeof(r->data), (void *)path);
	char next = 0;

	if (n <= 0) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	r->data_len = r->data_cap = n - 1;
	if (n < SNT_CALL_DATA_MAX)
		return;
	if (bpf_probe_read_user(&next, sizeof(next), (void *)(path + SNT_CALL_DATA_MAX - 1)) ||
	    next)
		r->h.flags |= SNT_F_TRUNCATED;
}

static __always_inline long read_iovec(struct user_iovec *v, __u64 from, bool compat)
{
	struct user_iovec32 v32;
	long err;

	if (!compat)
		return bpf_probe_read_user(v, sizeof(*v), (void *)from);
	err = bpf_probe_read_user(&v32, sizeof(v32), (void *)from);
	v->base = v32.base;
	v->len = v32.len;
	return err;
}

static __always_inline long read_msghdr(struct user_msghdr *m, __u64 from, bool compat)
{
	struct user_msghdr32 m32;
	long err;

	if (!compat)
		return bpf_probe_read_user(m, sizeof(*m), (void *)from);
	err = bpf_probe_read_user(&m32, sizeof(m32), (void *)from);
	m->name = m32.name;
	m->namelen = m32.namelen;
	m->iov = m32.iov;
	m->iovlen = m32.iovlen;
	return err;
}

/* The first element of an I/O vector. */
static __always_inline void call_iov(struct snt_call *r, __u64 iov, __u64 n, bool compat)
{
	struct user_iovec v;

	if (!iov || !n)
		return;
	if (read_iovec(&v, iov, compat)) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	if (n > 1)
		r->h.flags |= SNT_F_TRUNCATED;
	call_data(r, v.base, v.len);
}

/* Of sendmsg, and the first one of sendmmsg, whose struct mmsghdr starts with it. */
static __always_inline void call_msghdr(struct snt_call *r, __u64 msg, bool compat)
{
	struct user_msghdr m;

	if (read_msghdr(&m, msg, compat)) {
		r->h.flags |= SNT_F_PARTIAL;
		return;
	}
	call_addr(r, m.name, m.namelen);
	call_iov(r, m.iov, m.iovlen, compat);
}

static __always_inline void call_arguments(struct snt_call *r, const struct syscall *s)
{
	bool compat = s->flags & SNT_F_COMPAT;

	switch (s->nr) {
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
		call_msghdr(r, s->a[1], compat);
		break;
	case NR_WRITE:
		call_data(r, s->a[1], s->a[2]);
		break;
	case NR_WRITEV:
		call_iov(r, s->a[1], s->a[2], compat);
		break;
	case NR_OPENAT:
		call_path(r, s->a[1]);
		break;
	}
}

#endif

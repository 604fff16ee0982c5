/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses: 16 bytes, IPv4 as ::ffff:a.b.c.d. */
#ifndef SNT_ADDR_BPF_H
#define SNT_ADDR_BPF_H

#include "bpf/events.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* include/linux/socket.h: no header of the kernel's user API has them */
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10

#define SUN_PATH_OFFSET 2 /* offsetof(struct sockaddr_un, sun_path) */

static __always_inline void addr_v4(__u8 a[16], __be32 v4)
{
	__be32 *w = (__be32 *)a;

	w[0] = 0;
	w[1] = 0;
	w[2] = bpf_htonl(0xffff);
	w[3] = v4;
}

static __always_inline void addr_v6(__u8 a[16], __u32 w0, __u32 w1, __u32 w2, __u32 w3)
{
	__u32 *w = (__u32 *)a;

	w[0] = w0;
	w[1] = w1;
	w[2] = w2;
	w[3] = w3;
}

static __always_inline void addr_none(__u8 a[16])
{
	addr_v6(a, 0, 0, 0, 0);
}

struct addr_pair {
	__u8 *saddr, *daddr;
	__u32 sport, dport;
};

/* Both ends of an inet socket; zero for every other family. */
static __always_inline void addr_of_sock(struct addr_pair *p, const struct sock *sk, __u16 family)
{
	p->sport = p->dport = 0;
	addr_none(p->saddr);
	addr_none(p->daddr);
	if (family == AF_INET) {
		addr_v4(p->saddr, BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		addr_v4(p->daddr, BPF_CORE_READ(sk, __sk_common.skc_daddr));
	} else if (family == AF_INET6) {
		bpf_core_read(p->saddr, 16, &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_core_read(p->daddr, 16, &sk->__sk_common.skc_v6_daddr);
	} else {
		return;
	}
	p->sport = BPF_CORE_READ(sk, __sk_common.skc_num);
	p->dport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

#endif

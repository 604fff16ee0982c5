// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: a call named a destination.
 *
 * Hook:   cgroup/connect4, connect6, sendmsg4, sendmsg6, connect_unix and sendmsg_unix on the root
 *         of cgroup v2.
 * Why:    destination before NAT and before any route or rule, in the task that asked; TCP Fast
 *         Open and io_uring pass here too. The owner is written again: MPTCP and SMC subflows had
 *         no sock_create, and a socket may have been handed on. A UNIX socket is the way to a
 *         helper outside, and no other hook tells its name.
 * Blind:  connected UDP that writes, raw and ping sockets, AF_PACKET, SCTP and DCCP; what seccomp
 *         or Landlock refused before. An IPv4 destination on an IPv6 socket may come as sendmsg4.
 *         Of AF_UNIX: socketpair(), sockets that were passed in, the file behind a path.
 * Floor:  5.15; the UNIX pair 6.7, optional.
 * Cost:   40 ns per call of a stranger, 200 ns of our own.
 */
#include "bpf/addr.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/owner.bpf.h"
#include "bpf/refused.bpf.h"

/* A call: ours by its task, or by the socket that it uses. */
static __always_inline bool who_addr(struct who *w, struct bpf_sock_addr *ctx, struct snt_owner *o)
{
	return who_current(w, bpf_get_netns_cookie(ctx)) || owner_who(w, o);
}

/* The context has no member for a path. But it is the kernel's own struct that it points to, and
 * reading that needs no more than the tracing programs do: the kernel's copy of the address, whose
 * length says where an abstract name ends. */
static __always_inline void addr_path(struct snt_addr *r, struct bpf_sock_addr *ctx)
{
	struct bpf_sock_addr_kern *kern = (struct bpf_sock_addr_kern *)ctx;
	const char *addr = BPF_CORE_READ(kern, uaddr);
	__u64 n = BPF_CORE_READ(kern, uaddrlen);

	if (n <= SUN_PATH_OFFSET)
		return;
	n -= SUN_PATH_OFFSET;
	asm volatile("" : "+r"(n));
	if (n > SNT_PATH_MAX)
		n = SNT_PATH_MAX;
	if (bpf_probe_read_kernel(r->path, n, addr + SUN_PATH_OFFSET))
		r->h.flags |= SNT_F_PARTIAL;
	else
		r->path_len = n;
}

/* to: AF_INET, AF_INET6 or AF_UNIX, known at build time. */
static __always_inline void addr_dest(struct snt_addr *r, struct bpf_sock_addr *ctx, __u32 to)
{
	r->path_len = 0;
	__builtin_memset(r->path, 0, sizeof(r->path));
	if (to == AF_UNIX) {
		r->dport = 0;
		addr_none(r->daddr);
		addr_path(r, ctx);
		return;
	}
	r->dport = bpf_ntohs(ctx->user_port);
	if (to == AF_INET6)
		addr_v6(r->daddr, ctx->user_ip6[0], ctx->user_ip6[1], ctx->user_ip6[2],
			ctx->user_ip6[3]);
	else
		addr_v4(r->daddr, ctx->user_ip4);
}

static __always_inline void addr_emit(struct bpf_sock_addr *ctx, __u32 hook, const struct who *w,
				      __u32 to, struct snt_count *c)
{
	struct snt_addr *r = emit_begin(hook, SNT_EV_ADDR, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.flags = SNT_F_OWNER | others_refused();
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill_current(&r->task);
	r->cookie = bpf_get_socket_cookie(ctx);
	r->family = ctx->family;
	r->type = ctx->type;
	r->protocol = ctx->protocol;
	addr_dest(r, ctx, to);
	r->retval = 1;
	emit_end(hook, r);
	count_up(c->delivered);
}

static __always_inline void addr_call(struct bpf_sock_addr *ctx, __u32 hook, __u32 to)
{
	struct bpf_sock *sk = ctx->sk;
	struct snt_owner *o;
	struct snt_count *c;
	struct who w;

	if (!sk)
		return;
	o = bpf_sk_storage_get(&snt_owners, sk, NULL, 0);
	if (!who_addr(&w, ctx, o)) {
		count_filtered(hook);
		return;
	}
	c = count_seen(hook, w.slot);
	if (!c)
		return;
	if (!o)
		o = bpf_sk_storage_get(&snt_owners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!o) {
		count_up(c->map_full);
		return;
	}
	owner_renew(o, &w);
	addr_emit(ctx, hook, &w, to, c);
}

SEC("cgroup/connect4")
int snt_connect4(struct bpf_sock_addr *ctx)
{
	if (!gate_closed())
		addr_call(ctx, SNT_HOOK_CONNECT4, AF_INET);
	return 1;
}

SEC("cgroup/connect6")
int snt_connect6(struct bpf_sock_addr *ctx)
{
	if (!gate_closed())
		addr_call(ctx, SNT_HOOK_CONNECT6, AF_INET6);
	return 1;
}

SEC("cgroup/sendmsg4")
int snt_sendmsg4(struct bpf_sock_addr *ctx)
{
	if (!gate_closed())
		addr_call(ctx, SNT_HOOK_SENDMSG4, AF_INET);
	return 1;
}

SEC("cgroup/sendmsg6")
int snt_sendmsg6(struct bpf_sock_addr *ctx)
{
	if (!gate_closed())
		addr_call(ctx, SNT_HOOK_SENDMSG6, AF_INET6);
	return 1;
}

/* libbpf 1.1 knows no section of these two: user space sets the attach type by its number. */
SEC("?cgroup/connect4")
int snt_connect_un(struct bpf_sock_addr *ctx)
{
	if (!gate_closed())
		addr_call(ctx, SNT_HOOK_CONNECT_UNIX, AF_UNIX);
	return 1;
}

SEC("?cgroup/sendmsg4")
int snt_sendmsg_un(struct bpf_sock_addr *ctx)
{
	if (!gate_closed())
		addr_call(ctx, SNT_HOOK_SENDMSG_UNIX, AF_UNIX);
	return 1;
}

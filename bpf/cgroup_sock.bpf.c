// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: an inet socket was made or closed; the owner is written on it.
 *
 * Hook:   cgroup/sock_create and sock_release on the root of cgroup v2.
 * Why:    the one moment when the current task is surely the owner; what is kept here names the
 *         owner of each later packet, from softirq and after exit too.
 * Blind:  AF_PACKET, AF_UNIX, AF_XDP; sockets that the kernel makes (MPTCP and SMC subflows: see
 *         cgroup_addr.bpf.c); calls refused before the socket exists (see syscall.bpf.c).
 * Floor:  5.15 (socket storage here since 5.10).
 * Cost:   15 ns per socket and close of a stranger, 150 ns of our own.
 */
#include "bpf/emit.bpf.h"
#include "bpf/owner.bpf.h"
#include "bpf/refused.bpf.h"

static __always_inline void sock_emit(struct bpf_sock *sk, __u64 cookie, __u32 hook,
				      const struct who *w, __u32 flags, struct snt_count *c)
{
	struct snt_sock *r = emit_begin(hook, SNT_EV_SOCK, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.flags = flags;
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill_current(&r->task);
	r->cookie = cookie;
	r->family = sk->family;
	r->type = sk->type;
	r->protocol = sk->protocol;
	r->_pad = 0;
	emit_end(hook, r);
	count_up(c->delivered);
}

SEC("cgroup/sock_create")
int snt_sock_create(struct bpf_sock *sk)
{
	struct snt_owner *o;
	struct snt_count *c;
	struct who w;

	if (gate_closed())
		return 1;
	if (!who_current(&w, bpf_get_netns_cookie(sk))) {
		count_filtered(SNT_HOOK_SOCK_CREATE);
		return 1;
	}
	c = count_seen(SNT_HOOK_SOCK_CREATE, w.slot);
	if (!c)
		return 1;
	o = bpf_sk_storage_get(&snt_owners, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!o) {
		count_up(c->map_full);
		return 1;
	}
	owner_fill(o, &w);
	sock_emit(sk, bpf_get_socket_cookie(sk), SNT_HOOK_SOCK_CREATE, &w,
		  SNT_F_CREATED | SNT_F_OWNER | others_refused(), c);
	return 1;
}

SEC("cgroup/sock_release")
int snt_sock_close(struct bpf_sock *sk)
{
	struct snt_count *c;
	struct who w = {};

	if (gate_closed())
		return 1;
	if (!owner_who(&w, bpf_sk_storage_get(&snt_owners, sk, NULL, 0))) {
		count_filtered(SNT_HOOK_SOCK_RELEASE);
		return 1;
	}
	w.netns_cookie = bpf_get_netns_cookie(sk);
	c = count_seen(SNT_HOOK_SOCK_RELEASE, w.slot);
	if (c)
		sock_emit(sk, bpf_get_socket_cookie(sk), SNT_HOOK_SOCK_RELEASE, &w, SNT_F_OWNER, c);
	return 1;
}

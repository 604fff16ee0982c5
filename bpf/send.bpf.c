// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: a message was handed to a socket, of any family, with what came of it.
 *
 * Hook:   tp_btf sock_send_length.
 * Why:    after the security modules and before the return: every family, io_uring and sendfile
 *         too, in the sender's own context, with errno.
 * Blind:  what seccomp or a security module refused; a VSOCK or packet socket's destination; an
 *         AF_XDP ring driven by poll().
 * Floor:  6.3; optional. sys_exit shows the same for marked tasks.
 * Cost:   140 ns a message for everybody.
 */
#include "bpf/addr.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/owner.bpf.h"

static __always_inline void send_emit(struct sock *sk, int ret, const struct who *w,
				      const struct snt_owner *o, struct snt_count *c)
{
	struct snt_send *r = emit_begin(SNT_HOOK_SEND_LENGTH, SNT_EV_SEND, sizeof(*r));
	struct addr_pair a;

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.flags = o ? SNT_F_OWNER : SNT_F_FOREIGN;
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill_current(&r->task);
	r->cookie = bpf_get_socket_cookie(sk);
	r->family = BPF_CORE_READ(sk, __sk_common.skc_family);
	r->type = BPF_CORE_READ(sk, sk_type);
	r->protocol = BPF_CORE_READ(sk, sk_protocol);
	r->ret = ret;
	a.saddr = r->saddr;
	a.daddr = r->daddr;
	addr_of_sock(&a, sk, r->family);
	r->sport = a.sport;
	r->dport = a.dport;
	emit_end(SNT_HOOK_SEND_LENGTH, r);
	count_up(c->delivered);
}

SEC("?tp_btf/sock_send_length")
int snt_send_length(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int ret = ctx[1];
	struct snt_owner *o;
	struct snt_count *c;
	struct who w;

	if (gate_closed())
		return 0;
	o = bpf_sk_storage_get(&snt_owners, sk, NULL, 0);
	if (!who_current(&w, sock_netns_cookie(sk)) && !owner_who(&w, o)) {
		count_filtered(SNT_HOOK_SEND_LENGTH);
		return 0;
	}
	c = count_seen(SNT_HOOK_SEND_LENGTH, w.slot);
	if (c)
		send_emit(sk, ret, &w, o, c);
	return 0;
}

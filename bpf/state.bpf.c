// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: a TCP socket changed its state.
 *
 * Hook:   tp_btf inet_sock_set_state.
 * Why:    "SYN sent", "established", "reset" as the kernel knows them, whoever drove the socket.
 * Blind:  every protocol but TCP, SCTP and DCCP; TIME_WAIT and request sockets.
 * Floor:  5.15; optional.
 * Cost:   50 ns per change of state.
 */
#include "bpf/addr.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/owner.bpf.h"

static __always_inline void state_emit(struct sock *sk, int from, int to, const struct who *w,
				       const struct snt_owner *o, struct snt_count *c)
{
	struct snt_state *r = emit_begin(SNT_HOOK_SOCK_STATE, SNT_EV_STATE, sizeof(*r));
	struct addr_pair a;

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.flags = o ? SNT_F_OWNER : SNT_F_FOREIGN;
	r->h.cgroup_id = o ? o->cgroup_id : 0;
	owner_task(&r->owner, o);
	r->cookie = bpf_get_socket_cookie(sk);
	r->oldstate = from;
	r->newstate = to;
	a.saddr = r->saddr;
	a.daddr = r->daddr;
	addr_of_sock(&a, sk, BPF_CORE_READ(sk, __sk_common.skc_family));
	r->sport = a.sport;
	r->dport = a.dport;
	emit_end(SNT_HOOK_SOCK_STATE, r);
	count_up(c->delivered);
}

/* By the socket alone: timers and softirq change states in anybody's context. */
SEC("?tp_btf/inet_sock_set_state")
int snt_sock_state(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	int from = ctx[1], to = ctx[2];
	struct who w = {};
	struct snt_owner *o;
	struct snt_count *c;
	__u64 cookie;

	if (gate_closed())
		return 0;
	o = bpf_sk_storage_get(&snt_owners, sk, NULL, 0);
	cookie = sock_netns_cookie(sk);
	if (owner_who(&w, o))
		w.netns_cookie = cookie;
	else if (!who_by_netns(&w, cookie)) {
		count_filtered(SNT_HOOK_SOCK_STATE);
		return 0;
	}
	c = count_seen(SNT_HOOK_SOCK_STATE, w.slot);
	if (c)
		state_emit(sk, from, to, &w, o, c);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: a socket option was set.
 *
 * Hook:   cgroup/setsockopt on the root of cgroup v2.
 * Why:    the only cgroup hook that sees AF_PACKET and AF_XDP sockets: PACKET_QDISC_BYPASS and
 *         SOL_XDP are how a sender passes below the stack.
 * Blind:  options set through io_uring before 6.7; ioctl.
 * Floor:  5.15 (bpf_get_netns_cookie here since 5.14).
 * Cost:   the kernel copies the option's value for us, about 100 ns a call, for everybody.
 */
#include "bpf/emit.bpf.h"
#include "bpf/watch.bpf.h"

/* No helper gives a socket's cookie here, but the socket is there to read. Made by whoever asks
 * first: sock_create for inet sockets. */
static __always_inline __u64 opt_cookie(struct bpf_sockopt *ctx)
{
	struct bpf_sockopt_kern *kern = (struct bpf_sockopt_kern *)ctx;

	return BPF_CORE_READ(kern, sk, __sk_common.skc_cookie.counter);
}

static __always_inline void opt_emit(struct bpf_sockopt *ctx, const struct who *w,
				     struct snt_count *c)
{
	struct bpf_sock *sk = ctx->sk;
	struct snt_opt *r = emit_begin(SNT_HOOK_SETSOCKOPT, SNT_EV_OPT, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	who_fill(&r->h, w);
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill_current(&r->task);
	r->cookie = opt_cookie(ctx);
	r->level = ctx->level;
	r->optname = ctx->optname;
	r->family = sk ? sk->family : 0;
	r->_pad = 0;
	emit_end(SNT_HOOK_SETSOCKOPT, r);
	count_up(c->delivered);
}

static __always_inline void opt_set(struct bpf_sockopt *ctx)
{
	struct snt_count *c;
	struct who w;

	if (!who_current(&w, bpf_get_netns_cookie(ctx))) {
		count_filtered(SNT_HOOK_SETSOCKOPT);
		return;
	}
	c = count_seen(SNT_HOOK_SETSOCKOPT, w.slot);
	if (c)
		opt_emit(ctx, &w, c);
}

SEC("cgroup/setsockopt")
int snt_setsockopt(struct bpf_sockopt *ctx)
{
	if (!gate_closed())
		opt_set(ctx);
	/* "Use the caller's own value": without it a value of more than a page is refused. */
	ctx->optlen = 0;
	return 1;
}

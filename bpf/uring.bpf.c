// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A: a request of a marked task's io_uring completed.
 *
 * Hook:   tp_btf io_uring_complete.
 * Why:    a refusal of a request (Landlock, a route) is in the completion only: the system call
 *         itself succeeds.
 * Blind:  where a request went; completions that are posted in softirq or by another process.
 * Floor:  5.15; optional. Its arguments changed in 6.15: one program for each form, chosen by the
 *         kernel's BTF.
 * Cost:   20 ns per completion.
 */
#include "bpf/emit.bpf.h"
#include "bpf/watch.bpf.h"

/* A completion may belong to no request any more (include/trace/events/io_uring.h). */
static __always_inline void uring_request(struct snt_uring *r, struct io_kiocb *req)
{
	__u8 opcode = 0;

	if (bpf_core_read(&opcode, sizeof(opcode), &req->opcode))
		r->h.flags |= SNT_F_PARTIAL;
	r->opcode = opcode;
}

static __always_inline void uring_emit(struct io_kiocb *req, __s32 res, const struct snt_mark *m,
				       struct snt_count *c)
{
	struct snt_uring *r = emit_begin(SNT_HOOK_URING, SNT_EV_URING, sizeof(*r));

	if (!r) {
		count_up(c->ring_full);
		return;
	}
	r->h.slot = m->slot;
	r->h.mark = m->mark;
	r->h.netns_cookie = task_netns_cookie(task_current());
	r->h.cgroup_id = bpf_get_current_cgroup_id();
	task_fill_current(&r->task);
	r->res = res;
	uring_request(r, req);
	emit_end(SNT_HOOK_URING, r);
	count_up(c->delivered);
}

/* Workers and the kernel's submission thread belong to the thread group of their owner. */
static __always_inline void uring_done(struct io_kiocb *req, __s32 res)
{
	struct snt_mark *m = mark_of_current();
	struct snt_count *c;

	if (!m) {
		count_filtered(SNT_HOOK_URING);
		return;
	}
	c = count_seen(SNT_HOOK_URING, m->slot);
	if (c)
		uring_emit(req, res, m, c);
}

/* io_uring_complete(ring, request, cqe) */
SEC("?tp_btf/io_uring_complete")
int snt_uring(__u64 *ctx)
{
	struct io_uring_cqe *cqe = (struct io_uring_cqe *)ctx[2];

	if (!gate_closed())
		uring_done((struct io_kiocb *)ctx[1], BPF_CORE_READ(cqe, res));
	return 0;
}

/* io_uring_complete(ring, request, user_data, res, ...) */
SEC("?tp_btf/io_uring_complete")
int snt_uring_args(__u64 *ctx)
{
	if (!gate_closed())
		uring_done((struct io_kiocb *)ctx[1], ctx[3]);
	return 0;
}

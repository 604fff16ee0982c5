// SPDX-License-Identifier: Apache-2.0
/*
 * io_uring: requests that no system call shows, made by the kernel's own workers. Each is still the
 * trial's, and so are the sockets, addresses and packets of it.
 */
#include "tests/bpf/stage.h"

#include <linux/io_uring.h>
#include <sys/mman.h>

/* ---- the session's side ---- */

struct uring {
	int fd;
	struct io_uring_sqe *sqe; /* one */
	struct io_uring_cqe *cqes;
	uint32_t *sq_tail, *cq_tail, *cq_mask;
	uint32_t submitted;
};

/* 0, or the act's answer. */
static int ring_open(struct uring *r)
{
	const int rw = PROT_READ | PROT_WRITE;
	struct io_uring_params p = { 0 };
	uint8_t *sq, *cq;

	r->fd = (int)syscall(SYS_io_uring_setup, 1, &p);
	if (r->fd < 0)
		return 77;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(uint32_t), rw, MAP_SHARED, r->fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * sizeof(*r->cqes), rw, MAP_SHARED, r->fd,
		  IORING_OFF_CQ_RING);
	r->sqe = mmap(NULL, sizeof(*r->sqe), rw, MAP_SHARED, r->fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || r->sqe == MAP_FAILED)
		return 50;
	*(uint32_t *)(void *)(sq + p.sq_off.array) = 0;
	r->sq_tail = (uint32_t *)(void *)(sq + p.sq_off.tail);
	r->cq_tail = (uint32_t *)(void *)(cq + p.cq_off.tail);
	r->cq_mask = (uint32_t *)(void *)(cq + p.cq_off.ring_mask);
	r->cqes = (void *)(cq + p.cq_off.cqes);
	r->submitted = 0;
	return 0;
}

/* One request, to its end: its result. */
static int ring_do(struct uring *r, struct io_uring_sqe sqe)
{
	uint32_t n = ++r->submitted;

	*r->sqe = sqe;
	__atomic_store_n(r->sq_tail, n, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		_exit(51);
	while (__atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) < n)
		if (syscall(SYS_io_uring_enter, r->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
			_exit(52);
	return r->cqes[(n - 1) & *r->cq_mask].res;
}

static int do_nop(void)
{
	struct uring r;
	int err = ring_open(&r);

	return err ? err : ring_do(&r, (struct io_uring_sqe){ .opcode = IORING_OP_NOP });
}

/* To a port where nobody listens: at the caller's hands, and at a worker's. */
static int do_connect(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	struct io_uring_sqe sqe = { .opcode = IORING_OP_CONNECT,
				    .addr = (uintptr_t)&a,
				    .off = sizeof(a) };
	struct uring r;
	int err = ring_open(&r);

	if (err)
		return err;
	sqe.fd = socket(AF_INET, SOCK_STREAM, 0);
	if (sqe.fd < 0 || ring_do(&r, sqe) != -ECONNREFUSED)
		return 1;
	sqe.fd = socket(AF_INET, SOCK_STREAM, 0);
	sqe.flags = IOSQE_ASYNC;
	return sqe.fd < 0 || ring_do(&r, sqe) != -ECONNREFUSED;
}

static int do_send(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	struct iovec io = { .iov_base = (void *)(uintptr_t)TOKEN, .iov_len = strlen(TOKEN) };
	struct msghdr msg = {
		.msg_name = &a, .msg_namelen = sizeof(a), .msg_iov = &io, .msg_iovlen = 1
	};
	struct io_uring_sqe sqe = { .opcode = IORING_OP_SENDMSG,
				    .flags = IOSQE_ASYNC,
				    .addr = (uintptr_t)&msg };
	struct uring r;
	int err = ring_open(&r);

	sqe.fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (err || sqe.fd < 0)
		return err ? err : 1;
	return ring_do(&r, sqe) != (int)strlen(TOKEN);
}

static int do_refused(void)
{
	struct io_uring_params p = { 0 };

	return syscall(SYS_io_uring_setup, 1, &p) >= 0 || errno != EPERM;
}

/* ---- the tests ---- */

#define NR_SETUP ((uint32_t)SYS_io_uring_setup)
#define NR_ENTER ((uint32_t)SYS_io_uring_enter)

/* The next completion, which must be this one. */
static const struct snt_uring *check_done(const struct snt_uring *after, uint32_t opcode,
					  int32_t res)
{
	const struct snt_uring *u = next_of(after, SNT_HOOK_URING, SNT_EV_URING);

	assert_non_null(u);
	assert_ours(&u->h);
	assert_int_equal(0, u->h.flags);
	assert_int_equal(stage.lane.cookie[NS_BOX], u->h.netns_cookie);
	assert_int_equal(opcode, u->opcode);
	assert_int_equal(res, u->res);
	return u;
}

static void test_nop(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("nop", IN_CGROUP);
	c = call_of(NR_SETUP);
	assert_non_null(c);
	check_call(c, NR_SETUP, c->ret, 0);
	assert_true(c->ret > 0);
	check_call(call_of(NR_ENTER), NR_ENTER, 1, 0);
	(void)check_done(NULL, IORING_OP_NOP, 0);
}

/* A sandbox without io_uring: the attempt is the refused call. */
static void test_refused(void **state)
{
	(void)state;
	(void)play("refused", IN_CGROUP | NO_URING);
	check_call(call_of(NR_SETUP), NR_SETUP, -EPERM, SNT_F_NO_ENTER);
	assert_null(next_of(NULL, SNT_HOOK_URING, SNT_EV_URING));
}

static void test_connect(void **state)
{
	const struct snt_addr *a = NULL;
	const struct snt_uring *u;
	pid_t pid;

	(void)state;
	pid = play("connect", IN_CGROUP);
	for (int i = 0; i < 2; i++) {
		a = next_of(a, SNT_HOOK_CONNECT4, SNT_EV_ADDR);
		assert_non_null(a);
		assert_ours(&a->h);
		assert_int_equal(pid, a->task.tgid);
		assert_int_equal(i == 0, a->task.tid == (uint32_t)pid); /* then a worker */
		assert_int_equal(stage.trial_id, a->h.cgroup_id);
		assert_int_equal(stage.lane.cookie[NS_BOX], a->h.netns_cookie);
		assert_int_equal(PORT, a->dport);
		assert_v4(a->daddr, LANE_WORLD_ADDR);
	}
	u = check_done(NULL, IORING_OP_CONNECT, -ECONNREFUSED);
	u = check_done(u, IORING_OP_CONNECT, -ECONNREFUSED);
	assert_int_equal(pid, u->task.tgid);
	assert_null(call_of(NR_CONNECT)); /* which is the point of it */
}

static void test_send(void **state)
{
	const struct snt_addr *a;
	pid_t pid;

	(void)state;
	pid = play("send", IN_CGROUP);
	a = first_of(SNT_HOOK_SENDMSG4, SNT_EV_ADDR);
	assert_ours(&a->h);
	assert_int_equal(pid, a->task.tgid);
	assert_int_equal(PORT, a->dport);
	assert_ours(&token_at(SNT_HOOK_BOUNDARY)->h);
	(void)token_at(SNT_HOOK_WORLD);
	(void)check_done(NULL, IORING_OP_SENDMSG, (int32_t)strlen(TOKEN));
	assert_null(call_of(NR_SENDMSG));
}

static const struct stage_act acts[] = {
	{ "nop", do_nop },
	{ "connect", do_connect },
	{ "send", do_send },
	{ "refused", do_refused },
};

static int tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_nop),	    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_connect),	    cmocka_unit_test(test_send),
		cmocka_unit_test(stage_test_count),
	};

	return cmocka_run_group_tests(list, stage_set_up, stage_tear_down);
}

int main(int argc, char **argv)
{
	return stage_main(argc, argv, acts, ARRAY_SIZE(acts), tests);
}

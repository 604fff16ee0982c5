// SPDX-License-Identifier: Apache-2.0
#include "probes/uring.h"

#include <linux/time_types.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* a request and its timeout */
#define ENTRIES 2
/* user_data: which of the two a completion is of */
#define OF_REQUEST 1
#define OF_TIMEOUT 2

int uring_open(struct uring *u)
{
	memset(u, 0, sizeof(*u));
	u->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &u->p);
	if (u->fd < 0)
		return -errno;
	if (!(u->p.features & IORING_FEAT_SINGLE_MMAP)) {
		(void)close(u->fd);
		return -EOPNOTSUPP;
	}
	u->rings_len = MAX(u->p.sq_off.array + u->p.sq_entries * sizeof(uint32_t),
			   u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe));
	u->sqes_len = u->p.sq_entries * sizeof(struct io_uring_sqe);
	u->rings = mmap(NULL, u->rings_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			u->fd, IORING_OFF_SQ_RING);
	u->sqes = mmap(NULL, u->sqes_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd,
		       IORING_OFF_SQES);
	if (u->rings == MAP_FAILED || u->sqes == MAP_FAILED) {
		int err = -errno;

		uring_close(u);
		return err;
	}
	return 0;
}

void uring_close(struct uring *u)
{
	if (u->rings != MAP_FAILED)
		(void)munmap(u->rings, u->rings_len);
	if (u->sqes != MAP_FAILED)
		(void)munmap(u->sqes, u->sqes_len);
	(void)close(u->fd);
}

static uint32_t *ring_word(const struct uring *u, uint32_t off)
{
	return (uint32_t *)(void *)(u->rings + off);
}

static void put_sqe(struct uring *u, const struct io_uring_sqe *sqe)
{
	uint32_t *tail = ring_word(u, u->p.sq_off.tail);
	uint32_t i = *tail & *ring_word(u, u->p.sq_off.ring_mask);

	u->sqes[i] = *sqe;
	ring_word(u, u->p.sq_off.array)[i] = i;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* Takes what has completed; the request's result into *ret. How many there were. */
static uint32_t take_completions(struct uring *u, int *ret)
{
	const struct io_uring_cqe *cqes = (const void *)(u->rings + u->p.cq_off.cqes);
	uint32_t *head = ring_word(u, u->p.cq_off.head),
		 mask = *ring_word(u, u->p.cq_off.ring_mask);
	uint32_t tail = __atomic_load_n(ring_word(u, u->p.cq_off.tail), __ATOMIC_ACQUIRE);
	uint32_t at = *head, n = tail - at;

	for (; at != tail; at++)
		if (cqes[at & mask].user_data == OF_REQUEST)
			*ret = cqes[at & mask].res;
	__atomic_store_n(head, at, __ATOMIC_RELEASE);
	return n;
}

int uring_do(struct uring *u, const struct io_uring_sqe *request, uint64_t deadline_ns)
{
	struct __kernel_timespec until = { .tv_sec = (int64_t)(deadline_ns / NSEC_PER_SEC),
					   .tv_nsec = (long long)(deadline_ns % NSEC_PER_SEC) };
	struct io_uring_sqe sqe = *request, timeout = { .opcode = IORING_OP_LINK_TIMEOUT,
							.fd = -1,
							.addr = (uintptr_t)&until,
							.len = 1,
							.timeout_flags = IORING_TIMEOUT_ABS,
							.user_data = OF_TIMEOUT };
	uint32_t to_submit = 2, done = 0;
	int res = -ECANCELED;

	sqe.flags |= IOSQE_IO_LINK;
	sqe.user_data = OF_REQUEST;
	put_sqe(u, &sqe);
	put_sqe(u, &timeout);
	while (done < 2) {
		long n = syscall(SYS_io_uring_enter, u->fd, to_submit, 2 - done,
				 IORING_ENTER_GETEVENTS, NULL, 0);

		if (n < 0 && errno != EINTR)
			return -errno;
		to_submit -= n > 0 ? (uint32_t)n : 0;
		done += take_completions(u, &res);
	}
	return res == -ECANCELED ? -ETIMEDOUT : res;
}

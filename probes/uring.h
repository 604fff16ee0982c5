/* SPDX-License-Identifier: Apache-2.0 */
/* One request at a time through io_uring, by its raw system calls: a sandbox's libc has no say. */
#ifndef SENTINEL_PROBES_URING_H
#define SENTINEL_PROBES_URING_H

#include <linux/io_uring.h>

#include "user/base/util.h"

struct uring {
	int fd;
	uint8_t *rings; /* both, in one mapping (IORING_FEAT_SINGLE_MMAP, Linux 5.4) */
	size_t rings_len;
	struct io_uring_sqe *sqes;
	size_t sqes_len;
	struct io_uring_params p;
};

/* 0 or -errno: -EPERM and -ENOSYS where there is none to be had. Undone by uring_close() only after
 * success. */
int uring_open(struct uring *u) must_check;
void uring_close(struct uring *u);

/*
 * Makes the request and waits for its end, which the kernel brings about at the deadline
 * (CLOCK_MONOTONIC) by a linked timeout. Its result (>= 0), -ETIMEDOUT, or -errno. What the request
 * points to is not used after this returns.
 */
int uring_do(struct uring *u, const struct io_uring_sqe *request, uint64_t deadline_ns) must_check;

#endif

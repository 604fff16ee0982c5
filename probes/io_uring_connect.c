// SPDX-License-Identifier: Apache-2.0
/*
 * io-uring-connect: a TCP connection without any call that makes one. Socket, connect, send and
 * recv are requests in a ring; a monitor or a seccomp filter of system calls sees io_uring_enter()
 * alone.
 *
 * Decisive step: the request to connect to the address and port of the trial, or io_uring_setup()
 * where that is refused.
 */
#include "probes/stream.h"
#include "probes/uring.h"

/* IORING_OP_SOCKET is there since Linux 5.19; before, the socket comes from the call. */
static int make_socket(const struct probe_attempt *a, struct uring *u)
{
	const int family = (int)a->manifest->p.family, type = SOCK_STREAM | SOCK_CLOEXEC;
	struct io_uring_sqe q = { .opcode = IORING_OP_SOCKET, .fd = family, .off = (uint64_t)type };
	int fd = uring_do(u, &q, a->deadline_ns);

	if (fd == -EINVAL)
		fd = socket(family, type, 0);
	else if (fd < 0)
		errno = -fd;
	return fd < 0 ? -errno : fd;
}

static int connect_and_send(const struct probe_attempt *a, struct uring *u, int fd)
{
	char text[ATTEMPT_TEXT_MAX];
	size_t len = attempt_token_text(a, text);
	struct sockaddr_storage to;
	struct io_uring_sqe dial = { .opcode = IORING_OP_CONNECT,
				     .fd = fd,
				     .off = attempt_destination(a, &to),
				     .addr = (uintptr_t)&to };
	/* far below any send buffer of a fresh connection, so that it goes whole or fails */
	struct io_uring_sqe say = { .opcode = IORING_OP_SEND,
				    .fd = fd,
				    .addr = (uintptr_t)text,
				    .len = (uint32_t)len,
				    .msg_flags = MSG_NOSIGNAL };
	int res = uring_do(u, &dial, a->deadline_ns);

	if (res < 0)
		return res;
	res = uring_do(u, &say, a->deadline_ns);
	if (res < 0)
		return res;
	return (size_t)res == len ? 0 : -EMSGSIZE;
}

static void await_answer(const struct probe_attempt *a, struct uring *u, int fd,
			 struct probe_outcome *ret)
{
	char text[1024];
	size_t len = 0;

	outcome_word(ret, "sent");
	while (len < sizeof(text)) {
		struct io_uring_sqe hear = { .opcode = IORING_OP_RECV,
					     .fd = fd,
					     .addr = (uintptr_t)(text + len),
					     .len = (uint32_t)(sizeof(text) - len) };
		int n = uring_do(u, &hear, a->deadline_ns);

		if (n < 0 && n != -ETIMEDOUT)
			outcome_errno(ret, -n);
		if (n <= 0)
			return;
		len += (size_t)n;
		if (outcome_answer_text(ret, text, len))
			return;
	}
}

static void attempt_by(const struct probe_attempt *a, struct uring *u, struct probe_outcome *ret)
{
	int err, made = make_socket(a, u);
	cleanup_fd int fd = made;

	err = made < 0 ? made : connect_and_send(a, u, fd);
	if (err < 0)
		stream_outcome(ret, err);
	else
		await_answer(a, u, fd, ret);
}

void probe_io_uring_connect(const struct probe_attempt *a, struct probe_outcome *ret)
{
	struct uring u;
	int err = uring_open(&u);

	if (err) {
		outcome_errno(ret, -err);
		return;
	}
	attempt_by(a, &u, ret);
	uring_close(&u);
}

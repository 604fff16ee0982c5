// SPDX-License-Identifier: Apache-2.0
/*
 * tcp-connect, tcp6-connect: one TCP connection; the token is its first and only line.
 *
 * Decisive step: connect() to the address and port of the trial. While nothing answers or refuses,
 * the socket stays until the deadline, so that the kernel sends SYN and data again by its own
 * clock. The first answer or error ends the attempt and closes it.
 */
#include "probes/attempt.h"

#include <netinet/in.h>
#include <poll.h>

/* 1 connected, 0 the deadline passed, -errno. */
static int connect_until(const struct probe_attempt *a, int fd)
{
	struct sockaddr_storage to;
	socklen_t len = attempt_destination(a, &to);
	int ready, err = 0;

	if (connect(fd, (struct sockaddr *)&to, len) == 0)
		return 1;
	if (errno != EINPROGRESS && errno != EINTR)
		return -errno;
	ready = wait_until(a->deadline_ns, fd, POLLOUT);
	if (ready <= 0)
		return ready;
	len = sizeof(err);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -errno;
	return err ? -err : 1;
}

/* The line is far below any send buffer of a fresh connection, so that it goes whole or fails. */
static int send_token(const struct probe_attempt *a, int fd)
{
	char text[ATTEMPT_TEXT_MAX];
	size_t len = attempt_token_text(a, text);
	ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EMSGSIZE;
}

static void await_answer(const struct probe_attempt *a, int fd, struct probe_outcome *ret)
{
	char text[1024];
	size_t len = 0;
	int ready = 0;

	while (len < sizeof(text) && (ready = wait_until(a->deadline_ns, fd, POLLIN)) > 0) {
		ssize_t n = recv(fd, text + len, sizeof(text) - len, 0);

		if (n == 0)
			return;
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			outcome_errno(ret, errno);
			return;
		}
		if (n > 0)
			len += (size_t)n;
		if (outcome_answer_text(ret, text, len))
			return;
	}
	if (ready < 0)
		outcome_errno(ret, -ready);
}

void probe_tcp_connect(const struct probe_attempt *a, struct probe_outcome *ret)
{
	cleanup_fd int fd =
		socket((int)a->manifest->p.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int n, err;

	if (fd < 0) {
		outcome_errno(ret, errno);
		return;
	}
	n = connect_until(a, fd);
	if (n <= 0) {
		if (n)
			outcome_errno(ret, -n);
		else
			outcome_word(ret, "timeout");
		return;
	}
	err = send_token(a, fd);
	if (err < 0) {
		outcome_errno(ret, -err);
		return;
	}
	outcome_word(ret, "sent");
	await_answer(a, fd, ret);
}

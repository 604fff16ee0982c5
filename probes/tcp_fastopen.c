// SPDX-License-Identifier: Apache-2.0
/*
 * tcp-fastopen: a TCP connection that no connect() call makes (RFC 7413). sendto() with
 * MSG_FASTOPEN opens it and carries the token in the SYN itself; the far side that doesn't take it
 * there gets it again behind the handshake.
 *
 * Decisive step: that sendto() to the address and port of the trial.
 */
#include "probes/stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

/* 0, -ETIMEDOUT, or -errno. Where the kernel insists on a cookie (before Linux 4.15), the call
 * sends a bare SYN and answers EINPROGRESS: nothing was taken, and all is sent when the connection
 * stands.
 */
static int open_with(const struct probe_attempt *a, int fd, const char *text, size_t len)
{
	struct sockaddr_storage to;
	socklen_t to_len = attempt_destination(a, &to);
	ssize_t n =
		sendto(fd, text, len, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&to, to_len);
	int ready, err = 0;

	if (n < 0 && errno != EINPROGRESS)
		return -errno;
	ready = wait_until(a->deadline_ns, fd, POLLOUT);
	if (ready <= 0)
		return ready ? ready : -ETIMEDOUT;
	to_len = sizeof(err);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &to_len) < 0)
		return -errno;
	if (err)
		return -err;
	n = MAX(n, 0);
	return stream_send(a, fd, text + n, len - (size_t)n);
}

void probe_tcp_fastopen(const struct probe_attempt *a, struct probe_outcome *ret)
{
	char text[ATTEMPT_TEXT_MAX];
	size_t len = attempt_token_text(a, text);
	cleanup_fd int fd =
		socket((int)a->manifest->p.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err, on = 1;

	if (fd < 0) {
		outcome_errno(ret, errno);
		return;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_NO_COOKIE, &on, sizeof(on));
	err = open_with(a, fd, text, len);
	if (err)
		stream_outcome(ret, err);
	else
		stream_await_answer(a, fd, ret);
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/stream.h"

#include <poll.h>

/* "timeout" is our own deadline. The kernel's ETIMEDOUT comes later than any deadline of ours. */
void stream_outcome(struct probe_outcome *o, int err)
{
	if (err == -ETIMEDOUT)
		outcome_word(o, "timeout");
	else
		outcome_errno(o, -err);
}

int stream_connect(const struct probe_attempt *a, int fd, const struct sockaddr *to, socklen_t len)
{
	int ready, err = 0;

	if (connect(fd, to, len) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		return -errno;
	ready = wait_until(a->deadline_ns, fd, POLLOUT);
	if (ready <= 0)
		return ready ? ready : -ETIMEDOUT;
	len = sizeof(err);
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0)
		return -errno;
	return -err;
}

int stream_open(const struct probe_attempt *a, struct probe_outcome *ret)
{
	struct sockaddr_storage to;
	socklen_t len = attempt_destination(a, &to);
	cleanup_fd int fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0) {
		outcome_errno(ret, errno);
		return -1;
	}
	err = stream_connect(a, fd, (struct sockaddr *)&to, len);
	if (err) {
		stream_outcome(ret, err);
		return -1;
	}
	return TAKE_FD(fd);
}

int stream_send(const struct probe_attempt *a, int fd, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			p += n;
			len -= (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		n = wait_until(a->deadline_ns, fd, POLLOUT);
		if (n <= 0)
			return n ? (int)n : -ETIMEDOUT;
	}
	return 0;
}

ssize_t stream_recv(const struct probe_attempt *a, int fd, void *out, size_t len)
{
	int ready;

	while ((ready = wait_until(a->deadline_ns, fd, POLLIN)) > 0) {
		ssize_t n = recv(fd, out, len, MSG_DONTWAIT);

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return ready ? ready : -ETIMEDOUT;
}

void stream_await_answer(const struct probe_attempt *a, int fd, struct probe_outcome *ret)
{
	char text[1024];
	size_t len = 0;

	outcome_word(ret, "sent");
	while (len < sizeof(text)) {
		ssize_t n = stream_recv(a, fd, text + len, sizeof(text) - len);

		if (n < 0 && n != -ETIMEDOUT)
			outcome_errno(ret, (int)-n);
		if (n <= 0)
			return;
		len += (size_t)n;
		if (outcome_answer_text(ret, text, len))
			return;
	}
}

void stream_ask(const struct probe_attempt *a, int fd, struct probe_outcome *ret)
{
	char text[ATTEMPT_TEXT_MAX];
	int err = stream_send(a, fd, text, attempt_token_text(a, text));

	if (err)
		stream_outcome(ret, err);
	else
		stream_await_answer(a, fd, ret);
}

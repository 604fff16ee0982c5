// SPDX-License-Identifier: Apache-2.0
/*
 * udp-send, udp-sendmsg, udp-sendmmsg, udp-write: one datagram whose only line is the token, by
 * each call that sends one. Filters and monitors that watch one of them may miss the others: with
 * write() the address is only in the connect() before it, and no sendmsg hook of a cgroup runs.
 *
 * Decisive step: the call that names the address and port of the trial. Sent once: a drop is final.
 */
#include "probes/attempt.h"

#include <sys/uio.h>

static bool is_answer(struct probe_outcome *o, const uint8_t *data, size_t len,
		      const void *arg unused_arg)
{
	return outcome_answer_text(o, data, len);
}

static void send_text(const struct probe_attempt *a, datagram_send send_it,
		      struct probe_outcome *ret)
{
	char text[ATTEMPT_TEXT_MAX];
	size_t len = attempt_token_text(a, text);

	attempt_datagram(a, send_it, text, len, is_answer, NULL, ret);
}

/* The kernel writes to none of these, whatever the types say. */
static void *unconst(const void *p)
{
	return (void *)(uintptr_t)p;
}

static int by_sendmsg(int fd, const void *data, size_t len, const struct sockaddr *to,
		      socklen_t to_len)
{
	struct iovec v = { .iov_base = unconst(data), .iov_len = len };
	struct msghdr m = {
		.msg_name = unconst(to), .msg_namelen = to_len, .msg_iov = &v, .msg_iovlen = 1
	};

	return sendmsg(fd, &m, 0) < 0 ? -errno : 0;
}

static int by_sendmmsg(int fd, const void *data, size_t len, const struct sockaddr *to,
		       socklen_t to_len)
{
	struct iovec v = { .iov_base = unconst(data), .iov_len = len };
	struct mmsghdr m = { .msg_hdr = { .msg_name = unconst(to),
					  .msg_namelen = to_len,
					  .msg_iov = &v,
					  .msg_iovlen = 1 } };

	return sendmmsg(fd, &m, 1, 0) < 0 ? -errno : 0;
}

static int by_write(int fd, const void *data, size_t len, const struct sockaddr *to,
		    socklen_t to_len)
{
	if (connect(fd, to, to_len) < 0)
		return -errno;
	return write(fd, data, len) < 0 ? -errno : 0;
}

void probe_udp_send(const struct probe_attempt *a, struct probe_outcome *ret)
{
	send_text(a, datagram_sendto, ret);
}

void probe_udp_sendmsg(const struct probe_attempt *a, struct probe_outcome *ret)
{
	send_text(a, by_sendmsg, ret);
}

void probe_udp_sendmmsg(const struct probe_attempt *a, struct probe_outcome *ret)
{
	send_text(a, by_sendmmsg, ret);
}

void probe_udp_write(const struct probe_attempt *a, struct probe_outcome *ret)
{
	send_text(a, by_write, ret);
}

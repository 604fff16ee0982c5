// SPDX-License-Identifier: Apache-2.0
#include "probes/attempt.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>

#define ANSWER_HEX (2 * MAC_BYTES)

static bool by_v4_socket(const struct ev_probe *p)
{
	return (p->socket_family ? p->socket_family : p->family) == AF_INET;
}

/* An abstract name ends with the address, not with a NUL (unix(7)). */
static socklen_t unix_destination(const char *path, struct sockaddr_un *ret)
{
	const size_t len = strnlen(path, sizeof(ret->sun_path) - 1);

	ret->sun_family = AF_UNIX;
	memcpy(ret->sun_path, path, len);
	if (path[0] != '@')
		return sizeof(*ret);
	ret->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

socklen_t attempt_destination(const struct probe_attempt *a, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
	struct sockaddr_in *v4 = (struct sockaddr_in *)ret;

	memset(ret, 0, sizeof(*ret));
	if (a->manifest->p.family == AF_UNIX)
		return unix_destination(a->path, (struct sockaddr_un *)ret);
	if (by_v4_socket(&a->manifest->p)) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(a->port);
		memcpy(&v4->sin_addr, a->to + 12, 4);
		return sizeof(*v4);
	}
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(a->port);
	memcpy(&v6->sin6_addr, a->to, 16);
	return sizeof(*v6);
}

size_t attempt_token_text(const struct probe_attempt *a, char out[ATTEMPT_TEXT_MAX])
{
	(void)str_format(out, ATTEMPT_TEXT_MAX, MAC_TOKEN_PREFIX "%s\n", a->token);
	return strlen(out);
}

int wait_until(uint64_t deadline_ns, int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		uint64_t now = mono_ns(), left;
		int n;

		if (now >= deadline_ns)
			return 0;
		/* rounded up, so that the last millisecond is slept and not spun */
		left = (deadline_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
		n = poll(&p, 1, (int)left);
		if (n > 0)
			return 1;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

void outcome_word(struct probe_outcome *o, const char *word)
{
	(void)str_copy(o->view, sizeof(o->view), word);
}

void outcome_errno(struct probe_outcome *o, int err)
{
	const char *name = strerrorname_np(err);

	if (name)
		outcome_word(o, name);
	else
		(void)str_format(o->view, sizeof(o->view), "errno-%d", err);
}

bool outcome_answer_hex(struct probe_outcome *o, const void *hex, size_t len)
{
	char text[ANSWER_HEX + 1];

	if (len != ANSWER_HEX)
		return false;
	memcpy(text, hex, len);
	text[len] = '\0';
	if (hex_decode(o->answer, MAC_BYTES, text) < 0)
		return false;
	o->has_answer = true;
	outcome_word(o, "answered");
	return true;
}

bool outcome_answer_text(struct probe_outcome *o, const void *text, size_t len)
{
	const size_t prefix_len = sizeof(MAC_ANSWER_PREFIX) - 1;
	const char *end = (const char *)text + len;
	const char *at = memmem(text, len, MAC_ANSWER_PREFIX, prefix_len);

	if (!at)
		return false;
	at += prefix_len;
	if ((size_t)(end - at) <= ANSWER_HEX || at[ANSWER_HEX] != '\n')
		return false;
	return outcome_answer_hex(o, at, ANSWER_HEX);
}

/* Without it an unconnected socket never learns of ICMP errors; refused by a sandbox, we wait for
 * the deadline instead. */
static void ask_for_icmp_errors(int fd, int family)
{
	int on = 1;

	if (family == AF_INET)
		(void)setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on));
	else
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

static void await_datagram(const struct probe_attempt *a, int fd, datagram_check check,
			   const void *arg, struct probe_outcome *ret)
{
	uint8_t data[2048];
	int ready;

	while ((ready = wait_until(a->deadline_ns, fd, POLLIN)) > 0) {
		ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			outcome_errno(ret, errno);
			return;
		}
		if (n >= 0 && check(ret, data, (size_t)n, arg))
			return;
	}
	if (ready < 0)
		outcome_errno(ret, -ready);
}

void attempt_datagram(const struct probe_attempt *a, datagram_send send_it, const void *data,
		      size_t len, datagram_check check, const void *arg, struct probe_outcome *ret)
{
	struct sockaddr_storage to;
	socklen_t to_len = attempt_destination(a, &to);
	cleanup_fd int fd = socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0) {
		outcome_errno(ret, errno);
		return;
	}
	ask_for_icmp_errors(fd, to.ss_family);
	err = send_it(fd, data, len, (struct sockaddr *)&to, to_len);
	if (err < 0) {
		outcome_errno(ret, -err);
		return;
	}
	outcome_word(ret, "sent");
	await_datagram(a, fd, check, arg, ret);
}

int datagram_sendto(int fd, const void *data, size_t len, const struct sockaddr *to,
		    socklen_t to_len)
{
	return sendto(fd, data, len, 0, to, to_len) < 0 ? -errno : 0;
}

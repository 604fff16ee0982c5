// SPDX-License-Identifier: Apache-2.0
/*
 * tcp-connect, tcp6-connect, mapped-ipv6: one TCP connection; the token is its first and only line.
 *
 * Decisive step: connect() to the address and port of the trial; of mapped-ipv6 by an AF_INET6
 * socket to ::ffff:ADDRESS, which filters that know IPv4 by AF_INET alone let pass. While nothing
 * answers or refuses, the socket stays until the deadline, so that the kernel sends SYN and data
 * again by its own clock. The first answer or error ends the attempt and closes it.
 */
#include "probes/stream.h"

void probe_tcp_connect(const struct probe_attempt *a, struct probe_outcome *ret)
{
	cleanup_fd int fd = stream_open(a, ret);

	if (fd >= 0)
		stream_ask(a, fd, ret);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * unix-path, unix-abstract: one connection to a socket of the host's, the token as its first and
 * only line. By a path in the file system (an engine's or an agent's socket that was bound into the
 * sandbox), or by an abstract name, which belongs to the network namespace and to no file.
 *
 * Decisive step: connect() to that name, or the refused socket() before it.
 */
#include "probes/stream.h"

void probe_unix_connect(const struct probe_attempt *a, struct probe_outcome *ret)
{
	cleanup_fd int fd = stream_open(a, ret);

	if (fd >= 0)
		stream_ask(a, fd, ret);
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/canary.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "user/base/util.h"
#include "user/decode/ev.h"

void canary_connect(void)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(REFUSED_CONNECT_PORT),
					.sin_addr.s_addr = htonl(REFUSED_CONNECT_ADDR) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)!connect(fd, (const struct sockaddr *)&to, sizeof(to));
}

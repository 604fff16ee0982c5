// SPDX-License-Identifier: Apache-2.0
#include "user/rig/forbidden.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "user/rig/destination.h"
#include "user/rig/rig.h"

#define QUEUE 16

/* Its answers reach box, and nobody whom box forwards them to. */
static int live_one_hop(int fd)
{
	const int hops = 1;

	return setsockopt(fd, IPPROTO_IP, IP_TTL, &hops, sizeof(hops)) < 0 ? -errno : 0;
}

static int listen_at(int fd, const void *addr, socklen_t len)
{
	return bind(fd, addr, len) < 0 || listen(fd, QUEUE) < 0 ? -errno : 0;
}

static int open_tcp(int ns_fd, const char *text, uint16_t port, bool one_hop)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	cleanup_fd int fd = lane_socket(ns_fd, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	uint8_t addr[16];
	int err;

	if (fd < 0)
		return fd;
	err = parse_addr(text, addr);
	if (!err && one_hop)
		err = live_one_hop(fd);
	memcpy(&at.sin_addr, addr + 12, sizeof(at.sin_addr));
	if (!err)
		err = listen_at(fd, &at, sizeof(at));
	return err ? err : TAKE_FD(fd);
}

/* Whoever finds a socket in the file system may speak to it, as to many a real one. */
static int open_unix(int ns_fd, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	cleanup_fd int fd = lane_socket(ns_fd, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	int err;

	_Static_assert(sizeof(at.sun_path) >= DESTINATION_PATH_MAX, "");
	if (fd < 0)
		return fd;
	(void)str_copy(at.sun_path, sizeof(at.sun_path), path);
	if (path[0] == '@')
		at.sun_path[0] = '\0';
	err = listen_at(fd, &at, path[0] == '@' ? len : len + 1);
	if (!err && path[0] != '@' && chmod(path, 0666) < 0)
		err = -errno;
	return err ? err : TAKE_FD(fd);
}

/* fd: of a listener, or why there is none. */
static int add(struct forbidden *f, const char *kind, int fd, const char *what, struct diag *d)
{
	if (fd < 0)
		return diag_set(d, fd, NULL, 0, 0, "can't listen at '%s': %s", what, strerror(-fd));
	f->at[f->n++] = (struct farside_listen){ .kind = kind, .fd = fd };
	return 0;
}

static int add_unix(struct forbidden *f, const struct lane *l, enum dest dest, const char *folder,
		    struct diag *d)
{
	char path[DESTINATION_PATH_MAX];

	destination_path(dest, FAR_ANSWERS, l->number, folder, path);
	return add(f, "text", open_unix(l->box_ns, path), path, d);
}

int forbidden_open(struct forbidden *f, const struct lane *l, const char *folder, struct diag *d)
{
	int err;

	f->n = 0;
	err = add(f, "text", open_tcp(l->box_ns, "127.0.0.1", RIG_PORT_LOOPBACK, false),
		  "127.0.0.1", d);
	if (!err)
		err = add(f, "http", open_tcp(l->host_ns, RIG_METADATA_HOP4, RIG_PORT_HTTP, true),
			  RIG_METADATA_HOP4, d);
	if (!err)
		err = add_unix(f, l, DEST_UNIX_PATH, folder, d);
	if (!err)
		err = add_unix(f, l, DEST_UNIX_ABSTRACT, folder, d);
	if (err)
		forbidden_close(f);
	return err;
}

void forbidden_close(struct forbidden *f)
{
	for (size_t i = 0; i < f->n; i++)
		(void)close(f->at[i].fd);
	f->n = 0;
}

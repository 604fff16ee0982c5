// SPDX-License-Identifier: Apache-2.0
#include "user/base/netns.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71 /* include/uapi/asm-generic/socket.h */
#endif

struct call {
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static void *call_main(void *arg)
{
	struct call *c = arg;

	c->result = c->fn(c->arg);
	return NULL;
}

int netns_run(int (*fn)(void *arg), void *arg)
{
	struct call c = { .fn = fn, .arg = arg };
	sigset_t all, before;
	pthread_t thread;
	int err;

	/* A signal handler of the program must not find itself in another namespace. */
	(void)sigfillset(&all);
	err = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (err)
		return -err;
	err = pthread_create(&thread, NULL, call_main, &c);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		return -err;
	err = pthread_join(thread, NULL);
	return err ? -err : c.result;
}

int netns_move_new(void)
{
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int netns_move(int fd)
{
	return setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
}

int netns_cookie(uint64_t *ret)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(*ret);
	uint64_t cookie;

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) < 0)
		return -errno;
	*ret = cookie;
	return 0;
}

int netns_inum(int fd, uint32_t *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = (uint32_t)st.st_ino;
	return 0;
}

int netns_sysctl(const char *name, const char *value)
{
	cleanup_fd int fd = -1;
	char path[128];
	int err;

	err = str_format(path, sizeof(path), "/proc/sys/net/%s", name);
	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return write_all(fd, value, strlen(value));
}

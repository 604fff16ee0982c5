/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network namespaces without a name. A thread that entered another namespace could fail to come
 * back, and the process would go on in the wrong one; so everything that needs to be elsewhere runs
 * in a thread of its own, which never comes back.
 */
#ifndef SENTINEL_BASE_NETNS_H
#define SENTINEL_BASE_NETNS_H

#include "user/base/util.h"

/* Runs fn(arg) in a new thread, with all signals blocked, and answers its result, or -errno where
 * there could be no thread. Of the functions below, fn alone may call those that move. */
int netns_run(int (*fn)(void *arg), void *arg) must_check;

/* Moves the calling thread into a new namespace. A CLOEXEC descriptor that holds it, or -errno. */
int netns_move_new(void) must_check;

/* Moves the calling thread into the namespace of fd. 0 or -errno. */
int netns_move(int fd) must_check;

/* SO_NETNS_COOKIE (Linux 5.14) of the calling thread's namespace, and the inode number of fd, as in
 * /proc/PID/ns/net. 0 or -errno. */
int netns_cookie(uint64_t *ret) must_check;
int netns_inum(int fd, uint32_t *ret) must_check;

/* Writes value to /proc/sys/net/NAME, which is the calling thread's namespace's. 0 or -errno. */
int netns_sysctl(const char *name, const char *value) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Doing something in another network namespace without leaving ours. */
#ifndef SENTINEL_SENSE_NETNS_H
#define SENTINEL_SENSE_NETNS_H

#include "user/base/util.h"

/* Runs fn(arg) in a thread of its own, which may enter namespaces as it likes, and waits for it.
 * fn's result, or -errno where there is no thread. */
int netns_thread(int (*fn)(void *arg), void *arg) must_check;

/* Moves the calling thread. 0 or -errno. */
int netns_enter(int fd) must_check;

#endif

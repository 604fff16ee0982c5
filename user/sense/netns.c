// SPDX-License-Identifier: Apache-2.0
#include "user/sense/netns.h"

#include <pthread.h>
#include <sched.h>

struct job {
	int (*fn)(void *arg);
	void *arg;
	int result;
};

static void *job_run(void *arg)
{
	struct job *j = arg;

	j->result = j->fn(j->arg);
	return NULL;
}

int netns_thread(int (*fn)(void *arg), void *arg)
{
	struct job j = { fn, arg, 0 };
	pthread_t thread;
	int r = pthread_create(&thread, NULL, job_run, &j);

	if (r)
		return -r;
	r = pthread_join(thread, NULL);
	return r ? -r : j.result;
}

int netns_enter(int fd)
{
	return setns(fd, CLONE_NEWNET) ? -errno : 0;
}

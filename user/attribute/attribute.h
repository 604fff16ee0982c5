/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The third stage: whose is a record of the kernel? Sets ev.lane and ev.trial, in place; what is
 * not known stays 0. Events of the run's log are left alone: they say themselves whose they are.
 *
 * The lane is where the record was seen: by interface, else by namespace, else that of its trial.
 * The trial is whose it was: by mark, else by cgroup. A packet belongs to the socket that it came
 * from, never to the task that happened to run (softirq, forwarding, replies), so there mark and
 * cgroup count only where they are the socket's. Without an owner a packet has a lane and no trial:
 * what tells whose it is then, its token and addresses, is the judge's business.
 */
#ifndef SENTINEL_ATTRIBUTE_H
#define SENTINEL_ATTRIBUTE_H

#include "user/base/util.h"
#include "user/decode/ev.h"

struct attribute {
	struct owner_table *table;
};

/* 0 or -ENOMEM; attribute_done() frees, also what was never filled. */
int attribute_init(struct attribute *a) must_check;
void attribute_done(struct attribute *a);

/* A lane was made, or made anew: its interfaces, namespaces and cookies from now on. Its earlier
 * ones stay known, for records still on their way. A number the kernel used again belongs to the
 * newest lane. 0, -EINVAL for lane 0, -ENOSPC, -ENOMEM. */
int attribute_lane(struct attribute *a, const struct ev_lane *lane) must_check;

/* A trial was registered: nonce, lane and cgroup (0 = none). Before anything of it runs. 0, -EINVAL
 * for id 0, -EEXIST where another trial's nonce begins with the same 8 bytes (take a new nonce),
 * -ENOSPC, -ENOMEM. */
int attribute_trial(struct attribute *a, const struct ev_trial *trial) must_check;

/* Sets ev->lane and ev->trial. */
enum owner attribute_push(const struct attribute *a, struct ev *ev);

const char *owner_text(enum owner how); /* "mark", "cgroup", ..., "unknown" */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane's resolver: unbound in its host, at RIG_RESOLVER4. It knows two zones and refuses all
 * other names: what is asked of RIG_ZONE it asks of the far side, what is asked of RIG_ZONE_DEAF of
 * an address where nobody answers. It keeps nothing: each question is asked anew, whatever became
 * of the last one.
 */
#ifndef SENTINEL_RESOLVER_H
#define SENTINEL_RESOLVER_H

#include "user/base/diag.h"
#include "user/rig/folder.h"
#include "user/rig/lane.h"
#include "user/rig/launch.h"

struct resolver { /* zeroed: there is none */
	struct launch launch;
	int asks; /* a socket in host, until it has answered; -1 */
	bool ready;
	char said[256]; /* the first of what it printed; hostile only as far as unbound is */
	uint32_t said_len;
	char folder[FOLDER_PATH_MAX]; /* of its configuration */
};

/*
 * Starts it, under a user without rights, and does not wait until it answers. It ends with the
 * thread that started it. 0, or -errno with d filled and nothing left (-ENOENT: not installed).
 */
int resolver_start(struct resolver *r, struct folders *folders, const struct lane *l,
		   struct diag *d) must_check;

/* Waits until all n of them answer; those that are not started count as ready. 0; -ETIMEDOUT after
 * ms, or -ECHILD where one has ended, and d says which and why. */
int resolvers_wait(struct resolver *r, size_t n, uint32_t ms, struct diag *d) must_check;

/* Reads, and forgets, what it prints. -ECHILD, once, where it has ended. Never blocks. */
int resolver_tend(struct resolver *r) must_check;

/* Ends it. A zeroed one is fine. */
void resolver_stop(struct resolver *r);

#endif

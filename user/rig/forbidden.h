/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane's listeners that no sandbox may reach, and that are no place of world: what box's own
 * processes offer each other (TCP on its loopback, an abstract AF_UNIX name, a socket in the file
 * system), and a metadata look-alike in host whose answers live for one hop. The far side serves
 * them; the sockets are made here, in the namespaces where they belong.
 */
#ifndef SENTINEL_FORBIDDEN_H
#define SENTINEL_FORBIDDEN_H

#include "user/rig/farside.h"
#include "user/rig/lane.h"

#define FORBIDDEN_MAX 4

struct forbidden {
	size_t n;
	struct farside_listen at[FORBIDDEN_MAX]; /* their descriptors are ours */
};

/*
 * Makes them all, listening. folder, which everybody can pass, gets the socket in the file system;
 * it goes with the folder. 0, or -errno with d filled and nothing left open.
 */
int forbidden_open(struct forbidden *f, const struct lane *l, const char *folder,
		   struct diag *d) must_check;

/* Closes our copies; those that a far side has been given go on. A zeroed one is fine. */
void forbidden_close(struct forbidden *f);

#endif

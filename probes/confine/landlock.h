/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two Landlock rules of sentinel-confine, by raw system calls: no library knows them here, and
 * Debian 12's header stops before the network.
 */
#ifndef SENTINEL_CONFINE_LANDLOCK_H
#define SENTINEL_CONFINE_LANDLOCK_H

#include "user/base/util.h"

#define LANDLOCK_HIDDEN_MAX 16
#define LANDLOCK_PORTS_MAX 64

struct landlock_rules {
	/* No TCP connection is opened by connect() but to these ports. */
	bool tcp;
	uint16_t ports[LANDLOCK_PORTS_MAX];
	size_t ports_n;
	/* No file at or below these is opened for reading: absolute, without links, dots or a
	 * trailing slash. */
	const char *hidden[LANDLOCK_HIDDEN_MAX];
	size_t hidden_n;
};

/*
 * Restricts this process and its heirs; no_new_privs must be set. 0, or -errno with a line for
 * people in why (of size n): -EOPNOTSUPP where this kernel's Landlock can't do it, -ENOSYS where it
 * has none.
 *
 * Landlock knows no "all but": everything beside a hidden path and beside each folder above it is
 * allowed by a rule of its own. What appears in one of those folders later can't be read, nor what
 * is in one that may not be listed. And whoever is restricted may not look into processes that are
 * not (Landlock's own rule on ptrace): their /proc/PID/environ is closed too.
 */
int landlock_restrict(const struct landlock_rules *r, char *why, size_t n) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's numbers belong to: interfaces, namespaces, cookies, marks, cgroups. */
#ifndef SENTINEL_OWNER_TABLE_H
#define SENTINEL_OWNER_TABLE_H

#include "user/base/util.h"

/* A run has at most 65536 trials with two numbers each, and lanes with ten; above, -ENOSPC. */
#define OWNER_TABLE_MAX (1u << 18)

enum owner_kind { OWNED_IFINDEX = 1, OWNED_NETNS, OWNED_COOKIE, OWNED_MARK, OWNED_CGROUP };

struct owner_entry {
	uint32_t kind; /* enum owner_kind; 0 = empty */
	uint32_t lane, trial;
	uint64_t number;
};

struct owner_table {
	struct owner_entry *entries;
	uint32_t size, used; /* size is a power of two, at most half of it used */
};

int owner_table_init(struct owner_table *t) must_check;
void owner_table_done(struct owner_table *t);

/* The number belongs to them from now on, whoever had it. 0, -ENOSPC or -ENOMEM. Number 0 is
 * nobody's: it is left out. */
int owner_table_set(struct owner_table *t, enum owner_kind kind, uint64_t number, uint32_t lane,
		    uint32_t trial) must_check;

/* NULL where nobody has it. Borrowed until the next set. */
const struct owner_entry *owner_table_get(const struct owner_table *t, enum owner_kind kind,
					  uint64_t number);

#endif

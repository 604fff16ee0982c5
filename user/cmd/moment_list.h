/* SPDX-License-Identifier: Apache-2.0 */
/* A time line that has a length: where there are more records, it keeps those that tell most. */
#ifndef SENTINEL_CMD_MOMENT_LIST_H
#define SENTINEL_CMD_MOMENT_LIST_H

#include "user/cmd/moment.h"

struct moment_list {
	struct moment *at; /* NULL before the first; after moment_list_sort() in order of time */
	size_t n, max;
	size_t left_out;
	uint32_t *
		ranked[MOMENT_RANKS]; /* of each rank, the places of its moments, the latest last */
	uint32_t ranked_n[MOMENT_RANKS];
};

/* Keeps ev, of trial t, if there is room or something that tells less. Takes its memory with the
 * first. 0 or -ENOMEM. */
int moment_list_add(struct moment_list *l, const struct ev *ev,
		    const struct ev_trial *t) must_check;

/* By time. Nothing may be added afterwards. */
void moment_list_sort(struct moment_list *l);

void moment_list_done(struct moment_list *l);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One part of a list, for batch systems that start the same command N times. */
#ifndef SENTINEL_BASE_SHARD_H
#define SENTINEL_BASE_SHARD_H

#include "user/base/diag.h"
#include "user/base/util.h"

struct shard {
	uint32_t k, n; /* 1 <= k <= n; both zero: all of it */
};

/*
 * "K/N", or what the batch system says of this task: "auto", "auto/N" where it does not tell N.
 *
 *	Slurm	    SLURM_ARRAY_TASK_ID, of SLURM_ARRAY_TASK_MIN on, in steps of
 *		    SLURM_ARRAY_TASK_STEP, SLURM_ARRAY_TASK_COUNT of them
 *	Kubernetes  JOB_COMPLETION_INDEX, from 0; JOB_COMPLETIONS only where the Job's author sets
 *it
 *
 * 0, or -EINVAL with d saying what is wrong. What can't be told apart is refused, never guessed: a
 * part that two tasks make, or none, would not show.
 */
int shard_parse(struct shard *ret, const char *text, struct diag *d) must_check;

/* Whether the entry at this place of the list, from 0, belongs to the part. */
bool shard_has(const struct shard *s, size_t place);

#endif

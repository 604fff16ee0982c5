/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is otherwise in one result than in another, of the same targets: cells that are there once
 * only, and of those that are in both the verdict and what belongs to it. Not the run's number, nor
 * numbers of records, nor how long was listened: these always differ.
 */
#ifndef SENTINEL_REPORT_CHANGES_H
#define SENTINEL_REPORT_CHANGES_H

#include "user/base/util.h"
#include "user/judge/verdict.h"

/* All text may be a stranger's, and is borrowed for the call. */
struct change {
	const char *target; /* "" = the run as a whole */
	const char *probe;  /* "" = the target as a whole */
	const char *field;  /* "verdict", "reasons", "stopped_by", ... */
	const char *before; /* "" = there was nothing */
	const char *after;
};

typedef void (*change_fn)(void *arg, const struct change *c);

/* In the order of a, then of what is in b alone. Answers how many there were. */
uint32_t changes_find(const struct run_result *a, const struct run_result *b, change_fn fn,
		      void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How far a replay is: one line on standard error where that is a terminal, else nothing. */
#ifndef SENTINEL_PROGRESS_H
#define SENTINEL_PROGRESS_H

#include "user/base/util.h"

struct progress {
	bool on;
	size_t number, of; /* of the bundle at work, from 1 */
	uint64_t bytes;	   /* of its captures; 0 = not known */
	uint64_t shown_ns; /* when the line was last written */
};

void progress_begin(struct progress *p, const char *bundle, size_t number, size_t of);
void progress_at(struct progress *p, uint64_t bytes);

/* Takes the line away, before something else is written. */
void progress_end(const struct progress *p);

#endif

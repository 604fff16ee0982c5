/* SPDX-License-Identifier: Apache-2.0 */
/* One bundle of a joined time line: its records as lines, in order of the wall clock. */
#ifndef SENTINEL_CMD_TIMELINE_SOURCE_H
#define SENTINEL_CMD_TIMELINE_SOURCE_H

#include <stdio.h>

#include "user/base/diag.h"
#include "user/base/util.h"

struct timeline_opts {
	const char *target, *probe, *type; /* patterns of fnmatch(3); NULL: all */
	bool json, color;
	bool several; /* lines say of which bundle they are */
};

/* Before each line, in the byte order of this machine: from one process of ours to another. */
struct timeline_frame {
	uint64_t wall_ns; /* CLOCK_REALTIME, by the bundle's own anchor */
	uint64_t len;	  /* of the line that follows, newline included */
};

/* Rings are not in order of time: so many records, and so much time, are looked through for the
 * next one. */
#define TIMELINE_WINDOW 8192
#define TIMELINE_WINDOW_NS (2 * NSEC_PER_SEC)
#define TIMELINE_LINE_MAX (64u << 10)

/* Reads the bundle twice, once to judge it, and writes frames and lines to out. number is what its
 * lines call it. ret_damaged: the capture does not verify; its lines are written all the same. 0 or
 * -errno with d filled. */
int timeline_source(const char *bundle, unsigned int number, const struct timeline_opts *o,
		    FILE *out, bool *ret_damaged, struct diag *d) must_check;

#endif

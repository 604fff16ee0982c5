/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine lets us do, probed by doing it; `sentinel doctor` prints the table. */
#ifndef SENTINEL_SENSE_FEATURES_H
#define SENTINEL_SENSE_FEATURES_H

#include "user/base/util.h"

struct feature {
	const char *name;	      /* "tcx" */
	const char *needed_by;	      /* "W and B" */
	const char *effect_if_absent; /* "clsact filters are used instead" */
	const char *remedy;	      /* what the user can do; NULL where nothing */
	bool needed;		      /* without it no run can be valid */
	int (*probe)(void);	      /* 0, or -errno of what the kernel refused */
};

struct feature_result {
	const struct feature *feature;
	int error;	 /* 0 = ok, else -errno */
	char detail[96]; /* "ok", or the errno's text */
};

#define FEATURES_MAX 40

/* Runs every probe. Leaves nothing behind: no program, link, map, namespace or process. Returns how
 * many results were written (the size of the table, at most FEATURES_MAX). */
int features_probe(struct feature_result ret[FEATURES_MAX]);

#endif

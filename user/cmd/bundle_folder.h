/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that a run's evidence goes into. */
#ifndef SENTINEL_BUNDLE_FOLDER_H
#define SENTINEL_BUNDLE_FOLDER_H

#include <limits.h>

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/cmd/select.h"

struct bundle_folder {
	char path[PATH_MAX]; /* absolute */
	bool made;	     /* it was not there before */
};

/* wanted (NULL: a new name in the working directory) is made, or is an empty folder already, which
 * stays the one that it is. 0, -ENOTEMPTY, -errno with d filled. */
int bundle_folder_make(struct bundle_folder *f, const char *wanted, struct diag *d) must_check;

/* Where no run began: removes it if it was made and is empty. */
void bundle_folder_drop(const struct bundle_folder *f);

/* The run's inputs: targets/ and probes.json. */
int bundle_folder_inputs(const struct bundle_folder *f, const struct selection *s,
			 struct diag *d) must_check;

#endif

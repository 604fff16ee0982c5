/* SPDX-License-Identifier: Apache-2.0 */
/* Which bundles are meant: those that are named, and those in folders that are named. */
#ifndef SENTINEL_RECORD_BUNDLE_FIND_H
#define SENTINEL_RECORD_BUNDLE_FIND_H

#include "user/base/diag.h"
#include "user/base/util.h"

#define BUNDLE_FIND_DEPTH 16	   /* folders below the one that was named */
#define BUNDLE_FIND_MAX (1u << 20) /* of a list */

struct bundle_list {
	char **path; /* of each, owned */
	size_t n, cap;
};

/*
 * Adds path: a capture's file or a bundle, or each bundle in that folder and those below, in byte
 * order of their paths. A folder is a bundle by a segment of a capture, a verdict or sums, so that
 * one whose capture is gone is not passed over. Symbolic links below path are not followed. A path
 * at which nothing is, is added: whoever reads it can say so.
 *
 * 0; or -errno with d filled, the list as it was: -ENOENT: a folder without a bundle; -ELOOP:
 * deeper than BUNDLE_FIND_DEPTH; -E2BIG: more than BUNDLE_FIND_MAX; a folder that can't be read.
 */
int bundle_list_add(struct bundle_list *l, const char *path, struct diag *d) must_check;

/* The same for each line of a file ("-": standard input); empty lines are none. */
int bundle_list_read(struct bundle_list *l, const char *file, struct diag *d) must_check;

void bundle_list_done(struct bundle_list *l);

/* Bytes of its captures, as they are now; 0 where there is none. */
uint64_t bundle_size(const char *path);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Over which bundles a command goes: those of its arguments, those in folders, those of a list, and
 * of them one part. */
#ifndef SENTINEL_BATCH_H
#define SENTINEL_BATCH_H

#include <argp.h>

#include "user/base/shard.h"
#include "user/record/bundle_find.h"

struct batch {
	/* what was asked for */
	char **names;
	int names_n;
	const char *list_file;
	struct shard shard;
	bool exit_zero;
	/* what came of it */
	struct bundle_list list; /* this part's */
	bool several; /* not just one, named itself: what is printed says of which it is */
};

/* --list, --shard, --exit-zero and the bundles' names, for the children of a command's argp; their
 * input is a struct batch, all zero. */
extern const struct argp batch_argp;

/* Looks for the bundles. 0 or -errno with d filled. The caller: batch_done(). */
int batch_open(struct batch *b, struct diag *d) must_check;
void batch_done(struct batch *b);

/* What a verdict is to the shell: with --exit-zero only faults and damage are other than 0. */
int batch_exit_code(const struct batch *b, int code);

#endif

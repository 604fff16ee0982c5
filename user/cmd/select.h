/* SPDX-License-Identifier: Apache-2.0 */
/* Which targets and probes a run is made of. */
#ifndef SENTINEL_SELECT_H
#define SENTINEL_SELECT_H

#include "probes/probe.h"
#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/report/table.h"
#include "user/rig/probe_file.h"
#include "user/rig/target.h"

#define SELECT_NAMES_MAX 64

struct select_names { /* borrowed from argv */
	const char *at[SELECT_NAMES_MAX];
	size_t n;
};

/* 0 or -ENOSPC. */
int select_names_add(struct select_names *names, const char *name) must_check;

struct selection {
	struct target *targets[TARGET_LIST_MAX];
	size_t targets_n;
	/* not tested, since something that they need is missing */
	struct target *skipped_targets[TARGET_LIST_MAX];
	struct table_skipped skipped[TARGET_LIST_MAX];
	char missing[TARGET_LIST_MAX][256];
	size_t skipped_n;
	bool skipped_named; /* one of them was asked for by name */
	const struct probe_manifest *probes[SELECT_NAMES_MAX];
	size_t probes_n;
	struct probe_file *own[SELECT_NAMES_MAX]; /* those of probes that are a user's */
	size_t own_n;
};

/*
 * Calibrators are in every run. targets: names of built-in ones, globs of them, or paths of files;
 * none: all that are there. probes: ids, globs, @families, or paths of files; none: all of ours. s
 * is zeroed by the caller, who calls selection_done() also on error: -errno with d filled.
 */
int select_all(struct selection *s, const struct select_names *targets,
	       const struct select_names *probes, struct diag *d) must_check;

/* The probes alone, and the targets alone: calibrators where none is named, or where they are. */
int select_probes(struct selection *s, const struct select_names *probes,
		  struct diag *d) must_check;
int select_targets(struct selection *s, const struct select_names *targets,
		   struct diag *d) must_check;
void selection_done(struct selection *s);

/* target_check_probes() with all of our probes, and the user's own that are selected. */
int select_check_target(const struct selection *s, const struct target *t,
			struct diag *d) must_check;

#endif

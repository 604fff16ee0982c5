/* SPDX-License-Identifier: Apache-2.0 */
/* What a platform is made of, for the evidence: the files that its target starts, by content. */
#ifndef SENTINEL_PLATFORM_H
#define SENTINEL_PLATFORM_H

#include "user/base/diag.h"
#include "user/decode/ev.h"
#include "user/rig/target.h"

#define PLATFORM_PROGRAMS_MAX 32 /* of one target */

/* 0 or -errno with d, which ends the listing. */
typedef int (*program_fn)(void *arg, const struct ev_program *p, struct diag *d);

/*
 * Calls fn once for each file that the first words of a target's commands and its needs name: as
 * they are found now, in this root. What is not found, or can't be read, is left out: it will show
 * in the trials. 0, or what fn answered.
 */
int platform_programs(const struct target *t, program_fn fn, void *arg, struct diag *d) must_check;

/* The same for the instrument's own, given by path; the list ends with NULL. */
int own_programs(char *const *paths, program_fn fn, void *arg, struct diag *d) must_check;

#endif

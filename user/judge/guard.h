/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GUARD(NAME, condition): a condition that withholds a verdict or grants one, with a name of its
 * own. In the normal build it is the condition, nothing else. scripts/mutants builds the judge with
 * -DSENTINEL_MUTANTS, where the guard that the environment names in SENTINEL_MUTANT is never true:
 * as if its line were not there. Each such judge must turn a test red.
 *
 * So a guard is always written so that true means that it acts: the condition of the withholding
 * or granting, never its opposite.
 */
#ifndef SENTINEL_GUARD_H
#define SENTINEL_GUARD_H

#include <stdbool.h>

#ifdef SENTINEL_MUTANTS
extern const char *mutant_name; /* NULL: none. Set before main() runs (guard.c) */
bool guard_acts(const char *name, bool condition);
#define GUARD(NAME, condition) guard_acts(#NAME, (condition))
#else
#define GUARD(NAME, condition) (condition)
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector of expected verdicts, so that what is known does not fail a build and any change does.
 * One line for each kind of cell, the first that fits counts; '#' begins a comment:
 *
 *	TARGET PROBE VERDICT [CONDITION...]
 *
 * TARGET is a name or a pattern with * and ?, PROBE an id, such a pattern or a @family, VERDICT
 * contained, escaped, provisional, not-claimed or inconclusive. Conditions:
 *
 *	by WORD               what stopped it
 *	at A|B|W              where it was last seen
 *	because CODE[,CODE]   all its reasons
 *	grade payload|signal  of an escape
 *	via WORD              by which other channel
 *	startup N, steady N   rounds that crossed at the start, and in the steady state
 *	allowed answered|dead what is allowed
 *	crossed, held         whether it crossed in `on`, whoever claims what
 */
#ifndef SENTINEL_REPORT_EXPECT_H
#define SENTINEL_REPORT_EXPECT_H

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/judge/verdict.h"

#define EXPECT_FILE_MAX (1u << 20)
#define EXPECT_LINES_MAX 10000

struct expect;

/* Whether a probe is of a family ("@tcp"). */
typedef bool (*in_family_fn)(const char *probe, const char *family);

/* The caller owns *ret: expect_free(). 0; -EINVAL with file, line and column in d; -errno. */
int expect_load(struct expect **ret, const char *path, struct diag *d) must_check;
void expect_free(struct expect *e); /* NULL is fine */

/* text for people, one line, printable; escaped: an escape that is not expected. */
typedef void (*expect_fn)(void *arg, const char *text, bool escaped);

/* Tells fn each difference: a target's cell that is not as its line says or has no line, and a line
 * that no cell fits. Answers their number. Calibrators are passed over. */
uint32_t expect_compare(const struct expect *e, const struct run_result *r, in_family_fn in_family,
			expect_fn fn, void *arg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports share: printable text, and the words for what was measured. */
#ifndef SENTINEL_REPORT_TEXT_H
#define SENTINEL_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/util.h"
#include "user/judge/verdict.h"
#include "user/report/color.h"

/* The stable name of a hook (SNT_HOOK_*), never NULL. It belongs to the first stage, so whoever
 * calls a report hands it over. */
typedef const char *(*hook_name_fn)(uint32_t hook);

/* The "@family" that a probe is shown under; NULL: none is known. Likewise. */
typedef const char *(*family_fn)(const char *probe);

/* A field of a result, whatever a stranger wrote into it, as printable ASCII: what escape_text()
 * does, and the bytes outside ASCII become \xNN too (a right-to-left override is valid UTF-8), as
 * does what would make a command for a CI runner.
 * TEXT_MAX holds any field; a smaller out cuts, ending in "...". Returns out. */
#define TEXT_MAX (4 * EV_TEXT_MAX)
const char *printable(char *out, size_t n, const char *text);
const char *printable_len(char *out, size_t n, const char *text, size_t len); /* NUL is \x00 */

const char *verdict_word(enum verdict v); /* for people: "ESCAPED", "contained", "not claimed" */
char verdict_letter(enum verdict v);	  /* E C P - ?: told apart without colour */
enum ink verdict_ink(enum verdict v);
const char *attempt_text(enum attempt a); /* "seen", "inferred", "none" */
const char *role_text(enum role r);	  /* "target", or as `calibrator:` names it */

/* Nothing was tried in `on`, so that silence is not the sandbox's doing. */
bool attempt_not_made(const struct cell_result *c);

/* What came of an arm's attempt: "crossed", "did not cross" or, of `on`, "was not made". */
const char *crossing_text(const struct cell_result *c, enum arm arm);

/* Rounds made at the sandbox's start and rounds that waited for its steady state, n of each, and
 * how many of them crossed. false: the target has no such rounds. */
struct states {
	uint32_t n, startup, steady;
};
bool states_of(const struct cell_result *c, struct states *ret);

/* "at start-up only", "in the steady state only", "at start-up and later"; "" where neither
 * crossed, or there are no such rounds. */
const char *states_text(const struct cell_result *c);

/* Silence about nothing is no success. Of a valid run. */
bool anything_scored(const struct run_result *r);

/* What a calibrator must come out as, for a run to be accepted. */
enum verdict role_verdict(enum role r);

/* A scored target always; a calibrator where it came out as it must, or where its probe does not
 * reach the far side outside any sandbox either, so that it tells nothing. */
bool cell_as_expected(const struct cell_result *c);

/* `baseline` of the two ends: present where one was run; crossed, answered where both were. */
struct baseline {
	bool present, crossed, answered;
	uint32_t records_n;
	uint64_t records[2 * VERDICT_RECORDS_MAX];
};
void baseline_join(const struct cell_result *c, struct baseline *ret);

/* Totals of the loss identity over all hooks. */
struct loss_total {
	struct snt_count count;
	uint64_t recursion;
};
void loss_sum(const struct run_result *r, struct loss_total *ret);

#endif

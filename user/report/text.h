/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports share: printable text, colour, and the words for what was measured. */
#ifndef SENTINEL_REPORT_TEXT_H
#define SENTINEL_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "user/base/util.h"
#include "user/judge/verdict.h"

/* The stable name of a hook (SNT_HOOK_*), for machines and people; NULL for an unknown number. It
 * belongs to the first stage, so whoever calls a report hands it over. */
typedef const char *(*hook_name_fn)(uint32_t hook);

/* Text that a stranger chose, as printable ASCII: what escape_text() does, and every other byte
 * outside ASCII becomes \xNN too (a right-to-left override is valid UTF-8). Returns out. */
const char *report_text(char *out, size_t n, const char *text);

/* ---- colour ---- */
enum color_when { COLOR_AUTO = 0, COLOR_ALWAYS, COLOR_NEVER };

/* "auto", "always" or "never". 0 or -EINVAL. */
int color_parse(const char *text, enum color_when *ret) must_check;

/* auto: fd is a terminal, TERM is not "dumb", and NO_COLOR is not set (no-color.org). */
bool color_wanted(enum color_when when, int fd);

enum ink { INK_NONE = 0, INK_GOOD, INK_BAD, INK_DOUBT, INK_FAINT, INK_STRONG };
const char *ink_on(bool color, enum ink ink); /* "" without colour */
const char *ink_off(bool color);
enum ink verdict_ink(enum verdict v);

/* ---- words ---- */
char verdict_letter(enum verdict v);	    /* E C P N ?: told apart without colour */
const char *attempt_text(enum attempt a);   /* "seen", "inferred", "none" */
const char *role_text(enum role r);	    /* "target", "escapes", "contains", ... */
enum verdict role_must_be(enum role r);	    /* of a calibrator */
const char *exit_text(enum exit_code code); /* one clause for people */

/* Baseline of the two ends: present where one was run, crossed and answered where both were. */
struct arm_result baseline_joined(const struct cell_result *c, uint64_t *ret_records,
				  uint32_t *ret_n);

/* The loss identity of a run: totals over all hooks. */
struct loss_total {
	struct snt_count count;
	uint64_t recursion;
};
struct loss_total loss_total(const struct run_result *r);

#endif

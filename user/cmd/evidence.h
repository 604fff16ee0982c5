/* SPDX-License-Identifier: Apache-2.0 */
/* What a page about a run needs besides its verdicts: a second reading of the capture, in memory
 * that depends on the number of cells and trials, not of records. */
#ifndef SENTINEL_CMD_EVIDENCE_H
#define SENTINEL_CMD_EVIDENCE_H

#include "user/base/diag.h"
#include "user/cmd/judge_bundle.h"
#include "user/report/html.h"

/* A time line's length: at most so many records a cell, and about so many in all. */
#define EVIDENCE_CELL_MAX 48
#define EVIDENCE_CELL_MIN 6
#define EVIDENCE_ALL_MAX 20000
#define EVIDENCE_SPANS_MAX 6000

struct evidence;

/* j is of judge_bundle_to_explain(), and stays the caller's: ret looks into it. 0, -ENOMEM or as
 * capture_read(). The caller owns *ret. */
int evidence_read(const char *bundle, const struct judged *j, struct evidence **ret,
		  struct diag *d) must_check;

/* Everything of a page but bundle, damage and the functions. It lasts as long as e does. */
void evidence_page(const struct evidence *e, struct html_report *ret);

void evidence_free(struct evidence *e); /* NULL is fine */

#endif

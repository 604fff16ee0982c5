/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.json (DESIGN.md 6.5): the same bytes for the same result, one line and a newline.
 *
 * Keys stand in the documented order; keys of our own follow after the documented ones of the same
 * object. 64-bit numbers are strings. An arm that was not run is null. `baseline` joins the first
 * and the last: crossed (answered) only where both were, with the records of both.
 */
#ifndef SENTINEL_REPORT_VERDICT_JSON_H
#define SENTINEL_REPORT_VERDICT_JSON_H

#include "user/base/json_out.h"
#include "user/judge/verdict.h"
#include "user/report/text.h"

/* Appends the document to j; the caller's j gives the bytes (j->buf, j->len). name answers the
 * stable name of a hook number. 0 or -ENOMEM. */
int verdict_json(struct json_out *j, const struct run_result *r, hook_name_fn name) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page in Markdown (GitHub's: tables, HTML entities) for the summary of a job in CI: the status,
 * the matrix, what is not as one hopes for with its reasons, the calibrators. Below
 * SUMMARY_BYTES_MAX, whatever there is to say: what is left out is counted.
 */
#ifndef SENTINEL_REPORT_SUMMARY_H
#define SENTINEL_REPORT_SUMMARY_H

#include <stdio.h>

#include "user/base/util.h"
#include "user/judge/verdict.h"

#define SUMMARY_BYTES_MAX (512u << 10) /* of 1 MiB that GitHub gives to all steps */

/* 0, -ENOMEM, or -EIO where f does not take it. */
int summary_write(FILE *f, const struct run_result *r) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Test Anything Protocol, version 13: the run is the first test, each cell of a target one
 * more. contained is ok, escaped and inconclusive are not, provisional and not-claimed are skipped,
 * all but ok with the reasons in YAML. Nothing is ever marked as to be done, which would count as
 * success. In a rejected run only the first test fails, and all others are skipped: nothing is
 * scored.
 */
#ifndef SENTINEL_REPORT_TAP_H
#define SENTINEL_REPORT_TAP_H

#include <stdio.h>

#include "user/base/util.h"
#include "user/judge/verdict.h"

/* 0 or -EIO where f does not take it. */
int tap_write(FILE *f, const struct run_result *r) must_check;

#endif

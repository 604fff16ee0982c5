/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JUnit XML for CI: a suite per target, a case per probe. escaped = failure, inconclusive = error,
 * provisional and not-claimed = skipped with the reason. A rejected run has an error per rejection
 * in its own suite, and all of its cells are skipped; a run that scores nothing has one, too.
 */
#ifndef SENTINEL_REPORT_JUNIT_H
#define SENTINEL_REPORT_JUNIT_H

#include <stdio.h>

#include "user/base/util.h"
#include "user/judge/verdict.h"

/* 0 or -EIO where f does not take it. */
int junit_write(FILE *f, const struct run_result *r) must_check;

#endif

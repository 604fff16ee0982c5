/* SPDX-License-Identifier: Apache-2.0 */
/* One cell's verdict with the evidence behind it, as a time line. */
#ifndef SENTINEL_REPORT_EXPLAIN_H
#define SENTINEL_REPORT_EXPLAIN_H

#include <stdio.h>

#include "user/judge/verdict.h"
#include "user/report/moment.h"
#include "user/report/text.h"

/* Prints c and the n moments in the order given, with times relative to the first. 0 or -EIO. */
int explain_print(FILE *f, const struct cell_result *c, const struct moment *moments, size_t n,
		  bool color) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* One cell's verdict with the evidence behind it, as a time line. */
#ifndef SENTINEL_REPORT_EXPLAIN_H
#define SENTINEL_REPORT_EXPLAIN_H

#include <stdio.h>

#include "user/judge/verdict.h"
#include "user/report/text.h"

struct explain_line {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t id;	  /* record number: epb_packetid in the capture; 0 = no record */
	const char *text; /* hostile parts are escaped here */
};

/* Prints c and the n lines in the order given, with times relative to the first. 0 or -EIO. */
int explain_print(FILE *f, const struct cell_result *c, const struct explain_line *lines, size_t n,
		  bool color) must_check;

#endif

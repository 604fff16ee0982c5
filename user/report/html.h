/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as one HTML page that needs nothing else: no script, no font, no picture, no address. Its
 * content security policy allows its own style sheet and nothing more, so that even a string that
 * got past markup_text() could neither run nor ask for anything.
 *
 * report.css is the style sheet; the Makefile puts it and its digest into the program.
 */
#ifndef SENTINEL_REPORT_HTML_H
#define SENTINEL_REPORT_HTML_H

#include <stdio.h>

#include "user/judge/verdict.h"
#include "user/report/moment.h"
#include "user/report/text.h"

/* What the page says of a cell besides its result. */
struct html_cell {
	const char *quote;	/* of the claim's source; "" */
	struct moment *moments; /* in order of time */
	size_t n;
	size_t left_out; /* records that are in the capture and not here */
};

struct html_missing { /* a hook that was not attached */
	uint32_t hook, lane;
	bool needed, final;
	char detail[EV_NAME_MAX];
};

/* A trial on the run's own time line. */
struct html_span {
	const struct ev_trial *trial;
	uint32_t cell;		 /* index, or UINT32_MAX: none, a baseline */
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC; to 0: it never ended */
};

struct html_report {
	const struct run_result *r;
	const char *bundle; /* as it was named to us, for the commands that are shown */
	const struct ev_run_begin *begin; /* NULL: the capture has none */
	uint64_t begin_ns, end_ns;	  /* of the first and the last record */
	int64_t clock_set_ns;		  /* by how much the clock was set during the run */
	uint64_t records;
	const char *verified; /* what of the evidence was checked; NULL: nothing is said of it */
	const char *damage;   /* what is wrong with the evidence; NULL: nothing is */
	const struct ev_target *targets;
	size_t targets_n;
	const struct ev_program *programs; /* of the targets, and the instrument's own */
	size_t programs_n;
	const struct html_cell *cells; /* as many as r has, in its order */
	const struct html_missing *missing;
	size_t missing_n;
	const struct html_span *spans;
	size_t spans_n, spans_left_out;
	hook_name_fn hook_name;
	family_fn family_of;
};

/* 0, -ENOMEM, or -EIO where f does not take it. */
int html_write(FILE *f, const struct html_report *p) must_check;

#endif

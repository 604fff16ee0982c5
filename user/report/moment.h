/* SPDX-License-Identifier: Apache-2.0 */
/* One record as a time line shows it: when, of which trial, seen where, who did what, and what came
 * of it. Made by cmd/moment.c, shown by `explain`, `report` and `timeline`. */
#ifndef SENTINEL_REPORT_MOMENT_H
#define SENTINEL_REPORT_MOMENT_H

#include "user/decode/ev.h"
#include "user/report/line.h"

struct moment {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t id;	  /* record number */
	bool packet;	  /* a packet block: its id is epb_packetid, frame.packet_id in Wireshark */
	uint32_t trial;	  /* 0: of none */
	enum arm arm;
	const char *at;	  /* vantage: "A" inside, "B" boundary, "W" far side; "" for none */
	const char *hook; /* or the record's type, where no hook saw it; static text */
	/* Of a stranger's choosing, "" where there is nothing to say. */
	const char *process; /* "curl 4242" */
	const char *what;
	const char *outcome; /* "= 3", "ENETUNREACH (-101)", "the token in hex", ... */
};

/* "baseline", "on", "off", "on2", "allowed"; "" for none. */
const char *moment_arm(const struct moment *m);

/* The display filter that finds it in Wireshark and tshark. */
#define MOMENT_FILTER_MAX 80
const char *moment_filter(const struct moment *m, char out[MOMENT_FILTER_MAX]);

/* For qsort(): by time, as rings are not in order of it; those of the same time as in the capture.
 */
int moment_order(const void *a, const void *b);

/* Everything but the time, in columns; the line goes on. */
void moment_print(struct line *l, const struct moment *m);

#endif

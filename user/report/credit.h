/* SPDX-License-Identifier: Apache-2.0 */
/* Whose doing it was: where each target's attempts stopped and by what, and what nobody claims. */
#ifndef SENTINEL_REPORT_CREDIT_H
#define SENTINEL_REPORT_CREDIT_H

#include "user/report/grid.h"
#include "user/report/line.h"

/* For each target, the probes that did not cross, by where and what stopped them. */
void credit_stopped(const struct grid *g, struct line *l);

/* For each target, the probes that no claim of it covers: those that crossed, and the others. */
void credit_unclaimed(const struct grid *g, struct line *l);

/* The instrument's own targets, a line each: how many came out as they must, and which did not. */
void credit_instrument(const struct grid *g, struct line *l);

#endif

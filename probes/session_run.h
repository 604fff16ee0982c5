/* SPDX-License-Identifier: Apache-2.0 */
/* One session in one sandbox (DESIGN.md 3.2): alive, attempt, ran, alive again. */
#ifndef SENTINEL_PROBES_SESSION_RUN_H
#define SENTINEL_PROBES_SESSION_RUN_H

#include "probes/session_args.h"

/*
 * Draws the instance, answers the first challenge on out, makes the attempt, says on out that it
 * ran and what came back, then answers challenges that come on in until "quit", end of file or
 * hold_ms ends it. Each line is one write(), so that output of others can't get into its middle.
 *
 * Both descriptors stay the caller's. 0; -errno where the instance could not be drawn or a line not
 * written. A line that could not be written stops nothing: a sandbox that loses output can still
 * leak, and the kernel sees it.
 */
int session_run(const struct session_args *args, int in, int out) must_check;

#endif

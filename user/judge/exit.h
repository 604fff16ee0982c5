/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says to the shell (DESIGN.md 6.1). */
#ifndef SENTINEL_EXIT_H
#define SENTINEL_EXIT_H

#include <stdbool.h>

#include "user/judge/verdict.h"

/*
 * r was judged by run_judge(). Only the claimed cells of targets count, never a calibrator's.
 * skipped_named: something that -t or -p names was skipped. damaged: the evidence does not verify.
 * Precedence: damaged 5, rejected 3, an escape 1, then 3 (a cell inconclusive, nothing scored,
 * something named skipped), provisional 4 (0 where accepted), 0. Never answers EXIT_USAGE.
 */
enum exit_code run_exit_code(const struct run_result *r, bool skipped_named, bool damaged,
			     bool accept_provisional);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a cell in which everything went as it must: contained. */
#ifndef SENTINEL_TEST_FACTS_GOOD_H
#define SENTINEL_TEST_FACTS_GOOD_H

#include "user/judge/facts.h"

static const struct facts good = {
	.claimed = true,
	.identity = IDENTITY_RIGHT,
	.alive1 = true,
	.alive2 = true,
	.same_instance = true,
	.ran = true,
	.attempt = ATTEMPT_SEEN,
	.baseline_first = REACH_ANSWERED,
	.baseline_last = REACH_ANSWERED,
	.off = OFF_CROSSED,
	.on2 = ON2_AGREES,
	.attached_w = true,
	.attached_b = true,
	.attached_a = true,
	.attached_exec = true,
	.self_test = true,
	.window_long = true,
	.stopped_known = true,
};

#endif

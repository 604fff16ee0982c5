/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result as an in-toto Statement (v1) with the predicate test-result v0.1: the capture's
 * segments are the subject, the run's inputs its configuration. Tests are scored cells,
 * "TARGET/PROBE": contained has passed, provisional is warned of, escaped and inconclusive have
 * failed. What nobody claims is in "notClaimedTests", which is ours. FAILED where something has
 * failed, nothing was scored, or the run is rejected: then no test is named.
 */
#ifndef SENTINEL_REPORT_STATEMENT_H
#define SENTINEL_REPORT_STATEMENT_H

#include "user/base/json_out.h"
#include "user/base/util.h"
#include "user/judge/verdict.h"

struct statement_file { /* of the bundle */
	const char *name;
	const uint8_t *sha256; /* EV_DIGEST_BYTES */
};

struct statement_files {
	const struct statement_file *file;
	size_t n;
};

/* Appends it as one line. json_out_error() tells. */
int statement_json(struct json_out *j, const struct run_result *r,
		   const struct statement_files *capture,
		   const struct statement_files *inputs) must_check;

#endif

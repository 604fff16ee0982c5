/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic as JSON, one object a line, in the names of the Elastic Common Schema where it has one.
 */
#ifndef SENTINEL_REPORT_TRAFFIC_JSON_H
#define SENTINEL_REPORT_TRAFFIC_JSON_H

#include "user/base/json_out.h"
#include "user/report/traffic_words.h"

/* Each appends one line, the seq-th of the capture at path; times of rows are since 1970. */
void traffic_json_flow(struct json_out *j, uint64_t seq, const char *path,
		       const struct flow_row *row);
void traffic_json_question(struct json_out *j, uint64_t seq, const char *path,
			   const struct name_question *q);

/* The last line. */
void traffic_json_capture(struct json_out *j, uint64_t seq, const struct traffic_about *about,
			  const struct traffic_totals *totals);

#endif

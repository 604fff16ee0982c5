/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic for people: what there was in all, the flows, and the names that were asked for. */
#ifndef SENTINEL_REPORT_TRAFFIC_TEXT_H
#define SENTINEL_REPORT_TRAFFIC_TEXT_H

#include <stdio.h>

#include "user/report/traffic_words.h"

/* 0, -ENOMEM, or -EIO where f does not take it. */
int traffic_text(FILE *f, struct traffic *t, const struct traffic_about *about,
		 bool color) must_check;

#endif

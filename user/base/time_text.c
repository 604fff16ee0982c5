// SPDX-License-Identifier: Apache-2.0
#include "user/base/time_text.h"

#include <inttypes.h>

const char *time_text(uint64_t ns, char out[TIME_TEXT_MAX])
{
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);
	uint64_t fraction = ns % NSEC_PER_SEC;
	struct tm tm = { 0 };

	(void)gmtime_r(&seconds, &tm); /* until the year 2554 it can't fail */
	(void)str_format(out, TIME_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%09" PRIu64 "Z",
			 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			 tm.tm_sec, fraction);
	return out;
}

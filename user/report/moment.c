// SPDX-License-Identifier: Apache-2.0
#include "user/report/moment.h"

#include <inttypes.h>

#include "user/base/util.h"

const char *moment_arm(const struct moment *m)
{
	static const char *const names[ARM_MAX] = {
		[ARM_NONE] = "",	   [ARM_BASELINE_FIRST] = "baseline",
		[ARM_ON] = "on",	   [ARM_OFF] = "off",
		[ARM_ON2] = "on2",	   [ARM_BASELINE_LAST] = "baseline",
		[ARM_ALLOWED] = "allowed",
	};

	return (size_t)m->arm < ARRAY_SIZE(names) ? names[m->arm] : "";
}

/* Only packet blocks can have a number of their own; others have it in their JSON. */
const char *moment_filter(const struct moment *m, char out[MOMENT_FILTER_MAX])
{
	(void)str_format(out, MOMENT_FILTER_MAX,
			 m->packet
				 ? "frame.packet_id == %" PRIu64
				 : "systemd_journal.field.value contains \"\\\"id\\\":\\\"%" PRIu64
				   "\\\"\"",
			 m->id);
	return out;
}

int moment_order(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

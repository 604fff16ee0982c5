// SPDX-License-Identifier: Apache-2.0
#include "user/report/moment.h"

#include <inttypes.h>

#include "user/base/util.h"
#include "user/report/text.h"

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

/* Widths of the columns, with the gap: the widest hook has 25 letters, a process 15 and its pid. */
enum { ID_WIDTH = 10, TRIAL_WIDTH = 15, AT_WIDTH = 3, HOOK_WIDTH = 27, PROCESS_WIDTH = 23 };

void moment_print(struct line *l, const struct moment *m)
{
	char plain[TEXT_MAX];

	if (m->id)
		line_putf(l, INK_FAINT, ID_WIDTH, "#%" PRIu64, m->id);
	else
		line_put(l, INK_NONE, ID_WIDTH, "");
	if (m->trial)
		line_putf(l, INK_NONE, TRIAL_WIDTH, "%s %" PRIu32, moment_arm(m), m->trial);
	else
		line_put(l, INK_NONE, TRIAL_WIDTH, moment_arm(m));
	line_put(l, INK_STRONG, AT_WIDTH, m->at);
	line_put(l, INK_FAINT, HOOK_WIDTH, m->hook);
	line_put(l, INK_NONE, PROCESS_WIDTH, printable(plain, sizeof(plain), m->process));
	line_put(l, INK_NONE, 0, printable(plain, sizeof(plain), m->what));
	if (!m->outcome[0])
		return;
	line_put(l, INK_NONE, 0, m->outcome[0] == '=' ? " " : ", ");
	line_put(l, INK_STRONG, 0, printable(plain, sizeof(plain), m->outcome));
}

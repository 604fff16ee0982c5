// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of the far side's log that came after the trial whose token is in them. The log has no
 * sender: such a line only confirms what the kernel saw to be the trial's, the tap at W or, for a
 * listener on this side of it, A while no other sandbox was at work that could have read the token.
 *
 * The kernel's own record of it may come later still, by a ring that is not as fast as the log is.
 * So the lines wait for the end.
 */
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

int late_log_keep(struct correlate *c, struct trial_state *t, const struct ev *ev, bool another)
{
	const struct late_log l = {
		.unexplained = { .lane = ev->received.lane, .time_ns = ev->time_ns, .id = ev->id },
		.trial = t->t.id,
		.another = another
	};

	if (!ev->received.forbidden) {
		t->log_late = true;
		return 0;
	}
	return c->late_logs.n == UNEXPLAINED_MAX ? -ENOSPC : list_add(&c->late_logs, l);
}

int late_logs_settle(struct correlate *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->trials.n; i++) {
		struct trial_state *t = &c->trials.at[i];

		t->token_log |= t->log_late && !GUARD(LOG_TOO_LATE, !t->token_tap);
	}
	for (uint32_t i = 0; i < c->late_logs.n && !err; i++) {
		const struct late_log *l = &c->late_logs.at[i];
		struct trial_state *t = &c->trials.at[l->trial - 1];

		if (!GUARD(LOG_TOO_LATE, !t->token_tap && (!t->token_inside || l->another))) {
			t->token_log = true;
			continue;
		}
		t->elsewhere = true; /* no tap at W says so */
		if (GUARD(FORBIDDEN_UNEXPLAINED, true))
			err = list_add(&c->unexplained, l->unexplained);
	}
	return err;
}

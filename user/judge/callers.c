// SPDX-License-Identifier: Apache-2.0
/*
 * Who calls listeners in the file system. All lanes share it, and nonces stand in
 * /proc/PID/cmdline: a sandbox can bring another one's token to that one's listener, whose log
 * knows no sender. A kernel without the hook connect_unix sees no caller; nobody is doubted there.
 */
#include <sys/socket.h>

#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

static void add_caller(struct correlate *c, const char *target, uint64_t time_ns)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(c->callers); i++) {
		struct caller *at = &c->callers[i];

		if (at->target[0] && strcmp(at->target, target) != 0)
			continue;
		if (!at->target[0] || time_ns < at->first_ns)
			at->first_ns = time_ns;
		(void)str_copy(at->target, sizeof(at->target), target);
		return;
	}
}

/* By whatever name: a path has many. Whoever called early may speak late. */
void caller_see(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t = trial_get(c, ev->trial);
	const struct ev_target *target = t ? target_of(c, t->t.target) : NULL;
	bool own;

	if (!target || target->role != ROLE_TARGET || ev->addr.family != AF_UNIX ||
	    !ev->addr.path[0] || ev->addr.path[0] == '@')
		return;
	own = !strcmp(ev->addr.path, t->t.path);
	if (own && ev->mark == t->mark)
		return;
	t->called_by_helper |= own;
	add_caller(c, t->t.target, ev->time_ns);
}

static bool another_called(const struct correlate *c, const struct trial_state *t)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(c->callers); i++) {
		const struct caller *at = &c->callers[i];

		if (at->target[0] && strcmp(at->target, t->t.target) != 0 &&
		    at->first_ns <= t->end_ns)
			return true;
	}
	return false;
}

/* Neither the session was seen to hand its token over, nor a helper of its sandbox to call; another
 * target's process was. */
void callers_settle(struct correlate *c)
{
	for (uint32_t i = 0; i < c->trials.n; i++) {
		struct trial_state *t = &c->trials.at[i];

		if (!t->token_log || t->t.dest != DEST_UNIX_PATH || t->token_inside ||
		    t->called_by_helper || !t->t.target[0])
			continue;
		if (GUARD(FRAMED_BY_PATH, another_called(c, t))) {
			t->token_log = false;
			t->elsewhere = true;
		}
	}
}

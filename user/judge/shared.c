// SPDX-License-Identifier: Apache-2.0
/*
 * Frames at W to a destination that trials share, such as a metadata service, from a socket that A
 * did not see: behind address translation, or of a guest's own network stack. A token that came by
 * the same connection, or comes yet, says whose they are. Without one, a frame is of the only trial
 * that could still have sent it; where there are several, each has an unexplained frame in its
 * window, since no one of them can be blamed for it, and none of them acquitted.
 */
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

int shared_keep(struct correlate *c, const struct ev *ev, const struct packet *p,
		const struct trial_state *newest, uint32_t running)
{
	struct shared_state s = {
		.unexplained = { .lane = ev->lane, .time_ns = ev->time_ns, .id = ev->id },
		.flow = flow_key(ev->lane, p),
		.newest = newest->t.id,
		.running = running,
		.signal = packet_is_signal(p)
	};

	return c->shared.n == SHARED_MAX ? -ENOSPC : list_add(&c->shared, s);
}

static bool in_span(const struct correlate *c, const struct trial_state *t, uint64_t time_ns)
{
	return time_ns >= t->new_ns && time_ns <= trial_window_end(c, t);
}

static uint64_t longest_window(const struct correlate *c)
{
	uint32_t longest = 0;

	for (uint32_t i = 0; i < c->trials.n; i++)
		longest = MAX(longest, trial_window_ms(c, &c->trials.at[i]));
	return longest * NSEC_PER_MSEC;
}

/* The only trial whose window was open; the newest where none was; NULL where several were. Trials
 * of a lane follow each other, so that before one that is long over there is nobody else. */
static struct trial_state *only_one(struct correlate *c, const struct shared_state *s,
				    uint64_t window_ns)
{
	struct trial_state *newest = trial_get(c, s->newest), *found = NULL;
	uint64_t time_ns = s->unexplained.time_ns;

	for (struct trial_state *t = newest; t; t = trial_get(c, t->older)) {
		if (t->end_ns && t->end_ns + window_ns < time_ns)
			break;
		if (!in_span(c, t, time_ns) || !trial_goes_to(t, newest->t.daddr, newest->t.dport))
			continue;
		if (GUARD(SHARED_BY_SEVERAL, found))
			return NULL;
		found = t;
	}
	return found ? found : newest;
}

/* Whose connection it is, by a token that came by it. */
static struct trial_state *by_token(struct correlate *c, const struct shared_state *s)
{
	struct trial_state *t;
	uint32_t id;

	if (!idmap_get(&c->by_token, s->flow, &id))
		return NULL;
	t = trial_get(c, id);
	return t && in_span(c, t, s->unexplained.time_ns) ? t : NULL;
}

/* After its arm only what says nothing is still its own, while another is at work. */
static bool is_late(const struct shared_state *s, const struct trial_state *t)
{
	return s->signal && t->end_ns && s->unexplained.time_ns > t->end_ns && s->running &&
	       s->running != t->t.id;
}

static int settle(struct correlate *c, const struct shared_state *s, uint64_t window_ns)
{
	struct trial_state *t = by_token(c, s);

	if (!t)
		t = only_one(c, s, window_ns);
	/* A bare segment is its connection's, so without a connection it is nobody's. */
	if (!t || is_late(s, t) || (!s->signal && !t->signal && !t->token_tap))
		return list_add(&c->unexplained, s->unexplained);
	if (s->signal)
		trial_signal(t, s->unexplained.id);
	return 0;
}

int shared_settle(struct correlate *c)
{
	uint64_t window_ns = longest_window(c);
	int err = 0;

	for (uint32_t i = 0; i < c->shared.n && !err; i++)
		err = settle(c, &c->shared.at[i], window_ns);
	return err;
}

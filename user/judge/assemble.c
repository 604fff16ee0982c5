// SPDX-License-Identifier: Apache-2.0
/*
 * From what is known of each trial to the facts of each round, then to the result: calibrators
 * first, since what they say of the instrument is a fact of every other cell.
 */
#include <netinet/in.h>

#include "user/base/mac.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"
#include "user/judge/run_judge.h"

/* ---- one trial ---- */

uint32_t trial_window_ms(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_target *target = target_of(c, t->t.target);
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	uint32_t window = probe ? probe->window_ms : 0;

	return target ? MAX(window, target->settle_ms) : window;
}

/* ---- loss ---- */

enum where { WHERE_W, WHERE_B, WHERE_A, WHERE_EXEC, WHERE_LOG, WHERE_NOT_VERDICT };

/* Loss at kfree_skb makes stopped_by unknown, no more (DESIGN.md 3.5); at sys_enter too, which only
 * tells a call that seccomp answered from one that the kernel refused. */
static enum where where_of(uint32_t hook)
{
	switch (hook) {
	case SNT_HOOK_WORLD:
		return WHERE_W;
	case SNT_HOOK_BOUNDARY:
		return WHERE_B;
	case SNT_HOOK_EXEC:
		return WHERE_EXEC;
	case LOSS_COLLECTOR:
		return WHERE_LOG;
	case SNT_HOOK_KFREE_SKB:
	case SNT_HOOK_SYS_ENTER:
		return WHERE_NOT_VERDICT;
	default:
		return WHERE_A;
	}
}

/* From the trial's registration until end. */
static bool lost_until(const struct correlate *c, const struct trial_state *t, enum where where,
		       uint64_t end)
{
	for (uint32_t i = 0; i < c->losses.n; i++) {
		const struct loss_state *l = &c->losses.at[i];

		if (where_of(l->hook) == where && l->from_ns <= end && l->to_ns >= t->new_ns &&
		    (l->slot == t->t.lane || l->slot == SNT_SLOT_NONE))
			return true;
	}
	return false;
}

/* ---- the window ---- */

bool trial_refused(const struct correlate *c, const struct trial_state *t)
{
	if (!t->refused || GUARD(REFUSED_NOT_ALL, t->call_accepted || t->packet_a || t->packet_b))
		return false;
	return !GUARD(REFUSED_MAYBE_NOT_ALL, lost_until(c, t, WHERE_A, t->end_ns));
}

/* From when on W must have listened: the last attempt; where none was seen, the end of the arm. */
static uint64_t window_start(const struct trial_state *t)
{
	return t->attempt_ns ? t->attempt_ns : t->end_ns;
}

/* Also where the kernel refused every call: what somebody else sends for the sandbox can come later
 * than its own calls. */
uint64_t trial_window_end(const struct correlate *c, const struct trial_state *t)
{
	uint64_t end = window_start(t) + trial_window_ms(c, t) * NSEC_PER_MSEC;

	return MAX(end, t->end_ns);
}

static bool lost_in(const struct correlate *c, const struct trial_state *t, enum where where)
{
	return lost_until(c, t, where, trial_window_end(c, t));
}

static uint32_t window_listened_ms(const struct correlate *c, const struct trial_state *t)
{
	uint64_t start = window_start(t);

	return start && c->end_ns > start ? (uint32_t)((c->end_ns - start) / NSEC_PER_MSEC) : 0;
}

static bool window_long(const struct correlate *c, const struct trial_state *t)
{
	return trial_refused(c, t) ||
	       (t->end_ns && window_listened_ms(c, t) >= trial_window_ms(c, t));
}

/* With an exec record lost there may have been another session. */
static enum identity identity_of(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_target *target = target_of(c, t->t.target);
	bool canary = target && target->expect & EXPECT_REFUSED_CONNECT;

	if (!t->execs || GUARD(EXEC_LOST, lost_in(c, t, WHERE_EXEC)))
		return IDENTITY_UNKNOWN;
	if (GUARD(CANARY_CALL_ALLOWED, canary && t->canary_allowed))
		return IDENTITY_WRONG;
	if (GUARD(CANARY_CALL_UNSEEN, canary && !t->canary_refused))
		return IDENTITY_UNKNOWN;
	return t->identity_wrong ? IDENTITY_WRONG : IDENTITY_RIGHT;
}

/* Nobody reaches a sibling, and nobody reads a process, that is not there: who is beside a sandbox
 * must be as alive as that itself, and before it. */
static bool sibling_missing(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	if (probe->dest != DEST_SIBLING && !GUARD(BESIDE_PLANTED, probe->planted_beside))
		return false;
	return GUARD(SIBLING_BEFORE, !t->sibling[0].right) ||
	       GUARD(SIBLING_LATE, t->sibling_ns > t->exec_ns) ||
	       GUARD(SIBLING_AFTER, !t->sibling[1].right) ||
	       GUARD(SIBLING_INSTANCE,
		     memcmp(t->sibling[0].instance, t->sibling[1].instance, EV_NONCE_BYTES) != 0);
}

/* The answers are of one process, and the kernel saw one session start. */
static bool same_instance(const struct correlate *c, const struct trial_state *t)
{
	const uint8_t *instance = t->alive[0].instance;

	if (GUARD(SESSION_NOT_ONE, t->execs != 1) || sibling_missing(c, t))
		return false;
	if (GUARD(INSTANCE_AT_END, memcmp(instance, t->alive[1].instance, EV_NONCE_BYTES) != 0))
		return false;
	return !GUARD(INSTANCE_THAT_RAN,
		      t->ran.given && memcmp(instance, t->ran.instance, EV_NONCE_BYTES) != 0);
}

#define CLOCK_SLACK_NS (10 * NSEC_PER_MSEC) /* waits are in whole milliseconds */

/* An attempt at the start says nothing of the steady state. What a program was given in its
 * environment it has from its start, whenever it looks. */
static bool is_too_early(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	return (probe->channel != CHANNEL_SECRET || probe->step[0]) &&
	       t->attempt_ns + CLOCK_SLACK_NS < t->exec_ns + t->t.wait_ms * NSEC_PER_MSEC;
}

static enum attempt attempt_of(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_target *target = target_of(c, t->t.target);

	if (!plant_was_readable(c, t))
		return ATTEMPT_NONE;
	if (t->attempt_ns)
		return GUARD(STEADY_TOO_EARLY, is_too_early(c, t)) ? ATTEMPT_NONE : ATTEMPT_SEEN;
	return target && target->inferred && t->ran.right ? ATTEMPT_INFERRED : ATTEMPT_NONE;
}

/* Where the probe goes, or anywhere else outside. */
static bool token_arrived(const struct trial_state *t)
{
	return t->token_tap || t->token_log || t->secret.right;
}

/* Where the probe goes: a control is off, and a far side there, only if that was reached. */
static bool reached(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	if (probe->channel == CHANNEL_SECRET)
		return t->secret.right;
	if (probe->dest == DEST_SIBLING)
		return t->answered && t->token_inside;
	return probe->forbidden ? t->token_log : t->token_tap;
}

/* A frame of a socket of another target, sent while that one's arm was running, is that one's.
 * Never so within one target: its off arm could take the blame for its on. */
static bool is_anothers(const struct correlate *c, const struct trial_state *t,
			const struct unexplained_state *u)
{
	const struct trial_state *sender =
		u->sender && u->sender <= c->trials.n ? &c->trials.at[u->sender - 1] : NULL;

	return sender && strcmp(sender->t.target, t->t.target) != 0 &&
	       u->time_ns >= sender->new_ns && sender->end_ns && u->time_ns <= sender->end_ns;
}

static bool has_unexplained(const struct correlate *c, const struct trial_state *t)
{
	uint64_t end = trial_window_end(c, t);

	if (GUARD(TOKEN_ELSEWHERE, t->elsewhere))
		return true;
	if (GUARD(UNEXPLAINED_OVERFLOW, c->unexplained_overflow[t->t.lane]))
		return true;
	for (uint32_t i = 0; i < c->unexplained.n; i++) {
		const struct unexplained_state *u = &c->unexplained.at[i];

		if (u->lane == t->t.lane && u->time_ns >= t->new_ns && u->time_ns <= end &&
		    !is_anothers(c, t, u))
			return true;
	}
	return false;
}

static enum crossing crossing_of(const struct correlate *c, const struct trial_state *t)
{
	if (token_arrived(t))
		return CROSSING_TOKEN;
	if (t->signal)
		return CROSSING_SIGNAL;
	return has_unexplained(c, t) ? CROSSING_UNEXPLAINED : CROSSING_NONE;
}

static enum reach reach_of(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_probe *probe = t ? probe_of(c, t->t.probe) : NULL;

	if (!t || !reached(c, t))
		return REACH_NONE;
	return t->answered || !probe->answers ? REACH_ANSWERED : REACH_CROSSED;
}

/* ---- attachment ---- */

static bool attached_throughout(const struct correlate *c, uint32_t hook, uint32_t lane)
{
	const struct attach_state *a = &c->attach[hook][lane];

	return a->start && a->start_ok && a->final && a->final_ok;
}

/* Attached means: the kernel says so, and canaries before and after the trial were seen. */
static bool attached_tap(const struct correlate *c, const struct trial_state *t, uint32_t hook)
{
	const struct canary_count *n = hook == SNT_HOOK_WORLD ? &t->canary_w : &t->canary_b;

	if (GUARD(TAP_DETACHED, !attached_throughout(c, hook, t->t.lane)))
		return false;
	return !GUARD(TAP_CANARY_MISSING, !n->before || !n->after || n->before != n->before_seen ||
						  n->after != n->after_seen);
}

/* Every hook on the cgroup root and of tracing that was called needed at the start. */
static bool attached_machine(const struct correlate *c, bool exec)
{
	bool any = false;

	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++) {
		if (!c->attach[hook][0].needed || (hook == SNT_HOOK_EXEC) != exec)
			continue;
		any = true;
		if (!attached_throughout(c, hook, 0))
			return false;
	}
	return any;
}

static void count_canaries(struct correlate *c)
{
	for (uint32_t i = 0; i < c->canaries.n; i++) {
		const struct canary_state *s = &c->canaries.at[i];
		struct trial_state *t = trial_get(c, s->c.trial);
		struct canary_count *n;

		if (!t) { /* the lane's last ones: unseen, they speak for all its trials */
			if (GUARD(LANE_CANARY_MISSING, !s->seen) && s->c.hook < SNT_HOOK_MAX &&
			    s->c.lane < SNT_SLOT_MAX)
				c->attach[s->c.hook][s->c.lane].final_ok = false;
			continue;
		}
		n = s->c.hook == SNT_HOOK_WORLD ? &t->canary_w : &t->canary_b;
		if (t->end_ns && s->sent_ns >= t->end_ns) {
			n->after++;
			n->after_seen += s->seen;
		} else {
			n->before++;
			n->before_seen += s->seen;
		}
	}
}

/* ---- where it stopped, and by what ---- */

static void stopped(const struct correlate *c, const struct trial_state *t, struct cell_result *r)
{
	if (token_arrived(t) || t->signal) {
		r->stopped_at = VANTAGE_W;
		return;
	}
	r->stopped_at = blame_at(t);
	/* A hook that is not seen to be met comes to blame others. */
	if (!lost_in(c, t, WHERE_NOT_VERDICT) && !lost_in(c, t, WHERE_A))
		blame_word(t, r->stopped_by);
}

/* ---- a round ---- */

static const struct trial_state *find_trial(const struct correlate *c, const struct ev_cell *cell,
					    enum arm arm, uint32_t repeat)
{
	const struct ev_trial *t;
	uint32_t id;

	if (!idmap_get(&c->by_cell, cell_key(cell->target, cell->probe, arm, repeat), &id))
		return NULL;
	t = &c->trials.at[id - 1].t;
	return t->arm == arm && t->repeat == repeat && !strcmp(t->target, cell->target) &&
			       !strcmp(t->probe, cell->probe)
		       ? &c->trials.at[id - 1]
		       : NULL;
}

/* The same probe outside any sandbox, under the same uid, towards the same far side. */
static const struct trial_state *find_baseline(const struct correlate *c, enum arm arm,
					       const struct ev_trial *like)
{
	for (uint32_t i = 0; i < c->trials.n; i++) {
		const struct ev_trial *t = &c->trials.at[i].t;

		if (t->arm == arm && t->far == like->far && t->uid == like->uid &&
		    t->caps == like->caps && !strcmp(t->probe, like->probe))
			return &c->trials.at[i];
	}
	return NULL;
}

static bool provably_tried(const struct correlate *c, const struct trial_state *t)
{
	return identity_of(c, t) == IDENTITY_RIGHT && t->alive[0].right && t->alive[1].right &&
	       same_instance(c, t) && t->ran.right && attempt_of(c, t) != ATTEMPT_NONE;
}

static enum on2_state on2_of(const struct correlate *c, const struct trial_state *t)
{
	enum crossing crossing;

	if (!t)
		return ON2_ABSENT;
	crossing = crossing_of(c, t);
	if (crossing == CROSSING_TOKEN || crossing == CROSSING_SIGNAL)
		return ON2_CROSSED;
	return crossing == CROSSING_NONE && provably_tried(c, t) ? ON2_AGREES : ON2_ABSENT;
}

static enum off_state off_of(const struct correlate *c, const struct ev_cell *cell,
			     const struct trial_state *t)
{
	if (!cell->has_off)
		return OFF_ABSENT;
	return t && reached(c, t) ? OFF_CROSSED : OFF_NONE;
}

/* A platform that lets nothing through does no useful work, and its silence is no measurement. */
static enum allowed_state allowed_of(const struct correlate *c, const struct ev_cell *cell,
				     const struct trial_state *t)
{
	if (!cell->has_allowed)
		return ALLOWED_NONE;
	return t && reach_of(c, t) == REACH_ANSWERED ? ALLOWED_WORKS : ALLOWED_DEAD;
}

/* A listener that no sandbox may reach heard nothing, though somebody took the connection. */
static bool taken_by_another(const struct ev_probe *probe, const struct trial_state *t)
{
	bool taken = probe->channel == CHANNEL_UNIX ? t->call_accepted : t->established;

	return taken && !t->token_log && !t->answered;
}

/*
 * What the attempt sent was stopped by nobody that could be credited. It left by a link that is not
 * the lane's; or somebody took it, on a loopback or out of sight, since nobody refused it and
 * nothing dropped it; or it crossed B and died in the rig, where nothing belongs to a sandbox.
 *
 * A resolver or proxy that the sandbox names takes what is handed to it: where that goes, W sees.
 */
static bool left_unseen(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	if (probe->channel == CHANNEL_SECRET)
		return false;
	if (t->packet_b)
		return !t->t.closed && !token_arrived(t) && !t->signal;
	if (probe->forbidden)
		return t->packet_elsewhere || GUARD(TAKEN_BY_ANOTHER, taken_by_another(probe, t));
	if (t->blame.drops[0] && t->drops >= t->sent)
		return false;
	if (probe->channel == CHANNEL_RESOLVER || (probe->channel == CHANNEL_PROXY && !t->straight))
		return t->packet_elsewhere;
	return t->packet_elsewhere || t->call_accepted || (t->attempt_ns && !t->refused);
}

/* What a forbidden listener received is known by its log, and by what A saw go there. */
static bool lost_at_w(const struct correlate *c, const struct trial_state *t)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	if (lost_in(c, t, WHERE_W))
		return true;
	return probe->forbidden &&
	       GUARD(LOST_FORBIDDEN, lost_in(c, t, WHERE_LOG) || lost_in(c, t, WHERE_A));
}

static void fill_on(const struct correlate *c, const struct trial_state *on, struct facts *f)
{
	f->identity = identity_of(c, on);
	f->alive1 = on->alive[0].right;
	f->alive2 = on->alive[1].right;
	f->same_instance = same_instance(c, on);
	f->ran = on->ran.right;
	f->attempt = attempt_of(c, on);
	f->on = crossing_of(c, on);
	f->signal_at_b = on->signal_b;
	f->shared = GUARD(LEFT_UNSEEN, left_unseen(c, on));
	f->on_answered = on->answered;
	f->via_other = on->other_channel;
	f->baseline_first = reach_of(c, find_baseline(c, ARM_BASELINE_FIRST, &on->t));
	f->baseline_last = reach_of(c, find_baseline(c, ARM_BASELINE_LAST, &on->t));
	f->lost_w = lost_at_w(c, on);
	f->lost_b = lost_in(c, on, WHERE_B);
	f->lost_a = lost_in(c, on, WHERE_A);
	f->attached_w = attached_tap(c, on, SNT_HOOK_WORLD);
	f->attached_b = attached_tap(c, on, SNT_HOOK_BOUNDARY);
	f->window_long = window_long(c, on);
}

static void add_on2(const struct correlate *c, const struct trial_state *on2, struct facts *f)
{
	f->lost_w |= lost_at_w(c, on2);
	f->lost_b |= lost_in(c, on2, WHERE_B);
	f->lost_a |= lost_in(c, on2, WHERE_A);
	f->attached_w &= attached_tap(c, on2, SNT_HOOK_WORLD);
	f->attached_b &= attached_tap(c, on2, SNT_HOOK_BOUNDARY);
	f->shared |= GUARD(LEFT_UNSEEN, left_unseen(c, on2));
	f->window_long &= window_long(c, on2);
}

static void fill_round(const struct correlate *c, const struct ev_cell *cell, uint32_t repeat,
		       struct facts *f)
{
	const struct trial_state *on = find_trial(c, cell, ARM_ON, repeat);
	const struct trial_state *on2 = find_trial(c, cell, ARM_ON2, repeat);

	f->claimed = cell->claimed;
	f->attached_a = attached_machine(c, false);
	f->attached_exec = attached_machine(c, true);
	f->off = off_of(c, cell, find_trial(c, cell, ARM_OFF, repeat));
	f->allowed = allowed_of(c, cell, find_trial(c, cell, ARM_ALLOWED, repeat));
	f->on2 = on2_of(c, on2);
	if (on)
		fill_on(c, on, f);
	if (on2)
		add_on2(c, on2, f);
}

/* ---- a cell ---- */

static void add_arm(struct arm_result *a, const struct trial_state *t)
{
	a->crossed |= token_arrived(t) || t->signal;
	a->answered |= t->answered;
	a->present = true;
	for (uint32_t i = 0; i < t->records_n && a->records_n < VERDICT_RECORDS_MAX; i++)
		a->records[a->records_n++] = t->records[i];
}

static void fill_arms(const struct correlate *c, const struct ev_cell *cell, struct cell_result *r)
{
	const struct trial_state *on = find_trial(c, cell, ARM_ON, 1);

	for (uint32_t i = 0; i < c->trials.n; i++) {
		const struct trial_state *t = &c->trials.at[i];

		if (t->t.target[0] && !strcmp(t->t.target, cell->target) &&
		    !strcmp(t->t.probe, cell->probe))
			add_arm(&r->arms[t->t.arm], t);
	}
	for (enum arm arm = ARM_BASELINE_FIRST; on && arm < ARM_MAX; arm++) {
		const struct trial_state *t = find_baseline(c, arm, &on->t);

		if (t && !t->t.target[0])
			add_arm(&r->arms[arm], t);
	}
}

static void describe_on(const struct correlate *c, const struct trial_state *on,
			struct cell_result *r)
{
	uint32_t listened = window_listened_ms(c, on);

	if (token_arrived(on) || on->signal) {
		r->crossed++;
		if (on->t.wait_ms)
			r->crossed_steady++;
	}
	r->window_ms = r->window_ms ? MIN(r->window_ms, listened) : listened;
	if (on->other_channel && !r->via[0])
		(void)str_copy(r->via, sizeof(r->via), on->via);
	if (r->n > 1)
		return;
	r->attempt = attempt_of(c, on);
	(void)str_copy(r->probe_view, sizeof(r->probe_view), on->view);
	stopped(c, on, r);
}

/* The kernel refused every call of this attempt, outside any sandbox, and nothing was lost of it.
 */
static bool host_refuses(const struct correlate *c, const struct trial_state *baseline)
{
	return baseline && baseline->ran.right && trial_refused(c, baseline) &&
	       !lost_in(c, baseline, WHERE_EXEC);
}

/*
 * What the host stops by itself is no merit of the platform's: where both baselines, of the same
 * uid and with the same capabilities, were refused, the cell says so, and by what.
 */
static void credit_host(const struct correlate *c, const struct ev_cell *cell,
			struct cell_result *r)
{
	const struct trial_state *on = find_trial(c, cell, ARM_ON, 1), *first, *last;
	const reason_set unreachable = REASON_BIT(REASON_TARGET_UNREACHABLE_OUTSIDE);
	char word[EV_NAME_MAX] = "";

	if (!on || r->crossed || !(r->judgement.reasons & unreachable) ||
	    attempt_of(c, on) == ATTEMPT_NONE)
		return;
	first = find_baseline(c, ARM_BASELINE_FIRST, &on->t);
	last = find_baseline(c, ARM_BASELINE_LAST, &on->t);
	if (!host_refuses(c, first) || !host_refuses(c, last))
		return;
	r->credit = CREDIT_HOST;
	r->judgement.reasons &= ~unreachable;
	r->judgement.reasons |= REASON_BIT(REASON_HOST_DEFAULT);
	if (!lost_in(c, first, WHERE_NOT_VERDICT))
		blame_word(first, word);
	(void)str_format(r->stopped_by, sizeof(r->stopped_by), "host%s%.58s", word[0] ? ":" : "",
			 word);
}

/* A target with a steady state has two rounds for each: one at the start, one that waits. */
static uint32_t rounds_of(const struct correlate *c, const struct ev_target *target)
{
	return MAX(c->begin.repeat, 1u) * (target->steady_ms ? 2 : 1);
}

/* Only where the sandbox was not alive: a target may start for one probe and not for another. */
static void describe_start(const struct correlate *c, struct cell_result *r)
{
	if (!(r->judgement.reasons & REASON_BIT(REASON_SANDBOX_NOT_ALIVE)))
		return;
	for (uint32_t i = 0; i < c->start_errors_n; i++)
		if (!strcmp(c->start_errors[i].target, r->target))
			(void)str_copy(r->start_error, sizeof(r->start_error),
				       c->start_errors[i].text);
}

static enum goal goal_of(const struct ev_probe *probe)
{
	if (probe->channel == CHANNEL_SECRET)
		return GOAL_SECRET;
	return probe->forbidden ? GOAL_LISTENER : GOAL_FAR_SIDE;
}

/* That the attempt crossed: no record that is missing could make it untrue. */
static bool is_proven(const struct facts *f)
{
	return judge_round(f).grade != GRADE_NONE;
}

static int judge_one(const struct correlate *c, const struct ev_cell *cell, bool self_test,
		     enum evidence_state evidence, struct cell_result *r)
{
	const struct ev_target *target = target_of(c, cell->target);
	uint32_t n = rounds_of(c, target);
	cleanup_free struct facts *rounds = calloc(n, sizeof(*rounds));

	if (!rounds)
		return -ENOMEM;
	*r = (struct cell_result){ .role = target->role, .claimed = cell->claimed };
	(void)str_copy(r->target, sizeof(r->target), cell->target);
	(void)str_copy(r->probe, sizeof(r->probe), cell->probe);
	(void)str_copy(r->source, sizeof(r->source), cell->source);
	r->goal = goal_of(probe_of(c, cell->probe));
	r->steady_ms = target->steady_ms;
	for (uint32_t i = 0; i < n; i++) {
		const struct trial_state *on = find_trial(c, cell, ARM_ON, i + 1);

		fill_round(c, cell, i + 1, &rounds[i]);
		r->n = i + 1;
		if (on)
			describe_on(c, on, r);
		rounds[i].self_test = self_test;
		rounds[i].stopped_known = r->stopped_by[0];
		rounds[i].damaged = evidence == EVIDENCE_DAMAGED ||
				    (evidence == EVIDENCE_SEALED && !is_proven(&rounds[i]));
	}
	fill_arms(c, cell, r);
	r->judgement = judge_cell(rounds, n);
	credit_host(c, cell, r);
	describe_start(c, r);
	return 0;
}

/* ---- the run ---- */

/* A sibling is a sandbox too, and never has the far side's key: it answers with the trial's secret
 * in its place. */
static void answer_of(const struct correlate *c, const struct trial_state *t,
		      uint8_t ret[EV_MAC_BYTES])
{
	uint8_t secret[EV_NONCE_BYTES];

	if (probe_of(c, t->t.probe)->dest != DEST_SIBLING) {
		mac_answer(c->end.key, t->t.token, ret);
		return;
	}
	mac_secret(c->end.key, t->t.nonce, secret);
	mac_sibling_answer(secret, t->t.token, ret);
}

static void check_sibling(const struct correlate *c, struct trial_state *t)
{
	uint8_t secret[EV_NONCE_BYTES], mac[EV_MAC_BYTES];

	mac_secret(c->end.key, t->t.nonce, secret);
	for (int i = 0; i < 2; i++) {
		struct proof_state *p = &t->sibling[i];

		mac_alive(secret, i + 1, i ? t->t.challenge2 : t->t.challenge1, p->instance, mac);
		p->right = p->given && !GUARD(SIBLING_WRONG, !mac_equal(mac, t->sibling_mac[i]));
	}
}

static void check_answers(struct correlate *c)
{
	for (uint32_t i = 0; i < c->trials.n && c->ended; i++) {
		struct trial_state *t = &c->trials.at[i];
		uint8_t mac[EV_MAC_BYTES];

		check_sibling(c, t);
		answer_of(c, t, mac);
		t->answered = t->has_answer && !GUARD(ANSWER_WRONG, !mac_equal(mac, t->answer));
		/* Who is in a sandbox keeps no log that is ours: its answer stands for it. */
		t->token_log |= t->answered && probe_of(c, t->t.probe)->dest == DEST_SIBLING;
	}
}

static bool is_baseline(const struct ev_trial *t)
{
	return t->arm == ARM_BASELINE_FIRST || t->arm == ARM_BASELINE_LAST;
}

/* What the kernel saw, and what the far side says, of a baseline. */
static void witnesses_of(const struct correlate *c, const struct trial_state *t, bool *ret_tap,
			 bool *ret_log)
{
	const struct ev_probe *probe = probe_of(c, t->t.probe);

	*ret_tap = probe->forbidden ? t->token_inside : t->token_tap;
	*ret_log = t->token_log;
}

/*
 * The tap, the collector's log, and the far side's answer: nobody has its HMAC over a token that
 * did not arrive, so a matcher that finds nothing, and silences the first two alike, is betrayed by
 * the third. A deaf far side has no log to compare with; a token in it would be a contradiction.
 */
static bool witnesses_disagree(const struct correlate *c)
{
	for (uint32_t i = 0; i < c->trials.n; i++) {
		const struct trial_state *t = &c->trials.at[i];
		bool tap, log;

		if (!is_baseline(&t->t))
			continue;
		/* A witness that lost records contradicts nobody: the baseline is then unproven. */
		if (lost_at_w(c, t) || lost_in(c, t, WHERE_LOG))
			continue;
		witnesses_of(c, t, &tap, &log);
		if (GUARD(ANSWERED_UNSEEN, t->answered && !tap))
			return true;
		if (t->t.far == FAR_DEAF ? log : tap != log)
			return true;
	}
	return false;
}

static bool baseline_reached(const struct correlate *c, const char *probe)
{
	bool first = false, last = false;

	for (uint32_t i = 0; i < c->trials.n; i++) {
		const struct trial_state *t = &c->trials.at[i];

		if (t->t.far != FAR_ANSWERS || strcmp(t->t.probe, probe) != 0 ||
		    reach_of(c, t) != REACH_ANSWERED)
			continue;
		first |= t->t.arm == ARM_BASELINE_FIRST;
		last |= t->t.arm == ARM_BASELINE_LAST;
	}
	return first && last;
}

static int judge_cells(const struct correlate *c, bool calibrators, enum evidence_state evidence,
		       struct run_result *r)
{
	for (uint32_t i = 0; i < c->cells.n; i++) {
		const struct ev_cell *cell = &c->cells.at[i];
		const struct ev_target *target = target_of(c, cell->target);
		bool self_test = calibrators || run_self_test(r, cell->probe);
		int err;

		if ((target->role != ROLE_TARGET) != calibrators)
			continue;
		err = judge_one(c, cell, self_test, evidence, &r->cells[i]);
		if (err)
			return err;
	}
	return 0;
}

static void fill_totals(const struct correlate *c, struct run_result *r)
{
	r->identity_holds = c->ended;
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++) {
		const struct snt_count *n = &c->end.total[hook];
		bool any = false, all = true;

		r->lost_ring += n->ring_full;
		r->lost_map += n->map_full;
		if (n->seen !=
		    n->delivered + n->ring_full + n->oversized + n->map_full + n->filtered)
			r->identity_holds = false;
		for (uint32_t lane = 0; lane < SNT_SLOT_MAX; lane++) {
			if (!c->attach[hook][lane].start && !c->attach[hook][lane].final)
				continue;
			any = true;
			all &= attached_throughout(c, hook, lane);
		}
		if (any && all)
			r->hooks |= 1u << hook;
	}
	memcpy(r->total, c->end.total, sizeof(r->total));
	memcpy(r->recursion, c->end.recursion, sizeof(r->recursion));
}

/* A witness whose record may be among what is damaged does not contradict anybody. */
static int judge_run(const struct correlate *c, enum evidence_state evidence, struct run_result *r)
{
	bool whole = evidence == EVIDENCE_WHOLE;
	cleanup_free struct run_probe *probes = calloc(c->probes.n + 1, sizeof(*probes));
	struct run_facts f = { .witnesses_disagree = whole && witnesses_disagree(c),
			       .decoy_matched = c->decoy_matched,
			       .aborted = c->ended ? c->end.aborted : whole,
			       .probes_n = c->probes.n,
			       .probes = probes };

	if (!probes)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->probes.n; i++) {
		(void)str_copy(probes[i].name, sizeof(probes[i].name), c->probes.at[i].name);
		probes[i].builtin = c->probes.at[i].builtin;
		probes[i].crossed = baseline_reached(c, probes[i].name);
	}
	run_judge(r, &f);
	return 0;
}

int assemble(struct correlate *c, enum evidence_state evidence, struct run_result *ret)
{
	struct run_result r = { .status = RUN_VALID };
	int err;

	check_answers(c);
	plants_settle(c);
	count_canaries(c);
	err = late_logs_settle(c);
	callers_settle(c);
	if (!err)
		err = quotes_settle(c);
	if (!err)
		err = shared_settle(c);
	if (err)
		return err;
	(void)str_copy(r.run, sizeof(r.run), c->begin.run);
	r.cells_n = c->cells.n;
	r.cells = calloc(c->cells.n + 1, sizeof(*r.cells));
	if (!r.cells)
		return -ENOMEM;
	fill_totals(c, &r);
	err = judge_cells(c, true, evidence, &r);
	if (!err)
		err = judge_cells(c, false, evidence, &r);
	if (!err)
		err = judge_run(c, evidence, &r);
	if (err) {
		run_result_done(&r);
		return err;
	}
	*ret = r;
	return 0;
}

/* Of a record that crossed for two trials, the first one's. */
int correlate_index(struct correlate *c)
{
	int err = 0;

	for (uint32_t i = c->trials.n; i-- && !err;)
		for (uint32_t k = 0; k < c->trials.at[i].records_n && !err; k++)
			err = idmap_set(&c->by_record, c->trials.at[i].records[k], i + 1);
	return err;
}

uint32_t correlate_trial_of(const struct correlate *c, const struct ev *ev)
{
	uint32_t trial = ev->trial;

	if (ev->type == EV_TRIAL)
		return ev->trial_new.id;
	if (ev->type == EV_ARM_BEGIN)
		return ev->arm_begin.trial;
	if (ev->type == EV_ARM_END)
		return ev->arm_end.trial;
	if (ev->type == EV_ANSWER)
		return ev->answer.trial;
	if (ev->type == EV_PROOF)
		return ev->proof.trial;
	if (ev->type == EV_CANARY)
		return ev->canary.trial;
	if (!ev->trial)
		(void)idmap_get(&c->by_record, ev->id, &trial);
	return trial;
}

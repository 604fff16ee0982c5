// SPDX-License-Identifier: Apache-2.0
#include "user/rig/schedule.h"

#include <poll.h>
#include <sys/socket.h>

#include "user/rig/rig.h"

#define BASELINE_TIMEOUT_MS 1000 /* nothing is in the way there: 1000 times a round trip */
#define POLL_MAX_MS 50

enum job_kind { JOB_BASELINE_FIRST, JOB_ROUND, JOB_BASELINE_LAST };
enum job_state { JOB_WAITING = 0, JOB_RUNNING, JOB_DONE };

/* What a baseline speaks for: the same probe, uid and far side. */
struct base_key {
	const struct probe_manifest *probe;
	enum far_side far;
	uid_t uid;
	gid_t gid;
};

struct job {
	enum job_kind kind;
	enum job_state state;
	struct base_key key;
	const struct target *target; /* of a round */
	uint32_t repeat;
	uint32_t arms_left; /* bit = enum arm */
};

struct slot { /* a lane */
	struct job *job;
	enum arm arm;
	struct session session;
};

struct schedule {
	const struct schedule_opts *o;
	struct client *client;
	struct job *jobs;
	size_t jobs_n, jobs_cap;
	uint32_t trials_done, trials_total;
	struct folders folders;
	struct slot lanes[LANES_MAX + 1];
};

/* ---- what there is to do ---- */

static bool same_key(const struct base_key *a, const struct base_key *b)
{
	return a->probe == b->probe && a->far == b->far && a->uid == b->uid;
}

static int add_job(struct schedule *s, const struct job *j)
{
	if (s->jobs_n == s->jobs_cap) {
		size_t cap = s->jobs_cap ? 2 * s->jobs_cap : 64;
		struct job *more = reallocarray(s->jobs, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->jobs = more;
		s->jobs_cap = cap;
	}
	s->jobs[s->jobs_n++] = *j;
	s->trials_total += (uint32_t)__builtin_popcount(j->arms_left);
	return 0;
}

static size_t families_of(const struct probe_manifest *p)
{
	size_t n = 0;

	while (n < PROBE_FAMILIES_MAX && p->families[n])
		n++;
	return n;
}

static const struct target_off *off_of(const struct target *t, const struct probe_manifest *p)
{
	return target_off_for(t, p->p.name, p->families, families_of(p));
}

static int add_baseline(struct schedule *s, const struct base_key *key)
{
	struct job first = { .kind = JOB_BASELINE_FIRST,
			     .key = *key,
			     .repeat = 1,
			     .arms_left = 1u << ARM_BASELINE_FIRST };
	struct job last = { .kind = JOB_BASELINE_LAST,
			    .key = *key,
			    .repeat = 1,
			    .arms_left = 1u << ARM_BASELINE_LAST };
	int err;

	for (size_t i = 0; i < s->jobs_n; i++)
		if (s->jobs[i].kind == JOB_BASELINE_FIRST && same_key(&s->jobs[i].key, key))
			return 0;
	err = add_job(s, &first);
	return err ? err : add_job(s, &last);
}

static int add_cell(struct schedule *s, const struct target *t, const struct probe_manifest *p)
{
	struct job round = { .kind = JOB_ROUND,
			     .key = { .probe = p, .far = t->far, .uid = t->uid, .gid = t->gid },
			     .target = t };
	int err = add_baseline(s, &round.key);

	for (uint32_t r = 1; r <= s->o->repeat && !err; r++) {
		round.repeat = r;
		round.arms_left = (1u << ARM_ON | 1u << ARM_ON2) & s->o->arms;
		if (off_of(t, p))
			round.arms_left |= 1u << ARM_OFF & s->o->arms;
		if (round.arms_left)
			err = add_job(s, &round);
	}
	return err;
}

static int plan(struct schedule *s)
{
	int err = 0;

	for (size_t i = 0; i < s->o->targets_n; i++)
		for (size_t k = 0; k < s->o->probes_n && !err; k++)
			err = add_cell(s, s->o->targets[i], s->o->probes[k]);
	return err;
}

/* ---- the run's log: what is tested, against what is claimed ---- */

/* First line of what the target's version command prints, "" where it has none or fails. */
static void version_of(const struct target *t, char ret[EV_TEXT_MAX])
{
	struct launch_opts o = {
		.argv = t->version, .cgroup_fd = -1, .netns_fd = -1, .uid = t->uid, .gid = t->gid
	};
	struct launch l = { 0 };
	uint64_t until = mono_ns() + 5 * NSEC_PER_SEC;
	size_t len = 0;

	ret[0] = '\0';
	if (!t->version || !t->version[0] || launch_start(&l, &o, NULL))
		return;
	while (len < EV_TEXT_MAX - 1 && mono_ns() < until) {
		struct pollfd p = { .fd = l.out, .events = POLLIN };
		ssize_t n;

		(void)poll(&p, 1, 100);
		n = read(l.out, ret + len, EV_TEXT_MAX - 1 - len);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	ret[len] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
	launch_done(&l);
}

static int log_target(struct schedule *s, const struct target *t, struct diag *d)
{
	struct ev ev = { .type = EV_TARGET };
	char version[EV_TEXT_MAX];

	version_of(t, version);
	target_to_ev(t, version, &ev.target);
	return client_log(s->client, &ev, d);
}

static int log_probe(struct schedule *s, const struct probe_manifest *p, struct diag *d)
{
	struct ev ev = { .type = EV_PROBE, .probe = p->p };

	return client_log(s->client, &ev, d);
}

static int log_cell(struct schedule *s, const struct target *t, const struct probe_manifest *p,
		    struct diag *d)
{
	const struct target_claim *claim =
		target_claim_for(t, p->p.name, p->families, families_of(p));
	struct ev ev = { .type = EV_CELL };

	(void)str_copy(ev.cell.target, sizeof(ev.cell.target), t->name);
	(void)str_copy(ev.cell.probe, sizeof(ev.cell.probe), p->p.name);
	ev.cell.claimed = claim && claim->claimed;
	ev.cell.has_off = off_of(t, p) != NULL;
	if (claim) {
		(void)target_source_text(&claim->source, ev.cell.source, sizeof(ev.cell.source));
		(void)escape_text(ev.cell.quote, sizeof(ev.cell.quote), claim->source.quote,
				  strlen(claim->source.quote));
	}
	return client_log(s->client, &ev, d);
}

static int log_plan(struct schedule *s, struct diag *d)
{
	int err = 0;

	for (size_t k = 0; k < s->o->probes_n && !err; k++)
		err = log_probe(s, s->o->probes[k], d);
	for (size_t i = 0; i < s->o->targets_n && !err; i++) {
		err = log_target(s, s->o->targets[i], d);
		for (size_t k = 0; k < s->o->probes_n && !err; k++)
			err = log_cell(s, s->o->targets[i], s->o->probes[k], d);
	}
	return err;
}

/* ---- which job may run ---- */

static bool ready(const struct schedule *s, const struct job *j)
{
	if (j->kind == JOB_BASELINE_FIRST)
		return true;
	for (size_t i = 0; i < s->jobs_n; i++) {
		const struct job *other = &s->jobs[i];

		if (!same_key(&other->key, &j->key) || other->state == JOB_DONE)
			continue;
		if (other->kind == JOB_BASELINE_FIRST)
			return false;
		if (other->kind == JOB_ROUND && j->kind == JOB_BASELINE_LAST)
			return false;
	}
	return true;
}

/* The longest first: a far side that never answers, then a control outside the sandbox, where a
 * probe waits in vain. What is short fills the gaps. */
static int rank(const struct job *j)
{
	if (j->key.far == FAR_DEAF)
		return 0;
	if (j->kind == JOB_BASELINE_FIRST)
		return 1;
	return j->target && j->target->lane == TARGET_LANE_CLOSED ? 2 : 3;
}

static struct job *next_job(struct schedule *s)
{
	struct job *best = NULL;

	for (size_t i = 0; i < s->jobs_n; i++) {
		struct job *j = &s->jobs[i];

		if (j->state == JOB_WAITING && ready(s, j) && (!best || rank(j) < rank(best)))
			best = j;
	}
	return best;
}

/* ---- lanes at work ---- */

static enum arm next_arm(const struct job *j)
{
	for (enum arm arm = ARM_BASELINE_FIRST; arm < ARM_MAX; arm++)
		if (j->arms_left & 1u << arm)
			return arm;
	return ARM_NONE;
}

static void describe_trial(const struct job *j, enum arm arm, uint32_t lane, struct ev_trial *t)
{
	if (j->target)
		(void)str_copy(t->target, sizeof(t->target), j->target->name);
	(void)str_copy(t->probe, sizeof(t->probe), j->key.probe->p.name);
	t->arm = arm;
	t->far = j->key.far;
	t->repeat = j->repeat;
	t->lane = lane;
	t->uid = j->key.uid;
	t->dport = j->key.probe->port;
	rig_trial_addr(t->daddr, (int)j->key.probe->p.family, j->key.far == FAR_DEAF, 0);
}

static uint32_t probe_timeout_ms(const struct job *j, enum arm arm)
{
	return arm == ARM_ON || arm == ARM_ON2 ? j->key.probe->p.window_ms : BASELINE_TIMEOUT_MS;
}

static int start_arm(struct schedule *s, uint32_t lane, struct diag *d)
{
	struct slot *slot = &s->lanes[lane];
	struct job *j = slot->job;
	const struct target_off *off = j->target ? off_of(j->target, j->key.probe) : NULL;
	enum arm arm = next_arm(j);
	bool loosened = arm == ARM_OFF && off;
	struct session_plan p = {
		.folders = &s->folders,
		.probe_exe = s->o->probe_exe,
		.run = !j->target ? NULL
		       : loosened ? off->run
				  : j->target->run,
		.uid = j->key.uid,
		.gid = j->key.gid,
		.timeout_ms = probe_timeout_ms(j, arm),
		.start_timeout_ms = j->target ? j->target->start_timeout_ms : 10000,
	};
	bool closed = j->target && (loosened ? off->lane : j->target->lane) == TARGET_LANE_CLOSED;
	cleanup_fd int cgroup = -1, box = -1;
	struct ev ev = { .type = EV_TRIAL };
	int err;

	j->arms_left &= ~(1u << arm);
	describe_trial(j, arm, lane, &ev.trial_new);
	err = client_trial_new(s->client, &ev, closed, &cgroup, &box, d);
	if (err)
		return err;
	return session_start(&slot->session, s->client, &ev.trial_new, &p, cgroup, box, d);
}

static int fill_lanes(struct schedule *s, struct diag *d)
{
	for (uint32_t lane = 1; lane <= s->o->lanes; lane++) {
		struct slot *slot = &s->lanes[lane];
		int err;

		if (!slot->job) {
			slot->job = next_job(s);
			if (!slot->job)
				continue;
			slot->job->state = JOB_RUNNING;
		}
		if (slot->session.active)
			continue;
		err = start_arm(s, lane, d);
		if (err)
			return err;
	}
	return 0;
}

static int step_lane(struct schedule *s, struct slot *slot, struct diag *d)
{
	int err;

	if (!slot->session.active)
		return 0;
	err = session_step(&slot->session, s->client, d);
	if (err || !session_over(&slot->session))
		return err;
	err = session_end(&slot->session, s->client, d);
	s->trials_done++;
	if (next_arm(slot->job) == ARM_NONE) {
		slot->job->state = JOB_DONE;
		slot->job = NULL;
	}
	return err;
}

static void wait_for_any(const struct schedule *s)
{
	struct pollfd p[2 * (LANES_MAX + 1)];
	nfds_t n = 0;

	for (uint32_t lane = 1; lane <= s->o->lanes; lane++) {
		const struct session *x = &s->lanes[lane].session;

		if (!x->active || !x->launch.started)
			continue;
		if (!x->out_ended)
			p[n++] = (struct pollfd){ .fd = x->launch.out, .events = POLLIN };
		if (!x->exited)
			p[n++] = (struct pollfd){ .fd = x->launch.pidfd, .events = POLLIN };
	}
	(void)poll(p, n, POLL_MAX_MS);
}

static int work(struct schedule *s, struct diag *d)
{
	while (s->trials_done < s->trials_total) {
		int err = fill_lanes(s, d);

		if (!err)
			wait_for_any(s);
		for (uint32_t lane = 1; lane <= s->o->lanes && !err; lane++)
			err = step_lane(s, &s->lanes[lane], d);
		if (err)
			return err;
		if (s->o->stop && *s->o->stop)
			return diag_set(d, -EINTR, NULL, 0, 0, "interrupted");
		if (s->o->progress)
			s->o->progress(s->o->progress_arg, s->trials_done, s->trials_total);
	}
	return 0;
}

int schedule_run(struct client *c, const struct schedule_opts *o, struct diag *d)
{
	struct schedule *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	s->o = o;
	s->client = c;
	s->folders = FOLDERS_NONE;
	folders_sweep();
	err = plan(s);
	if (err)
		(void)diag_set(d, err, NULL, 0, 0, "out of memory");
	if (!err)
		err = log_plan(s, d);
	if (!err)
		err = work(s, d);
	for (uint32_t lane = 1; lane <= LANES_MAX; lane++)
		session_drop(&s->lanes[lane].session);
	folders_done(&s->folders);
	free(s->jobs);
	free(s);
	return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/rig/schedule.h"

#include <poll.h>
#include <sys/socket.h>

#include "user/rig/destination.h"
#include "user/rig/platform.h"
#include "user/rig/rig.h"
#include "user/rig/session.h"
#include "user/rig/version.h"

#define BASELINE_TIMEOUT_MS 1000 /* nothing is in the way there: 1000 times a round trip */
#define DEAF_TIMEOUT_MS 300	 /* ... and here nobody will ever answer */
#define BASELINE_START_TIMEOUT_MS 10000
#define POLL_MAX_MS 50

struct slot { /* a lane */
	struct job *job;
	bool retired; /* a trial could not be ended: it may still send there */
	struct session session;
};

struct schedule {
	const struct schedule_opts *o;
	struct client *client;
	struct jobs *jobs;
	uint32_t trials_done;
	struct folders folders;
	struct slot lanes[LANES_MAX + 1];
};

/* ---- the run's log: what is tested, against what is claimed ---- */

static int log_target(struct schedule *s, const struct target *t, struct diag *d)
{
	struct ev ev = { .type = EV_TARGET };
	char version[EV_TEXT_MAX];
	struct diag wrong;
	int err = version_of(s->client, t, s->o->stop, version, &wrong, d);

	if (err)
		return err;
	if (wrong.text[0] && s->o->warn)
		s->o->warn(s->o->progress_arg, t->name, wrong.text);
	target_to_ev(t, version, &ev.target);
	return client_log(s->client, &ev, d);
}

static int log_program(void *arg, const struct ev_program *p, struct diag *d)
{
	struct schedule *s = arg;
	struct ev ev = { .type = EV_PROGRAM, .program = *p };

	return client_log(s->client, &ev, d);
}

/* Each file once: the evidence says what was executed, by content. */
static int log_programs(struct schedule *s, const struct target *t, struct diag *d)
{
	static char self[] = "/proc/self/exe";
	char *const own[] = { self, (char *)(uintptr_t)s->o->probe_exe,
			      (char *)(uintptr_t)s->o->confine_exe, NULL };

	return t ? platform_programs(t, log_program, s, d) : own_programs(own, log_program, s, d);
}

static int log_probe(struct schedule *s, const struct probe_manifest *p, struct diag *d)
{
	struct ev ev = { .type = EV_PROBE, .probe = p->p };

	return client_log(s->client, &ev, d);
}

static int log_cell(struct schedule *s, const struct target *t, const struct probe_manifest *p,
		    struct diag *d)
{
	const struct target_claim *claim = probe_claim(t, p);
	struct ev ev = { .type = EV_CELL };

	(void)str_copy(ev.cell.target, sizeof(ev.cell.target), t->name);
	(void)str_copy(ev.cell.probe, sizeof(ev.cell.probe), p->p.name);
	ev.cell.claimed = claim && claim->claimed;
	ev.cell.has_off = probe_off(t, p) != NULL;
	ev.cell.has_allowed = probe_allowed(t, p);
	if (claim) {
		(void)target_source_text(&claim->source, ev.cell.source, sizeof(ev.cell.source));
		(void)escape_text(ev.cell.quote, sizeof(ev.cell.quote), claim->source.quote,
				  strlen(claim->source.quote));
	}
	return client_log(s->client, &ev, d);
}

static int log_plan(struct schedule *s, struct diag *d)
{
	int err = log_programs(s, NULL, d);

	for (size_t k = 0; k < s->o->jobs.probes_n && !err; k++)
		err = log_probe(s, s->o->jobs.probes[k], d);
	for (size_t i = 0; i < s->o->jobs.targets_n && !err; i++) {
		err = log_target(s, s->o->jobs.targets[i], d);
		if (!err)
			err = log_programs(s, s->o->jobs.targets[i], d);
		for (size_t k = 0; k < s->o->jobs.probes_n && !err; k++)
			err = log_cell(s, s->o->jobs.targets[i], s->o->jobs.probes[k], d);
	}
	return err;
}

/* ---- lanes at work ---- */

/* As `on`: with the control where the target has it. */
static bool control_is_on(enum arm arm)
{
	return arm == ARM_ON || arm == ARM_ON2 || arm == ARM_ALLOWED;
}

static void describe_trial(const struct job *j, enum arm arm, uint32_t lane, struct ev_trial *t)
{
	if (j->target)
		(void)str_copy(t->target, sizeof(t->target), j->target->name);
	(void)str_copy(t->probe, sizeof(t->probe), j->key.probe->p.name);
	t->arm = arm;
	t->far = j->key.far;
	t->repeat = j->repeat;
	t->wait_ms = control_is_on(arm) ? j->wait_ms : 0;
	t->lane = lane;
	t->uid = j->key.uid;
	t->caps = j->key.caps;
	t->dest = j->key.probe->p.dest;
	t->dport = j->key.probe->port;
	/* The daemon completes it, and wants to know of which family. */
	if (j->key.probe->p.family == AF_INET)
		rig_trial_addr(t->daddr, AF_INET, false, 0);
}

static uint32_t probe_timeout_ms(const struct job *j, enum arm arm)
{
	if (control_is_on(arm))
		return j->key.probe->p.window_ms;
	return j->key.far == FAR_DEAF ? DEAF_TIMEOUT_MS : BASELINE_TIMEOUT_MS;
}

static char *const *command_of(const struct job *j, const struct target_off *loosened)
{
	if (!j->target)
		return NULL;
	return loosened ? loosened->run : j->target->run;
}

static bool lane_is_closed(const struct job *j, const struct target_off *loosened)
{
	return j->target && (loosened ? loosened->lane : j->target->lane) == TARGET_LANE_CLOSED;
}

static struct session_plan plan_of(struct schedule *s, const struct job *j, enum arm arm,
				   const struct target_off *loosened)
{
	const struct probe_manifest *probe = j->key.probe;

	return (struct session_plan){
		.folders = &s->folders,
		.probe_exe = probe->session_exe ? probe->session_exe : s->o->probe_exe,
		.bind = probe->bind,
		.own = probe->own,
		.confine_exe = s->o->confine_exe,
		.run = command_of(j, loosened),
		.uid = j->key.uid,
		.gid = j->key.gid,
		.canary = j->target && j->target->expect & EXPECT_REFUSED_CONNECT,
		.timeout_ms = probe_timeout_ms(j, arm),
		.name = destination_name(&probe->p, arm, j->key.far),
		.start_timeout_ms =
			j->target ? j->target->start_timeout_ms : BASELINE_START_TIMEOUT_MS,
	};
}

static int start_arm(struct schedule *s, uint32_t lane, struct diag *d)
{
	struct slot *slot = &s->lanes[lane];
	struct job *j = slot->job;
	enum arm arm = job_next_arm(j);
	const struct target_off *loosened =
		j->target && arm == ARM_OFF ? probe_off(j->target, j->key.probe) : NULL;
	const struct session_plan p = plan_of(s, j, arm, loosened);
	cleanup_fd int cgroup = -1, box = -1;
	struct ev ev = { .type = EV_TRIAL };
	struct client_planted planted;
	int err;

	j->arms_left &= ~(1u << arm);
	describe_trial(j, arm, lane, &ev.trial_new);
	err = client_trial_new(s->client, &ev, lane_is_closed(j, loosened), &planted, &cgroup, &box,
			       d);
	if (err)
		return err;
	return session_start(&slot->session, s->client, &ev.trial_new, &planted, &p, cgroup, box,
			     d);
}

static int fill_lanes(struct schedule *s, struct diag *d)
{
	uint32_t usable = 0;

	for (uint32_t lane = 1; lane <= s->o->lanes; lane++) {
		struct slot *slot = &s->lanes[lane];
		int err;

		if (slot->retired)
			continue;
		usable++;
		if (!slot->job)
			slot->job = jobs_take(s->jobs);
		if (!slot->job || slot->session.active)
			continue;
		err = start_arm(s, lane, d);
		if (err)
			return err;
	}
	return usable ? 0
		      : diag_set(d, -EBUSY, NULL, 0, 0,
				 "no lane is left: in each there is a sandbox that can't be ended");
}

static void leave_job(struct schedule *s, struct slot *slot)
{
	if (job_next_arm(slot->job) == ARM_NONE)
		jobs_finish(s->jobs, slot->job);
	else if (slot->retired)
		jobs_give_back(s->jobs, slot->job);
	else
		return;
	slot->job = NULL;
}

static int step_lane(struct schedule *s, struct slot *slot, struct diag *d)
{
	int err;

	if (!slot->session.active)
		return 0;
	err = session_step(&slot->session, s->client, d);
	if (err || !session_over(&slot->session))
		return err;
	err = session_end(&slot->session, s->client, &slot->retired, d);
	s->trials_done++;
	leave_job(s, slot);
	return err;
}

static void wait_for_any(const struct schedule *s)
{
	struct pollfd p[3 * (LANES_MAX + 1)];
	nfds_t n = 0;

	for (uint32_t lane = 1; lane <= s->o->lanes; lane++) {
		const struct session *x = &s->lanes[lane].session;

		if (x->active && x->helper.waited_for)
			p[n++] = (struct pollfd){ .fd = x->helper.launch.out, .events = POLLIN };
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
	uint32_t total = jobs_trials(s->jobs);

	while (s->trials_done < total) {
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
			s->o->progress(s->o->progress_arg, s->trials_done, total);
	}
	return 0;
}

int schedule_run(struct client *c, const struct schedule_opts *o, struct jobs *jobs, struct diag *d)
{
	struct schedule *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	s->o = o;
	s->client = c;
	s->jobs = jobs;
	s->folders = FOLDERS_NONE;
	folders_sweep();
	err = log_plan(s, d);
	if (!err)
		err = work(s, d);
	for (uint32_t lane = 1; lane <= LANES_MAX; lane++)
		session_drop(&s->lanes[lane].session);
	folders_done(&s->folders);
	free(s);
	return err;
}

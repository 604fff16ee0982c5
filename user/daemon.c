// SPDX-License-Identifier: Apache-2.0
#include "user/daemon.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "user/base/log.h"
#include "user/base/mac.h"
#include "user/pipeline.h"
#include "user/record/bundle.h"
#include "user/record/evjson.h"
#include "user/report/verdict_json.h"
#include "user/rig/cgroup.h"
#include "user/rig/control.h"
#include "user/rig/farside.h"
#include "user/rig/lane.h"
#include "user/rig/rig.h"
#include "user/sense/sense.h"

struct sabotage { /* of the instrument, for its own tests; written into the capture */
	bool no_collector, quiet_collector, no_ipv6;
};

#define LOSS_POLL_MS 100      /* how finely a loss is placed in time */
#define READY_TIMEOUT_MS 5000 /* for the far side to listen */
#define WATCHED_MAX 2048   /* trials watched at once: half of what the kernel side has room for */
#define WINDOW_SLACK_MS 20 /* records on their way when a window ends */

struct counters {
	struct snt_count count[SNT_HOOK_MAX][LANES_MAX + 1];
	uint64_t recursion[SNT_HOOK_MAX];
	uint64_t time_ns;
};

struct watched { /* a trial that the kernel side knows */
	uint32_t trial;
	uint64_t cgroup_id, mark;
};

struct daemon {
	int control;
	const char *collector;

	/* one run; begun is false before and after */
	bool begun, judged;
	char run[32];
	char dir[4096];
	uint8_t key[EV_MAC_BYTES];
	struct cgroup_run cgroups;
	struct sense *sense;
	struct pipeline *pipeline;
	uint32_t lanes_n;
	struct lane lanes[LANES_MAX + 1]; /* by number */
	struct farside farsides[LANES_MAX + 1];
	uint32_t trials_n;
	uint32_t lane_trials[LANES_MAX + 1]; /* how many each lane has had: addresses count them */
	uint32_t lane_trial[LANES_MAX + 1];
	bool lane_retired[LANES_MAX + 1]; /* a trial that could not be ended may still send there */
	bool helper;			  /* something that is no trial runs in lane 1 */
	struct watched watched[WATCHED_MAX]; /* by trial, modulo */
	struct counters seen;
};

/* ---- answers ---- */

static int answer(struct daemon *d, struct json_out *j, const int *fds, size_t n)
{
	int err;

	json_object_end(j);
	err = control_send(d->control, j, fds, n);
	json_out_done(j);
	return err;
}

static void answer_open(struct json_out *j)
{
	json_out_init(j);
	json_object_begin(j, NULL);
	json_boolean(j, "ok", true);
}

static int answer_ok(struct daemon *d)
{
	struct json_out j;

	answer_open(&j);
	return answer(d, &j, NULL, 0);
}

static int answer_error(struct daemon *d, const char *text)
{
	struct json_out j;

	json_out_init(&j);
	json_object_begin(&j, NULL);
	json_text(&j, "error", text);
	return answer(d, &j, NULL, 0);
}

static int answer_diag(struct daemon *d, const struct diag *diag)
{
	char text[1024];

	return answer_error(d, diag_text(diag, text, sizeof(text)));
}

/* ---- canaries and decoys: what the sentinel itself sends ---- */

static int send_token(struct lane *l, bool from_box, const uint8_t token[EV_NONCE_BYTES])
{
	char hex[2 * EV_NONCE_BYTES + 1], text[64];

	hex_encode(hex, token, EV_NONCE_BYTES);
	(void)str_format(text, sizeof(text), "SENTINEL %s\n", hex);
	return lane_send_from(l, from_box, text, strlen(text));
}

/* Logged first, so that what arrives is known. A canary that could not be sent is not seen either,
 * and says by that that the vantage is unproven. */
static int send_canary(struct daemon *d, uint32_t lane, uint32_t hook, uint32_t trial)
{
	struct ev ev = { .type = EV_CANARY, .lane = lane };
	int err = random_bytes(ev.canary.token, sizeof(ev.canary.token));

	ev.canary.lane = lane;
	ev.canary.epoch = d->lanes[lane].epoch;
	ev.canary.hook = hook;
	ev.canary.trial = trial;
	if (!err)
		err = pipeline_log(d->pipeline, &ev);
	if (!err)
		(void)!send_token(&d->lanes[lane], hook == SNT_HOOK_BOUNDARY, ev.canary.token);
	return err;
}

static int send_canaries(struct daemon *d, uint32_t lane, uint32_t trial)
{
	int err = send_canary(d, lane, SNT_HOOK_BOUNDARY, trial);

	return err ? err : send_canary(d, lane, SNT_HOOK_WORLD, trial);
}

static int send_decoy(struct daemon *d, const struct ev_trial *t, bool one_bit)
{
	struct ev ev = { .type = EV_DECOY, .lane = t->lane };
	int err = 0;

	memcpy(ev.decoy.token, t->token, sizeof(ev.decoy.token));
	if (one_bit)
		ev.decoy.token[t->id % EV_NONCE_BYTES] ^= (uint8_t)(1u << t->id % 8);
	else
		err = random_bytes(ev.decoy.token, sizeof(ev.decoy.token));
	ev.decoy.lane = t->lane;
	ev.decoy.epoch = t->epoch;
	ev.decoy.trial = t->id;
	ev.decoy.one_bit = one_bit;
	if (!err)
		err = pipeline_log(d->pipeline, &ev);
	if (!err)
		(void)!send_token(&d->lanes[t->lane], false, ev.decoy.token);
	return err;
}

/* ---- loss and attachment ---- */

static int log_loss(struct daemon *d, uint32_t hook, uint32_t slot, const struct snt_count *was,
		    const struct snt_count *now, uint64_t recursion)
{
	struct ev ev = { .type = EV_LOSS, .time_ns = mono_ns() };

	ev.loss.hook = hook;
	ev.loss.slot = slot;
	ev.loss.from_ns = d->seen.time_ns;
	ev.loss.ring_full = now->ring_full - was->ring_full;
	ev.loss.oversized = now->oversized - was->oversized;
	ev.loss.map_full = now->map_full - was->map_full;
	ev.loss.recursion = recursion;
	if (!ev.loss.ring_full && !ev.loss.oversized && !ev.loss.map_full && !recursion)
		return 0;
	return pipeline_log(d->pipeline, &ev);
}

/* What was lost since the last look becomes a record. */
static int poll_loss(struct daemon *d)
{
	uint64_t now_ns = mono_ns();
	int err = 0;

	for (uint32_t hook = 1; hook < SNT_HOOK_MAX && !err; hook++) {
		uint64_t recursion = sense_recursion(d->sense, hook);
		uint64_t more = recursion - d->seen.recursion[hook];

		d->seen.recursion[hook] = recursion;
		for (uint32_t slot = 0; slot <= d->lanes_n && !err; slot++) {
			struct snt_count *was = &d->seen.count[hook][slot], now;

			err = sense_count(d->sense, hook, slot, &now);
			if (err)
				break;
			err = log_loss(d, hook, slot, was, &now, slot ? 0 : more);
			*was = now;
		}
	}
	d->seen.time_ns = now_ns;
	return err;
}

static int log_attach(struct daemon *d, uint32_t hook, uint32_t lane, bool final)
{
	struct ev ev = { .type = EV_ATTACH };

	ev.attach.hook = hook;
	ev.attach.lane = lane;
	ev.attach.epoch = lane ? d->lanes[lane].epoch : 0;
	ev.attach.needed = sense_hook_needed(hook);
	ev.attach.final = final;
	ev.attach.attached = sense_hook_state(d->sense, hook, lane, ev.attach.detail);
	return pipeline_log(d->pipeline, &ev);
}

static bool is_lane_hook(uint32_t hook)
{
	return hook == SNT_HOOK_WORLD || hook == SNT_HOOK_BOUNDARY || hook == SNT_HOOK_BOX;
}

static int log_attach_all(struct daemon *d, bool final)
{
	int err = 0;

	for (uint32_t hook = 1; hook < SNT_HOOK_MAX && !err; hook++) {
		if (!is_lane_hook(hook))
			err = log_attach(d, hook, 0, final);
		for (uint32_t lane = 1; is_lane_hook(hook) && lane <= d->lanes_n && !err; lane++)
			err = log_attach(d, hook, lane, final);
	}
	return err;
}

/* ---- the rig ---- */

/* A ULID: 48 bits of milliseconds, 80 random ones, in Crockford's base32. */
static int make_run_id(char ret[32])
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
	unsigned __int128 v = 0;
	uint8_t random[10];
	int err = random_bytes(random, sizeof(random));

	if (err)
		return err;
	v = real_ns() / NSEC_PER_MSEC;
	for (size_t i = 0; i < sizeof(random); i++)
		v = v << 8 | random[i];
	for (int i = 25; i >= 0; i--, v >>= 5)
		ret[i] = digits[(unsigned int)v & 31];
	ret[26] = '\0';
	return 0;
}

static void describe_run(const struct daemon *d, uint32_t repeat, const struct sabotage *s,
			 struct ev *ev)
{
	struct ev_run_begin *b = &ev->run_begin;
	struct utsname u;

	*ev = (struct ev){ .type = EV_RUN_BEGIN, .time_ns = mono_ns() };
	(void)str_copy(b->run, sizeof(b->run), d->run);
	(void)str_copy(b->version, sizeof(b->version), SENTINEL_VERSION);
	b->realtime_ns = real_ns();
	b->boottime_ns = boot_ns();
	if (!uname(&u))
		(void)str_format(b->kernel, sizeof(b->kernel), "%s %s %s %s", u.sysname, u.release,
				 u.version, u.machine);
	sense_digest(d->sense, b->bpf_digest);
	b->lanes = d->lanes_n;
	b->repeat = repeat;
	(void)str_format(
		b->sabotage, sizeof(b->sabotage), "%s%s%s", s->no_collector ? "no-collector " : "",
		s->quiet_collector ? "quiet-collector " : "", s->no_ipv6 ? "no-ipv6 " : "");
}

static int log_lane(struct daemon *d, const struct lane *l)
{
	struct ev ev = { .type = EV_LANE, .lane = l->number };
	struct ev_lane *e = &ev.lane_made;

	e->lane = l->number;
	e->epoch = l->epoch;
	e->world_ifindex = l->world_ifindex;
	e->boundary_ifindex = l->boundary_ifindex;
	e->box_ifindex = l->box_ifindex;
	e->box.net = l->box_inum;
	e->host.net = l->host_inum;
	e->world.net = l->world_inum;
	e->box_cookie = l->box_cookie;
	e->host_cookie = l->host_cookie;
	e->world_cookie = l->world_cookie;
	return pipeline_log(d->pipeline, &ev);
}

static int make_lane(struct daemon *d, uint32_t number, const struct sabotage *s, struct diag *diag)
{
	struct lane *l = &d->lanes[number];
	struct lane_opts o = { .no_ipv6 = s->no_ipv6 };
	struct sense_lane taps;
	int err = lane_make(l, number, 1, &o, diag);

	if (err)
		return err;
	taps = (struct sense_lane){ .lane = number,
				    .world_ns = l->world_ns,
				    .host_ns = l->host_ns,
				    .box_ns = l->box_ns,
				    .world_ifindex = l->world_ifindex,
				    .boundary_ifindex = l->boundary_ifindex,
				    .box_ifindex = l->box_ifindex,
				    .box_cookie = l->box_cookie,
				    .host_cookie = l->host_cookie,
				    .world_cookie = l->world_cookie,
				    .box_inum = l->box_inum,
				    .host_inum = l->host_inum,
				    .world_inum = l->world_inum };
	err = sense_attach_lane(d->sense, &taps, diag);
	if (err || s->no_collector)
		return err;
	return farside_start(&d->farsides[number], d->collector, l->world_ns, number, l->epoch,
			     d->key, s->quiet_collector, diag);
}

static int log_ev(void *arg, const struct ev *ev)
{
	struct daemon *d = arg;

	return pipeline_log(d->pipeline, ev);
}

/* The far side listens before the first probe is sent. */
static int wait_ready(struct daemon *d, struct diag *diag)
{
	uint64_t until = mono_ns() + READY_TIMEOUT_MS * NSEC_PER_MSEC;

	for (uint32_t i = 1; i <= d->lanes_n; i++) {
		struct farside *f = &d->farsides[i];

		while (f->pid && !f->ready) {
			struct pollfd p = { .fd = f->log, .events = POLLIN };
			int err;

			(void)poll(&p, 1, 100);
			err = farside_read(f, log_ev, d);
			if (err)
				return diag_set(diag, err, d->collector, 0, 0,
						"the far side of lane %u ended at its start", i);
			if (mono_ns() > until)
				return diag_set(diag, -ETIMEDOUT, d->collector, 0, 0,
						"the far side of lane %u does not listen", i);
		}
	}
	return 0;
}

static int make_rig(struct daemon *d, const struct sabotage *s, struct diag *diag)
{
	int err = sense_attach_host(d->sense, d->cgroups.root_fd, diag);

	for (uint32_t i = 1; i <= d->lanes_n && !err; i++)
		err = make_lane(d, i, s, diag);
	if (!err)
		err = pipeline_start(d->pipeline);
	for (uint32_t i = 1; i <= d->lanes_n && !err; i++)
		err = log_lane(d, &d->lanes[i]);
	if (!err)
		err = log_attach_all(d, false);
	if (!err)
		err = poll_loss(d);
	if (!err)
		err = wait_ready(d, diag);
	return err;
}

static int begin_run(struct daemon *d, uint32_t repeat, uint32_t world_ring,
		     const struct sabotage *s, struct diag *diag)
{
	struct sense_opts o = { .world_ring_bytes = world_ring, .known_marks_only = true };
	struct ev begin;
	int err;

	err = cgroup_sweep(NULL);
	if (err)
		log_warn("can't remove what an earlier run left: %s, ignoring", strerror(-err));
	err = make_run_id(d->run);
	if (!err)
		err = random_bytes(d->key, sizeof(d->key));
	if (err)
		return diag_set(diag, err, NULL, 0, 0, "no random numbers: %s", strerror(-err));
	err = cgroup_run_make(&d->cgroups, d->run, diag);
	if (err)
		return err;
	o.run_cgroup_id = d->cgroups.id;
	o.run_cgroup_level = d->cgroups.level;
	err = sense_new(&d->sense, &o, diag);
	if (err)
		return err;
	describe_run(d, repeat, s, &begin);
	err = pipeline_new(&d->pipeline, d->sense, d->dir, &begin, diag);
	if (err)
		return err;
	return make_rig(d, s, diag);
}

static void end_run(struct daemon *d)
{
	if (d->sense)
		sense_stop(d->sense);
	pipeline_free(d->pipeline);
	d->pipeline = NULL;
	cgroup_run_remove(&d->cgroups);
	for (uint32_t i = 1; i <= LANES_MAX; i++) {
		farside_stop(&d->farsides[i]);
		lane_drop(&d->lanes[i]);
	}
	sense_free(d->sense);
	d->sense = NULL;
	d->begun = false;
}

/* ---- requests ---- */

static bool has_sabotage(const struct control_message *m, const char *name)
{
	struct json_object *list;

	if (!json_object_object_get_ex(m->json, "sabotage", &list) ||
	    !json_object_is_type(list, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		const char *text = json_object_get_string(json_object_array_get_idx(list, i));

		if (text && !strcmp(text, name))
			return true;
	}
	return false;
}

static int on_run_begin(struct daemon *d, const struct control_message *m)
{
	struct sabotage s = { .no_collector = has_sabotage(m, "no-collector"),
			      .quiet_collector = has_sabotage(m, "quiet-collector"),
			      .no_ipv6 = has_sabotage(m, "no-ipv6") };
	const char *dir = control_text(m, "dir");
	int64_t lanes = control_number(m, "lanes", 0), repeat = control_number(m, "repeat", 1);
	int64_t ring = control_number(m, "world_ring", 0);
	struct diag diag = { .text = "" };
	struct json_out j;

	if (d->begun || d->judged)
		return answer_error(d, "a run has begun on this connection already");
	if (!dir || lanes < 1 || lanes > LANES_MAX || repeat < 1 || repeat > 1000 || ring < 0 ||
	    ring > 1 << 30 || str_copy(d->dir, sizeof(d->dir), dir))
		return answer_error(d, "run.begin: a member is missing or out of range");
	d->lanes_n = (uint32_t)lanes;
	d->begun = true;
	if (begin_run(d, (uint32_t)repeat, (uint32_t)ring, &s, &diag)) {
		end_run(d);
		return answer_diag(d, &diag);
	}
	answer_open(&j);
	json_text(&j, "run", d->run);
	json_u32(&j, "lanes", d->lanes_n);
	return answer(d, &j, NULL, 0);
}

/* What the client may write into the log: nothing that only the daemon can know. */
static bool is_clients(enum ev_type type)
{
	return type == EV_TARGET || type == EV_PROBE || type == EV_CELL || type == EV_ARM_BEGIN ||
	       type == EV_ANSWER || type == EV_PROOF;
}

static int on_log(struct daemon *d, const struct control_message *m)
{
	struct ev ev;

	if (control_ev(m, &ev) || !is_clients(ev.type))
		return answer_error(d, "log: no record that a client may write");
	ev.time_ns = 0;
	if (pipeline_log(d->pipeline, &ev))
		return answer_error(d, "log: out of memory");
	return answer_ok(d);
}

static uint32_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint32_t)st.st_ino;
}

/* Where the launcher starts the target: our own namespaces, but for the network. */
static void outside_namespaces(const struct lane *l, struct ev_ns *ns)
{
	*ns = (struct ev_ns){ .mnt = inode_of("/proc/self/ns/mnt"),
			      .pid = inode_of("/proc/self/ns/pid"),
			      .user = inode_of("/proc/self/ns/user"),
			      .uts = inode_of("/proc/self/ns/uts"),
			      .ipc = inode_of("/proc/self/ns/ipc"),
			      .cgroup = inode_of("/proc/self/ns/cgroup"),
			      .net = l->box_inum };
}

static int complete_trial(struct daemon *d, struct ev_trial *t)
{
	struct lane *l = &d->lanes[t->lane];
	uint32_t count = d->lane_trials[t->lane]++;
	int err;

	t->id = ++d->trials_n;
	t->epoch = l->epoch;
	err = random_bytes(t->nonce, sizeof(t->nonce));
	if (!err)
		err = random_bytes(t->challenge1, sizeof(t->challenge1));
	if (!err)
		err = random_bytes(t->challenge2, sizeof(t->challenge2));
	mac_token(t->nonce, t->probe, t->token);
	rig_trial_addr(t->daddr, addr_is_v4(t->daddr) ? AF_INET : AF_INET6, t->far == FAR_DEAF,
		       count);
	outside_namespaces(l, &t->outside);
	return err;
}

static uint64_t mark_of(const struct ev_trial *t)
{
	uint64_t mark = 0;

	for (int i = 0; i < 8; i++)
		mark = mark << 8 | t->nonce[i];
	return mark;
}

/* From before its first process until WATCHED_MAX trials later: what a platform left running is
 * still known then. */
static int watch_trial(struct daemon *d, const struct ev_trial *t)
{
	struct watched *w = &d->watched[t->id % WATCHED_MAX];
	int err;

	if (w->trial) {
		sense_unwatch_cgroup(d->sense, w->cgroup_id);
		sense_unwatch_mark(d->sense, w->mark);
		(void)!cgroup_trial_remove(&d->cgroups, w->trial);
	}
	*w = (struct watched){ .trial = t->id, .cgroup_id = t->cgroup_id, .mark = mark_of(t) };
	err = sense_watch_cgroup(d->sense, w->cgroup_id, t->lane);
	return err ? err : sense_watch_mark(d->sense, w->mark, t->lane);
}

static bool is_free(const struct daemon *d, uint32_t lane)
{
	return lane && lane <= d->lanes_n && !d->lane_trial[lane] && !d->lane_retired[lane] &&
	       !d->helper;
}

static int on_trial_new(struct daemon *d, const struct control_message *m)
{
	bool closed = control_flag(m, "closed");
	cleanup_fd int cgroup = -1;
	struct json_out j, raw;
	struct ev_trial *t;
	struct lane *l;
	struct ev ev;
	int err;

	if (control_ev(m, &ev) || ev.type != EV_TRIAL || !is_free(d, ev.trial_new.lane))
		return answer_error(d, "trial.new: no free lane of that number");
	t = &ev.trial_new;
	l = &d->lanes[t->lane];
	ev.time_ns = 0;
	t->closed = closed;
	err = complete_trial(d, t);
	if (!err)
		err = cgroup_trial_make(&d->cgroups, t->id, &cgroup, &t->cgroup_id);
	if (!err)
		err = watch_trial(d, t);
	if (!err && l->closed != closed)
		err = lane_set_closed(l, closed);
	if (!err)
		err = pipeline_log(d->pipeline, &ev);
	if (!err)
		err = send_canaries(d, t->lane, t->id);
	if (!err && closed) {
		err = send_decoy(d, t, false);
		if (!err)
			err = send_decoy(d, t, true);
	}
	if (err)
		return answer_error(d, strerror(-err));
	d->lane_trial[t->lane] = t->id;

	json_out_init(&raw);
	err = evjson_write(&raw, &ev);
	if (err) {
		json_out_done(&raw);
		return answer_error(d, "trial.new: can't describe the trial");
	}
	answer_open(&j);
	json_raw(&j, "ev", raw.buf, raw.len);
	json_out_done(&raw);
	return answer(d, &j, (const int[]){ cgroup, l->box_ns }, 2);
}

static int on_arm_end(struct daemon *d, const struct control_message *m)
{
	uint32_t lane = 0;
	struct json_out j;
	struct ev ev;
	int err;

	if (control_ev(m, &ev) || ev.type != EV_ARM_END || !ev.arm_end.trial)
		return answer_error(d, "arm.end: no such record");
	for (uint32_t i = 1; i <= d->lanes_n; i++)
		if (d->lane_trial[i] == ev.arm_end.trial)
			lane = i;
	if (!lane)
		return answer_error(d, "arm.end: no such trial is running");
	err = cgroup_trial_kill(&d->cgroups, ev.arm_end.trial);
	if (err) {
		log_warn("can't end all of trial %u: %s; lane %u takes no other trial",
			 ev.arm_end.trial, strerror(-err), lane);
		d->lane_retired[lane] = true;
	}
	ev.time_ns = mono_ns();
	err = pipeline_log(d->pipeline, &ev);
	if (!err)
		err = send_canaries(d, lane, ev.arm_end.trial);
	if (!err)
		err = poll_loss(d);
	d->lane_trial[lane] = 0;
	if (err)
		return answer_error(d, strerror(-err));
	answer_open(&j);
	json_boolean(&j, "retired", d->lane_retired[lane]);
	return answer(d, &j, NULL, 0);
}

/* Its cgroup is made like a trial's; trials count from 1. */
#define HELPER_CGROUP 0

static int on_helper_begin(struct daemon *d)
{
	cleanup_fd int cgroup = -1;
	struct json_out j;
	uint64_t id;
	int err;

	if (d->helper || d->trials_n)
		return answer_error(d, "helper.begin: only one at a time, before all trials");
	err = cgroup_trial_make(&d->cgroups, HELPER_CGROUP, &cgroup, &id);
	if (err)
		return answer_error(d, strerror(-err));
	d->helper = true;
	answer_open(&j);
	return answer(d, &j, (const int[]){ cgroup, d->lanes[1].box_ns }, 2);
}

static int on_helper_end(struct daemon *d)
{
	int err;

	if (!d->helper)
		return answer_error(d, "helper.end: there is none");
	err = cgroup_trial_remove(&d->cgroups, HELPER_CGROUP);
	if (err)
		return answer_error(d, "helper.end: a platform's version command can't be ended");
	d->helper = false;
	return answer_ok(d);
}

static int on_run_wait(struct daemon *d)
{
	uint64_t end, now;
	struct json_out j;

	pipeline_sync(d->pipeline);
	now = mono_ns();
	end = pipeline_window_end(d->pipeline);
	if (end)
		end += WINDOW_SLACK_MS * NSEC_PER_MSEC;
	answer_open(&j);
	json_u32(&j, "ms", end > now ? (uint32_t)((end - now) / NSEC_PER_MSEC) + 1 : 0);
	return answer(d, &j, NULL, 0);
}

static int read_farsides(struct daemon *d)
{
	for (uint32_t i = 1; i <= d->lanes_n; i++) {
		int err = d->farsides[i].pid ? farside_read(&d->farsides[i], log_ev, d) : 0;

		if (err == -EPIPE) {
			log_warn("the far side of lane %u has ended", i);
			farside_stop(&d->farsides[i]);
		} else if (err) {
			return err;
		}
	}
	return 0;
}

/* Everything that must be true at the end is asked while the hooks still are there. */
static int close_observation(struct daemon *d)
{
	int err = 0;

	for (uint32_t i = 1; i <= d->lanes_n && !err; i++)
		err = send_canaries(d, i, 0);
	pipeline_sync(d->pipeline);
	if (!err)
		err = read_farsides(d);
	if (!err)
		err = log_attach_all(d, true);
	sense_stop(d->sense);
	pipeline_drain(d->pipeline);
	return err ? err : poll_loss(d);
}

static int total_counters(struct daemon *d, struct ev_run_end *end)
{
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++) {
		struct snt_count *sum = &end->total[hook];

		for (uint32_t slot = 0; slot < SNT_SLOT_MAX; slot++) {
			struct snt_count n;
			int err = sense_count(d->sense, hook, slot, &n);

			if (err)
				return err;
			sum->seen += n.seen;
			sum->delivered += n.delivered;
			sum->ring_full += n.ring_full;
			sum->oversized += n.oversized;
			sum->map_full += n.map_full;
			sum->filtered += n.filtered;
		}
		end->recursion[hook] = sense_recursion(d->sense, hook);
	}
	return 0;
}

/* The kernel counts what a full ring refused; what is missing beyond that got lost on our side. */
static int account_missing(struct daemon *d, const struct ev_run_end *end)
{
	struct ev ev = { .type = EV_GAP };
	uint64_t refused = 0;

	ev.gap.count = pipeline_missing(d->pipeline);
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++)
		refused += end->total[hook].ring_full;
	if (!ev.gap.count || refused)
		return 0;
	(void)str_copy(ev.gap.stage, sizeof(ev.gap.stage), "sequence");
	return pipeline_log(d->pipeline, &ev);
}

static int write_verdict(struct daemon *d, const struct run_result *r, struct diag *diag)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	err = verdict_json(&j, r, hook_name);
	if (!err)
		err = bundle_add_bytes(d->dir, "verdict.json", j.buf, j.len, diag);
	json_out_done(&j);
	if (!err)
		err = bundle_seal(d->dir, diag);
	return err;
}

static int finish_run(struct daemon *d, bool aborted, struct run_result *r, struct diag *diag)
{
	struct ev end = { .type = EV_RUN_END };
	int err = close_observation(d);

	if (!err)
		err = total_counters(d, &end.run_end);
	if (!err)
		err = account_missing(d, &end.run_end);
	memcpy(end.run_end.key, d->key, sizeof(end.run_end.key));
	end.run_end.aborted = aborted;
	end.time_ns = mono_ns();
	if (!err)
		err = pipeline_finish(d->pipeline, &end, r);
	if (err)
		return diag_set(diag, err, d->dir, 0, 0, "the record of the run is incomplete: %s",
				strerror(-err));
	return write_verdict(d, r, diag);
}

static int on_run_end(struct daemon *d)
{
	struct run_result r = { .cells = NULL };
	struct diag diag = { .text = "" };
	struct json_out j;
	int err = finish_run(d, false, &r, &diag);
	enum run_status status = r.status;

	run_result_done(&r);
	end_run(d);
	d->judged = true;
	if (err)
		return answer_diag(d, &diag);
	answer_open(&j);
	json_text(&j, "status", status == RUN_VALID ? "valid" : "rejected");
	return answer(d, &j, NULL, 0);
}

static int on_message(struct daemon *d, const struct control_message *m)
{
	const char *op = control_text(m, "op");

	if (!op)
		return answer_error(d, "a request has an \"op\"");
	if (!strcmp(op, "run.begin"))
		return on_run_begin(d, m);
	if (!d->begun)
		return answer_error(d, "no run has begun");
	if (pipeline_error(d->pipeline))
		return answer_error(d, "the record of the run has failed: see its folder's disk");
	if (!strcmp(op, "log"))
		return on_log(d, m);
	if (!strcmp(op, "trial.new"))
		return on_trial_new(d, m);
	if (!strcmp(op, "arm.end"))
		return on_arm_end(d, m);
	if (!strcmp(op, "helper.begin"))
		return on_helper_begin(d);
	if (!strcmp(op, "helper.end"))
		return on_helper_end(d);
	if (!strcmp(op, "run.wait"))
		return on_run_wait(d);
	if (!strcmp(op, "run.end"))
		return on_run_end(d);
	return answer_error(d, "unknown request");
}

static int serve_once(struct daemon *d)
{
	struct pollfd p[LANES_MAX + 1] = { { .fd = d->control, .events = POLLIN } };
	struct control_message m;
	int err;

	for (uint32_t i = 1; i <= LANES_MAX; i++)
		p[i] = (struct pollfd){ .fd = d->farsides[i].pid ? d->farsides[i].log : -1,
					.events = POLLIN };
	if (poll(p, LANES_MAX + 1, d->begun ? LOSS_POLL_MS : -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (d->begun) {
		err = read_farsides(d);
		if (!err && mono_ns() - d->seen.time_ns > LOSS_POLL_MS * NSEC_PER_MSEC)
			err = poll_loss(d);
		if (err)
			return err;
	}
	if (!p[0].revents)
		return 0;
	err = control_recv(d->control, &m);
	if (err == -EBADMSG)
		return answer_error(d, "not a JSON object");
	if (err)
		return err;
	err = on_message(d, &m);
	control_message_done(&m);
	return err;
}

/* The client left in the middle: what there is becomes a bundle that says so. */
static void abort_run(struct daemon *d)
{
	struct run_result r = { .cells = NULL };
	struct diag diag = { .text = "" };

	if (finish_run(d, true, &r, &diag))
		log_warn("aborted run: %s", diag.text);
	run_result_done(&r);
}

int daemon_serve(int control, const char *collector)
{
	struct daemon *d = calloc(1, sizeof(*d));
	int err = 0;

	if (!d)
		return -ENOMEM;
	d->control = control;
	d->collector = collector;
	while (!err)
		err = serve_once(d);
	if (d->begun && d->pipeline)
		abort_run(d);
	end_run(d);
	free(d);
	return err == -ECONNRESET || err == -EPIPE ? 0 : err;
}

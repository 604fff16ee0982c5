// SPDX-License-Identifier: Apache-2.0
#include "user/observe.h"

#include <sys/stat.h>
#include <sys/utsname.h>

#include "user/base/log.h"
#include "user/base/mac.h"
#include "user/rig/forbidden.h"
#include "user/sense/sense.h"

#define READY_TIMEOUT_MS 5000 /* for the far side to listen */
#define SYNC_TIMEOUT_MS 1000  /* ... and at the end to log what it has received */
#define SYNC_PAUSE_MS 10
#define RECEIVED_WAITING_MAX                                                                       \
	4096 /* entries; what is beyond waits with the far side, which counts */

/* The step's own words where it has none. */
static int step(int err, struct diag *d, const char *what)
{
	return err ? diag_set(d, err, NULL, 0, 0, "can't %s: %s", what, strerror(-err)) : 0;
}

/* ---- canaries and decoys: what the sentinel itself sends ---- */

static int send_token(struct lane *l, bool from_box, const uint8_t token[EV_NONCE_BYTES])
{
	char hex[2 * EV_NONCE_BYTES + 1], text[64];

	hex_encode(hex, token, EV_NONCE_BYTES);
	(void)str_format(text, sizeof(text), MAC_TOKEN_PREFIX "%s\n", hex);
	return lane_send_from(l, from_box, text, strlen(text));
}

/* Logged first, so that what arrives is known. A canary that could not be sent is not seen either,
 * and says by that that the vantage is unproven. */
static int send_canary(struct observe *o, uint32_t lane, uint32_t hook, uint32_t trial)
{
	struct ev ev = { .type = EV_CANARY, .lane = lane };
	int err = random_bytes(ev.canary.token, sizeof(ev.canary.token));

	ev.canary.lane = lane;
	ev.canary.epoch = o->lanes[lane].epoch;
	ev.canary.hook = hook;
	ev.canary.trial = trial;
	if (!err)
		err = pipeline_log(o->pipeline, &ev);
	if (!err)
		(void)!send_token(&o->lanes[lane], hook == SNT_HOOK_BOUNDARY, ev.canary.token);
	return err;
}

int observe_canaries(struct observe *o, uint32_t lane, uint32_t trial)
{
	int err = send_canary(o, lane, SNT_HOOK_BOUNDARY, trial);

	return err ? err : send_canary(o, lane, SNT_HOOK_WORLD, trial);
}

static int send_decoy(struct observe *o, const struct ev_trial *t, bool one_bit)
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
		err = pipeline_log(o->pipeline, &ev);
	if (!err)
		(void)!send_token(&o->lanes[t->lane], false, ev.decoy.token);
	return err;
}

int observe_decoys(struct observe *o, const struct ev_trial *t)
{
	int err = send_decoy(o, t, false);

	return err ? err : send_decoy(o, t, true);
}

/* ---- loss and attachment ---- */

static int log_loss(struct observe *o, uint32_t hook, uint32_t slot, const struct snt_count *was,
		    const struct snt_count *now, uint64_t recursion)
{
	struct ev ev = { .type = EV_LOSS, .time_ns = mono_ns() };

	ev.loss.hook = hook;
	ev.loss.slot = slot;
	ev.loss.from_ns = o->seen.time_ns;
	ev.loss.ring_full = now->ring_full - was->ring_full;
	ev.loss.oversized = now->oversized - was->oversized;
	ev.loss.map_full = now->map_full - was->map_full;
	ev.loss.recursion = recursion;
	if (!ev.loss.ring_full && !ev.loss.oversized && !ev.loss.map_full && !recursion)
		return 0;
	return pipeline_log(o->pipeline, &ev);
}

int observe_loss(struct observe *o)
{
	uint64_t now_ns = mono_ns();
	int err = 0;

	for (uint32_t hook = 1; hook < SNT_HOOK_MAX && !err; hook++) {
		uint64_t recursion = sense_recursion(o->sense, hook);
		uint64_t more = recursion - o->seen.recursion[hook];

		o->seen.recursion[hook] = recursion;
		for (uint32_t slot = 0; slot <= o->lanes_n && !err; slot++) {
			struct snt_count *was = &o->seen.count[hook][slot], now;

			err = sense_count(o->sense, hook, slot, &now);
			if (err)
				break;
			err = log_loss(o, hook, slot, was, &now, slot ? 0 : more);
			*was = now;
		}
	}
	o->seen.time_ns = now_ns;
	return err;
}

static int log_attach(struct observe *o, uint32_t hook, uint32_t lane, bool final)
{
	struct ev ev = { .type = EV_ATTACH };

	ev.attach.hook = hook;
	ev.attach.lane = lane;
	ev.attach.epoch = lane ? o->lanes[lane].epoch : 0;
	ev.attach.needed = sense_hook_needed(hook);
	ev.attach.final = final;
	ev.attach.attached = sense_hook_state(o->sense, hook, lane, ev.attach.detail);
	return pipeline_log(o->pipeline, &ev);
}

static int log_attach_all(struct observe *o, bool final)
{
	int err = 0;

	for (uint32_t hook = 1; hook < SNT_HOOK_MAX && !err; hook++) {
		bool per_lane = sense_hook_per_lane(hook);

		if (!per_lane)
			err = log_attach(o, hook, 0, final);
		for (uint32_t lane = 1; per_lane && lane <= o->lanes_n && !err; lane++)
			err = log_attach(o, hook, lane, final);
	}
	return err;
}

/* ---- the far sides ---- */

static int log_ev(void *arg, const struct ev *ev)
{
	struct observe *o = arg;

	return pipeline_log(o->pipeline, ev);
}

static bool may_read(const struct observe *o)
{
	return pipeline_log_waiting(o->pipeline) < RECEIVED_WAITING_MAX;
}

void observe_pollfds(const struct observe *o, struct pollfd p[OBSERVE_POLLFDS])
{
	bool read = o->pipeline && may_read(o);

	for (uint32_t i = 0; i < OBSERVE_POLLFDS; i++) {
		const struct farside *f = &o->farsides[i + 1];

		p[i] = (struct pollfd){ .fd = read && f->pid ? f->log : -1, .events = POLLIN };
	}
}

static int read_farsides(struct observe *o)
{
	for (uint32_t i = 1; i <= o->lanes_n; i++) {
		struct farside *f = &o->farsides[i];
		int err = f->pid && may_read(o) ? farside_read(f, log_ev, o) : 0;

		if (err == -EPIPE) {
			log_warn("the far side of lane %u has ended", i);
			farside_stop(f);
		} else if (err) {
			return err;
		}
	}
	return 0;
}

static bool all_synced(const struct observe *o)
{
	for (uint32_t i = 1; i <= o->lanes_n; i++)
		if (!farside_is_synced(&o->farsides[i]))
			return false;
	return true;
}

static int give_up_unsynced(struct observe *o)
{
	int err = 0;

	for (uint32_t i = 1; i <= o->lanes_n && !err; i++) {
		if (farside_is_synced(&o->farsides[i]))
			continue;
		log_warn("the far side of lane %u does not say what it has received", i);
		err = farside_give_up(&o->farsides[i], log_ev, o);
	}
	return err;
}

/* What crossed is in the far side's sockets by now; that it is in the log too takes a moment. */
static int sync_farsides(struct observe *o)
{
	uint64_t until = mono_ns() + SYNC_TIMEOUT_MS * NSEC_PER_MSEC;

	for (uint32_t i = 1; i <= o->lanes_n; i++)
		farside_ask_sync(&o->farsides[i]);
	while (!all_synced(o)) {
		struct pollfd p[OBSERVE_POLLFDS];
		int err;

		if (mono_ns() > until)
			return give_up_unsynced(o);
		observe_pollfds(o, p);
		(void)poll(p, OBSERVE_POLLFDS, SYNC_PAUSE_MS);
		err = read_farsides(o);
		if (err)
			return err;
	}
	return 0;
}

/* The far side listens before the first probe is sent. */
static int wait_ready(struct observe *o, const char *collector, struct diag *diag)
{
	uint64_t until = mono_ns() + READY_TIMEOUT_MS * NSEC_PER_MSEC;

	for (uint32_t i = 1; i <= o->lanes_n; i++) {
		struct farside *f = &o->farsides[i];

		while (f->pid && !f->ready) {
			struct pollfd p = { .fd = f->log, .events = POLLIN };
			int err;

			(void)poll(&p, 1, 100);
			err = farside_read(f, log_ev, o);
			if (err)
				return diag_set(diag, err, collector, 0, 0,
						"the far side of lane %u ended at its start", i);
			if (mono_ns() > until)
				return diag_set(diag, -ETIMEDOUT, collector, 0, 0,
						"the far side of lane %u does not listen", i);
		}
	}
	return 0;
}

/* ---- the resolvers ---- */

/* Without them a run goes on: the probes that ask for names then do not cross outside either. */
static void no_resolvers(struct observe *o, const struct diag *d)
{
	char text[1024];

	log_warn("%s; who asks for a name is not answered, ignoring",
		 diag_text(d, text, sizeof(text)));
	for (uint32_t i = 1; i <= o->lanes_n; i++)
		resolver_stop(&o->resolvers[i]);
}

/* They begin side by side, while the rest of the rig is made. */
static void start_resolvers(struct observe *o)
{
	struct diag d = { .text = "" };
	int err = 0;

	for (uint32_t i = 1; i <= o->lanes_n && !err; i++)
		err = resolver_start(&o->resolvers[i], &o->folders, &o->lanes[i], &d);
	if (err)
		no_resolvers(o, &d);
}

static void wait_resolvers(struct observe *o)
{
	struct diag d = { .text = "" };

	if (resolvers_wait(&o->resolvers[1], o->lanes_n, READY_TIMEOUT_MS, &d))
		no_resolvers(o, &d);
}

static void tend_resolvers(struct observe *o)
{
	for (uint32_t i = 1; i <= o->lanes_n; i++)
		if (resolver_tend(&o->resolvers[i]))
			log_warn("the resolver of lane %u has ended", i);
}

/* ---- beginning ---- */

static void describe_run(const struct observe *o, const struct observe_opts *opts, struct ev *ev)
{
	struct ev_run_begin *b = &ev->run_begin;
	struct utsname u;

	*ev = (struct ev){ .type = EV_RUN_BEGIN, .time_ns = mono_ns() };
	(void)str_copy(b->run, sizeof(b->run), opts->run);
	(void)str_copy(b->version, sizeof(b->version), SENTINEL_VERSION);
	b->realtime_ns = real_ns();
	b->boottime_ns = boot_ns();
	if (!uname(&u))
		(void)str_format(b->kernel, sizeof(b->kernel), "%s %s %s %s", u.sysname, u.release,
				 u.version, u.machine);
	sense_digest(o->sense, b->bpf_digest);
	b->lanes = opts->lanes;
	b->repeat = opts->repeat;
	(void)sabotage_names(opts->sabotage, b->sabotage, sizeof(b->sabotage));
}

static int log_lane(struct observe *o, const struct lane *l)
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
	return pipeline_log(o->pipeline, &ev);
}

/* It gets the listeners that no sandbox may reach, too; ours are closed then, so that with the far
 * side they end. */
static int start_farside(struct observe *o, const struct lane *l, const struct observe_opts *opts,
			 struct diag *diag)
{
	struct farside_opts far = { .exe = opts->collector,
				    .world_ns = l->world_ns,
				    .lane = l->number,
				    .epoch = l->epoch,
				    .key = opts->key,
				    .quiet = opts->sabotage & SABOTAGE_QUIET_COLLECTOR };
	struct forbidden forbidden;
	int err = forbidden_open(&forbidden, l, o->folder, diag);

	if (err)
		return err;
	_Static_assert(FORBIDDEN_MAX <= FARSIDE_LISTEN_MAX, "");
	far.listen_n = forbidden.n;
	memcpy(far.listen, forbidden.at, sizeof(forbidden.at));
	err = farside_start(&o->farsides[l->number], &far, diag);
	forbidden_close(&forbidden);
	return err;
}

static int make_lane(struct observe *o, uint32_t number, const struct observe_opts *opts,
		     struct diag *diag)
{
	struct lane *l = &o->lanes[number];
	struct lane_opts lane_opts = { .no_ipv6 = opts->sabotage & SABOTAGE_NO_IPV6 };
	struct sense_lane taps;
	int err = lane_make(l, number, 1, &lane_opts, diag);

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
	err = sense_attach_lane(o->sense, &taps, diag);
	if (err || opts->sabotage & SABOTAGE_NO_COLLECTOR)
		return err;
	return start_farside(o, l, opts, diag);
}

static int log_lanes(struct observe *o)
{
	int err = 0;

	for (uint32_t i = 1; i <= o->lanes_n && !err; i++)
		err = log_lane(o, &o->lanes[i]);
	return err ? err : log_attach_all(o, false);
}

/* Every sandbox's user must be able to see into it. */
static int make_folder(struct observe *o)
{
	int err;

	o->folders = FOLDERS_NONE;
	err = folder_make(&o->folders, 0, 0, o->folder);
	if (err)
		return err;
	return chmod(o->folder, 0755) ? -errno : 0;
}

static int make_rig(struct observe *o, const struct observe_opts *opts, int cgroup_root,
		    struct diag *d)
{
	int err = sense_attach_host(o->sense, cgroup_root, d);

	if (!err)
		err = step(make_folder(o), d, "make a folder below " FOLDER_PARENT);

	for (uint32_t i = 1; i <= o->lanes_n && !err; i++)
		err = make_lane(o, i, opts, d);
	if (err)
		return err;
	if (opts->resolver)
		start_resolvers(o);
	err = step(pipeline_start(o->pipeline), d, "start the threads that record");
	if (!err)
		err = step(log_lanes(o), d, "record the lanes and hooks");
	if (!err)
		err = step(observe_loss(o), d, "read the counters of the hooks");
	if (!err)
		err = wait_ready(o, opts->collector, d);
	if (!err && opts->resolver)
		wait_resolvers(o);
	return err;
}

/* 0: the default. */
static uint32_t ring_bytes(const struct observe_opts *opts, uint32_t small)
{
	return opts->sabotage & small ? 4096 : 0;
}

int observe_begin(struct observe *o, const struct observe_opts *opts,
		  const struct cgroup_run *cgroups, struct diag *d)
{
	struct sense_opts sense_opts = { .world_ring_bytes = opts->world_ring,
					 .packet_ring_bytes =
						 ring_bytes(opts, SABOTAGE_SMALL_PACKET_RING),
					 .life_ring_bytes =
						 ring_bytes(opts, SABOTAGE_SMALL_LIFE_RING),
					 .known_marks_only = true,
					 .run_cgroup_id = cgroups->id,
					 .run_cgroup_level = cgroups->level };
	struct ev begin;
	int err;

	o->lanes_n = opts->lanes;
	if (!(opts->sabotage & SABOTAGE_NO_COLLECTOR) && access(opts->collector, X_OK))
		return diag_set(d, -errno, opts->collector, 0, 0, "can't start the far side: %s",
				strerror(errno));
	err = sense_new(&o->sense, &sense_opts, d);
	if (err)
		return err;
	describe_run(o, opts, &begin);
	err = pipeline_new(&o->pipeline, o->sense, opts->dir, &begin, d);
	return err ? err : make_rig(o, opts, cgroups->root_fd, d);
}

void observe_end(struct observe *o)
{
	if (o->sense)
		sense_stop(o->sense);
	pipeline_free(o->pipeline);
	for (uint32_t i = 1; i <= LANES_MAX; i++) {
		farside_stop(&o->farsides[i]);
		resolver_stop(&o->resolvers[i]);
		lane_drop(&o->lanes[i]);
	}
	if (o->folders.path[0])
		folders_done(&o->folders);
	sense_free(o->sense);
	*o = (struct observe){ .sense = NULL };
}

/* ---- during the run, and its end ---- */

int observe_tend(struct observe *o)
{
	int err = read_farsides(o);

	tend_resolvers(o);
	if (!err && mono_ns() - o->seen.time_ns > OBSERVE_TICK_MS * NSEC_PER_MSEC)
		err = observe_loss(o);
	return err;
}

int observe_close(struct observe *o)
{
	int err = 0;

	for (uint32_t i = 1; i <= o->lanes_n && !err; i++)
		err = observe_canaries(o, i, 0);
	pipeline_sync(o->pipeline);
	if (!err)
		err = sync_farsides(o);
	if (!err)
		err = log_attach_all(o, true);
	sense_stop(o->sense);
	pipeline_drain(o->pipeline);
	return err ? err : observe_loss(o);
}

static int sum_slots(struct observe *o, uint32_t hook, struct snt_count *sum)
{
	for (uint32_t slot = 0; slot < SNT_SLOT_MAX; slot++) {
		struct snt_count n;
		int err = sense_count(o->sense, hook, slot, &n);

		if (err)
			return err;
		sum->seen += n.seen;
		sum->delivered += n.delivered;
		sum->ring_full += n.ring_full;
		sum->oversized += n.oversized;
		sum->map_full += n.map_full;
		sum->filtered += n.filtered;
	}
	return 0;
}

/* The kernel counts what a full ring refused; what is missing beyond that got lost on our side. */
static int account_missing(struct observe *o, const struct ev_run_end *end)
{
	struct ev ev = { .type = EV_GAP };
	uint64_t refused = 0;

	ev.gap.count = pipeline_missing(o->pipeline);
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++)
		refused += end->total[hook].ring_full;
	if (!ev.gap.count || refused)
		return 0;
	(void)str_copy(ev.gap.stage, sizeof(ev.gap.stage), "sequence");
	return pipeline_log(o->pipeline, &ev);
}

int observe_totals(struct observe *o, struct ev_run_end *ret)
{
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++) {
		int err = sum_slots(o, hook, &ret->total[hook]);

		if (err)
			return err;
		ret->recursion[hook] = sense_recursion(o->sense, hook);
	}
	return account_missing(o, ret);
}

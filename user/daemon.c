// SPDX-License-Identifier: Apache-2.0
#include "user/daemon.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "user/base/log.h"
#include "user/base/mac.h"
#include "user/observe.h"
#include "user/record/bundle.h"
#include "user/record/evjson.h"
#include "user/record/sshsig.h"
#include "user/report/statement.h"
#include "user/report/verdict_json.h"
#include "user/rig/control.h"
#include "user/rig/destination.h"

#define WATCHED_MAX 2048   /* trials watched at once: half of what the kernel side has room for */
#define WINDOW_SLACK_MS 20 /* records on their way when a window ends */

struct watched { /* a trial that the kernel side knows */
	uint32_t trial;
	uint64_t cgroup_id, mark;
};

struct daemon {
	int control;
	int signals; /* that ask us to end */
	const char *collector;

	/* one run; begun is false before and after */
	bool begun, judged;
	char run[32];
	char dir[4096];
	uint8_t key[EV_MAC_BYTES];
	struct sshsig_key *signer; /* of the bundle; NULL: nobody signs it */
	struct cgroup_run cgroups;
	struct observe observe;
	uint32_t trials_n;
	uint32_t lane_trials[LANES_MAX + 1]; /* how many each lane has had: addresses count them */
	uint32_t lane_trial[LANES_MAX + 1];
	bool lane_retired[LANES_MAX + 1]; /* a trial that could not be ended may still send there */
	bool helper;			  /* something that is no trial runs in lane 1 */
	struct watched watched[WATCHED_MAX]; /* by trial, modulo */
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

/* ---- the run ---- */

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

static int begin_run(struct daemon *d, struct observe_opts *o, struct diag *diag)
{
	int err = make_run_id(d->run);

	if (!err)
		err = random_bytes(d->key, sizeof(d->key));
	if (err)
		return diag_set(diag, err, NULL, 0, 0, "no random numbers: %s", strerror(-err));
	err = cgroup_run_make(&d->cgroups, d->run, diag);
	if (err)
		return err;
	err = cgroup_sweep(NULL);
	if (err)
		log_warn("can't remove what an earlier run left: %s, ignoring", strerror(-err));
	o->run = d->run;
	o->dir = d->dir;
	o->collector = d->collector;
	o->key = d->key;
	return observe_begin(&d->observe, o, &d->cgroups, diag);
}

/* Sandboxes first: what they hold open goes with them. */
static void end_run(struct daemon *d)
{
	if (!d->begun)
		return;
	cgroup_run_remove(&d->cgroups);
	observe_end(&d->observe);
	sshsig_key_free(d->signer);
	d->signer = NULL;
	/* Again: a daemon that was killed just before we began kept its lock until its taps were
	 * gone. */
	(void)!cgroup_sweep(NULL);
	folders_sweep();
	d->begun = false;
}

/* ---- requests ---- */

static int read_run_begin(struct daemon *d, const struct control_message *m,
			  struct observe_opts *ret)
{
	const char *dir = control_text(m, "dir");
	int64_t lanes = control_number(m, "lanes", 0), repeat = control_number(m, "repeat", 1);
	int64_t ring = control_number(m, "world_ring", 0);

	if (!dir || lanes < 1 || lanes > LANES_MAX || repeat < 1 || repeat > CORRELATE_REPEAT_MAX ||
	    ring < 0 || ring > 1 << 30 || str_copy(d->dir, sizeof(d->dir), dir))
		return -EINVAL;
	*ret = (struct observe_opts){
		.lanes = (uint32_t)lanes,
		.repeat = (uint32_t)repeat,
		.world_ring = (uint32_t)ring,
		.resolver = control_flag(m, "resolver"),
		.sabotage = (uint32_t)control_number(m, "sabotage", 0) & SABOTAGE_ALL,
	};
	return 0;
}

/* Read now, and kept: what a sandbox does to the file later does not matter. */
static int open_signer(struct daemon *d, const struct control_message *m, struct diag *diag)
{
	const char *path = control_text(m, "key");

	return path ? sshsig_key_open(&d->signer, path, diag) : 0;
}

static int on_run_begin(struct daemon *d, const struct control_message *m)
{
	struct diag diag = { .text = "" };
	struct observe_opts o;
	struct json_out j;
	int err;

	if (d->begun || d->judged)
		return answer_error(d, "a run has begun on this connection already");
	if (read_run_begin(d, m, &o))
		return answer_error(d, "run.begin: a member is missing or out of range");
	d->begun = true;
	err = open_signer(d, m, &diag);
	if (!err)
		err = begin_run(d, &o, &diag);
	if (err) {
		end_run(d);
		return diag.text[0] ? answer_diag(d, &diag) : answer_error(d, strerror(-err));
	}
	answer_open(&j);
	json_text(&j, "run", d->run);
	json_u32(&j, "lanes", d->observe.lanes_n);
	return answer(d, &j, NULL, 0);
}

/* What the client may write into the log: nothing that only the daemon can know. */
static bool is_clients(enum ev_type type)
{
	return type == EV_TARGET || type == EV_PROGRAM || type == EV_PROBE || type == EV_CELL ||
	       type == EV_ARM_BEGIN || type == EV_ANSWER || type == EV_PROOF;
}

static int on_log(struct daemon *d, const struct control_message *m)
{
	struct ev ev;

	if (control_ev(m, &ev) || !is_clients(ev.type))
		return answer_error(d, "log: no record that a client may write");
	ev.time_ns = 0;
	if (pipeline_log(d->observe.pipeline, &ev))
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
	struct lane *l = &d->observe.lanes[t->lane];
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
	destination_complete(t, count, d->observe.folder);
	outside_namespaces(l, &t->outside);
	return err;
}

/* From before its first process until WATCHED_MAX trials later: what a platform left running is
 * still known then. */
static int watch_trial(struct daemon *d, const struct ev_trial *t)
{
	struct watched *w = &d->watched[t->id % WATCHED_MAX];
	int err;

	if (w->trial) {
		sense_unwatch_cgroup(d->observe.sense, w->cgroup_id);
		sense_unwatch_mark(d->observe.sense, w->mark);
		(void)!cgroup_trial_remove(&d->cgroups, w->trial);
	}
	*w = (struct watched){ .trial = t->id,
			       .cgroup_id = t->cgroup_id,
			       .mark = mac_mark(t->nonce) };
	err = sense_watch_cgroup(d->observe.sense, w->cgroup_id, t->lane);
	return err ? err : sense_watch_mark(d->observe.sense, w->mark, t->lane);
}

static bool is_free(const struct daemon *d, uint32_t lane)
{
	return lane && lane <= d->observe.lanes_n && !d->lane_trial[lane] &&
	       !d->lane_retired[lane] && !d->helper;
}

/* A sibling answers with the secret as its key. */
static void add_planted(const struct daemon *d, struct json_out *j, const struct ev_trial *t)
{
	char hex[2 * EV_NONCE_BYTES + 1];
	uint8_t planted[EV_NONCE_BYTES];

	if (t->dest != DEST_NONE && t->dest != DEST_SIBLING)
		return;
	mac_secret(d->key, t->nonce, planted);
	hex_encode(hex, planted, sizeof(planted));
	json_text(j, "secret", hex);
	mac_twin(d->key, t->nonce, planted);
	hex_encode(hex, planted, sizeof(planted));
	json_text(j, "twin", hex);
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
	l = &d->observe.lanes[t->lane];
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
		err = pipeline_log(d->observe.pipeline, &ev);
	if (!err)
		err = observe_canaries(&d->observe, t->lane, t->id);
	if (!err && closed)
		err = observe_decoys(&d->observe, t);
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
	add_planted(d, &j, t);
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
	for (uint32_t i = 1; i <= d->observe.lanes_n; i++)
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
	err = pipeline_log(d->observe.pipeline, &ev);
	if (!err)
		err = observe_canaries(&d->observe, lane, ev.arm_end.trial);
	if (!err)
		err = observe_loss(&d->observe);
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
	return answer(d, &j, (const int[]){ cgroup, d->observe.lanes[1].box_ns }, 2);
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

	pipeline_sync(d->observe.pipeline);
	now = mono_ns();
	end = pipeline_window_end(d->observe.pipeline);
	if (end)
		end += WINDOW_SLACK_MS * NSEC_PER_MSEC;
	answer_open(&j);
	json_u32(&j, "ms", end > now ? (uint32_t)((end - now) / NSEC_PER_MSEC) + 1 : 0);
	return answer(d, &j, NULL, 0);
}

/* Appends the files whose paths begin so; answers how many there are. */
static size_t take_files(struct statement_file *ret, const struct bundle_file *files, size_t n,
			 const char *prefix)
{
	size_t taken = 0;

	for (size_t i = 0; i < n; i++)
		if (!strncmp(files[i].path, prefix, strlen(prefix)))
			ret[taken++] = (struct statement_file){ files[i].path, files[i].sha256 };
	return taken;
}

/* What the statement is about, and what else the run was made of. */
static int make_statement(struct daemon *d, const struct run_result *r, struct json_out *j,
			  struct diag *diag)
{
	cleanup_free struct bundle_file *files = NULL;
	cleanup_free struct statement_file *all = NULL;
	struct statement_files capture, inputs;
	size_t n;
	int err = bundle_list(d->dir, &files, &n, diag);

	if (err)
		return err;
	all = calloc(n + 1, sizeof(*all));
	if (!all)
		return diag_set(diag, -ENOMEM, d->dir, 0, 0, "out of memory");
	capture = (struct statement_files){ all, take_files(all, files, n, "capture-") };
	inputs.file = all + capture.n;
	inputs.n = take_files(all + capture.n, files, n, "probes");
	inputs.n += take_files(all + capture.n + inputs.n, files, n, "targets/");
	err = statement_json(j, r, &capture, &inputs);
	return err ? diag_set(diag, err, d->dir, 0, 0, "out of memory") : 0;
}

static int write_results(struct daemon *d, const struct run_result *r, struct json_out *j,
			 struct diag *diag)
{
	int err = verdict_json(j, r, hook_name);

	if (err)
		return diag_set(diag, err, d->dir, 0, 0, "out of memory");
	err = bundle_add_bytes(d->dir, "verdict.json", j->buf, j->len, diag);
	if (err)
		return err;
	json_out_reset(j);
	err = make_statement(d, r, j, diag);
	return err ? err : bundle_add_bytes(d->dir, "attestation.json", j->buf, j->len, diag);
}

static int write_verdict(struct daemon *d, const struct run_result *r, struct diag *diag)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	err = write_results(d, r, &j, diag);
	json_out_done(&j);
	if (!err)
		err = bundle_seal(d->dir, diag);
	if (!err && d->signer)
		err = bundle_sign(d->dir, d->signer, diag);
	return err;
}

static int finish_run(struct daemon *d, bool aborted, struct run_result *r, struct diag *diag)
{
	struct ev end = { .type = EV_RUN_END };
	int err = observe_close(&d->observe);

	if (!err)
		err = observe_totals(&d->observe, &end.run_end);
	memcpy(end.run_end.key, d->key, sizeof(end.run_end.key));
	end.run_end.aborted = aborted;
	end.time_ns = mono_ns();
	end.run_end.realtime_ns = real_ns();
	end.run_end.boottime_ns = boot_ns();
	if (!err)
		err = pipeline_finish(d->observe.pipeline, &end, r);
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

static int answer_failed(struct daemon *d, int err)
{
	bool disk = err == -ENOSPC || err == -EDQUOT || err == -EIO;
	char text[128];

	(void)str_format(text, sizeof(text), "the record of the run has failed: %s%s",
			 strerror(-err), disk ? "; see the disk of its folder" : "");
	return answer_error(d, text);
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
	if (pipeline_error(d->observe.pipeline))
		return answer_failed(d, pipeline_error(d->observe.pipeline));
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

enum { POLL_CONTROL = 0, POLL_SIGNAL, POLL_OBSERVE };

static int serve_once(struct daemon *d)
{
	struct pollfd p[POLL_OBSERVE + OBSERVE_POLLFDS] = {
		[POLL_CONTROL] = { .fd = d->control, .events = POLLIN },
		[POLL_SIGNAL] = { .fd = d->signals, .events = POLLIN },
	};
	struct control_message m;
	int err;

	observe_pollfds(&d->observe, p + POLL_OBSERVE);
	if (poll(p, ARRAY_SIZE(p), d->begun ? OBSERVE_TICK_MS : -1) < 0)
		return errno == EINTR ? 0 : -errno;
	if (p[POLL_SIGNAL].revents)
		return -EINTR;
	err = d->begun ? observe_tend(&d->observe) : 0;
	if (err || !p[POLL_CONTROL].revents)
		return err;
	err = control_recv(d->control, &m);
	if (err == -EBADMSG)
		return answer_error(d, "not a JSON object");
	if (err)
		return err;
	err = on_message(d, &m);
	control_message_done(&m);
	return err;
}

/* The client left in the middle, or we are told to end: what there is becomes a bundle that says
 * so. */
static void abort_run(struct daemon *d)
{
	struct run_result r = { .cells = NULL };
	struct diag diag = { .text = "" };

	if (finish_run(d, true, &r, &diag))
		log_warn("aborted run: %s", diag.text);
	run_result_done(&r);
}

/* Told to end in the usual way, we end in order. Threads made later have the signals blocked too.
 */
static int open_signals(void)
{
	sigset_t ending;
	int fd;

	(void)sigemptyset(&ending);
	(void)sigaddset(&ending, SIGTERM);
	(void)sigaddset(&ending, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &ending, NULL))
		return -errno;
	fd = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

int daemon_serve(int control, const char *collector)
{
	cleanup_fd int signals = open_signals();
	struct daemon *d = calloc(1, sizeof(*d));
	int err = 0;

	if (!d || signals < 0) {
		free(d);
		return signals < 0 ? signals : -ENOMEM;
	}
	d->control = control;
	d->signals = signals;
	d->collector = collector;
	while (!err)
		err = serve_once(d);
	if (d->begun && d->observe.pipeline)
		abort_run(d);
	end_run(d);
	free(d);
	return err == -ECONNRESET || err == -EPIPE ? 0 : err;
}

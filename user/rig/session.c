// SPDX-License-Identifier: Apache-2.0
#include "user/rig/session.h"

#include <fcntl.h>

#include "user/base/session_line.h"
#include "user/rig/session_command.h"

#define TALK_TIMEOUT_MS 5000	      /* for what a session does besides waiting for its probe */
#define READ_MAX_AT_ONCE (256 * 1024) /* of one sandbox's output, before others get their turn */

void session_drop(struct session *s)
{
	launch_done(&s->launch);
	helper_done(&s->helper);
	plant_done(&s->plant);
	folder_remove(s->folder);
	folder_remove(s->sibling_folder);
	s->folder[0] = s->sibling_folder[0] = '\0';
	if (s->active) {
		cleanup_fd_(&s->cgroup);
		cleanup_fd_(&s->box);
	}
	s->active = false;
}

static int make_folder(struct session *s, char ret[FOLDER_PATH_MAX], struct diag *d)
{
	const struct session_plan *p = &s->plan;
	int err = session_uses(p, "{dir}") ? folder_make(p->folders, p->uid, p->gid, ret) : 0;

	if (err)
		return diag_set(d, err, FOLDER_PARENT, 0, 0, "can't make the trial's folder: %s",
				strerror(-err));
	return 0;
}

static int cannot_fill_in(const struct session *s, int err, struct diag *d)
{
	return diag_set(d, err, NULL, 0, 0, "can't fill in the command of '%s': %s", s->t.target,
			strerror(-err));
}

static struct launch_opts launch_opts_of(struct session *s, char *const *argv, char *const *env)
{
	return (struct launch_opts){ .argv = argv,
				     .env = env,
				     .cgroup_fd = s->cgroup,
				     .netns_fd = s->box,
				     .uid = s->plan.uid,
				     .gid = s->plan.gid,
				     .caps = s->t.caps };
}

static int hand_answer(struct session *s, struct client *c, const struct session_line *l,
		       uint32_t which, struct diag *d)
{
	struct ev ev = { .type = EV_ANSWER, .trial = s->t.id };

	ev.answer.trial = s->t.id;
	ev.answer.which = which;
	memcpy(ev.answer.instance, l->instance, sizeof(ev.answer.instance));
	memcpy(ev.answer.mac, l->mac, sizeof(ev.answer.mac));
	return client_log(c, &ev, d);
}

/* A command that can't be started is the trial's own matter. */
static int start_command(struct session *s, struct client *c, struct diag *d)
{
	struct ev begin = { .type = EV_ARM_BEGIN, .trial = s->t.id };
	struct diag why = { .text = "" };
	struct launch_opts o;
	char **argv = NULL;
	int err = make_folder(s, s->folder, d);

	if (err)
		return err;
	err = session_command(s, &argv);
	if (err)
		return cannot_fill_in(s, err, d);
	s->begun = true;
	o = launch_opts_of(s, argv, s->plant.env);
	s->deadline_ns = mono_ns() + s->plan.start_timeout_ms * NSEC_PER_MSEC;
	err = launch_start(&s->launch, &o, &why);
	target_argv_free(argv);
	if (err) {
		(void)str_copy(s->detail, sizeof(s->detail), why.text);
		s->out_ended = s->exited = true;
		return 0;
	}
	begin.arm_begin.trial = s->t.id;
	begin.arm_begin.pid = (uint32_t)s->launch.pid;
	return client_log(c, &begin, d);
}

/* A process of the same user, from before the sandbox on. */
static void start_decoy(struct session *s)
{
	char nonce[2 * EV_NONCE_BYTES + 1], challenge[2 * EV_NONCE_BYTES + 1];
	char exe[4096], mode[] = "decoy";
	char *const argv[] = { exe, mode, nonce, challenge, NULL };
	const struct launch_opts o = launch_opts_of(s, argv, s->plant.decoy_env);

	(void)str_copy(exe, sizeof(exe), s->plan.probe_exe);
	hex_encode(nonce, s->t.nonce, sizeof(s->t.nonce));
	hex_encode(challenge, s->t.challenge1, sizeof(s->t.challenge1));
	helper_start(&s->helper, &o, "", s->plan.start_timeout_ms);
}

/* Another sandbox of the same target, from before this one on. */
static int start_sibling(struct session *s, struct diag *d)
{
	struct launch_opts o;
	char secret[2 * EV_NONCE_BYTES + 2];
	char **argv = NULL;
	int err = make_folder(s, s->sibling_folder, d);

	if (err)
		return err;
	err = session_sibling_command(s, &argv);
	if (err)
		return cannot_fill_in(s, err, d);
	hex_encode(secret, s->secret, sizeof(s->secret));
	secret[2 * EV_NONCE_BYTES] = '\n';
	secret[2 * EV_NONCE_BYTES + 1] = '\0';
	o = launch_opts_of(s, argv, s->plant.env);
	helper_start(&s->helper, &o, secret, s->plan.start_timeout_ms);
	target_argv_free(argv);
	return 0;
}

/* Before a deaf far side there is no sibling. */
static int start_helper(struct session *s, struct diag *d)
{
	if (s->plant.decoy)
		start_decoy(s);
	else if (s->t.dest == DEST_SIBLING && s->t.far != FAR_DEAF)
		return start_sibling(s, d);
	return 0;
}

/* Who is beside the session has to be there, or nothing was stopped. */
static bool must_prove_alive(const struct session *s)
{
	return s->t.dest == DEST_SIBLING || s->plant.decoy;
}

/* What it said of itself, once each; the session that starts then knows where it is. */
static int step_helper(struct session *s, struct client *c, struct diag *d)
{
	int err = 0;

	helper_step(&s->helper);
	for (uint32_t i = 0; i < ARRAY_SIZE(s->helper.alive) && !err; i++) {
		struct session_line *l = &s->helper.alive[i];

		if (!must_prove_alive(s) || !l->kind || s->sibling_said[i])
			continue;
		s->sibling_said[i] = true;
		err = hand_answer(s, c, l, EV_ANSWER_SIBLING + i, d);
	}
	return !err && !s->begun && !s->helper.waited_for ? start_command(s, c, d) : err;
}

static int prepare(struct session *s, const struct client_planted *planted, int cgroup, int box,
		   struct diag *d)
{
	const struct session_plan *p = &s->plan;
	int err;

	memcpy(s->secret, planted->secret, sizeof(s->secret));
	s->cgroup = fcntl(cgroup, F_DUPFD_CLOEXEC, 3);
	s->box = fcntl(box, F_DUPFD_CLOEXEC, 3);
	if (s->cgroup < 0 || s->box < 0)
		return diag_set(d, -errno, NULL, 0, 0, "can't keep a trial's descriptors: %m");
	err = plant_make(&s->plant, &s->t, planted, p->folders,
			 session_uses(p, "{home}") || session_uses(p, "{twin_file}"), p->gid);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't plant what a trial is to find: %s",
				strerror(-err));
	return 0;
}

int session_start(struct session *s, struct client *c, const struct ev_trial *t,
		  const struct client_planted *planted, const struct session_plan *p, int cgroup,
		  int box, struct diag *d)
{
	int err;

	*s = (struct session){ .active = true, .t = *t, .plan = *p, .deadline_ns = UINT64_MAX };
	s->total_ns = ((uint64_t)t->wait_ms + p->timeout_ms + TALK_TIMEOUT_MS) * NSEC_PER_MSEC;
	err = prepare(s, planted, cgroup, box, d);
	if (!err)
		err = start_helper(s, d);
	if (!err)
		err = step_helper(s, c, d);
	if (err)
		session_drop(s);
	return err;
}

/* What the session must answer only after its attempt. */
static void tell(struct session *s, const char *line)
{
	if (s->launch.in >= 0)
		(void)!write(s->launch.in, line, strlen(line));
}

static int hand_proof(struct session *s, struct client *c, const struct session_line *l,
		      struct diag *d)
{
	struct ev ev = { .type = EV_PROOF, .trial = s->t.id };

	ev.proof.trial = s->t.id;
	memcpy(ev.proof.instance, l->instance, sizeof(ev.proof.instance));
	memcpy(ev.proof.mac, l->mac, sizeof(ev.proof.mac));
	ev.proof.has_answer = l->has_answer;
	memcpy(ev.proof.answer, l->answer, sizeof(ev.proof.answer));
	ev.proof.has_secret = l->has_secret;
	memcpy(ev.proof.secret, l->secret, sizeof(ev.proof.secret));
	ev.proof.has_twin = l->has_twin;
	memcpy(ev.proof.twin, l->twin, sizeof(ev.proof.twin));
	(void)str_copy(ev.proof.view, sizeof(ev.proof.view), l->view);
	return client_log(c, &ev, d);
}

/* Each kind of line is taken once: a sandbox that prints thousands only repeats itself. */
static int take_session_line(struct session *s, struct client *c, const struct session_line *l,
			     struct diag *d)
{
	char challenge[2 * EV_NONCE_BYTES + 1], line[64];
	int err;

	switch (l->kind) {
	case SESSION_LINE_ALIVE1:
		if (s->alive1)
			return 0;
		s->alive1 = true;
		s->deadline_ns = mono_ns() + s->total_ns;
		return hand_answer(s, c, l, 1, d);
	case SESSION_LINE_RAN:
		if (s->ran)
			return 0;
		s->ran = true;
		err = hand_proof(s, c, l, d);
		hex_encode(challenge, s->t.challenge2, sizeof(s->t.challenge2));
		(void)str_format(line, sizeof(line), "challenge %s\n", challenge);
		tell(s, line);
		/* Who could not answer the first one is not waited for. */
		if (must_prove_alive(s) && s->helper.alive[0].kind)
			helper_challenge(&s->helper, line);
		return err;
	case SESSION_LINE_ALIVE2:
		if (s->alive2)
			return 0;
		s->alive2 = true;
		err = hand_answer(s, c, l, 2, d);
		tell(s, "quit\n");
		return err;
	default:
		return 0;
	}
}

static int take_line(struct session *s, struct client *c, struct diag *d)
{
	struct session_line l;
	int err = 0;

	if (!session_line_parse(s->line, s->line_len, &l))
		err = take_session_line(s, c, &l, d);
	s->line_len = 0;
	return err;
}

/* What a platform prints instead of starting the session, usually why, in one line. */
static void keep_detail(struct session *s, const char *buf, size_t n)
{
	_Static_assert(SESSION_DETAIL_MAX < sizeof(s->detail), "and its NUL");
	for (size_t i = 0; i < n && !s->alive1 && s->detail_len < SESSION_DETAIL_MAX; i++) {
		bool space = !buf[i] || strchr(" \t\r\n", buf[i]);

		if (space && (!s->detail_len || s->detail[s->detail_len - 1] == ' '))
			continue;
		s->detail[s->detail_len++] = space ? ' ' : buf[i];
	}
}

static int take_output(struct session *s, struct client *c, const char *buf, size_t n,
		       struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (buf[i] == '\n')
			err = take_line(s, c, d);
		else if (s->line_len < sizeof(s->line))
			s->line[s->line_len++] = buf[i];
	}
	return err;
}

static int read_output(struct session *s, struct client *c, struct diag *d)
{
	size_t total = 0;
	char buf[16384];

	while (!s->out_ended && total < READ_MAX_AT_ONCE) {
		ssize_t n = read(s->launch.out, buf, sizeof(buf));
		int err;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			s->out_ended = true;
			return take_line(s, c, d);
		}
		total += (size_t)n;
		keep_detail(s, buf, (size_t)n);
		err = take_output(s, c, buf, (size_t)n, d);
		if (err)
			return err;
	}
	return 0;
}

int session_step(struct session *s, struct client *c, struct diag *d)
{
	int err = step_helper(s, c, d);

	if (err || !s->begun)
		return err;
	if (s->launch.started)
		err = read_output(s, c, d);
	if (!s->exited && s->launch.started && launch_reap(&s->launch, &s->status) != -EAGAIN)
		s->exited = true;
	if (mono_ns() > s->deadline_ns)
		s->killed = true;
	return err;
}

bool session_over(const struct session *s)
{
	return s->killed || (s->exited && (s->out_ended || s->alive2) && !s->helper.waited_for);
}

int session_end(struct session *s, struct client *c, bool *ret_retired, struct diag *d)
{
	struct ev ev = { .type = EV_ARM_END, .trial = s->t.id };
	int err;

	ev.arm_end.trial = s->t.id;
	ev.arm_end.status = s->status;
	ev.arm_end.killed = s->killed;
	if (!s->alive1)
		(void)str_copy(ev.arm_end.detail, sizeof(ev.arm_end.detail), s->detail);
	launch_done(&s->launch);
	helper_done(&s->helper);
	err = client_arm_end(c, &ev, ret_retired, d); /* kills what still runs in it */
	session_drop(s);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run told to correlate record by record: four calibrators, which tell their part honestly, two
 * baselines of each far side, and one target, `box`, of which a story says what is wrong.
 *
 * How a probe goes is a `way`: scenes that tell of one trial's attempt, and of what the witnesses
 * saw of it, open (it gets through), closed (it does not) and deaf (nobody is there). A story is a
 * way, other scenes in place of its own, and what else is out of order.
 */
#ifndef SENTINEL_TEST_STORY_H
#define SENTINEL_TEST_STORY_H

#include "tests/unit/story_records.h"

/* ---- the session ---- */

static inline void exec_record(struct run *r, const struct ev_trial *t, bool own_cell)
{
	struct ev ev = own(r, t, EV_EXEC, SNT_HOOK_EXEC);
	const struct story *s = r->s;

	ev.exec.session = true;
	memcpy(ev.exec.nonce, t->nonce, sizeof(ev.exec.nonce));
	ev.exec.uid = own_cell && s->wrong_uid ? 0 : UID;
	ev.exec.ns = t->outside;
	ev.exec.ns.net = own_cell && s->same_netns ? t->outside.net : 77;
	if (own_cell && s->exec_partial)
		ev.flags = SNT_F_PARTIAL;
	if (own_cell && s->foreign_nonce)
		ev.exec.nonce[15] ^= 1;
	push(r, &ev);
	if (own_cell && s->two_execs)
		push(r, &ev);
}

static inline void answer(struct run *r, const struct ev_trial *t, int which, uint8_t instance,
			  bool wrong)
{
	struct ev ev = { .type = EV_ANSWER };

	ev.answer.trial = t->id;
	ev.answer.which = (uint32_t)which;
	memset(ev.answer.instance, instance, sizeof(ev.answer.instance));
	mac_alive(t->nonce, which, which == 1 ? t->challenge1 : t->challenge2, ev.answer.instance,
		  ev.answer.mac);
	if (wrong)
		ev.answer.mac[31] ^= 1;
	push(r, &ev);
}

/* The key that the answer is made with: a sibling has the trial's secret in its place. */
static inline void answer_key(const struct run *r, const struct ev_trial *t,
			      uint8_t ret[EV_MAC_BYTES])
{
	memset(ret, 0, EV_MAC_BYTES);
	if (t->dest == DEST_SIBLING)
		mac_secret(r->key, t->nonce, ret);
	else
		memcpy(ret, r->key, EV_MAC_BYTES);
}

static inline void proof(struct run *r, const struct ev_trial *t, bool on)
{
	struct ev ev = { .type = EV_PROOF };
	uint8_t key[EV_MAC_BYTES];

	ev.proof.trial = t->id;
	memset(ev.proof.instance, on && r->s->ran_elsewhere ? 8 : 7, sizeof(ev.proof.instance));
	mac_ran(t->nonce, t->challenge1, ev.proof.instance, ev.proof.mac);
	if (on && r->s->ran_wrong)
		ev.proof.mac[0] ^= 1;
	ev.proof.has_answer = r->claim.answer || r->claim.wrong_answer;
	answer_key(r, t, key);
	mac_answer(key, t->token, ev.proof.answer);
	ev.proof.answer[0] ^= r->claim.wrong_answer;
	ev.proof.has_secret = r->claim.secret;
	mac_plant(r->claim.secret_of, t->challenge1, ev.proof.instance, ev.proof.secret);
	ev.proof.has_twin = r->claim.twin;
	mac_plant(r->claim.twin_of, t->challenge1, ev.proof.instance, ev.proof.twin);
	(void)str_copy(ev.proof.view, sizeof(ev.proof.view), "ENETUNREACH");
	push(r, &ev);
}

/* ---- a trial ---- */

struct part { /* what one trial shows */
	const char *target;
	enum arm arm;
	enum far_side far;
	uint32_t repeat, wait_ms;
	scene_fn scene, before;
	bool dead;
	uint64_t caps;
};

static inline void fill_trial(struct run *r, struct ev_trial *t, const struct part *p)
{
	const struct ev_probe *probe = &r->s->way->probe;

	memset(t, 0, sizeof(*t));
	t->id = ++r->trials;
	(void)str_copy(t->target, sizeof(t->target), p->target);
	(void)str_copy(t->probe, sizeof(t->probe), probe->name);
	t->arm = p->arm;
	t->far = p->far;
	t->repeat = p->repeat;
	t->wait_ms = p->wait_ms;
	t->lane = r->lane;
	t->epoch = 1;
	t->uid = UID;
	t->caps = p->caps;
	memset(t->nonce, 0xa0, sizeof(t->nonce));
	memcpy(t->nonce, &t->id, sizeof(t->id));
	memset(t->challenge1, 0x11, sizeof(t->challenge1));
	memset(t->challenge2, 0x22, sizeof(t->challenge2));
	mac_token(t->nonce, probe->name, t->token);
	t->daddr[10] = t->daddr[11] = 0xff;
	t->daddr[12] = 203, t->daddr[14] = 113, t->daddr[15] = (uint8_t)(2 + t->id);
	t->dport = 9000;
	t->dest = probe->dest;
	t->closed = r->s->closed;
	t->outside = (struct ev_ns){ .mnt = 1, .net = 2, .pid = 3, .user = 4 };
	if (r->s->way->place)
		r->s->way->place(t);
}

/* The sandbox, or the process, beside the trial's, alive before the session starts or after its
 * attempt. */
static inline void sibling_alive(struct run *r, const struct ev_trial *t, int which,
				 uint8_t instance, bool wrong)
{
	struct ev ev = { .type = EV_ANSWER };
	uint8_t secret[EV_NONCE_BYTES];

	if ((t->dest != DEST_SIBLING && !r->s->way->probe.planted_beside) || t->far == FAR_DEAF)
		return;
	ev.answer.trial = t->id;
	ev.answer.which = EV_ANSWER_SIBLING + (uint32_t)which - 1;
	memset(ev.answer.instance, instance, sizeof(ev.answer.instance));
	mac_secret(r->key, t->nonce, secret);
	mac_alive(secret, which, which == 1 ? t->challenge1 : t->challenge2, ev.answer.instance,
		  ev.answer.mac);
	if (wrong)
		ev.answer.mac[31] ^= 1;
	push(r, &ev);
}

static inline void sibling_before(struct run *r, const struct ev_trial *t, bool on)
{
	const struct story *s = r->s;

	if (!(on && (s->sibling1_missing || s->sibling_late)))
		sibling_alive(r, t, 1, 5, on && s->sibling1_wrong);
	if (on && s->sibling_repeats)
		sibling_alive(r, t, 1, 5, false);
}

static inline void sibling_after(struct run *r, const struct ev_trial *t, bool on)
{
	const struct story *s = r->s;

	if (on && s->sibling_late)
		sibling_alive(r, t, 1, 5, false);
	if (!(on && s->sibling2_missing))
		sibling_alive(r, t, 2, on && s->other_sibling ? 6 : 5, on && s->sibling2_wrong);
}

static inline void tell_session(struct run *r, const struct ev_trial *t, const struct part *p,
				bool own_cell)
{
	const struct story *s = r->s;
	bool on = own_cell && t->arm == ARM_ON;

	if (p->dead)
		return;
	sibling_before(r, t, on);
	if (p->before)
		p->before(r, t);
	if (!(own_cell && s->no_exec))
		exec_record(r, t, own_cell);
	answer(r, t, 1, 7, on && s->alive1_wrong);
	r->now += MS + t->wait_ms * MS;
	if (p->scene)
		p->scene(r, t);
	r->now += MS;
	if (!(on && s->ran_missing))
		proof(r, t, on);
	if (!(on && s->alive2_missing))
		answer(r, t, 2, on && s->other_instance ? 8 : 7, false);
	sibling_after(r, t, on);
}

static inline void end_arm(struct run *r, const struct ev_trial *t)
{
	struct ev end = { .type = EV_ARM_END };

	end.arm_end.trial = t->id;
	push(r, &end);
}

static inline void trial(struct run *r, struct part p)
{
	struct ev ev = { .type = EV_TRIAL };
	bool own_cell = !strcmp(p.target, "box"), on = own_cell && p.arm == ARM_ON;
	struct ev_trial t;

	r->now += 10 * MS;
	r->sport = (uint16_t)(40000 + r->trials);
	r->claim = (struct claim){ 0 };
	if (!p.before)
		p.before = r->s->way->before;
	fill_trial(r, &t, &p);
	ev.trial_new = t;
	push(r, &ev);
	canary(r, t.id, SNT_HOOK_BOUNDARY, true);
	canary(r, t.id, SNT_HOOK_WORLD, !(on && r->s->canary_w_before));
	r->now += MS;
	tell_session(r, &t, &p, own_cell);
	r->now += MS;
	end_arm(r, &t);
	if (t.arm == ARM_BASELINE_LAST && t.far == FAR_ANSWERS && r->s->after_last)
		r->s->after_last(r, &t);
	r->now += MS;
	canary(r, t.id, SNT_HOOK_BOUNDARY, !(on && r->s->canary_b_after));
	canary(r, t.id, SNT_HOOK_WORLD, true);
	r->last = t;
}

/* ---- a run ---- */

static inline void attach(struct run *r, uint32_t hook, uint32_t lane, bool final, bool ok)
{
	struct ev ev = { .type = EV_ATTACH };

	ev.attach.hook = hook;
	ev.attach.lane = lane;
	ev.attach.needed = true;
	ev.attach.final = final;
	ev.attach.attached = ok;
	push(r, &ev);
}

static inline void attach_all(struct run *r, bool final)
{
	const struct story *s = r->s;

	if (!final || !s->w_not_asked_at_end)
		attach(r, SNT_HOOK_WORLD, LANE, final, !final || !s->w_detached);
	attach(r, SNT_HOOK_BOUNDARY, LANE, final, !final || !s->b_detached);
	attach(r, SNT_HOOK_WORLD, LANE_OTHER, final, true);
	attach(r, SNT_HOOK_BOUNDARY, LANE_OTHER, final, true);
	attach(r, SNT_HOOK_CG_EGRESS, 0, final, !final || !s->root_detached);
	attach(r, SNT_HOOK_EXEC, 0, final, !final || !s->exec_detached);
}

static inline void declare(struct run *r, const char *name, enum role role)
{
	struct ev target = { .type = EV_TARGET }, cell = { .type = EV_CELL };
	const struct story *s = r->s;
	bool own_cell = role == ROLE_TARGET;

	(void)str_copy(target.target.name, sizeof(target.target.name), name);
	target.target.role = role;
	target.target.expect = EXPECT_UID | (own_cell ? EXPECT_NS_NET | s->expect : 0);
	target.target.expect_uid = UID;
	target.target.inferred = own_cell && s->inferred;
	target.target.steady_ms = own_cell ? s->steady_ms : 0;
	push(r, &target);
	(void)str_copy(cell.cell.target, sizeof(cell.cell.target), name);
	(void)str_copy(cell.cell.probe, sizeof(cell.cell.probe), s->way->probe.name);
	cell.cell.claimed = !(own_cell && s->unclaimed);
	cell.cell.has_off = role != ROLE_ESCAPES && !(own_cell && s->no_off);
	cell.cell.has_allowed = own_cell && s->has_allowed;
	push(r, &cell);
}

static inline void begin(struct run *r)
{
	struct ev ev = { .type = EV_RUN_BEGIN }, probe = { .type = EV_PROBE };
	static const uint32_t lanes[] = { LANE, LANE_OTHER };

	(void)str_copy(ev.run_begin.run, sizeof(ev.run_begin.run), "TEST");
	ev.run_begin.repeat = MAX(r->s->repeat, 1u);
	push(r, &ev);
	probe.probe = r->s->way->probe;
	probe.probe.window_ms = WINDOW_MS;
	probe.probe.builtin = true;
	push(r, &probe);
	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++) {
		struct ev lane = { .type = EV_LANE };

		lane.lane_made.lane = lanes[i];
		lane.lane_made.epoch = 1;
		lane.lane_made.box_ifindex = BOX_IFINDEX;
		push(r, &lane);
	}
	attach_all(r, false);
	declare(r, "fake", ROLE_ESCAPES);
	declare(r, "deny", ROLE_CONTAINS);
	if (!r->s->never_missing)
		declare(r, "never", ROLE_NEVER);
	declare(r, "deaf", ROLE_DEAF);
	declare(r, "box", ROLE_TARGET);
}

static inline void arms(struct run *r, struct part p, scene_fn on, scene_fn off, scene_fn on2)
{
	p.arm = ARM_ON, p.scene = on;
	trial(r, p);
	p.arm = ARM_OFF, p.scene = off;
	p.dead = false;
	if (off)
		trial(r, p);
	p.arm = ARM_ON2, p.scene = on2, p.dead = !on2;
	trial(r, p);
}

static inline void calibrators(struct run *r)
{
	const struct way *w = r->s->way;
	scene_fn fake = r->s->fake_contained ? w->closed : w->open;
	scene_fn never = r->s->never_alive ? w->closed : NULL;

	for (uint32_t n = 1; n <= MAX(r->s->repeat, 1u); n++) {
		struct part p = { .repeat = n, .caps = w->probe.caps };

		p.target = "fake";
		arms(r, p, fake, NULL, fake);
		p.target = "deny";
		arms(r, p, w->closed, w->open, w->closed);
		p.target = "never";
		p.dead = !never;
		if (!r->s->never_missing)
			arms(r, p, never, w->open, never);
		p.target = "deaf";
		p.dead = false;
		p.far = FAR_DEAF;
		arms(r, p, w->closed, w->deaf, w->closed);
	}
}

static inline void target_round(struct run *r, struct part p, scene_fn on)
{
	const struct story *s = r->s;
	const struct way *w = s->way;

	p.arm = ARM_ON, p.scene = on;
	p.before = s->before;
	trial(r, p);
	p.before = NULL;
	p.arm = ARM_OFF, p.scene = s->off ? s->off : w->open;
	if (!s->no_off)
		trial(r, p);
	p.arm = ARM_ON2, p.scene = s->on2 ? s->on2 : w->closed, p.dead = s->on2_dead;
	if (!s->on2_missing)
		trial(r, p);
	p.arm = ARM_ALLOWED, p.scene = s->allowed ? s->allowed : w->open, p.dead = false;
	if (s->has_allowed)
		trial(r, p);
}

/* Where there is a steady state, every second round waits for it. */
static inline void target_rounds(struct run *r)
{
	const struct story *s = r->s;
	uint32_t rounds = MAX(s->repeat, 1u) * (s->steady_ms ? 2 : 1);

	for (uint32_t n = 1; n <= rounds; n++) {
		bool steady = s->steady_ms && n % 2 == 0;
		struct part p = { .target = "box", .repeat = n, .caps = s->caps };
		scene_fn on = steady ? s->steady : s->on;

		p.wait_ms = steady ? s->steady_ms : 0;
		target_round(r, p, on ? on : s->way->closed);
	}
}

static inline void baselines(struct run *r, enum arm arm, scene_fn scene)
{
	const struct way *w = r->s->way;
	struct part p = { .target = "", .arm = arm, .repeat = 1, .caps = w->probe.caps };

	p.scene = scene ? scene : w->open;
	trial(r, p);
	p.far = FAR_DEAF, p.scene = w->deaf;
	trial(r, p);
}

static inline void end(struct run *r)
{
	const struct story *s = r->s;
	struct ev ev = { .type = EV_RUN_END };

	if (s->loss_w_later) {
		r->now += 2 * WINDOW_MS * MS;
		loss(r, SNT_HOOK_WORLD, LANE);
	}
	if (!s->run_short)
		r->now += (WINDOW_MS + 1) * MS;
	canary(r, 0, SNT_HOOK_BOUNDARY, true);
	canary(r, 0, SNT_HOOK_WORLD, !s->canary_w_last);
	attach_all(r, true);
	memcpy(ev.run_end.key, r->key, sizeof(r->key));
	ev.run_end.aborted = s->aborted;
	if (!s->no_end)
		push(r, &ev);
}

static inline void tell_run(struct run *r)
{
	const struct story *s = r->s;

	begin(r);
	r->lane = LANE_OTHER;
	baselines(r, ARM_BASELINE_FIRST, s->first);
	calibrators(r);
	baselines(r, ARM_BASELINE_LAST, s->last);
	r->lane = LANE;
	for (uint32_t i = 0; s->flood && i <= FLOOD; i++)
		frame(r, NULL,
		      (struct frame){ .hook = SNT_HOOK_WORLD,
				      .protocol = IPPROTO_UDP,
				      .dst = canary_address,
				      .dport = 1234,
				      .payload = "flood" });
	target_rounds(r);
	if (s->after)
		s->after(r, &r->last);
	end(r);
}

static inline void tell(const struct story *s, struct run_result *ret)
{
	struct run r = { .s = s, .now = 1000 * MS, .key = { 9 } };

	assert_int_equal(correlate_new(&r.c), 0);
	tell_run(&r);
	assert_int_equal(correlate_finish(r.c, EVIDENCE_WHOLE, ret), 0);
	correlate_free(r.c);
}

/* ---- what must become of the target's cell ---- */

#define R(name) REASON_BIT(REASON_##name)

struct row {
	const char *name;
	struct story s;
	enum verdict verdict;
	reason_set reasons;	/* these at least; 0: none */
	enum run_status status; /* rejected where it concerns the calibrators as well */
};

static inline const struct cell_result *cell_of_box(const struct run_result *r)
{
	return &r->cells[r->cells_n - 1];
}

static inline void check_row(const struct row *row)
{
	const struct cell_result *cell;
	struct run_result r;

	tell(&row->s, &r);
	cell = cell_of_box(&r);
	if (r.status != row->status || cell->judgement.verdict != row->verdict ||
	    (cell->judgement.reasons & row->reasons) != row->reasons ||
	    (!row->reasons) != (!cell->judgement.reasons))
		print_error("row '%s' of %s: status %d %x, verdict %s, reasons %llx, wanted %s "
			    "%llx\n",
			    row->name, row->s.way->probe.name, r.status, r.rejections,
			    verdict_text(cell->judgement.verdict),
			    (unsigned long long)cell->judgement.reasons, verdict_text(row->verdict),
			    (unsigned long long)row->reasons);
	assert_int_equal(r.status, row->status);
	assert_int_equal(cell->judgement.verdict, row->verdict);
	assert_true((cell->judgement.reasons & row->reasons) == row->reasons);
	assert_int_equal(!cell->judgement.reasons, !row->reasons);
	run_result_done(&r);
}

#define check_rows(table)                                                                          \
	do {                                                                                       \
		for (size_t row_ = 0; row_ < ARRAY_SIZE(table); row_++)                            \
			check_row(&(table)[row_]);                                                 \
	} while (0)

#endif

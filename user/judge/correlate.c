// SPDX-License-Identifier: Apache-2.0
#include "user/judge/correlate.h"

#include <netinet/in.h>

#include "user/base/mac.h"
#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

void *list_grow(void *at, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t more = *cap ? *cap * 2 : 16;
	void *grown;

	if (n < *cap)
		return at;
	grown = reallocarray(at, more, size);
	if (grown)
		*cap = more;
	return grown;
}

static uint32_t idmap_at(const struct idmap *m, uint64_t key)
{
	uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (m->size - 1);

	while (m->slots[i].key && m->slots[i].key != key)
		i = (i + 1) & (m->size - 1);
	return i;
}

static int idmap_grow(struct idmap *m)
{
	struct idmap bigger = { .size = m->size ? m->size * 2 : 256 };

	bigger.slots = calloc(bigger.size, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->size; i++)
		if (m->slots[i].key)
			bigger.slots[idmap_at(&bigger, m->slots[i].key)] = m->slots[i];
	bigger.used = m->used;
	free(m->slots);
	*m = bigger;
	return 0;
}

int idmap_set(struct idmap *m, uint64_t key, uint32_t value)
{
	uint32_t i;

	if (2 * m->used >= m->size && idmap_grow(m))
		return -ENOMEM;
	i = idmap_at(m, key);
	m->used += !m->slots[i].key;
	m->slots[i] = (struct idmap_slot){ .key = key, .value = value };
	return 0;
}

bool idmap_get(const struct idmap *m, uint64_t key, uint32_t *ret)
{
	uint32_t i;

	if (!m->size)
		return false;
	i = idmap_at(m, key);
	if (!m->slots[i].key)
		return false;
	*ret = m->slots[i].value;
	return true;
}

int correlate_new(struct correlate **ret)
{
	struct correlate *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	err = witness_init(c);
	if (err) {
		correlate_free(c);
		return err;
	}
	*ret = c;
	return 0;
}

void correlate_free(struct correlate *c)
{
	if (!c)
		return;
	free(c->targets.at);
	free(c->probes.at);
	free(c->cells.at);
	free(c->trials.at);
	free(c->canaries.at);
	free(c->decoys.at);
	free(c->losses.at);
	free(c->unexplained.at);
	free(c->late_logs.at);
	free(c->quotes.at);
	free(c->shared.at);
	free(c->by_dest.slots);
	free(c->by_cell.slots);
	free(c->by_flow.slots);
	free(c->by_token.slots);
	free(c->by_record.slots);
	free(c->known_cells.slots);
	free(c->self.slots);
	match_set_free(c->tokens);
	stream_free(c->world);
	free(c);
}

struct trial_state *trial_get(struct correlate *c, uint32_t id)
{
	return id && id <= c->trials.n ? &c->trials.at[id - 1] : NULL;
}

const struct ev_probe *probe_of(const struct correlate *c, const char *name)
{
	for (uint32_t i = 0; i < c->probes.n; i++)
		if (!strcmp(c->probes.at[i].name, name))
			return &c->probes.at[i];
	return NULL;
}

const struct ev_target *target_of(const struct correlate *c, const char *name)
{
	for (uint32_t i = 0; i < c->targets.n; i++)
		if (!strcmp(c->targets.at[i].name, name))
			return &c->targets.at[i];
	return NULL;
}

/* Of lane, address and port; never 0. Two destinations with one hash would be one trial's: the
 * address is compared again by trial_by_dest(). */
static uint64_t dest_key(uint32_t lane, const uint8_t daddr[16], uint32_t dport)
{
	uint64_t h = hash_addr(HASH_START, daddr);

	h = hash_word(h, (uint64_t)lane << 32 | dport);
	return h ? h : 1;
}

struct trial_state *trial_by_dest(struct correlate *c, uint32_t lane, const uint8_t daddr[16],
				  uint32_t dport, uint64_t time_ns)
{
	struct trial_state *t;
	uint32_t id;

	if (!idmap_get(&c->by_dest, dest_key(lane, daddr, dport), &id))
		return NULL;
	t = trial_get(c, id);
	while (t && t->new_ns > time_ns)
		t = trial_get(c, t->older);
	return t && trial_goes_to(t, daddr, dport) ? t : NULL;
}

/* Which address a platform gives to a sibling is known only once that runs, after its trial was
 * registered: its port, which nothing else has, must do. */
bool trial_goes_to(const struct trial_state *t, const uint8_t daddr[16], uint32_t dport)
{
	return t->t.dport == dport && (t->t.dest == DEST_SIBLING || !memcmp(t->t.daddr, daddr, 16));
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ull;
	return (h ^ 0xff) * 0x100000001b3ull;
}

/* Two cells with one hash would hide each other's trials, which the finder notices by name: a trial
 * that is not found is no evidence for anything. */
uint64_t cell_key(const char *target, const char *probe, enum arm arm, uint32_t repeat)
{
	uint64_t h = hash_text(hash_text(0xcbf29ce484222325ull, target), probe);

	h = (h ^ arm) * 0x100000001b3ull;
	h = (h ^ repeat) * 0x100000001b3ull;
	return h ? h : 1;
}

static int add_trial(struct correlate *c, const struct ev *ev)
{
	const struct ev_trial *t = &ev->trial_new;
	struct trial_state s = { .t = *t, .mark = mac_mark(t->nonce), .new_ns = ev->time_ns };
	const struct ev_probe *probe = probe_of(c, t->probe);
	uint8_t token[EV_NONCE_BYTES];
	int err;

	if (t->id != c->trials.n + 1 || !probe || t->arm == ARM_NONE || !t->lane ||
	    t->lane >= SNT_SLOT_MAX)
		return -EBADMSG;
	if (t->target[0] && !target_of(c, t->target))
		return -EBADMSG;
	if (t->id > CORRELATE_TRIALS_MAX)
		return -ENOSPC;
	mac_token(t->nonce, t->probe, token);
	if (memcmp(token, t->token, sizeof(token)))
		return -EBADMSG;
	(void)idmap_get(&c->by_dest, dest_key(t->lane, t->daddr, t->dport), &s.older);
	err = match_set_add(c->tokens, token, t->id);
	if (!err)
		err = list_add(&c->trials, s);
	if (!err)
		err = idmap_set(&c->by_dest, dest_key(t->lane, t->daddr, t->dport), t->id);
	if (!err)
		err = idmap_set(&c->by_cell, cell_key(t->target, t->probe, t->arm, t->repeat),
				t->id);
	if (!err)
		c->last_trial[t->lane] = t->id;
	return err;
}

/* ---- identity: what the kernel saw of the session's exec against what the target expects ---- */

static bool namespaces_as_expected(const struct ev_target *target, const struct ev_trial *t,
				   const struct ev_ns *in)
{
	const struct {
		uint32_t bit, inside, outside;
	} ns[] = {
		{ EXPECT_NS_MNT, in->mnt, t->outside.mnt },
		{ EXPECT_NS_NET, in->net, t->outside.net },
		{ EXPECT_NS_PID, in->pid, t->outside.pid },
		{ EXPECT_NS_USER, in->user, t->outside.user },
		{ EXPECT_NS_UTS, in->uts, t->outside.uts },
		{ EXPECT_NS_IPC, in->ipc, t->outside.ipc },
		{ EXPECT_NS_CGROUP, in->cgroup, t->outside.cgroup },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
		if (target->expect & ns[i].bit && (!ns[i].inside || ns[i].inside == ns[i].outside))
			return false;
	return true;
}

static bool exec_as_expected(const struct ev_target *target, const struct ev_trial *t,
			     const struct ev_exec *x)
{
	if (!namespaces_as_expected(target, t, &x->ns))
		return false;
	if (target->expect & EXPECT_UID && x->uid != target->expect_uid)
		return false;
	if (target->expect & EXPECT_NNP && x->no_new_privs != target->expect_nnp)
		return false;
	if (target->expect & EXPECT_SECCOMP && x->seccomp != target->expect_seccomp)
		return false;
	return true;
}

static void see_exec(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t = trial_get(c, ev->trial);
	const struct ev_target *target;

	if (!t || !ev->exec.session || memcmp(ev->exec.nonce, t->t.nonce, EV_NONCE_BYTES))
		return;
	if (!t->execs++)
		t->exec_ns = ev->time_ns;
	blame_exec(t, &ev->exec);
	target = target_of(c, t->t.target);
	if (!target)
		return;
	if (GUARD(EXEC_UNEXPECTED, !exec_as_expected(target, &t->t, &ev->exec)))
		t->identity_wrong = true;
	/* A record of which a part could not be read says nothing for the sandbox. */
	if (GUARD(EXEC_PARTIAL, ev->flags & SNT_F_PARTIAL))
		t->identity_wrong = true;
}

/* The session's call that a sandbox must refuse, for which nothing else shows that it is one. */
static bool is_canary_call(const struct ev_call *call)
{

	const uint32_t to = htonl(REFUSED_CONNECT_ADDR);

	return !strcmp(call->name, "connect") && call->family == AF_INET &&
	       call->dport == REFUSED_CONNECT_PORT && addr_is_v4(call->daddr) &&
	       !memcmp(call->daddr + 12, &to, sizeof(to));
}

static bool see_canary_call(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t = trial_get(c, ev->trial);
	const struct ev_target *target = t ? target_of(c, t->t.target) : NULL;

	if (!target || !(target->expect & EXPECT_REFUSED_CONNECT) || ev->type != EV_CALL ||
	    ev->mark != t->mark || !is_canary_call(&ev->call))
		return false;
	if (ev->call.ret == -EACCES || ev->call.ret == -EPERM)
		t->canary_refused = true;
	else
		t->canary_allowed = true;
	return true;
}

/* ---- the session's lines: tied to the instance by HMAC, checked here, never by the client ---- */

/* The first that is given counts: who says another first has proved nothing. */
static int see_sibling(struct trial_state *t, const struct ev_answer *a, uint64_t time_ns)
{
	uint32_t i = a->which - EV_ANSWER_SIBLING;
	struct proof_state *p = &t->sibling[i];

	if (p->given)
		return 0;
	p->given = true;
	if (i == 0)
		t->sibling_ns = time_ns;
	memcpy(p->instance, a->instance, sizeof(p->instance));
	memcpy(t->sibling_mac[i], a->mac, sizeof(t->sibling_mac[i]));
	return 0;
}

static int see_answer(struct correlate *c, const struct ev *ev)
{
	const struct ev_answer *a = &ev->answer;
	struct trial_state *t = trial_get(c, a->trial);
	uint8_t mac[EV_MAC_BYTES];
	struct proof_state *p;

	if (!t || a->which < 1 || a->which >= EV_ANSWER_SIBLING + 2)
		return -EBADMSG;
	if (a->which >= EV_ANSWER_SIBLING)
		return see_sibling(t, a, ev->time_ns);
	mac_alive(t->t.nonce, (int)a->which, a->which == 1 ? t->t.challenge1 : t->t.challenge2,
		  a->instance, mac);
	p = &t->alive[a->which - 1];
	if (p->right)
		return 0;
	p->given = true;
	p->right = !GUARD(ALIVE_WRONG, !mac_equal(mac, a->mac));
	memcpy(p->instance, a->instance, sizeof(p->instance));
	return 0;
}

static int see_proof(struct correlate *c, const struct ev_proof *a)
{
	struct trial_state *t = trial_get(c, a->trial);
	uint8_t mac[EV_MAC_BYTES];

	if (!t)
		return -EBADMSG;
	if (t->ran.right)
		return 0;
	mac_ran(t->t.nonce, t->t.challenge1, a->instance, mac);
	t->ran.given = true;
	t->ran.right = !GUARD(RAN_WRONG, !mac_equal(mac, a->mac));
	memcpy(t->ran.instance, a->instance, sizeof(t->ran.instance));
	t->has_answer = a->has_answer;
	memcpy(t->answer, a->answer, sizeof(t->answer));
	t->secret.given = a->has_secret;
	memcpy(t->secret.mac, a->secret, sizeof(t->secret.mac));
	t->twin.given = a->has_twin;
	memcpy(t->twin.mac, a->twin, sizeof(t->twin.mac));
	memcpy(t->view, a->view, sizeof(t->view));
	return 0;
}

/* ---- the run's log ---- */

static int add_canary(struct correlate *c, const struct ev *ev)
{
	struct canary_state s = { .c = ev->canary, .sent_ns = ev->time_ns };
	int err = list_add(&c->canaries, s);

	return err ? err : witness_self(c, ev->canary.token, c->canaries.n - 1);
}

static int add_decoy(struct correlate *c, const struct ev *ev)
{
	struct decoy_state s = { .d = ev->decoy };
	int err = list_add(&c->decoys, s);

	return err ? err : witness_self(c, ev->decoy.token, (c->decoys.n - 1) | SELF_DECOY);
}

static void see_attach(struct correlate *c, const struct ev_attach *a)
{
	struct attach_state *s;

	if (a->hook >= SNT_HOOK_MAX || a->lane >= SNT_SLOT_MAX)
		return;
	s = &c->attach[a->hook][a->lane];
	s->needed |= a->needed;
	if (a->final) {
		s->final_ok = a->attached && (!s->final || s->final_ok);
		s->final = true;
	} else {
		s->start_ok = a->attached && (!s->start || s->start_ok);
		s->start = true;
	}
}

#define LOSS_MERGE_NS (100 * NSEC_PER_MSEC)

/* A flood of losses is one: of the same hook and slot, and close to the last. */
int add_loss(struct correlate *c, uint32_t hook, uint32_t slot, uint64_t from_ns, uint64_t to_ns)
{
	struct loss_state s = { .hook = hook, .slot = slot, .from_ns = from_ns, .to_ns = to_ns };
	struct loss_state *last = c->losses.n ? &c->losses.at[c->losses.n - 1] : NULL;

	if (last && last->hook == hook && last->slot == slot && from_ns >= last->from_ns &&
	    from_ns <= last->to_ns + LOSS_MERGE_NS) {
		last->to_ns = MAX(last->to_ns, to_ns);
		return 0;
	}
	return list_add(&c->losses, s);
}

/* What user space lost could have been anything of any lane; what the collector could not log is
 * missing in its lane's second witness. */
static int see_gap(struct correlate *c, const struct ev *ev)
{
	static const uint32_t hooks[] = { SNT_HOOK_WORLD, SNT_HOOK_BOUNDARY, SNT_HOOK_CG_EGRESS,
					  SNT_HOOK_EXEC };
	int err = 0;

	if (!strcmp(ev->gap.stage, "collector"))
		return add_loss(c, LOSS_COLLECTOR, ev->lane, ev->gap.from_ns, ev->time_ns);

	for (size_t i = 0; i < ARRAY_SIZE(hooks) && !err; i++)
		err = add_loss(c, hooks[i], SNT_SLOT_NONE, ev->gap.from_ns, ev->time_ns);
	return err;
}

/* A run has at most 64 of each (user/cmd/select.h); a stranger's capture could claim any number. */
#define NAMES_MAX 256
#define CELLS_MAX 8192

static int add_cell(struct correlate *c, const struct ev_cell *cell)
{
	uint64_t key = cell_key(cell->target, cell->probe, ARM_NONE, 0);
	uint32_t known;
	int err;

	if (c->cells.n == CELLS_MAX || !target_of(c, cell->target) || !probe_of(c, cell->probe) ||
	    idmap_get(&c->known_cells, key, &known))
		return -EBADMSG;
	err = idmap_set(&c->known_cells, key, 1);
	return err ? err : list_add(&c->cells, *cell);
}

static void see_start_error(struct correlate *c, const struct trial_state *t, const char *text)
{
	struct start_error *e = &c->start_errors[c->start_errors_n];

	if (!text[0] || t->t.arm != ARM_ON || c->start_errors_n == START_ERRORS_MAX)
		return;
	for (uint32_t i = 0; i < c->start_errors_n; i++)
		if (!strcmp(c->start_errors[i].target, t->t.target))
			return;
	(void)str_copy(e->target, sizeof(e->target), t->t.target);
	(void)str_copy(e->text, sizeof(e->text), text);
	c->start_errors_n++;
}

static int see_log(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t;

	switch (ev->type) {
	case EV_RUN_BEGIN:
		if (c->begun || ev->run_begin.repeat > CORRELATE_REPEAT_MAX)
			return -EBADMSG;
		c->begun = true;
		c->begin = ev->run_begin;
		return 0;
	case EV_TARGET:
		if (c->targets.n == NAMES_MAX || target_of(c, ev->target.name))
			return -EBADMSG;
		return list_add(&c->targets, ev->target);
	case EV_PROBE:
		if (c->probes.n == NAMES_MAX || probe_of(c, ev->probe.name))
			return -EBADMSG;
		return list_add(&c->probes, ev->probe);
	case EV_CELL:
		return add_cell(c, &ev->cell);
	case EV_LANE:
		if (!ev->lane_made.lane || ev->lane_made.lane >= SNT_SLOT_MAX)
			return -EBADMSG;
		c->lanes[ev->lane_made.lane] = ev->lane_made;
		return 0;
	case EV_TRIAL:
		return add_trial(c, ev);
	case EV_ARM_BEGIN:
		t = trial_get(c, ev->arm_begin.trial);
		if (!t)
			return -EBADMSG;
		t->begin_ns = ev->time_ns;
		return 0;
	case EV_ARM_END:
		t = trial_get(c, ev->arm_end.trial);
		if (!t)
			return -EBADMSG;
		t->end_ns = ev->time_ns;
		see_start_error(c, t, ev->arm_end.detail);
		return 0;
	case EV_ANSWER:
		return see_answer(c, ev);
	case EV_PROOF:
		return see_proof(c, &ev->proof);
	case EV_RECEIVED:
		return witness_received(c, ev);
	case EV_ATTACH:
		see_attach(c, &ev->attach);
		return 0;
	case EV_CANARY:
		return add_canary(c, ev);
	case EV_DECOY:
		return add_decoy(c, ev);
	case EV_LOSS:
		return add_loss(c, ev->loss.hook, ev->loss.slot, ev->loss.from_ns, ev->time_ns);
	case EV_GAP:
		return see_gap(c, ev);
	case EV_RUN_END:
		c->ended = true;
		c->end = ev->run_end;
		c->end_ns = ev->time_ns;
		return 0;
	default:
		return 0;
	}
}

int correlate_push(struct correlate *c, const struct ev *ev)
{
	switch (ev->type) {
	case EV_EXEC:
		see_exec(c, ev);
		return 0;
	case EV_SOCK:
	case EV_ADDR:
	case EV_SEND:
	case EV_CALL:
	case EV_STATE:
	case EV_URING:
		if (ev->type == EV_ADDR)
			caller_see(c, ev);
		if (!see_canary_call(c, ev))
			attempt_push(c, ev);
		return 0;
	case EV_ENV:
		plant_see_env(c, ev);
		return 0;
	case EV_PACKET:
	case EV_DROP:
		return witness_packet(c, ev);
	default:
		return see_log(c, ev);
	}
}

uint64_t correlate_window_end(const struct correlate *c)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < c->trials.n; i++) {
		const struct trial_state *t = &c->trials.at[i];
		uint64_t window = trial_window_ms(c, t) * NSEC_PER_MSEC;

		if ((t->t.arm == ARM_ON || t->t.arm == ARM_ON2) && t->attempt_ns)
			end = MAX(end, t->attempt_ns + window);
	}
	return end;
}

int correlate_finish(struct correlate *c, enum evidence_state evidence, struct run_result *ret)
{
	return assemble(c, evidence, ret);
}

void run_result_done(struct run_result *r)
{
	free(r->cells);
	r->cells = NULL;
	r->cells_n = 0;
}

const struct ev_trial *correlate_trial(const struct correlate *c, uint32_t trial)
{
	return trial && trial <= c->trials.n ? &c->trials.at[trial - 1].t : NULL;
}

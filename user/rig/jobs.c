// SPDX-License-Identifier: Apache-2.0
#include "user/rig/jobs.h"

#include "user/rig/destination.h"

/* Rounds of one baseline that wait. Those that last longer go first. */
enum { QUEUE_LONG = 0, QUEUE_SHORT, QUEUES };

struct queue_of_jobs {
	struct job *head, *tail;
};

struct base {
	struct base_key key;
	struct job *first, *last; /* NULL once taken */
	bool first_done;
	uint32_t rounds_left; /* not finished */
	struct queue_of_jobs rounds[QUEUES];
};

struct jobs {
	const struct jobs_opts *o; /* while planning */
	struct job *at;		   /* in the order of targets, then probes, then repeats */
	size_t n;
	struct base *bases;
	size_t bases_n;
	uint32_t trials;
};

/* ---- matching ---- */

static size_t families_of(const struct probe_manifest *p)
{
	size_t n = 0;

	while (n < PROBE_FAMILIES_MAX && p->families[n])
		n++;
	return n;
}

const struct target_off *probe_off(const struct target *t, const struct probe_manifest *p)
{
	return target_off_for(t, p->p.name, p->families, families_of(p));
}

const struct target_claim *probe_claim(const struct target *t, const struct probe_manifest *p)
{
	return target_claim_for(t, p->p.name, p->families, families_of(p));
}

bool probe_allowed(const struct target *t, const struct probe_manifest *p)
{
	return destination_can_be_allowed(&p->p) &&
	       target_allows(t, p->p.name, p->families, families_of(p));
}

/* ---- queues ---- */

/* Behind a closed lane a probe waits in vain; for a steady state everybody waits. */
static bool is_long(const struct job *round)
{
	return round->target->lane == TARGET_LANE_CLOSED || round->wait_ms;
}

static struct queue_of_jobs *queue_of(const struct job *job)
{
	return &job->base->rounds[is_long(job) ? QUEUE_LONG : QUEUE_SHORT];
}

static void push_back(struct queue_of_jobs *q, struct job *job)
{
	if (q->tail)
		q->tail->next = job;
	else
		q->head = job;
	q->tail = job;
}

static void push_front(struct queue_of_jobs *q, struct job *job)
{
	job->next = q->head;
	q->head = job;
	if (!q->tail)
		q->tail = job;
}

static void pop(struct queue_of_jobs *q)
{
	struct job *job = q->head;

	q->head = job->next;
	if (!q->head)
		q->tail = NULL;
	job->next = NULL;
}

/* ---- planning ---- */

static struct job *add_job(struct jobs *j, struct base *base, enum job_kind kind, uint32_t arms)
{
	struct job *job = &j->at[j->n++];

	*job = (struct job){
		.kind = kind, .key = base->key, .repeat = 1, .arms_left = arms, .base = base
	};
	j->trials += (uint32_t)__builtin_popcount(arms);
	return job;
}

static bool same_key(const struct base_key *a, const struct base_key *b)
{
	return a->probe == b->probe && a->far == b->far && a->uid == b->uid && a->caps == b->caps;
}

static struct base *base_of(struct jobs *j, const struct base_key *key)
{
	struct base *base;

	for (size_t i = 0; i < j->bases_n; i++)
		if (same_key(&j->bases[i].key, key))
			return &j->bases[i];
	base = &j->bases[j->bases_n++];
	*base = (struct base){ .key = *key };
	base->first = add_job(j, base, JOB_BASELINE_FIRST, 1u << ARM_BASELINE_FIRST);
	base->last = add_job(j, base, JOB_BASELINE_LAST, 1u << ARM_BASELINE_LAST);
	return base;
}

static uint32_t arms_of(const struct jobs_opts *o, const struct target *t,
			const struct probe_manifest *p)
{
	uint32_t arms = 1u << ARM_ON | 1u << ARM_ON2;

	if (probe_off(t, p))
		arms |= 1u << ARM_OFF;
	if (probe_allowed(t, p))
		arms |= 1u << ARM_ALLOWED;
	/* The instrument's own tests are always whole. */
	return t->role == ROLE_TARGET ? arms & o->arms : arms;
}

static uint64_t caps_of(const struct target *t, const struct probe_manifest *p)
{
	return t->role != ROLE_TARGET && t->uid != 0 ? p->p.caps : 0;
}

/* With a steady state, one at the start and one that waits, in turn. */
static uint32_t rounds_of(const struct jobs_opts *o, const struct target *t)
{
	return o->repeat * (t->steady_ms ? 2 : 1);
}

static void add_cell(struct jobs *j, const struct target *t, const struct probe_manifest *p)
{
	const struct base_key key = {
		.probe = p, .far = t->far, .uid = t->uid, .gid = t->gid, .caps = caps_of(t, p)
	};
	uint32_t arms = arms_of(j->o, t, p);
	struct base *base = base_of(j, &key);

	for (uint32_t r = 1; r <= rounds_of(j->o, t) && arms; r++) {
		struct job *job = add_job(j, base, JOB_ROUND, arms);

		job->target = t;
		job->repeat = r;
		job->wait_ms = r % 2 == 0 ? t->steady_ms : 0;
		base->rounds_left++;
		push_back(queue_of(job), job);
	}
}

/* At most: each cell with a baseline of its own. */
static uint64_t count_trials(const struct jobs_opts *o)
{
	uint64_t trials = 0;

	for (size_t i = 0; i < o->targets_n; i++)
		for (size_t k = 0; k < o->probes_n; k++) {
			uint32_t arms = arms_of(o, o->targets[i], o->probes[k]);

			trials += (uint64_t)__builtin_popcount(arms) * rounds_of(o, o->targets[i]);
		}
	return trials + 2 * o->targets_n * o->probes_n;
}

int jobs_new(struct jobs **ret, const struct jobs_opts *o, struct diag *d)
{
	size_t cells = o->targets_n * o->probes_n;
	uint64_t trials = count_trials(o);
	struct jobs *j;

	if (trials > o->trials_max)
		return diag_set(d, -E2BIG, NULL, 0, 0,
				"this run would have %llu trials, and %u is the most: repeat less, "
				"or name fewer targets or probes",
				(unsigned long long)trials, o->trials_max);
	j = calloc(1, sizeof(*j));
	if (j) {
		j->at = calloc(cells * (2 + 2 * (size_t)o->repeat) + 1, sizeof(*j->at));
		j->bases = calloc(cells + 1, sizeof(*j->bases));
	}
	if (!j || !j->at || !j->bases) {
		jobs_free(j);
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	}
	j->o = o;
	for (size_t i = 0; i < o->targets_n; i++)
		for (size_t k = 0; k < o->probes_n; k++)
			add_cell(j, o->targets[i], o->probes[k]);
	j->o = NULL;
	*ret = j;
	return 0;
}

void jobs_free(struct jobs *j)
{
	if (!j)
		return;
	free(j->at);
	free(j->bases);
	free(j);
}

uint32_t jobs_trials(const struct jobs *j)
{
	return j->trials;
}

/* ---- which job may run ---- */

static struct job *candidate(const struct base *b)
{
	if (b->first)
		return b->first;
	if (!b->first_done)
		return NULL;
	for (size_t i = 0; i < QUEUES; i++)
		if (b->rounds[i].head)
			return b->rounds[i].head;
	return b->rounds_left ? NULL : b->last;
}

/* The longest first: a far side that never answers, then the rounds that are long. What is short
 * fills the gaps. */
static int rank(const struct job *job)
{
	if (job->key.far == FAR_DEAF)
		return 0;
	if (job->kind == JOB_BASELINE_FIRST)
		return 1;
	return job->target && is_long(job) ? 2 : 3;
}

static bool before(const struct job *a, const struct job *b)
{
	int ra = rank(a), rb = rank(b);

	return ra != rb ? ra < rb : a < b;
}

struct job *jobs_take(struct jobs *j)
{
	struct job *best = NULL;

	for (size_t i = 0; i < j->bases_n; i++) {
		struct job *job = candidate(&j->bases[i]);

		if (job && (!best || before(job, best)))
			best = job;
	}
	if (!best)
		return NULL;
	if (best->kind == JOB_BASELINE_FIRST)
		best->base->first = NULL;
	else if (best->kind == JOB_BASELINE_LAST)
		best->base->last = NULL;
	else
		pop(queue_of(best));
	return best;
}

void jobs_finish(struct jobs *j unused_arg, struct job *job)
{
	if (job->kind == JOB_BASELINE_FIRST)
		job->base->first_done = true;
	else if (job->kind == JOB_ROUND)
		job->base->rounds_left--;
}

void jobs_give_back(struct jobs *j unused_arg, struct job *job)
{
	if (job->kind == JOB_BASELINE_FIRST)
		job->base->first = job;
	else if (job->kind == JOB_BASELINE_LAST)
		job->base->last = job;
	else
		push_front(queue_of(job), job);
}

enum arm job_next_arm(const struct job *job)
{
	for (enum arm arm = ARM_BASELINE_FIRST; arm < ARM_MAX; arm++)
		if (job->arms_left & 1u << arm)
			return arm;
	return ARM_NONE;
}

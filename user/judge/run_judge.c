// SPDX-License-Identifier: Apache-2.0
/* Does the instrument pass its own tests? See run_judge.h and DESIGN.md 3.4. */
#include <string.h>

#include "user/judge/guard.h"
#include "user/judge/run_judge.h"

static const struct cell_result *cell_of(const struct run_result *r, enum role role,
					 const char *probe)
{
	for (uint32_t i = 0; i < r->cells_n; i++) {
		if (r->cells[i].role == role && strcmp(r->cells[i].probe, probe) == 0)
			return &r->cells[i];
	}
	return NULL;
}

static bool has_all_calibrators(const struct run_result *r, const char *probe)
{
	for (enum role role = ROLE_ESCAPES; role < ROLE_MAX; role++) {
		if (!cell_of(r, role, probe))
			return false;
	}
	return true;
}

static enum verdict demanded(enum role role)
{
	switch (role) {
	case ROLE_ESCAPES:
		return VERDICT_ESCAPED;
	case ROLE_CONTAINS:
		return VERDICT_CONTAINED;
	default:
		return VERDICT_INCONCLUSIVE;
	}
}

/* Inconclusive for a reason that lies outside the instrument: there was nothing to reach, or the
 * evidence does not verify (which withholds every cell of the run by itself). */
static bool is_untested(const struct judgement *j, bool reachable)
{
	return j->verdict == VERDICT_INCONCLUSIVE &&
	       (!reachable || (j->reasons & REASON_BIT(REASON_EVIDENCE_DAMAGED)));
}

/* A calibrator's cell that has another verdict than its role demands. A verdict that contradicts
 * the role counts wherever it stands. */
static bool is_wrong(const struct cell_result *c, bool reachable)
{
	if (c->judgement.verdict == demanded(c->role))
		return false;
	return !GUARD(CALIBRATOR_UNTESTED, is_untested(&c->judgement, reachable));
}

/* Any of the role's cells: a second calibrator of one role must come out right as well. */
static bool came_out_wrong(const struct run_result *r, enum role role, const char *probe,
			   bool reachable)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].role == role && !strcmp(r->cells[i].probe, probe) &&
		    is_wrong(&r->cells[i], reachable))
			return true;
	return false;
}

static bool failed(const struct run_result *r, enum role role, const char *probe)
{
	for (uint32_t i = 0; i < r->cells_n; i++) {
		const struct cell_result *c = &r->cells[i];

		if (c->role == role && !strcmp(c->probe, probe) &&
		    is_wrong(c, !(c->judgement.reasons &
				  REASON_BIT(REASON_TARGET_UNREACHABLE_OUTSIDE))))
			return true;
	}
	return !cell_of(r, role, probe);
}

bool run_self_test(const struct run_result *calibrators, const char *probe)
{
	if (GUARD(SELF_TEST_FAKE, failed(calibrators, ROLE_ESCAPES, probe)))
		return false;
	if (GUARD(SELF_TEST_DENY, failed(calibrators, ROLE_CONTAINS, probe)))
		return false;
	if (GUARD(SELF_TEST_NEVER, failed(calibrators, ROLE_NEVER, probe)))
		return false;
	if (GUARD(SELF_TEST_DEAF, failed(calibrators, ROLE_DEAF, probe)))
		return false;
	return true;
}

static inline uint32_t reject_when(bool condition, enum rejection why)
{
	return (uint32_t)condition << why;
}

/* A user's own probe may be broken without the instrument being so: its calibrators then fail its
 * self-test, not the run. */
static uint32_t probe_rejections(const struct run_result *r, const struct run_probe *p)
{
	bool fake = came_out_wrong(r, ROLE_ESCAPES, p->name, p->crossed);
	bool deny = came_out_wrong(r, ROLE_CONTAINS, p->name, p->crossed);
	bool missing = !has_all_calibrators(r, p->name);

	return reject_when(GUARD(REJECT_FAKE, p->builtin && fake), REJECT_FAKE_NOT_ESCAPED) |
	       reject_when(GUARD(REJECT_DENY, p->builtin && deny), REJECT_DENY_NOT_CONTAINED) |
	       reject_when(GUARD(REJECT_NEVER, came_out_wrong(r, ROLE_NEVER, p->name, p->crossed)),
			   REJECT_NEVER_NOT_INCONCLUSIVE) |
	       reject_when(GUARD(REJECT_DEAF, came_out_wrong(r, ROLE_DEAF, p->name, p->crossed)),
			   REJECT_DEAF_NOT_INCONCLUSIVE) |
	       reject_when(GUARD(REJECT_MISSING, p->builtin && missing), REJECT_CALIBRATOR_MISSING);
}

static bool is_listed(const struct run_facts *f, const char *probe)
{
	for (uint32_t i = 0; i < f->probes_n; i++) {
		if (strcmp(f->probes[i].name, probe) == 0)
			return true;
	}
	return false;
}

/* A cell whose probe the facts don't know would go uncalibrated. */
static bool has_unlisted(const struct run_result *r, const struct run_facts *f)
{
	for (uint32_t i = 0; i < r->cells_n; i++) {
		if (!is_listed(f, r->cells[i].probe))
			return true;
	}
	return false;
}

static uint32_t run_rejections(const struct run_result *r, const struct run_facts *f)
{
	return reject_when(GUARD(REJECT_WITNESSES, f->witnesses_disagree),
			   REJECT_WITNESSES_DISAGREE) |
	       reject_when(GUARD(REJECT_DECOY, f->decoy_matched), REJECT_DECOY_MATCHED) |
	       reject_when(GUARD(REJECT_UNLISTED, has_unlisted(r, f)), REJECT_CALIBRATOR_MISSING) |
	       reject_when(GUARD(REJECT_UNFINISHED, f->aborted), REJECT_ABORTED);
}

/* What a rejection means for a cell. W listens until the run ends by itself (3.2), so in a run that
 * did not, every window was cut. */
static reason_set reasons_of(uint32_t rejections)
{
	const uint32_t aborted = 1u << REJECT_ABORTED;
	const uint32_t witnesses = 1u << REJECT_WITNESSES_DISAGREE;
	reason_set reasons = 0;

	if (rejections & aborted)
		reasons |= REASON_BIT(REASON_WINDOW_TOO_SHORT);
	if (rejections & witnesses)
		reasons |= REASON_BIT(REASON_WITNESSES_DISAGREE);
	if (rejections & ~(aborted | witnesses))
		reasons |= REASON_BIT(REASON_SELF_TEST_FAILED);
	return reasons;
}

static void withhold(struct cell_result *c, reason_set reasons)
{
	struct judgement *j = &c->judgement;

	if (c->role != ROLE_TARGET)
		return;
	if (j->verdict != VERDICT_NOT_CLAIMED)
		j->verdict = VERDICT_INCONCLUSIVE;
	j->reasons |= reasons;
	j->grade = GRADE_NONE;
	j->via_other = false;
}

void run_judge(struct run_result *r, const struct run_facts *f)
{
	uint32_t rejections = run_rejections(r, f);

	for (uint32_t i = 0; i < f->probes_n; i++)
		rejections |= probe_rejections(r, &f->probes[i]);

	r->rejections = rejections;
	r->status = rejections ? RUN_REJECTED : RUN_VALID;
	if (GUARD(REJECTED_SCORES, r->status == RUN_REJECTED)) {
		for (uint32_t i = 0; i < r->cells_n; i++)
			withhold(&r->cells[i], reasons_of(rejections));
	}
}

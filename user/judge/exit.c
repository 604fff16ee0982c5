// SPDX-License-Identifier: Apache-2.0
#include "user/judge/exit.h"

struct score { /* of the targets' claimed cells */
	bool any, escaped, inconclusive, provisional;
};

static struct score score(const struct run_result *r)
{
	struct score s = { 0 };

	for (uint32_t i = 0; i < r->cells_n; i++) {
		const struct cell_result *c = &r->cells[i];

		if (c->role != ROLE_TARGET || c->judgement.verdict == VERDICT_NOT_CLAIMED)
			continue;
		s.any = true;
		s.escaped |= c->judgement.verdict == VERDICT_ESCAPED;
		s.inconclusive |= c->judgement.verdict == VERDICT_INCONCLUSIVE;
		s.provisional |= c->judgement.verdict == VERDICT_PROVISIONAL;
	}
	return s;
}

enum exit_code run_exit_code(const struct run_result *r, bool skipped_named, bool damaged,
			     bool accept_provisional)
{
	struct score s = score(r);

	if (damaged)
		return EXIT_DAMAGED;
	if (r->status != RUN_VALID)
		return EXIT_INCONCLUSIVE;
	if (s.escaped)
		return EXIT_ESCAPED;
	if (s.inconclusive || !s.any || skipped_named)
		return EXIT_INCONCLUSIVE;
	if (s.provisional && !accept_provisional)
		return EXIT_PROVISIONAL;
	return EXIT_CONTAINED;
}

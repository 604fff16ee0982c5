/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run's own judgement (DESIGN.md 3.4): did the instrument pass the tests that it sets itself in
 * every run? Pure, like judge.c.
 *
 * Order of work: judge the calibrators' cells with facts.self_test = true; ask run_self_test() for
 * each probe and judge all other targets with its answer; then run_judge(), last.
 */
#ifndef SENTINEL_RUN_JUDGE_H
#define SENTINEL_RUN_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "user/decode/ev.h"
#include "user/judge/verdict.h"

struct run_probe { /* one per selected probe */
	char name[EV_NAME_MAX];
	bool builtin;
	bool crossed; /* the calibrators' baseline was answered (REACH_ANSWERED), first and last */
};

struct run_facts {
	bool witnesses_disagree; /* tap and collector's log differ on a baseline */
	bool decoy_matched;	 /* a token that the sentinel made up was taken for a trial's */
	bool aborted;		 /* the run did not end by itself, or its end is not recorded */
	uint32_t probes_n;
	const struct run_probe *probes; /* borrowed for the call */
};

/*
 * Did this probe's calibrators come out as they must? True where each of the four roles has a cell
 * for the probe, and each has the verdict that its role demands, or is inconclusive because its
 * target could not be reached outside either (target-unreachable-outside), or because the evidence
 * is damaged: neither says anything about the instrument, and the other targets' cells have their
 * own baselines and the same damage. Reads only cells whose role is a calibrator's.
 */
bool run_self_test(const struct run_result *calibrators, const char *probe);

/*
 * Sets r->status and r->rejections from the calibrators' cells and from f. A calibrator that came
 * out wrong, or is missing, rejects the run for a built-in probe; never-started and deaf-collector
 * reject it for any. A calibrator that is inconclusive counts only where the baseline was answered
 * and the evidence verifies: damage has its own exit code, and is no failure of the instrument.
 *
 * A rejected run scores nothing: the claimed cells of its targets become inconclusive, with the
 * reason that fits the rejection added; their arms still say what crossed. The calibrators' cells
 * stay as they are, since they say why.
 */
void run_judge(struct run_result *r, const struct run_facts *f);

#endif

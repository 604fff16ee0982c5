/* SPDX-License-Identifier: Apache-2.0 */
/* A bundle read and judged: what replay, explain and the end of `run` have in common. */
#ifndef SENTINEL_JUDGE_BUNDLE_H
#define SENTINEL_JUDGE_BUNDLE_H

#include "user/base/diag.h"
#include "user/judge/correlate.h"
#include "user/record/capture.h"

struct judged {
	struct correlate *correlate;
	struct run_result result;
	struct capture_report report; /* its text and damaged_file: the first of what is wrong */
	bool damaged;  /* the capture does not verify, or the files don't match SHA256SUMS, or that
			* not its signature */
	bool unlisted; /* a folder without SHA256SUMS */
};

/*
 * Reads the capture of a bundle (folder or file) once, verifying its seals, takes the sums of all
 * its files meanwhile, and judges. 0 also where the evidence is damaged: then no cell is contained
 * or provisional; each is evidence-damaged, but for those of which the sealed part of the capture
 * proves that they crossed, which is read again for it. -errno where there is nothing to read. j is
 * the caller's: judged_done().
 */
int judge_bundle(const char *bundle, struct judged *j, struct diag *d) must_check;
/* The same, and tells as it goes how many bytes of the capture are behind it. */
typedef void (*judge_bundle_fn)(void *arg, uint64_t bytes);
int judge_bundle_watched(const char *bundle, judge_bundle_fn fn, void *arg, struct judged *j,
			 struct diag *d) must_check;

/* judge_bundle(), and correlate_trial_of() may be asked afterwards. */
int judge_bundle_to_explain(const char *bundle, struct judged *j, struct diag *d) must_check;

void judged_done(struct judged *j);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge says. */
#ifndef SENTINEL_VERDICT_H
#define SENTINEL_VERDICT_H

#include <stdint.h>

#include "user/decode/ev.h"
#include "user/judge/facts.h"

#define JUDGE_VERSION "1" /* raise when the same capture can get another verdict */

enum verdict {
	VERDICT_INCONCLUSIVE = 0,
	VERDICT_NOT_CLAIMED,
	VERDICT_PROVISIONAL,
	VERDICT_CONTAINED,
	VERDICT_ESCAPED,
	VERDICT_MAX
};

enum grade { GRADE_NONE = 0, GRADE_SIGNAL, GRADE_PAYLOAD };

/* Append-only; a retired number stays as unused. Codes and sentences: reasons.c. */
enum reason {
	REASON_SANDBOX_NOT_ALIVE = 0,
	REASON_WRONG_SANDBOX,
	REASON_PROBE_DID_NOT_RUN,
	REASON_NO_ATTEMPT_SEEN,
	REASON_TARGET_UNREACHABLE_OUTSIDE,
	REASON_CONTROL_MAKES_NO_DIFFERENCE,
	REASON_CONTROL_LEFT_OPEN,
	REASON_ALLOWED_DESTINATION_DEAD,
	REASON_RECORDS_LOST,
	REASON_OBSERVER_NOT_ATTACHED,
	REASON_SELF_TEST_FAILED,
	REASON_WITNESSES_DISAGREE,
	REASON_UNEXPLAINED_TRAFFIC,
	REASON_UNCLAIMED_SIGNAL,
	REASON_UNSTABLE,
	REASON_WINDOW_TOO_SHORT,
	REASON_BOUNDARY_SHARED,
	REASON_FEATURE_MISSING_OUTSIDE,
	REASON_EVIDENCE_DAMAGED,
	REASON_STOP_UNKNOWN,	 /* no off, and where the attempt stopped is not known */
	REASON_ON2_MISSING,	 /* the control was not turned on again, or not provably */
	REASON_IDENTITY_UNKNOWN, /* the kernel did not see the session start */
	REASON_HOST_DEFAULT,	 /* the kernel refuses it outside any sandbox, too */
	REASON_MAX
};
typedef uint64_t reason_set; /* bit = enum reason */
#define REASON_BIT(r) (1ull << (r))

struct judgement {
	enum verdict verdict;
	reason_set reasons;
	enum grade grade;
	bool via_other;
};

/* Pure: no clock, descriptor, log or global. One round of a cell. */
struct judgement judge_round(const struct facts *f);

/* A cell's n rounds (n >= 1): escaped where one is; else the weakest, with every reason. */
struct judgement judge_cell(const struct facts *rounds, uint32_t n);

const char *verdict_text(enum verdict v);   /* "contained" */
const char *reason_code(enum reason r);	    /* "records-lost" */
const char *reason_sentence(enum reason r); /* one sentence for people */
/* What a cell's stop is credited to, where that is not the platform (DESIGN.md 3.6). */
enum credit { CREDIT_NONE = 0, CREDIT_HOST };
const char *credit_text(enum credit c); /* "host", NULL for none */
const char *grade_text(enum grade g);	/* "payload", "signal", NULL for none */

/* ---- the run ---- */

enum run_status { RUN_VALID = 0, RUN_REJECTED };

enum rejection {			      /* append-only */
		 REJECT_FAKE_NOT_ESCAPED = 0, /* claims-all-blocks-nothing was not escaped */
		 REJECT_DENY_NOT_CONTAINED,
		 REJECT_NEVER_NOT_INCONCLUSIVE,
		 REJECT_DEAF_NOT_INCONCLUSIVE,
		 REJECT_WITNESSES_DISAGREE, /* tap and collector's log differ on a baseline */
		 REJECT_DECOY_MATCHED,
		 REJECT_CALIBRATOR_MISSING,
		 REJECT_ABORTED, /* the run did not end by itself */
		 REJECT_MAX
};
const char *rejection_code(enum rejection r);
const char *rejection_sentence(enum rejection r);

/* Where an attempt stopped, for people (DESIGN.md 3.6). */
enum vantage { VANTAGE_NONE = 0, VANTAGE_A, VANTAGE_B, VANTAGE_W };
const char *vantage_text(enum vantage v); /* "A"; NULL for none */

#define VERDICT_RECORDS_MAX 8 /* record numbers kept per arm, the first ones */

struct arm_result {
	bool present; /* at least one trial of it */
	bool crossed;
	bool answered;
	uint32_t records_n;
	uint64_t records[VERDICT_RECORDS_MAX]; /* epb_packetid of what crossed */
};

/* What an attempt that crossed has reached. */
enum goal {
	GOAL_FAR_SIDE = 0,
	GOAL_LISTENER, /* one that no sandbox may reach, on this side of W */
	GOAL_SECRET,   /* planted */
};

struct cell_result {
	char target[EV_NAME_MAX], probe[EV_NAME_MAX];
	enum role role;
	enum goal goal;
	bool claimed;
	struct judgement judgement;
	enum vantage stopped_at;
	char stopped_by[EV_NAME_MAX]; /* "" unknown */
	enum credit credit;
	enum attempt attempt;
	char via[EV_NAME_MAX]; /* "" none */
	uint32_t window_ms; /* the shortest that W listened after the last attempt event, on/on2 */
	struct arm_result arms[ARM_MAX];
	char probe_view[EV_NAME_MAX]; /* the probe's own view in `on`; hostile text */
	uint32_t n, crossed;	      /* repeats */
	/* Where every second round waits that long for the steady state; 0: none does. */
	uint32_t steady_ms, crossed_steady;
	char source[EV_TEXT_MAX];
	char start_error[EV_TEXT_MAX]; /* what the target printed in place of a session; hostile */
};

struct run_result {
	char run[32];
	enum run_status status;
	uint32_t rejections;	      /* bit = enum rejection */
	uint64_t lost_ring, lost_map; /* totals over hooks */
	bool identity_holds; /* seen = delivered + ring_full + oversized + map_full + filtered */
	uint32_t hooks;	     /* bit = SNT_HOOK_*: attached at start and end */
	struct snt_count total[SNT_HOOK_MAX];
	uint64_t recursion[SNT_HOOK_MAX];
	uint32_t cells_n;
	struct cell_result *cells; /* sorted by target, then probe, in order of first appearance */
};

/* DESIGN.md 6.1. Calibrators never change it. */
enum exit_code {
	EXIT_CONTAINED = 0,
	EXIT_ESCAPED = 1,
	EXIT_USAGE = 2,
	EXIT_INCONCLUSIVE = 3,
	EXIT_PROVISIONAL = 4,
	EXIT_DAMAGED = 5,
	EXIT_OUTPUT = 6, /* the result could not be written to where it was asked for */
};

#endif

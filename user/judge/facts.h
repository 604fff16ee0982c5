/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge's whole input (DESIGN.md 3.3): what is known of one round of one cell. A round is one
 * `on` trial with the `off` and `on2` trials of the same repeat; facts of different instances are
 * never combined. correlate.c fills it from the records, judge.c reads it, nothing else does.
 */
#ifndef SENTINEL_FACTS_H
#define SENTINEL_FACTS_H

#include <stdbool.h>
#include <stdint.h>

enum identity { IDENTITY_UNKNOWN = 0, IDENTITY_WRONG, IDENTITY_RIGHT, IDENTITY_MAX };
enum attempt { ATTEMPT_NONE = 0, ATTEMPT_INFERRED, ATTEMPT_SEEN, ATTEMPT_MAX };

/* What arrived at W (or at a forbidden listener) of a trial. Ordered: more is worse. */
enum crossing {
	CROSSING_NONE = 0,
	CROSSING_UNEXPLAINED, /* frames in its window that nobody explains */
	CROSSING_SIGNAL,      /* its own packets, without the token */
	CROSSING_TOKEN,
	CROSSING_MAX
};

/* How far the attempt reaches outside any sandbox, same uid, capabilities and far side. */
enum reach {
	REACH_NONE = 0, /* not at W */
	REACH_CROSSED,	/* at W, and the far side should have answered but did not provably */
	REACH_ANSWERED, /* the far side's HMAC came back; or token at W where no answer exists */
	REACH_MAX
};

enum off_state {
	OFF_ABSENT = 0, /* this platform and channel can express no `off` */
	OFF_NONE,	/* loosened, and the attempt still did not cross */
	OFF_CROSSED,
	OFF_MAX
};

enum on2_state {
	ON2_ABSENT = 0, /* not run, or not provably the same attempt (dead, no attempt seen) */
	ON2_CROSSED,	/* on did not cross, on2 did: the control was left open */
	ON2_AGREES,
	ON2_MAX
};

enum allowed_state {
	ALLOWED_NONE = 0 /* none declared */,
	ALLOWED_DEAD,
	ALLOWED_WORKS,
	ALLOWED_MAX
};

struct facts {
	bool claimed;
	enum identity identity;
	bool alive1, alive2; /* the challenges' answers are right */
	bool same_instance;  /* ... and of one instance, the one that the kernel saw */
	bool ran;	     /* the `ran` proof is right */
	enum attempt attempt;
	enum crossing on;
	bool signal_at_b; /* the packet of CROSSING_SIGNAL was seen at this trial's B too */
	bool on_answered; /* the far side's HMAC is in the output of `on` */
	enum reach baseline_first, baseline_last;
	enum off_state off;
	enum on2_state on2;
	bool lost_w, lost_b, lost_a; /* records lost in the round's windows */
	bool attached_w, attached_b, attached_a, attached_exec;
	bool self_test; /* this probe's calibrators came out as they must */
	bool window_long;
	enum allowed_state allowed;
	bool damaged;	    /* the evidence does not verify */
	bool stopped_known; /* where the attempt stopped is known (provisional needs it) */
	bool shared;	    /* no boundary of its own: a sender could pass unseen */
	bool via_other;	    /* the token came by another channel than the probe's */
};

#endif

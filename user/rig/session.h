/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trial being run by the client: the target's command in the lane, the conversation with the
 * session inside (DESIGN.md 3.2), and its end. Whatever a sandbox prints is read, bounded, and
 * ignored unless it is a session's line; the daemon checks those and alone judges.
 */
#ifndef SENTINEL_SESSION_H
#define SENTINEL_SESSION_H

#include "user/rig/client.h"
#include "user/rig/folder.h"
#include "user/rig/helper.h"
#include "user/rig/launch.h"
#include "user/rig/plant.h"
#include "user/rig/target.h"

#define SESSION_OUTPUT_LINE 8192 /* longer lines of a sandbox are cut there */
#define SESSION_DETAIL_MAX 200	 /* bytes kept of what is printed before the first answer */

struct session_plan {
	struct folders *folders; /* where {dir} is made */
	const char *probe_exe;	 /* path of sentinel-probe, as the sandbox sees it */
	const char *confine_exe; /* of sentinel-confine */
	const char *bind;	 /* what {probe} stands for; NULL: probe_exe */
	char *const *own;	 /* the command of a user's own probe; NULL: one of ours */
	char *const *run;	 /* the target's argv with placeholders; NULL = {cmd} alone */
	uint32_t uid, gid;
	bool canary;		   /* the session first makes a call that must be refused */
	uint32_t timeout_ms;	   /* the probe's own */
	const char *name;	   /* that it asks for; "": its own */
	uint32_t start_timeout_ms; /* until challenge 1 must be answered, and a sibling be there */
};

struct session {
	bool active;
	struct ev_trial t;
	struct launch launch;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; killed then */
	uint64_t total_ns;    /* from the first answer on */
	bool alive1, ran, alive2, out_ended, exited, killed;
	int status;
	char folder[FOLDER_PATH_MAX]; /* {dir}, where the target uses it */
	struct session_plan plan;
	int cgroup, box; /* ours; of an active one */
	struct plant plant;
	struct helper helper; /* is there before the command is started */
	/* of who is beside it: what a sibling answers with, what was said and handed on, its {dir}
	 */
	uint8_t secret[EV_NONCE_BYTES];
	bool sibling_said[2];
	char sibling_folder[FOLDER_PATH_MAX];
	bool begun; /* the command was started, or could not be */
	/* Why there is no answer: what the launch said, or what was printed in its place. */
	uint32_t detail_len;
	char detail[EV_TEXT_MAX];
	uint32_t line_len;
	char line[SESSION_OUTPUT_LINE];
};

/* Starts what the plan says for trial t, with what is planted for it. The descriptors stay the
 * caller's, and what the plan points to. A command that can't be started is no error: the session
 * is over at once, and the trial shows it. On error nothing is left to drop. */
int session_start(struct session *s, struct client *c, const struct ev_trial *t,
		  const struct client_planted *planted, const struct session_plan *p, int cgroup,
		  int box, struct diag *d) must_check;

/* Something may have happened: the output is readable, the process ended, or time passed. */
int session_step(struct session *s, struct client *c, struct diag *d) must_check;

/* Nothing more will come of it. */
bool session_over(const struct session *s);

/* Ends it, tells the daemon (arm.end), frees. *ret_retired as in client_arm_end(). */
int session_end(struct session *s, struct client *c, bool *ret_retired, struct diag *d) must_check;

/* Ends it without a word, where the run is given up: frees, and removes its folder. A zeroed and an
 * ended one are fine. */
void session_drop(struct session *s);

#endif

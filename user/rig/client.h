/* SPDX-License-Identifier: Apache-2.0 */
/* The client's end of the control connection (control.h): one function per request. */
#ifndef SENTINEL_CLIENT_H
#define SENTINEL_CLIENT_H

#include <sys/types.h>

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

struct client {
	int sock;     /* -1: not connected */
	pid_t daemon; /* a private daemon of ours; 0: none */
};

struct client_run {
	const char *dir; /* absolute; exists and is empty */
	const char *key; /* file of the key that signs the bundle; NULL: it stays unsigned */
	uint32_t lanes, repeat;
	uint32_t world_ring; /* bytes; 0 = the default */
	bool resolver;	     /* a probe asks for names */
	uint32_t sabotage;   /* SABOTAGE_*: of the instrument, for its tests */
};

/* Starts exe as a private daemon, which ends with us. json: it logs so. */
int client_start(struct client *c, const char *exe, bool json, struct diag *d) must_check;
/* Hangs up and waits until the daemon has cleaned up, for 5 s: then it is killed, and -ETIMEDOUT
 * says so. A zeroed one (sock -1) is fine. */
int client_stop(struct client *c) must_check;

/* Each: 0; -EPROTO where the daemon says no (d has its words); -errno where it can't be reached. */
int client_run_begin(struct client *c, const struct client_run *r, char ret_run[32],
		     struct diag *d) must_check;
int client_log(struct client *c, const struct ev *ev, struct diag *d) must_check;

/* What is to be planted for a trial (mac.h); zero where it is nothing. Never logged. */
struct client_planted {
	uint8_t secret[EV_NONCE_BYTES], twin[EV_NONCE_BYTES];
};

/* ev: in, an EV_TRIAL with target, probe, arm, far, repeat, lane, uid, dest, dport, and a daddr of
 * the wanted family; out, complete. The descriptors are the caller's. closed: the lane's own deny
 * rule. */
int client_trial_new(struct client *c, struct ev *ev, bool closed,
		     struct client_planted *ret_planted, int *ret_cgroup, int *ret_box,
		     struct diag *d) must_check;
/* *ret_retired: something of the trial lives on, and its lane takes no other. */
int client_arm_end(struct client *c, const struct ev *ev, bool *ret_retired,
		   struct diag *d) must_check;

/* Where a program that belongs to no trial may run: a cgroup of its own, and the first lane's box.
 * The descriptors are the caller's. One at a time, and none once trials have begun. */
int client_helper_begin(struct client *c, int *ret_cgroup, int *ret_box, struct diag *d) must_check;
int client_helper_end(struct client *c, struct diag *d) must_check;

int client_run_wait(struct client *c, uint32_t *ret_ms, struct diag *d) must_check;
int client_run_end(struct client *c, struct diag *d) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection between `sentinel run` and the daemon: a SOCK_SEQPACKET pair or socket.
 *
 * One JSON object a message, at most CONTROL_MESSAGE_MAX bytes, with at most CONTROL_FDS_MAX
 * descriptors. Requests carry "op", answers "ok":true or "error":"text"; facts travel as the JSON
 * of a struct ev under "ev", the form that they have in the capture, so there is one encoding of
 * them. The client asks and waits; the daemon never speaks first.
 *
 *   run.begin {dir, key, lanes, repeat, world_ring, resolver, sabotage} -> {run, lanes}
 *             makes the rig; key: the file of the one that is to sign the bundle, or missing
 *   log       {ev: target | probe | cell | arm.begin | answer | proof}       -> {}
 *   trial.new {ev: trial: target, probe, arm, far, repeat, lane, uid, dest, dport; closed}
 *             -> {ev: the same, complete; secret, twin: hex, where one is planted} + fds: cgroup,
 *             namespace of box
 *   arm.end   {ev: arm.end}  -> {retired}  kills what is left of the trial; the lane is free again,
 *             or, where something can't be killed, takes no other trial
 *   helper.begin {}          -> {} + fds: a cgroup, and the box of lane 1   for what is no trial
 *   helper.end {}            -> {}    kills what is left of it
 *   run.wait  {}             -> {ms}  how long W must still listen; 0 = run.end may be asked
 *   run.end   {}             -> {status}   judges, seals the bundle
 */
#ifndef SENTINEL_CONTROL_H
#define SENTINEL_CONTROL_H

#include <json-c/json.h>

#include "user/base/json_out.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

#define CONTROL_MESSAGE_MAX 65536
#define CONTROL_FDS_MAX 2

/* Sends j's object and n descriptors (which stay the caller's). 0 or -errno. */
int control_send(int sock, const struct json_out *j, const int *fds, size_t n) must_check;

struct control_message {
	struct json_object *json; /* owned */
	int fds[CONTROL_FDS_MAX]; /* owned; -1 where there is none */
	int64_t peer_pid;
};

/* Waits for one message. 0, -ECONNRESET at end, -EBADMSG for what is no JSON object, -errno. */
int control_recv(int sock, struct control_message *ret) must_check;
void control_message_done(struct control_message *m);

/* Text member, or NULL; borrowed from m. Number member, or fallback. */
const char *control_text(const struct control_message *m, const char *key);
int64_t control_number(const struct control_message *m, const char *key, int64_t fallback);
bool control_flag(const struct control_message *m, const char *key);

/* The "ev" member. 0 or -EBADMSG. */
int control_ev(const struct control_message *m, struct ev *ret) must_check;

#endif

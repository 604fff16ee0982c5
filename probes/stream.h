/* SPDX-License-Identifier: Apache-2.0 */
/* A connection to where an attempt goes: opened, written to and read from until the deadline. */
#ifndef SENTINEL_PROBES_STREAM_H
#define SENTINEL_PROBES_STREAM_H

#include "probes/attempt.h"

/* Connects a non-blocking socket. 0, -ETIMEDOUT at the deadline, or the call's -errno. */
int stream_connect(const struct probe_attempt *a, int fd, const struct sockaddr *to,
		   socklen_t len) must_check;

/*
 * A stream socket of the manifest's family, connected to the destination: its descriptor, which is
 * the caller's to close. -1 with the view set: "timeout", or the errno of the call that failed.
 */
int stream_open(const struct probe_attempt *a, struct probe_outcome *ret) must_check;

/* Sends all of it. 0, -ETIMEDOUT at the deadline, or -errno. */
int stream_send(const struct probe_attempt *a, int fd, const void *data, size_t len) must_check;

/* What is there by the deadline, at most len bytes: their number, 0 at end of file, -ETIMEDOUT at
 * the deadline, or -errno. */
ssize_t stream_recv(const struct probe_attempt *a, int fd, void *out, size_t len) must_check;

/* Reads until an answer line is in what came, the far side ends, or the deadline passes: "sent"
 * unless it failed. Call it when the token is on its way. */
void stream_await_answer(const struct probe_attempt *a, int fd, struct probe_outcome *ret);

/* Sends the token as a line, and waits for the answer. */
void stream_ask(const struct probe_attempt *a, int fd, struct probe_outcome *ret);

/* The view for a failure of any of these: "timeout" for -ETIMEDOUT, else the errno's name. */
void stream_outcome(struct probe_outcome *o, int err);

#endif

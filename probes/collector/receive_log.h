/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the far side received, one JSON object a line on a pipe: the second witness.
 *
 *   {"ready":true}
 *   {"time":"<CLOCK_MONOTONIC ns>","proto":"udp","src":"...","sport":N,"dst":"...","dport":N,
 *    "answered":true,"data":"<hexadecimal>"}
 *                   "tls":true where the data came by TLS and was deciphered
 *                   "forbidden":true where no sandbox may reach the listener; "path":"...", '@'
 * first where it is an abstract name, where "proto" is "unix"
 *   {"lost":N}      N messages since the last such line are missing before this point
 *   {"sync":N}      the reader has asked N times so far, and all that had arrived is above
 *
 * The reader asks by a byte each, where the log is a socket.
 *
 * A reader that doesn't read never holds us up: lines wait in a bounded queue, and what finds it
 * full is counted and said as soon as there is room.
 */
#ifndef SENTINEL_COLLECTOR_RECEIVE_LOG_H
#define SENTINEL_COLLECTOR_RECEIVE_LOG_H

#include "user/base/json_out.h"
#include "user/base/util.h"

/* EV_RECEIVED_MAX: what one record of the run's log holds */
#define RECEIVED_DATA_MAX 1024
/* over 100 of the longest lines, some 1,500 of a probe's */
#define RECEIVE_LOG_QUEUE_BYTES (256u << 10)

struct endpoints { /* of a message: src sent it, dst was asked; ports in host order */
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
};

struct received {
	uint64_t time_ns;  /* CLOCK_MONOTONIC */
	const char *proto; /* "tcp", "udp", "icmp", "icmp6", "unix" */
	struct endpoints ends;
	const char *path; /* of an AF_UNIX listener, else "" */
	bool tls;	  /* data was deciphered */
	bool forbidden;	  /* no sandbox may reach the listener */
	bool answered;	  /* ours was handed to the kernel, whole */
	const uint8_t *data;
	size_t len; /* what is beyond RECEIVED_DATA_MAX is not logged */
};

struct receive_log {
	int fd; /* borrowed, non-blocking */
	struct json_out json;
	size_t head, len; /* of queue: what is still to be written */
	uint32_t lost;	  /* not yet said; saturates */
	char queue[RECEIVE_LOG_QUEUE_BYTES];
};

/* fd stays the caller's; it is made non-blocking. 0 or -errno. */
int receive_log_init(struct receive_log *l, int fd) must_check;
void receive_log_done(struct receive_log *l);

int receive_log_ready(struct receive_log *l) must_check;
int receive_log_sync(struct receive_log *l, uint32_t n) must_check; /* -ENOBUFS: no room now */
void receive_log_add(struct receive_log *l, const struct received *r);
void receive_log_lost(struct receive_log *l, uint32_t n);

/* Writes what the reader takes. 0; 1 where something waits for it (poll for POLLOUT); -EPIPE where
 * it has gone, or another -errno. */
int receive_log_flush(struct receive_log *l) must_check;

#endif

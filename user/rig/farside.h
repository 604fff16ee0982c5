/* SPDX-License-Identifier: Apache-2.0 */
/* The far side of a lane: a sentinel-collector process in its world, and its receive log. */
#ifndef SENTINEL_FARSIDE_H
#define SENTINEL_FARSIDE_H

#include <sys/types.h>

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

#define FARSIDE_LISTEN_MAX 8
#define FARSIDE_LINE_MAX 4096 /* of its log: EV_RECEIVED_MAX bytes in hexadecimal, and the rest */

struct farside {
	pid_t pid; /* 0: not running */
	int log;   /* our end of its log, a socket; -1 */
	uint32_t lane, epoch;
	bool ready;
	uint64_t last_ns;	/* what it received before then it has told us */
	uint32_t asked, synced; /* farside_ask_sync() */
	uint32_t len;
	bool skipping; /* within a line that was too long */
	char line[FARSIDE_LINE_MAX];
};

/* A socket that listens already, where no sandbox may reach it: the far side serves it too. */
struct farside_listen {
	const char *kind; /* "text": as at RIG_PORT_TCP; "http" */
	int fd;		  /* borrowed, of any namespace; TCP or AF_UNIX */
};

struct farside_opts {
	const char *exe; /* the sentinel-collector */
	int world_ns;	 /* the namespace that it is started in */
	uint32_t lane, epoch;
	const uint8_t *key; /* EV_MAC_BYTES; it gets them through a pipe */
	bool quiet;	    /* it answers but does not log, a sabotage for tests */
	struct farside_listen listen[FARSIDE_LISTEN_MAX];
	size_t listen_n;
};

/* Starts it; it dies with this thread's process. 0 or -errno with d filled. */
int farside_start(struct farside *f, const struct farside_opts *o, struct diag *d) must_check;

/*
 * Reads what its log holds now, some hundred KiB at most (never blocks), and hands EV_RECEIVED, or
 * EV_GAP for what it could not log, to sink. Sets f->ready. 0, or what sink answered; -EPIPE at its
 * end, after an EV_GAP: what it received since its last line is not known.
 */
int farside_read(struct farside *f, ev_sink_fn sink, void *arg) must_check;

/* Asks it to say when it has logged all that arrived until now; it is synced once farside_read()
 * has read that. One that is not running is. */
void farside_ask_sync(struct farside *f);
bool farside_is_synced(const struct farside *f);

/* ... and where it did not say so: an EV_GAP since its last line. What sink answered. */
int farside_give_up(struct farside *f, ev_sink_fn sink, void *arg) must_check;

/* Ends it and waits for it. NULL and a zeroed one are fine. */
void farside_stop(struct farside *f);

#endif

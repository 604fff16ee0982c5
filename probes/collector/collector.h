/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The far side: what an attacker would own. One epoll loop over all sockets of the network
 * namespace it is started in.
 *
 *   tcp/9000, udp/9001   a line "SENTINEL <token>"      "SENTINEL-ANSWER <64 hex>\n"
 *   udp/53, tcp/53       authoritative for sentinel.test  (zone.h)
 *   tcp/80               HTTP, and metadata services       (site.h)
 *   tcp/443              the same by TLS, with a certificate that nobody has signed
 *   ICMP echo            a payload with a token: its answer; any other: as it is
 *
 * and over those that it is given: in the namespaces of a lane's other places, where no sandbox may
 * reach them.
 *
 * ICMP is for the namespace whose kernel leaves echo to us (icmp_echo_ignore_all); else both
 * answer.
 *
 * The 64 digits are mac_answer() of the token, which nobody else can make. What carries no token
 * gets no proof. Everything received goes to the receive log, answered or not.
 */
#ifndef SENTINEL_COLLECTOR_COLLECTOR_H
#define SENTINEL_COLLECTOR_COLLECTOR_H

#include "probes/collector/listener.h"
#include "user/base/mac.h"

struct collector_opts {
	uint8_t key[MAC_BYTES];				 /* of the run */
	int log_fd;					 /* borrowed */
	struct listener_given given[LISTENER_GIVEN_MAX]; /* owned, but for one that is refused */
	size_t given_n;
	bool quiet; /* a sabotage for tests: answers, logs nothing but that it is ready */
};

struct collector;

/* Opens all sockets. 0 or -errno; where a port was at fault it is in *ret_port, else that is 0. */
int collector_new(const struct collector_opts *o, struct collector **ret,
		  uint16_t *ret_port) must_check;
void collector_free(struct collector *c);

/* Says that it is ready, then serves until the log's reader is gone (-EPIPE) or a system call fails
 * that nothing can go on without. Never returns 0. */
int collector_run(struct collector *c) must_check;

#endif

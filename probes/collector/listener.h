/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The far side's sockets: which ports, which were given to it, and how a datagram is taken and
 * answered.
 */
#ifndef SENTINEL_COLLECTOR_LISTENER_H
#define SENTINEL_COLLECTOR_LISTENER_H

#include <sys/socket.h>

#include "probes/collector/receive_log.h"

enum service { SERVICE_TEXT, SERVICE_DNS, SERVICE_HTTP, SERVICE_HTTPS, SERVICE_ECHO };

#define LISTENER_OWN_MAX 14 /* six ports and ICMP, two families */
#define LISTENER_GIVEN_MAX 8
#define LISTENER_PATH_MAX 109 /* sun_path, and its NUL */

struct listener {
	int fd; /* owned */
	int family;
	int type; /* SOCK_STREAM, SOCK_DGRAM, or SOCK_RAW for ICMP */
	enum service service;
	uint16_t port;
	const char *proto; /* "tcp", "udp", "icmp", "icmp6", "unix": what the log calls it */
	bool forbidden;	   /* no sandbox may reach it */
	char path[LISTENER_PATH_MAX]; /* of an AF_UNIX one, '@' first where it is abstract; else ""
				       */
	uint32_t dropped;	      /* of datagrams, as listener_dropped() saw it last */
};

struct listeners {
	size_t n;
	struct listener at[LISTENER_OWN_MAX + LISTENER_GIVEN_MAX];
};

/* A socket that listens already, perhaps in another namespace, where no sandbox may reach it. */
struct listener_given {
	enum service service;
	int fd;
};

/*
 * Opens them all, IPv4 and IPv6 apart, for every address. Where the kernel has no IPv6 only the
 * IPv4 ones: probes over IPv6 then find nobody, which is the truth. 0 or -errno, with nothing left
 * open and what failed in *ret_port.
 */
int listeners_open(struct listeners *ret, uint16_t *ret_port) must_check;
void listeners_close(struct listeners *l);

/* Adds one that was given, and owns it from then on. 0; -EINVAL where it is no stream that listens;
 * -ENOSPC or another -errno. */
int listeners_take(struct listeners *l, const struct listener_given *g) must_check;

/* A datagram, and what is needed to answer it from the address that was asked. */
struct datagram {
	struct endpoints ends;
	struct sockaddr_storage peer;
	socklen_t peer_len;
	uint8_t *data; /* in the buffer, without the header that raw IPv4 sockets give */
	size_t len;
};

/* Takes one into buf. 1 taken, 0 there is none, -errno. */
int listener_receive(const struct listener *l, void *buf, size_t n,
		     struct datagram *ret) must_check;

/* Answers it. Whether the kernel took the answer. */
bool listener_answer(const struct listener *l, const struct datagram *d, const void *data,
		     size_t len);

/* How many datagrams the kernel dropped since the last call, for want of room in the queue. Asked
 * after a burst it misses none: where one was dropped, others are waiting. */
uint32_t listener_dropped(struct listener *l);

/* Splits a socket address: IPv4 as v4-mapped, port in host order. */
void endpoint_from(const struct sockaddr_storage *ss, uint8_t ret_addr[16], uint16_t *ret_port);

#endif

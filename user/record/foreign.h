/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of a capture that another tool wrote: pcap, as far as libpcap reads it, and pcapng,
 * with what may stand beside a packet: the direction, and in ptcpdump's comments the process.
 */
#ifndef SENTINEL_RECORD_FOREIGN_H
#define SENTINEL_RECORD_FOREIGN_H

#include "user/base/diag.h"
#include "user/base/direction.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

/* A packet as EV_PACKET, borrowed: time_ns is since 1970 (0 and the largest number stand for what
 * lies outside), id counts from 1, l2_len and eth_proto are as packet_parse() takes them, owner has
 * pid and name where the file names a process; hook is none. What it answers, if not 0, ends the
 * reading. */
typedef int (*foreign_fn)(void *arg, const struct ev *ev, enum direction direction);

struct foreign_report {
	uint64_t packets;	/* handed over */
	char link[256];		/* their link types: "EN10MB (Ethernet), RAW (Raw IP)" */
	uint64_t left_out;	/* packets that were not, for their link type */
	char left_out_link[64]; /* the first such */
	bool has_direction;	/* some packets say which way they went */
	bool cut;		/* something behind the packets could not be read */
	char text[256];		/* what, for people; "" */
};

/* Constant memory. 0 whenever the file could be opened, also where it is cut; -EPROTONOSUPPORT
 * where there are packets, and none of a link type that can be taken apart; -EBADMSG: libpcap can't
 * open it; errors of open_regular(); or what fn answered. d says more. */
int foreign_read(const char *path, foreign_fn fn, void *arg, struct foreign_report *ret,
		 struct diag *d) must_check;

#endif

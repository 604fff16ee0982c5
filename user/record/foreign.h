/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The packets of a capture that another tool wrote, as far as libpcap reads it: pcap and pcapng,
 * one link type a file. What libpcap does not hand over can't be read: comments, and the direction
 * that pcapng may have beside a packet. Only Linux's cooked captures (tcpdump -i any) say in the
 * packet which way it went.
 */
#ifndef SENTINEL_RECORD_FOREIGN_H
#define SENTINEL_RECORD_FOREIGN_H

#include "user/base/diag.h"
#include "user/base/direction.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

/* A packet as EV_PACKET, borrowed: time_ns is since 1970 (0 and the largest number stand for what
 * lies outside), id counts from 1, l2_len and eth_proto as packet_parse() takes them, hook and
 * owner are none. What it answers, if not 0, ends the reading. */
typedef int (*foreign_fn)(void *arg, const struct ev *ev, enum direction direction);

struct foreign_report {
	uint64_t packets; /* handed over */
	char link[64];	  /* "EN10MB (Ethernet)" */
	uint32_t snaplen;
	bool has_direction; /* packets of this link type say which way they went */
	bool cut;	    /* something behind the packets could not be read */
	char text[256];	    /* what, by libpcap's words; "" */
};

/* Constant memory. 0 whenever the file could be opened, also where it is cut; -EPROTONOSUPPORT: a
 * link type whose packets can't be taken apart; -EBADMSG: libpcap can't open it; errors of
 * open_regular(); or what fn answered. d says more. */
int foreign_read(const char *path, foreign_fn fn, void *arg, struct foreign_report *ret,
		 struct diag *d) must_check;

#endif

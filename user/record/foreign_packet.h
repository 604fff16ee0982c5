/* SPDX-License-Identifier: Apache-2.0 */
/* A packet as it stands in another tool's capture, to EV_PACKET: link types. Part of foreign.c. */
#ifndef SENTINEL_RECORD_FOREIGN_PACKET_H
#define SENTINEL_RECORD_FOREIGN_PACKET_H

#include "user/record/foreign.h"

#define FOREIGN_LINKS_MAX 8 /* that are named */

struct foreign_reader {
	foreign_fn fn;
	void *arg;
	struct foreign_report *report;
	uint32_t links[FOREIGN_LINKS_MAX]; /* named in report->link */
	size_t links_n;
};

struct foreign_packet {
	uint32_t link; /* LINKTYPE_*, or DLT_* where they differ */
	uint64_t time_ns;
	uint32_t len, data_len; /* before it was cut, and there */
	const uint8_t *data;
	enum direction direction; /* as told beside the packet */
	struct ev_task owner;	  /* likewise */
};

/* Can packets of this link type be taken apart? */
bool foreign_link_known(uint32_t link);

/* "EN10MB (Ethernet)"; the number where libpcap has no name for it. Returns out. */
const char *foreign_link_text(uint32_t link, char out[64]);

/* Hands it over; one of an unknown link type is left out, counted. 0 or what fn answered. */
int foreign_hand_over(struct foreign_reader *r, const struct foreign_packet *p) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the two forms of a traffic report share: words, and the order of its rows. */
#ifndef SENTINEL_REPORT_TRAFFIC_WORDS_H
#define SENTINEL_REPORT_TRAFFIC_WORDS_H

#include "user/live/traffic.h"
#include "user/report/text.h"

/* What is known of a capture besides its packets. Text may be hostile. */
struct traffic_about {
	const char *path;
	const char *format; /* "pcap", "pcapng" */
	const char *link;   /* its link type */
	const char *cut;    /* why not all of it could be read; NULL: it was read to its end */
	bool has_direction; /* packets say which way they went */
	uint64_t left_out;  /* packets of a link type that is not known ... */
	const char *left_out_link; /* ... this one */
};

/* No word of ours about such traffic is a verdict. */
#define TRAFFIC_NOT_JUDGED "no trial marks: nothing is judged"

/* Which way a flow's source sends, in ECS's words (network.direction): "egress" and "ingress" where
 * the capture says so; else what the addresses say, private ones being at home: "outbound",
 * "inbound", "internal", "external"; "unknown" of what was only forwarded. */
const char *traffic_direction(const struct flow_row *row);

/* "tcp", "udp", "icmp", ...; the number where it has no name here. Returns out or a literal. */
const char *traffic_transport(uint8_t protocol, char out[16]);
bool traffic_has_ports(const struct flow_row *row);

/* The name of the destination, printable; "" where there is none. Returns out. */
const char *traffic_name(const struct flow_row *row, char out[TEXT_MAX]);

/* "A", "AAAA", "TXT", ... or "TYPE65280" (RFC 3597); "NOERROR", ... or "RCODE11", "-" for none. */
const char *traffic_question_type(uint16_t type, char out[16]);
const char *traffic_rcode(uint16_t rcode, char out[16]);

/* How many of a question's addresses are there. */
uint32_t traffic_addresses(const struct name_question *q);

/* All flows, those that sent most first; all questions, the earliest first. The caller frees. NULL:
 * no memory. */
const struct flow_row **traffic_sort_flows(struct traffic *t, uint32_t *ret_n);
const struct name_question **traffic_sort_questions(const struct traffic *t, uint32_t *ret_n);

#endif

// SPDX-License-Identifier: Apache-2.0
#include "user/report/traffic_words.h"

#include <netinet/in.h>

/* ---- which way ---- */

struct range {
	uint8_t prefix[16];
	uint32_t bits;
};

#define V4(a, b)                                                                                   \
	{                                                                                          \
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, 0, 0                               \
	}

/* What does not leave a site: RFC 1918, 6598, 1122, 3927, 5771, 919; RFC 4193, 4291. */
static const struct range at_home[] = {
	{ V4(10, 0), 96 + 8 },
	{ V4(172, 16), 96 + 12 },
	{ V4(192, 168), 96 + 16 },
	{ V4(100, 64), 96 + 10 },
	{ V4(127, 0), 96 + 8 },
	{ V4(0, 0), 96 + 8 },
	{ V4(169, 254), 96 + 16 },
	{ V4(224, 0), 96 + 4 },
	{ V4(255, 255), 96 + 16 },
	{ { 0xfc }, 7 },
	{ { 0xfe, 0x80 }, 10 },
	{ { 0xff }, 8 },
	{ { 0 }, 127 },
};

static bool in_range(const uint8_t a[16], const struct range *r)
{
	uint32_t whole = r->bits / 8, rest = r->bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return !memcmp(a, r->prefix, whole) && (!rest || !((a[whole] ^ r->prefix[whole]) & mask));
}

static bool is_at_home(const uint8_t a[16])
{
	for (size_t i = 0; i < ARRAY_SIZE(at_home); i++)
		if (in_range(a, &at_home[i]))
			return true;
	return false;
}

const char *traffic_direction(const struct flow_row *row)
{
	bool from_home = is_at_home(row->source), to_home = is_at_home(row->destination);

	if (row->passes)
		return "unknown";
	if (row->direction != DIRECTION_UNKNOWN)
		return row->direction == DIRECTION_OUT ? "egress" : "ingress";
	if (from_home)
		return to_home ? "internal" : "outbound";
	return to_home ? "inbound" : "external";
}

/* ---- words ---- */

struct word {
	uint32_t number;
	const char *text;
};

static const struct word protocols[] = {
	{ IPPROTO_TCP, "tcp" },		 { IPPROTO_UDP, "udp" },	 { IPPROTO_ICMP, "icmp" },
	{ IPPROTO_ICMPV6, "ipv6-icmp" }, { IPPROTO_IGMP, "igmp" },	 { IPPROTO_SCTP, "sctp" },
	{ IPPROTO_GRE, "gre" },		 { IPPROTO_ESP, "esp" },	 { IPPROTO_AH, "ah" },
	{ IPPROTO_DCCP, "dccp" },	 { IPPROTO_UDPLITE, "udplite" },
};

static const struct word types[] = {
	{ 1, "A" },	 { 2, "NS" },	  { 5, "CNAME" },   { 6, "SOA" },   { 10, "NULL" },
	{ 12, "PTR" },	 { 15, "MX" },	  { 16, "TXT" },    { 28, "AAAA" }, { 33, "SRV" },
	{ 35, "NAPTR" }, { 43, "DS" },	  { 48, "DNSKEY" }, { 52, "TLSA" }, { 64, "SVCB" },
	{ 65, "HTTPS" }, { 252, "AXFR" }, { 255, "ANY" },   { 257, "CAA" },
};

static const struct word rcodes[] = {
	{ 0, "NOERROR" }, { 1, "FORMERR" }, { 2, "SERVFAIL" },	      { 3, "NXDOMAIN" },
	{ 4, "NOTIMP" },  { 5, "REFUSED" }, { NAMES_NO_ANSWER, "-" },
};

static const char *word_of(const struct word *words, size_t n, uint32_t number, const char *prefix,
			   char out[16])
{
	for (size_t i = 0; i < n; i++)
		if (words[i].number == number)
			return words[i].text;
	(void)str_format(out, 16, "%s%u", prefix, number);
	return out;
}

const char *traffic_transport(uint8_t protocol, char out[16])
{
	return word_of(protocols, ARRAY_SIZE(protocols), protocol, "", out);
}

const char *traffic_question_type(uint16_t type, char out[16])
{
	return word_of(types, ARRAY_SIZE(types), type, "TYPE", out);
}

const char *traffic_rcode(uint16_t rcode, char out[16])
{
	return word_of(rcodes, ARRAY_SIZE(rcodes), rcode, "RCODE", out);
}

bool traffic_has_ports(const struct flow_row *row)
{
	return row->protocol == IPPROTO_TCP || row->protocol == IPPROTO_UDP ||
	       row->protocol == IPPROTO_UDPLITE;
}

const char *traffic_name(const struct flow_row *row, char out[TEXT_MAX])
{
	struct dns_name name;
	size_t at = 0;

	out[0] = '\0';
	if (row->named == FLOW_NAMED_DNS) {
		if (!dns_name_read(row->name, row->name_len, &at, &name))
			(void)dns_name_text(&name, out);
	} else if (row->named != FLOW_NAMED_NOT) {
		(void)printable_len(out, TEXT_MAX, (const char *)row->name, row->name_len);
	}
	return out;
}
_Static_assert(TEXT_MAX >= DNS_TEXT_MAX, "a name fits");

uint32_t traffic_addresses(const struct name_question *q)
{
	return (uint32_t)MIN(q->addresses_n, (uint64_t)NAMES_ADDRESSES_MAX);
}

/* ---- order ---- */

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int by_sent(const void *x, const void *y)
{
	const struct flow_row *a = *(const struct flow_row *const *)x;
	const struct flow_row *b = *(const struct flow_row *const *)y;
	int order = ORDER(b->sent.payload, a->sent.payload);

	if (!order)
		order = ORDER(b->sent.bytes, a->sent.bytes);
	if (!order)
		order = ORDER(a->first_ns, b->first_ns);
	if (!order)
		order = memcmp(a->source, b->source, 16);
	if (!order)
		order = memcmp(a->destination, b->destination, 16);
	if (!order)
		order = ORDER(a->source_port, b->source_port);
	if (!order)
		order = ORDER(a->destination_port, b->destination_port);
	return order ? order : ORDER(a->protocol, b->protocol);
}

static int by_time(const void *x, const void *y)
{
	const struct name_question *a = *(const struct name_question *const *)x;
	const struct name_question *b = *(const struct name_question *const *)y;
	int order = ORDER(a->first_ns, b->first_ns);

	if (!order)
		order = ORDER(a->name.len, b->name.len);
	if (!order)
		order = memcmp(a->name.wire, b->name.wire, a->name.len);
	return order ? order : ORDER(a->type, b->type);
}

const struct flow_row **traffic_sort_flows(struct traffic *t, uint32_t *ret_n)
{
	uint32_t n = traffic_flows(t);
	const struct flow_row **rows = calloc(n ? n : 1, sizeof(struct flow_row *));

	for (uint32_t i = 0; rows && i < n; i++)
		rows[i] = traffic_flow(t, i);
	if (rows)
		qsort(rows, n, sizeof(struct flow_row *), by_sent);
	*ret_n = n;
	return rows;
}

const struct name_question **traffic_sort_questions(const struct traffic *t, uint32_t *ret_n)
{
	const struct names *names = traffic_names(t);
	uint32_t n = names_count(names);
	const struct name_question **rows = calloc(n ? n : 1, sizeof(struct name_question *));

	for (uint32_t i = 0; rows && i < n; i++)
		rows[i] = names_row(names, i);
	if (rows)
		qsort(rows, n, sizeof(struct name_question *), by_time);
	*ret_n = n;
	return rows;
}

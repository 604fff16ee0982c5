// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/packet_line.h"

#include <netinet/in.h>

#include "user/decode/dns.h"
#include "user/decode/packet.h"
#include "user/judge/match.h"

static void endpoint(const struct packet *p, const uint8_t addr[16], uint16_t port, char out[64])
{
	bool ports = p->transport && (p->protocol == IPPROTO_TCP || p->protocol == IPPROTO_UDP);
	char text[ADDR_TEXT_MAX];

	(void)addr_text(addr, text);
	if (ports)
		(void)str_format(out, 64, addr_is_v4(addr) ? "%s:%u" : "[%s]:%u", text, port);
	else
		(void)str_copy(out, 64, text);
}

static void flags_text(uint8_t flags, char out[32])
{
	static const struct {
		uint8_t bit;
		const char *name;
	} names[] = { { TCP_FLAG_SYN, " syn" },
		      { TCP_FLAG_ACK, " ack" },
		      { TCP_FLAG_PSH, " psh" },
		      { TCP_FLAG_FIN, " fin" },
		      { TCP_FLAG_RST, " rst" } };
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].bit) {
			(void)str_copy(out + at, 32 - at, names[i].name);
			at += strlen(names[i].name);
		}
}

/* "tcp syn ack", "udp", "icmp type 8 code 0", "protocol 47" */
static void protocol_text(const struct packet *p, char out[48])
{
	char flags[32];

	if (p->protocol == IPPROTO_TCP) {
		flags_text(p->tcp_flags, flags);
		(void)str_format(out, 48, "tcp%s", p->transport ? flags : "");
	} else if (p->protocol == IPPROTO_UDP) {
		(void)str_copy(out, 48, "udp");
	} else if (p->protocol == IPPROTO_ICMP || p->protocol == IPPROTO_ICMPV6) {
		(void)str_format(out, 48, "icmp%s type %u code %u",
				 p->protocol == IPPROTO_ICMP ? "" : "v6", p->icmp_type,
				 p->icmp_code);
	} else {
		(void)str_format(out, 48, "protocol %u", p->protocol);
	}
}

/* ---- the token ---- */

static void remember(void *arg, uint32_t trial unused_arg, enum match_form form)
{
	*(const char **)arg = match_form_text(form);
}

/* Also where it is spread over the labels of a name. */
static void scan_names(const struct match_set *set, const struct packet *p, const char **form)
{
	size_t skip = p->protocol == IPPROTO_TCP ? 2 : 0; /* the length, RFC 1035 4.2.2 */
	struct dns_reader r;
	struct dns_entry e;

	if (p->payload_len <= skip || dns_open(&r, p->payload + skip, p->payload_len - skip))
		return;
	while (!*form && dns_next(&r, &e) > 0) {
		uint8_t joined[DNS_NAME_BYTES];
		uint32_t len = dns_name_join(&e.name, joined);

		match_scan(set, NULL, joined, len, remember, form);
	}
}

/* The coding it is in; NULL: it is not in this packet (streams are put together by the judge). */
static const char *token_form(const struct ev_packet *e, const struct packet *p,
			      const struct ev_trial *t)
{
	struct match_set *set = NULL;
	const char *form = NULL;

	if (match_set_new(&set))
		return NULL;
	if (!match_set_add(set, t->token, 1)) {
		match_scan(set, NULL, e->data, e->data_len, remember, &form);
		if (p && p->family && !form)
			scan_names(set, p, &form);
	}
	match_set_free(set);
	return form;
}

void packet_line(const struct ev_packet *e, const struct ev_trial *t, char out[MESSAGE_MAX],
		 char *token, size_t token_n)
{
	char from[64], to[64], what[48];
	struct packet p;
	bool parsed = !packet_parse(e->data, e->data_len, e->l2_len, e->eth_proto, &p);
	const char *form = t ? token_form(e, parsed ? &p : NULL, t) : NULL;

	(void)str_format(token, token_n, "%s%s", form ? "the token in " : "", form ? form : "");
	if (!parsed || !p.family) {
		(void)str_format(out, MESSAGE_MAX, "packet: %s type 0x%04x, %u bytes",
				 parsed ? "no IP," : "not well-formed,", e->eth_proto, e->len);
		return;
	}
	endpoint(&p, p.src, p.sport, from);
	endpoint(&p, p.dst, p.dport, to);
	protocol_text(&p, what);
	(void)str_format(out, MESSAGE_MAX, "packet: %s to %s, %s, %u bytes of payload%s", from, to,
			 what, p.payload_len, p.fragment ? ", a fragment" : "");
}

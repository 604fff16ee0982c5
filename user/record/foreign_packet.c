// SPDX-License-Identifier: Apache-2.0
#include "user/record/foreign_packet.h"

#include <linux/if_ether.h>
#include <pcap/pcap.h>

#define LINKTYPE_RAW 101 /* DLT_RAW in a file */

struct view {
	const uint8_t *data;
	uint32_t len; /* there */
	uint32_t l2_len, eth_proto, ifindex;
	enum direction direction;
};

/* Takes the link header off, but for Ethernet's. False where the packet is too short for it. */
typedef bool (*link_fn)(struct view *v);

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static bool strip(struct view *v, uint32_t n)
{
	if (v->len < n)
		return false;
	v->data += n;
	v->len -= n;
	return true;
}

static bool ethernet(struct view *v)
{
	v->l2_len = ETH_HLEN;
	return true;
}

static bool raw(struct view *v)
{
	uint8_t version = v->len ? v->data[0] >> 4 : 0;

	v->eth_proto = version == 4 ? ETH_P_IP : version == 6 ? ETH_P_IPV6 : 0;
	return true;
}

/* The address family of whoever captured, in his byte order (DLT_NULL) or the network's (DLT_LOOP).
 * Its number is below 256, so that the order shows. IPv6 is another number on each system. */
static bool family(struct view *v)
{
	const uint8_t *p = v->data;

	if (!strip(v, 4))
		return false;
	switch (p[0] | p[3]) {
	case 2:
		v->eth_proto = ETH_P_IP;
		return true;
	case 10: /* Linux */
	case 24: /* NetBSD, OpenBSD */
	case 28: /* FreeBSD */
	case 30: /* Darwin */
		v->eth_proto = ETH_P_IPV6;
		return true;
	default:
		return true;
	}
}

/* Packet types of LINKTYPE_LINUX_SLL: 0 to us, 1 and 2 to many, 3 to somebody else, 4 from us. */
static enum direction cooked_direction(uint32_t type)
{
	if (type == 4)
		return DIRECTION_OUT;
	return type <= 2 ? DIRECTION_IN : DIRECTION_UNKNOWN;
}

/* Packet type 2, ARPHRD 2, address length 2, address 8, protocol 2. */
static bool sll(struct view *v)
{
	const uint8_t *p = v->data;

	if (!strip(v, 16))
		return false;
	v->direction = cooked_direction(be16(p));
	v->eth_proto = be16(p + 14);
	return true;
}

/* Protocol 2, reserved 2, interface 4, ARPHRD 2, packet type 1, address length 1, address 8. */
static bool sll2(struct view *v)
{
	const uint8_t *p = v->data;

	if (!strip(v, 20))
		return false;
	v->direction = cooked_direction(p[10]);
	v->eth_proto = be16(p);
	v->ifindex = be32(p + 4);
	return true;
}

static const struct link {
	uint32_t type;
	link_fn open;
} links[] = {
	{ DLT_EN10MB, ethernet }, { DLT_RAW, raw },	  { LINKTYPE_RAW, raw },
	{ DLT_IPV4, raw },	  { DLT_IPV6, raw },	  { DLT_NULL, family },
	{ DLT_LOOP, family },	  { DLT_LINUX_SLL, sll }, { DLT_LINUX_SLL2, sll2 },
};

static const struct link *find_link(uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (links[i].type == type)
			return &links[i];
	return NULL;
}

bool foreign_link_known(uint32_t link)
{
	return find_link(link);
}

const char *foreign_link_text(uint32_t link, char out[64])
{
	int dlt = link == LINKTYPE_RAW ? DLT_RAW : (int)link;
	const char *name = pcap_datalink_val_to_name(dlt);
	const char *what = pcap_datalink_val_to_description(dlt);

	if (name)
		(void)str_format(out, 64, "%s (%s)", name, what ? what : "no description");
	else
		(void)str_format(out, 64, "%u", link);
	return out;
}

/* Each link type is named once, as long as there is room. */
static void name_link(struct foreign_reader *r, uint32_t link)
{
	struct foreign_report *report = r->report;
	size_t at = strlen(report->link);
	char text[64];

	for (size_t i = 0; i < r->links_n; i++)
		if (r->links[i] == link)
			return;
	if (r->links_n == FOREIGN_LINKS_MAX)
		return;
	r->links[r->links_n++] = link;
	(void)str_format(report->link + at, sizeof(report->link) - at, "%s%s", at ? ", " : "",
			 foreign_link_text(link, text));
}

static int leave_out(struct foreign_reader *r, uint32_t link)
{
	if (!r->report->left_out++)
		(void)foreign_link_text(link, r->report->left_out_link);
	return 0;
}

int foreign_hand_over(struct foreign_reader *r, const struct foreign_packet *p)
{
	const struct link *link = find_link(p->link);
	struct view v = { .data = p->data, .len = p->data_len };
	uint32_t missing = p->len > p->data_len ? p->len - p->data_len : 0;
	struct ev ev = {
		.type = EV_PACKET,
		.id = r->report->packets + 1,
		.time_ns = p->time_ns,
	};
	int err;

	if (!link)
		return leave_out(r, p->link);
	name_link(r, p->link);
	if (!link->open(&v)) { /* shorter than its own link header: nobody can take it apart */
		v.l2_len = ETH_HLEN;
		missing += v.len;
		v.len = 0;
	}
	if (p->direction != DIRECTION_UNKNOWN)
		v.direction = p->direction;
	r->report->has_direction |= v.direction != DIRECTION_UNKNOWN;
	ev.packet.owner = p->owner;
	ev.packet.ifindex = v.ifindex;
	ev.packet.l2_len = v.l2_len;
	ev.packet.eth_proto = v.eth_proto;
	ev.packet.data = v.data;
	ev.packet.data_len = v.len;
	ev.packet.len = v.len + missing;
	err = r->fn(r->arg, &ev, v.direction);
	r->report->packets += !err;
	return err;
}

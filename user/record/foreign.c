// SPDX-License-Identifier: Apache-2.0
#include "user/record/foreign.h"

#include <fcntl.h>
#include <linux/if_ether.h>
#include <pcap/pcap.h>

#define SEC_MAX (UINT64_MAX / NSEC_PER_SEC - 5) /* a hostile file has 4.3e9 ns in a second */

struct packet_view {
	const uint8_t *data;
	uint32_t len; /* there */
	uint32_t l2_len, eth_proto, ifindex;
	enum direction direction;
};

/* Takes the link header off, but for Ethernet's. False where the packet is too short for it. */
typedef bool (*link_fn)(struct packet_view *v);

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

static bool strip(struct packet_view *v, uint32_t n)
{
	if (v->len < n)
		return false;
	v->data += n;
	v->len -= n;
	return true;
}

static bool ethernet(struct packet_view *v)
{
	v->l2_len = ETH_HLEN;
	return true;
}

static bool raw(struct packet_view *v)
{
	uint8_t version = v->len ? v->data[0] >> 4 : 0;

	v->eth_proto = version == 4 ? ETH_P_IP : version == 6 ? ETH_P_IPV6 : 0;
	return true;
}

/* The address family of whoever captured, in his byte order (DLT_NULL) or the network's (DLT_LOOP).
 * Its number is below 256, so that the order shows. IPv6 is another number on each system. */
static bool family(struct packet_view *v)
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
static bool sll(struct packet_view *v)
{
	const uint8_t *p = v->data;

	if (!strip(v, 16))
		return false;
	v->direction = cooked_direction(be16(p));
	v->eth_proto = be16(p + 14);
	return true;
}

/* Protocol 2, reserved 2, interface 4, ARPHRD 2, packet type 1, address length 1, address 8. */
static bool sll2(struct packet_view *v)
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
	int dlt;
	link_fn open;
	bool has_direction;
} links[] = {
	{ DLT_EN10MB, ethernet, false }, { DLT_RAW, raw, false },
	{ DLT_IPV4, raw, false },	 { DLT_IPV6, raw, false },
	{ DLT_NULL, family, false },	 { DLT_LOOP, family, false },
	{ DLT_LINUX_SLL, sll, true },	 { DLT_LINUX_SLL2, sll2, true },
};

static const struct link *find_link(int dlt)
{
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (links[i].dlt == dlt)
			return &links[i];
	return NULL;
}

static void link_text(int dlt, char out[64])
{
	const char *name = pcap_datalink_val_to_name(dlt);
	const char *what = pcap_datalink_val_to_description(dlt);

	if (name)
		(void)str_format(out, 64, "%s (%s)", name, what ? what : "no description");
	else
		(void)str_format(out, 64, "%d", dlt);
}

/* libpcap's tv_usec holds nanoseconds, as we asked it to. */
static uint64_t time_of(const struct timeval *t)
{
	if (t->tv_sec < 0 || t->tv_usec < 0)
		return 0;
	if ((uint64_t)t->tv_sec > SEC_MAX)
		return UINT64_MAX;
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + MIN((uint64_t)t->tv_usec, UINT32_MAX);
}

static int hand_over(const struct link *link, const struct pcap_pkthdr *h, const uint8_t *data,
		     uint64_t id, foreign_fn fn, void *arg)
{
	struct packet_view v = { .data = data, .len = h->caplen };
	struct ev ev = { .type = EV_PACKET, .id = id, .time_ns = time_of(&h->ts) };
	uint32_t missing = h->len > h->caplen ? h->len - h->caplen : 0;

	if (!link->open(&v)) { /* shorter than its own link header: nobody can take it apart */
		v.l2_len = ETH_HLEN;
		missing += v.len;
		v.len = 0;
	}
	ev.packet.ifindex = v.ifindex;
	ev.packet.l2_len = v.l2_len;
	ev.packet.eth_proto = v.eth_proto;
	ev.packet.data = v.data;
	ev.packet.data_len = v.len;
	ev.packet.len = v.len + missing;
	return fn(arg, &ev, v.direction);
}

static int read_packets(pcap_t *pcap, const struct link *link, foreign_fn fn, void *arg,
			struct foreign_report *ret)
{
	struct pcap_pkthdr *h;
	const u_char *data;
	int more, err = 0;

	while (!err && (more = pcap_next_ex(pcap, &h, &data)) == 1) {
		err = hand_over(link, h, data, ret->packets + 1, fn, arg);
		ret->packets += !err;
	}
	if (!err && more == PCAP_ERROR) {
		const char *text = pcap_geterr(pcap);

		ret->cut = true;
		(void)escape_text(ret->text, sizeof(ret->text), text, strlen(text));
	}
	return err;
}

/* Takes the file. NULL with d. */
static pcap_t *open_capture(const char *path, int *ret_err, struct diag *d)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, path, 0);
	char text[PCAP_ERRBUF_SIZE] = "", escaped[256];
	FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
	pcap_t *pcap;

	if (!f) {
		*ret_err = fd < 0 ? fd : -errno;
		(void)diag_set(d, *ret_err, path, 0, 0, "can't read it: %s", strerror(-*ret_err));
		return NULL;
	}
	(void)TAKE_FD(fd);
	pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_NANO, text);
	if (pcap)
		return pcap; /* pcap_close() closes the file */
	(void)fclose(f);
	*ret_err = diag_set(d, -EBADMSG, path, 0, 0, "libpcap can't read it: %s",
			    escape_text(escaped, sizeof(escaped), text, strlen(text)));
	return NULL;
}

int foreign_read(const char *path, foreign_fn fn, void *arg, struct foreign_report *ret,
		 struct diag *d)
{
	struct foreign_report report = { .packets = 0 };
	const struct link *link;
	pcap_t *pcap;
	int err = 0;

	pcap = open_capture(path, &err, d);
	if (!pcap)
		return err;
	link = find_link(pcap_datalink(pcap));
	link_text(pcap_datalink(pcap), report.link);
	report.snaplen = (uint32_t)pcap_snapshot(pcap);
	if (link) {
		report.has_direction = link->has_direction;
		err = read_packets(pcap, link, fn, arg, &report);
		if (err)
			(void)diag_set(d, err, path, 0, 0, "can't go on: %s", strerror(-err));
	} else {
		err = diag_set(d, -EPROTONOSUPPORT, path, 0, 0,
			       "its link type is %s, and only Ethernet, raw IP, loopback and "
			       "Linux cooked captures can be taken apart here",
			       report.link);
	}
	pcap_close(pcap);
	if (!err)
		*ret = report;
	return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/record/block.h"

#include <inttypes.h>

#include "user/record/evjson.h"
#include "user/record/interfaces.h"
#include "user/record/json_in.h"
#include "user/record/message.h"

#define SLL2_LEN 20
#define SLL2_HOST 0	/* LINUX_SLL_HOST: towards the sandbox */
#define SLL2_OUTGOING 4 /* LINUX_SLL_OUTGOING: away from it */
#define ARPHRD_ETHER_ 1
#define ARPHRD_NONE_ 0xfffe
#define MAC_ADDR_LEN 6
#define ETH_SOURCE 6 /* offset of the source address in an Ethernet header */

int block_context_init(struct block_context *c, const struct ev *ev)
{
	if (ev->type != EV_RUN_BEGIN || ev->run_begin.lanes >= SNT_SLOT_MAX)
		return -EINVAL;
	*c = (struct block_context){
		.to_realtime_ns = ev->run_begin.realtime_ns - ev->time_ns,
		.lanes = ev->run_begin.lanes,
	};
	return 0;
}

/* ---- packets ---- */

static void put_be16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put_be32(uint8_t *p, uint32_t v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v);
}

static void sll2_write(uint8_t h[SLL2_LEN], const struct ev_packet *p)
{
	bool ether = p->l2_len >= ETH_SOURCE + MAC_ADDR_LEN && p->data_len >= p->l2_len;

	memset(h, 0, SLL2_LEN);
	put_be16(h, p->eth_proto);
	put_be32(h + 4, p->ifindex);
	put_be16(h + 8, ether ? ARPHRD_ETHER_ : ARPHRD_NONE_);
	h[10] = p->outbound ? SLL2_OUTGOING : SLL2_HOST;
	if (ether) {
		h[11] = MAC_ADDR_LEN;
		memcpy(h + 12, p->data + ETH_SOURCE, MAC_ADDR_LEN);
	}
}

/* Does the header say what the JSON says? */
static bool sll2_agrees(const uint8_t h[SLL2_LEN], const struct ev_packet *p)
{
	uint8_t want[SLL2_LEN];

	sll2_write(want, p);
	return !memcmp(h, want, 8) && h[10] == want[10];
}

/* The packet from its network header on. */
static void strip_link_header(struct ev_packet *p)
{
	uint32_t cut = MIN(p->l2_len, p->data_len);

	if (p->data)
		p->data += cut;
	p->data_len -= cut;
	p->len -= MIN(p->l2_len, p->len);
	p->l2_len = 0;
}

static int write_packet(struct pcapng_out *o, const struct json_out *json,
			const struct block_context *c, const struct ev *ev,
			const uint8_t sll2[SLL2_LEN])
{
	struct pcapng_packet p = {
		.time_ns = ev->time_ns + c->to_realtime_ns,
		.orig_len = SLL2_LEN + ev->packet.len,
		.head_len = SLL2_LEN,
		.head = sll2,
		.data_len = ev->packet.data_len,
		.data = ev->packet.data,
		.flags = ev->packet.outbound ? PCAPNG_OUTBOUND : PCAPNG_INBOUND,
		.id = ev->id,
		.comment = json->buf,
		.comment_len = (uint32_t)json->len,
	};
	int err = interfaces_find(c->lanes, ev->hook, ev->lane, &p.interface);

	if (err)
		return err;
	pcapng_packet(o, &p);
	return o->error;
}

static int read_packet(struct ev *ret, const struct block_context *c, const struct pcapng_block *b)
{
	struct pcapng_packet p;
	uint32_t interface;

	if (pcapng_read_packet(b, &p) || evjson_reread(ret, p.comment, p.comment_len) ||
	    ret->type != EV_PACKET || interfaces_find(c->lanes, ret->hook, ret->lane, &interface))
		return -EBADMSG;
	if (p.data_len < SLL2_LEN || p.data_len - SLL2_LEN != ret->packet.data_len ||
	    p.orig_len != SLL2_LEN + ret->packet.len || p.id != ret->id ||
	    p.interface != interface || p.time_ns != ret->time_ns + c->to_realtime_ns ||
	    p.flags != (ret->packet.outbound ? PCAPNG_OUTBOUND : PCAPNG_INBOUND) ||
	    ret->packet.l2_len || !sll2_agrees(p.data, &ret->packet))
		return -EBADMSG;
	ret->packet.data = p.data + SLL2_LEN;
	return 0;
}

/* ---- everything else ---- */

static void journal_time(struct pcapng_out *o, uint64_t realtime_ns)
{
	char text[24];

	(void)str_format(text, sizeof(text), "%" PRIu64, realtime_ns / 1000);
	pcapng_journal_field(o, "__REALTIME_TIMESTAMP", text, strlen(text));
}

static int write_journal(struct pcapng_out *o, const struct json_out *json,
			 const struct block_context *c, const struct ev *ev)
{
	char message[MESSAGE_MAX];

	(void)message_text(ev, message);
	pcapng_journal_begin(o);
	journal_time(o, ev->time_ns + c->to_realtime_ns);
	pcapng_journal_field(o, "MESSAGE", message, strlen(message));
	pcapng_journal_field(o, "SENTINEL", json->buf, json->len);
	pcapng_journal_end(o);
	return o->error;
}

static int read_journal(struct ev *ret, const struct pcapng_block *b)
{
	const char *text;
	size_t len;

	if (pcapng_read_field(b, "SENTINEL", &text, &len) || evjson_reread(ret, text, len) ||
	    ret->type == EV_PACKET)
		return -EBADMSG;
	return 0;
}

int block_write(struct pcapng_out *o, struct json_out *json, const struct block_context *c,
		const struct ev *ev, uint64_t id)
{
	bool packet = ev->type == EV_PACKET;
	uint8_t sll2[SLL2_LEN];
	struct ev record;
	int err;

	memcpy(&record, ev, sizeof(record));
	record.id = id;
	if (packet) {
		sll2_write(sll2, &record.packet);
		strip_link_header(&record.packet);
	}
	json_out_reset(json);
	err = evjson_write(json, &record);
	if (err)
		return err;
	err = packet ? write_packet(o, json, c, &record, sll2) : write_journal(o, json, c, &record);
	o->error = 0; /* a block without room left the buffer as it was */
	return err;
}

int block_read(struct ev *ret, const struct block_context *c, const struct pcapng_block *b)
{
	return b->type == PCAPNG_EPB ? read_packet(ret, c, b) : read_journal(ret, b);
}

/* ---- segments ---- */

void block_write_segment(struct pcapng_out *o, const struct segment *s, uint64_t realtime_ns)
{
	char message[MESSAGE_MAX], line[SEGMENT_RUN_MAX + 32], number[16];

	(void)str_format(line, sizeof(line), "segment %u of run %s", s->number, s->run);
	(void)escape_text(message, sizeof(message), line, strlen(line));
	(void)str_format(number, sizeof(number), "%u", s->number);
	pcapng_journal_begin(o);
	journal_time(o, realtime_ns);
	pcapng_journal_field(o, "MESSAGE", message, strlen(message));
	pcapng_journal_field(o, "SENTINEL_RUN", s->run, strlen(s->run));
	pcapng_journal_field(o, "SENTINEL_SEGMENT", number, strlen(number));
	pcapng_journal_end(o);
}

int block_read_segment(struct segment *ret, const struct pcapng_block *b)
{
	const char *run, *number;
	size_t run_len, number_len;
	uint64_t n;

	if (b->type != PCAPNG_JOURNAL || pcapng_read_field(b, "SENTINEL_RUN", &run, &run_len) ||
	    pcapng_read_field(b, "SENTINEL_SEGMENT", &number, &number_len) ||
	    run_len >= sizeof(ret->run) || json_in_decimal(number, number_len, UINT32_MAX, &n))
		return -EBADMSG;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->run, run, run_len);
	ret->number = (uint32_t)n;
	return 0;
}

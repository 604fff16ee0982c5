// SPDX-License-Identifier: Apache-2.0
#include "user/record/pcapng.h"

#include <endian.h>

#define TSRESOL_NANOSECONDS 9

static uint8_t *take(struct pcapng_out *o, size_t n)
{
	uint8_t *p = o->buf + o->len;

	if (o->error)
		return NULL;
	if (n > o->cap - o->len) {
		o->error = -ENOBUFS;
		o->len = o->start;
		return NULL;
	}
	o->len += n;
	return p;
}

static void put(struct pcapng_out *o, const void *data, size_t n)
{
	uint8_t *p = take(o, n);

	if (p && n)
		memcpy(p, data, n);
}

static void put_u16(struct pcapng_out *o, uint16_t v)
{
	put(o, &(uint16_t){ htole16(v) }, sizeof(v));
}

static void put_u32(struct pcapng_out *o, uint32_t v)
{
	put(o, &(uint32_t){ htole32(v) }, sizeof(v));
}

static void put_u64(struct pcapng_out *o, uint64_t v)
{
	put(o, &(uint64_t){ htole64(v) }, sizeof(v));
}

/* Blocks start at multiples of four of the file, so the distance from the block's start decides. */
static void pad(struct pcapng_out *o)
{
	static const uint8_t zero[3];

	put(o, zero, -(o->len - o->start) & 3);
}

static void begin(struct pcapng_out *o, uint32_t type)
{
	o->start = o->len;
	put_u32(o, type);
	put_u32(o, 0); /* the length, known at the end */
}

static void end(struct pcapng_out *o)
{
	uint32_t len = (uint32_t)(o->len - o->start + 4);

	put_u32(o, len);
	if (!o->error && len > PCAPNG_BLOCK_MAX) {
		o->error = -ENOBUFS;
		o->len = o->start;
	}
	if (!o->error)
		memcpy(o->buf + o->start + 4, &(uint32_t){ htole32(len) }, sizeof(len));
}

static void option(struct pcapng_out *o, uint16_t code, const void *value, size_t len)
{
	if (len > UINT16_MAX)
		len = UINT16_MAX;
	put_u16(o, code);
	put_u16(o, (uint16_t)len);
	put(o, value, len);
	pad(o);
}

static void option_text(struct pcapng_out *o, uint16_t code, const char *text)
{
	option(o, code, text, strlen(text));
}

static void option_end(struct pcapng_out *o)
{
	put_u32(o, PCAPNG_OPT_END);
}

void pcapng_section(struct pcapng_out *o, const char *application, const char *comment)
{
	begin(o, PCAPNG_SHB);
	put_u32(o, PCAPNG_MAGIC);
	put_u16(o, 1); /* version 1.0 */
	put_u16(o, 0);
	put_u64(o, UINT64_MAX); /* section length: not known, read on */
	option_text(o, PCAPNG_OPT_COMMENT, comment);
	option_text(o, PCAPNG_SHB_USERAPPL, application);
	option_end(o);
	end(o);
}

void pcapng_interface(struct pcapng_out *o, const char *name, const char *description)
{
	begin(o, PCAPNG_IDB);
	put_u16(o, PCAPNG_LINKTYPE_SLL2);
	put_u16(o, 0);
	put_u32(o, PCAPNG_SNAPLEN);
	option_text(o, PCAPNG_IF_NAME, name);
	option_text(o, PCAPNG_IF_DESCRIPTION, description);
	option(o, PCAPNG_IF_TSRESOL, &(uint8_t){ TSRESOL_NANOSECONDS }, 1);
	option_end(o);
	end(o);
}

/* The options in the order in which Wireshark's tools write them, so that a pass through editcap
 * gives the same bytes. */
void pcapng_packet(struct pcapng_out *o, const struct pcapng_packet *p)
{
	begin(o, PCAPNG_EPB);
	put_u32(o, p->interface);
	put_u32(o, (uint32_t)(p->time_ns >> 32));
	put_u32(o, (uint32_t)p->time_ns);
	put_u32(o, p->head_len + p->data_len);
	put_u32(o, p->orig_len);
	put(o, p->head, p->head_len);
	put(o, p->data, p->data_len);
	pad(o);
	option(o, PCAPNG_OPT_COMMENT, p->comment, p->comment_len);
	option(o, PCAPNG_EPB_FLAGS, &(uint32_t){ htole32(p->flags) }, sizeof(uint32_t));
	option(o, PCAPNG_EPB_PACKETID, &(uint64_t){ htole64(p->id) }, sizeof(uint64_t));
	option_end(o);
	end(o);
}

void pcapng_journal_begin(struct pcapng_out *o)
{
	begin(o, PCAPNG_JOURNAL);
}

void pcapng_journal_field(struct pcapng_out *o, const char *name, const char *value, size_t len)
{
	put(o, name, strlen(name));
	put(o, "=", 1);
	put(o, value, len);
	put(o, "\n", 1);
}

void pcapng_journal_end(struct pcapng_out *o)
{
	pad(o);
	end(o);
}

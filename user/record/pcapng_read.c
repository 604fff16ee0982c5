// SPDX-License-Identifier: Apache-2.0
#include "user/record/pcapng.h"

#include <endian.h>

#define BLOCK_HEAD 8 /* type, length */
#define BLOCK_MIN 12 /* and the length again */
#define EPB_HEAD 20  /* interface, time, captured, original */

static uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t get_u64(const uint8_t *p)
{
	return get_u32(p) | (uint64_t)get_u32(p + 4) << 32;
}

/* Lengths are multiples of four, and so fit after rounding up. */
static uint32_t round_up(uint32_t len)
{
	return (len + 3) & ~3u;
}

int pcapng_next(const uint8_t *data, size_t len, struct pcapng_block *ret)
{
	struct pcapng_block b = { .raw = data };

	*ret = b;
	if (len < BLOCK_HEAD)
		return -EAGAIN;
	b.type = get_u32(data);
	b.len = get_u32(data + 4);
	if (b.len < BLOCK_MIN || b.len % 4 || b.len > PCAPNG_BLOCK_MAX) {
		/* A swapped section header has a swapped length: that one is worth telling apart.
		 */
		if (b.type != PCAPNG_SHB || len < BLOCK_MIN)
			return -EBADMSG;
		b.len = 0;
		b.body = data + BLOCK_HEAD;
		b.body_len = 4;
		*ret = b;
		return pcapng_read_section(&b) == -EPROTONOSUPPORT ? -EPROTONOSUPPORT : -EBADMSG;
	}
	if (len < b.len) {
		ret->type = b.type;
		ret->len = b.len;
		return -EAGAIN;
	}
	if (get_u32(data + b.len - 4) != b.len)
		return -EBADMSG;
	b.body = data + BLOCK_HEAD;
	b.body_len = b.len - BLOCK_MIN;
	*ret = b;
	return (int)b.len;
}

int pcapng_read_section(const struct pcapng_block *b)
{
	if (b->type != PCAPNG_SHB || b->body_len < 4)
		return -EBADMSG;
	if (get_u32(b->body) == __builtin_bswap32(PCAPNG_MAGIC))
		return -EPROTONOSUPPORT;
	if (get_u32(b->body) != PCAPNG_MAGIC || b->body_len < 16 || get_u16(b->body + 4) != 1)
		return -EBADMSG;
	return 0;
}

struct option {
	uint16_t code, len;
	const uint8_t *value;
};

/* The option at *p, and *p behind it. 1, 0 at the end of the options, or -EBADMSG. */
static int next_option(const uint8_t **p, const uint8_t *end, struct option *ret)
{
	if (end - *p < 4)
		return *p == end ? 0 : -EBADMSG;
	*ret = (struct option){ .code = get_u16(*p), .len = get_u16(*p + 2), .value = *p + 4 };
	*p += 4;
	if (ret->code == PCAPNG_OPT_END)
		return ret->len ? -EBADMSG : 0;
	if (round_up(ret->len) > (size_t)(end - *p))
		return -EBADMSG;
	*p += round_up(ret->len);
	return 1;
}

#define HAS_COMMENT (1u << 0)
#define HAS_FLAGS (1u << 1)
#define HAS_ID (1u << 2)
#define HAS_ALL (HAS_COMMENT | HAS_FLAGS | HAS_ID)

static int packet_option(struct pcapng_packet *p, const struct option *opt, unsigned int *has)
{
	unsigned int bit;

	switch (opt->code) {
	case PCAPNG_OPT_COMMENT:
		bit = HAS_COMMENT;
		p->comment = (const char *)opt->value;
		p->comment_len = opt->len;
		break;
	case PCAPNG_EPB_FLAGS:
		if (opt->len != sizeof(uint32_t))
			return -EBADMSG;
		bit = HAS_FLAGS;
		p->flags = get_u32(opt->value);
		break;
	case PCAPNG_EPB_PACKETID:
		if (opt->len != sizeof(uint64_t))
			return -EBADMSG;
		bit = HAS_ID;
		p->id = get_u64(opt->value);
		break;
	default:
		return 0;
	}
	if (*has & bit)
		return -EBADMSG;
	*has |= bit;
	return 0;
}

int pcapng_read_packet(const struct pcapng_block *b, struct pcapng_packet *ret)
{
	const uint8_t *p = b->body, *end = b->body + b->body_len;
	struct pcapng_packet packet = { 0 };
	unsigned int has = 0;
	struct option opt;
	int more, err;

	if (b->type != PCAPNG_EPB || b->body_len < EPB_HEAD)
		return -EBADMSG;
	packet.interface = get_u32(p);
	packet.time_ns = (uint64_t)get_u32(p + 4) << 32 | get_u32(p + 8);
	packet.data_len = get_u32(p + 12);
	packet.orig_len = get_u32(p + 16);
	packet.data = p + EPB_HEAD;
	if (packet.data_len > b->body_len - EPB_HEAD)
		return -EBADMSG;
	/* body_len is a multiple of four, so what is rounded up is still within */
	p = packet.data + round_up(packet.data_len);
	while ((more = next_option(&p, end, &opt)) > 0) {
		err = packet_option(&packet, &opt, &has);
		if (err)
			return err;
	}
	if (more < 0 || has != HAS_ALL)
		return -EBADMSG;
	*ret = packet;
	return 0;
}

int pcapng_read_field(const struct pcapng_block *b, const char *name, const char **ret,
		      size_t *ret_len)
{
	const char *p = (const char *)b->body, *end = p + b->body_len;
	size_t name_len = strlen(name);

	while (p < end) {
		const char *line_end = memchr(p, '\n', (size_t)(end - p));

		if (!line_end)
			break;
		if ((size_t)(line_end - p) > name_len && !memcmp(p, name, name_len) &&
		    p[name_len] == '=') {
			*ret = p + name_len + 1;
			*ret_len = (size_t)(line_end - *ret);
			return 0;
		}
		p = line_end + 1;
	}
	return -ENOENT;
}

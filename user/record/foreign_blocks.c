// SPDX-License-Identifier: Apache-2.0
#include "user/record/foreign_blocks.h"

#include <inttypes.h>

#define PCAPNG_PB 2u  /* packet block: obsolete, but written for years */
#define PCAPNG_SPB 3u /* simple packet block: no time, interface 0 */
#define PCAPNG_IF_TSOFFSET 14
#define IDB_HEAD 8  /* link type 2, reserved 2, snap length 4 */
#define EPB_HEAD 20 /* interface 4, time 8, length there 4, length before 4 */
#define SPB_HEAD 4  /* length before */
#define RESOLUTION_DEFAULT 6

struct interface {
	uint32_t link, snaplen;
	uint8_t resolution; /* as if_tsresol: a power of ten, or with the top bit of two */
	int64_t offset_s;   /* added to each time */
};

struct section {
	struct foreign_reader *r;
	struct blocks blocks;
	struct interface *interfaces;
	uint32_t interfaces_n, room;
	uint64_t last_ns;
};

/* Answers of what takes a block, besides 0 and what others answer below it. */
enum { BLOCK_BROKEN = 1, BLOCK_TOO_MANY };

/* What is wrong, for people. */
static void cut(struct section *s, const char *what, uint64_t at)
{
	struct foreign_report *report = s->r->report;

	report->cut = true;
	(void)str_format(report->text, sizeof(report->text), "%s at byte %" PRIu64, what, at);
}

/* ---- interfaces ---- */

static void interface_options(const struct section *s, const struct pcapng_block *b,
			      struct interface *i)
{
	struct blocks_option o;
	size_t at = IDB_HEAD;

	while (blocks_option(&s->blocks, b, &at, &o)) {
		if (o.code == PCAPNG_IF_TSRESOL && o.len == 1)
			i->resolution = o.value[0];
		if (o.code == PCAPNG_IF_TSOFFSET && o.len == 8)
			i->offset_s = (int64_t)blocks_u64(&s->blocks, o.value);
	}
}

static int make_room(struct section *s)
{
	uint32_t room = s->room ? 2 * s->room : 8;
	struct interface *more;

	if (s->interfaces_n < s->room)
		return 0;
	more = realloc(s->interfaces, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->interfaces = more;
	s->room = room;
	return 0;
}

static int take_interface(struct section *s, const struct pcapng_block *b)
{
	struct interface i = { .resolution = RESOLUTION_DEFAULT };
	int err;

	if (b->body_len < IDB_HEAD)
		return BLOCK_BROKEN;
	if (s->interfaces_n == FOREIGN_INTERFACES_MAX)
		return BLOCK_TOO_MANY;
	err = make_room(s);
	if (err)
		return err;
	i.link = blocks_u16(&s->blocks, b->body);
	i.snaplen = blocks_u32(&s->blocks, b->body + 4);
	interface_options(s, b, &i);
	s->interfaces[s->interfaces_n++] = i;
	return 0;
}

/* ---- times ---- */

/* Nanoseconds in n units, to the last that fits. */
static __int128 units_to_ns(uint64_t n, uint8_t resolution)
{
	unsigned __int128 ns = n;
	uint8_t power = resolution & 0x7f;

	if (resolution & 0x80)
		return power > 63 ? 0 : (__int128)((ns * NSEC_PER_SEC) >> power);
	for (; power < 9; power++)
		ns *= 10;
	for (; power > 9 && ns; power--)
		ns /= 10;
	return (__int128)ns;
}

static uint64_t time_of(const struct interface *i, uint64_t units)
{
	__int128 ns =
		units_to_ns(units, i->resolution) + (__int128)i->offset_s * (int64_t)NSEC_PER_SEC;

	if (ns < 0)
		return 0;
	return ns > (__int128)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

/* ---- packets ---- */

/* The value of a line "KEY: VALUE" of a comment. False where there is none. */
static bool line_value(const char *text, size_t len, const char *key, const char **ret,
		       size_t *ret_len)
{
	const char *end = text + len;
	size_t key_len = strlen(key);

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		if ((size_t)(stop - text) > key_len && !memcmp(text, key, key_len)) {
			*ret = text + key_len;
			*ret_len = (size_t)(stop - *ret);
			return true;
		}
		text = newline ? newline + 1 : end;
	}
	return false;
}

/* ptcpdump's comment: "PID: 42", "Cmd: /usr/bin/curl", "Args: ...", a line each. */
static void take_comment(const struct blocks_option *o, struct ev_task *owner)
{
	const char *text = (const char *)o->value, *value, *slash;
	char number[12] = "";
	size_t len;

	if (owner->pid || !line_value(text, o->len, "PID: ", &value, &len) || len >= sizeof(number))
		return;
	memcpy(number, value, len);
	if (parse_u32(number, 1, UINT32_MAX, &owner->pid) ||
	    !line_value(text, o->len, "Cmd: ", &value, &len))
		return;
	slash = memrchr(value, '/', len);
	if (slash) {
		len -= (size_t)(slash + 1 - value);
		value = slash + 1;
	}
	len = MIN(len, sizeof(owner->name) - 1);
	memcpy(owner->name, value, len);
	owner->name[strnlen(owner->name, len)] = '\0';
}

static void packet_options(const struct section *s, const struct pcapng_block *b, size_t at,
			   struct foreign_packet *p)
{
	struct blocks_option o;

	while (blocks_option(&s->blocks, b, &at, &o)) {
		if (o.code == PCAPNG_OPT_COMMENT)
			take_comment(&o, &p->owner);
		if (o.code != PCAPNG_EPB_FLAGS || o.len != 4)
			continue;
		switch (blocks_u32(&s->blocks, o.value) & 3) {
		case PCAPNG_INBOUND:
			p->direction = DIRECTION_IN;
			break;
		case PCAPNG_OUTBOUND:
			p->direction = DIRECTION_OUT;
			break;
		default:
			break;
		}
	}
}

/* An enhanced packet; of an obsolete one the interface has but two bytes. */
static int take_packet(struct section *s, const struct pcapng_block *b)
{
	const struct blocks *k = &s->blocks;
	struct foreign_packet p = { .link = 0 };
	uint32_t interface;
	uint64_t units;

	if (b->body_len < EPB_HEAD)
		return BLOCK_BROKEN;
	interface = b->type == PCAPNG_PB ? blocks_u16(k, b->body) : blocks_u32(k, b->body);
	units = (uint64_t)blocks_u32(k, b->body + 4) << 32 | blocks_u32(k, b->body + 8);
	p.data_len = blocks_u32(k, b->body + 12);
	p.len = blocks_u32(k, b->body + 16);
	p.data = b->body + EPB_HEAD;
	if (interface >= s->interfaces_n || p.data_len > b->body_len - EPB_HEAD)
		return BLOCK_BROKEN;
	p.link = s->interfaces[interface].link;
	p.time_ns = s->last_ns = time_of(&s->interfaces[interface], units);
	packet_options(s, b, EPB_HEAD + (((size_t)p.data_len + 3) & ~(size_t)3), &p);
	return foreign_hand_over(s->r, &p);
}

/* It has no time: that of the packet before it will do. */
static int take_simple(struct section *s, const struct pcapng_block *b)
{
	struct foreign_packet p = { .time_ns = s->last_ns };
	uint32_t snaplen;

	if (b->body_len < SPB_HEAD || !s->interfaces_n)
		return BLOCK_BROKEN;
	snaplen = s->interfaces[0].snaplen ? s->interfaces[0].snaplen : UINT32_MAX;
	p.link = s->interfaces[0].link;
	p.len = blocks_u32(&s->blocks, b->body);
	p.data_len = MIN(p.len, MIN(snaplen, b->body_len - SPB_HEAD));
	p.data = b->body + SPB_HEAD;
	return foreign_hand_over(s->r, &p);
}

static int take_block(struct section *s, const struct pcapng_block *b)
{
	switch (b->type) {
	case PCAPNG_SHB:
		s->interfaces_n = 0;
		return b->body_len >= 16 && blocks_u16(&s->blocks, b->body + 4) == 1 ? 0
										     : BLOCK_BROKEN;
	case PCAPNG_IDB:
		return take_interface(s, b);
	case PCAPNG_EPB:
	case PCAPNG_PB:
		return take_packet(s, b);
	case PCAPNG_SPB:
		return take_simple(s, b);
	default:
		return 0; /* statistics, names, secrets, journals, and what is yet to be invented */
	}
}

static int read_blocks(struct section *s)
{
	struct pcapng_block b;
	uint64_t at = 0;
	int err;

	while ((err = blocks_next(&s->blocks, &b)) > 0) {
		err = take_block(s, &b);
		if (err == BLOCK_BROKEN)
			cut(s, "a block contradicts itself", at);
		else if (err == BLOCK_TOO_MANY)
			cut(s, "there is one interface too many", at);
		if (err)
			return err < 0 ? err : 0;
		at = s->blocks.at;
	}
	if (err == -EBADMSG)
		cut(s, "no block starts", at);
	else if (err == -ENODATA)
		cut(s, "the file ends within the block", at);
	else
		return err;
	return 0;
}

int foreign_read_blocks(struct foreign_reader *r, FILE *f)
{
	struct section s = { .r = r };
	int err = blocks_init(&s.blocks, f);

	if (!err)
		err = read_blocks(&s);
	blocks_done(&s.blocks);
	free(s.interfaces);
	return err;
}

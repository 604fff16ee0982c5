// SPDX-License-Identifier: Apache-2.0
#include "user/record/blocks.h"

#define BLOCK_HEAD 8
#define BLOCK_MIN 12
#define OPT_HEAD 4

int blocks_init(struct blocks *b, FILE *f)
{
	*b = (struct blocks){ .f = f };
	return blocks_room(b, 4096);
}

void blocks_done(struct blocks *b)
{
	free(b->buf);
	b->buf = NULL;
}

int blocks_room(struct blocks *b, size_t n)
{
	uint8_t *more;

	if (n <= b->cap)
		return 0;
	more = realloc(b->buf, n);
	if (!more)
		return -ENOMEM;
	b->buf = more;
	b->cap = n;
	return 0;
}

uint16_t blocks_u16(const struct blocks *b, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return b->swapped ? __builtin_bswap16(v) : v;
}

uint32_t blocks_u32(const struct blocks *b, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return b->swapped ? __builtin_bswap32(v) : v;
}

uint64_t blocks_u64(const struct blocks *b, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return b->swapped ? __builtin_bswap64(v) : v;
}

bool blocks_magic(const uint8_t head[4])
{
	static const uint8_t section[4] = { 0x0a, 0x0d, 0x0d, 0x0a };

	return !memcmp(head, section, sizeof(section));
}

/* Its own magic says in which order a section is written. */
static bool set_order(struct blocks *b, const uint8_t *body)
{
	b->swapped = false;
	if (blocks_u32(b, body) == PCAPNG_MAGIC)
		return true;
	b->swapped = true;
	return blocks_u32(b, body) == PCAPNG_MAGIC;
}

static int ends_early(const struct blocks *b)
{
	return ferror(b->f) ? -EIO : -ENODATA;
}

int blocks_next(struct blocks *b, struct pcapng_block *ret)
{
	size_t got = fread(b->buf, 1, BLOCK_MIN, b->f);
	uint32_t len;
	int err;

	if (!got && !ferror(b->f))
		return 0;
	if (got < BLOCK_MIN)
		return ends_early(b);
	if (blocks_magic(b->buf) && !set_order(b, b->buf + BLOCK_HEAD))
		return -EBADMSG;
	len = blocks_u32(b, b->buf + 4);
	if (len < BLOCK_MIN || len % 4 || len > BLOCKS_LEN_MAX)
		return -EBADMSG;
	err = blocks_room(b, len);
	if (err)
		return err;
	got = fread(b->buf + BLOCK_MIN, 1, len - BLOCK_MIN, b->f);
	if (got < len - BLOCK_MIN)
		return ends_early(b);
	if (blocks_u32(b, b->buf + len - 4) != len)
		return -EBADMSG;
	*ret = (struct pcapng_block){ .type = blocks_u32(b, b->buf),
				      .len = len,
				      .raw = b->buf,
				      .body = b->buf + BLOCK_HEAD,
				      .body_len = len - BLOCK_MIN };
	b->at += len;
	return 1;
}

bool blocks_option(const struct blocks *b, const struct pcapng_block *block, size_t *at,
		   struct blocks_option *ret)
{
	const uint8_t *opt = block->body + *at;
	struct blocks_option o;

	if (block->body_len < OPT_HEAD || *at > block->body_len - OPT_HEAD)
		return false;
	o = (struct blocks_option){ .code = blocks_u16(b, opt),
				    .len = blocks_u16(b, opt + 2),
				    .value = opt + OPT_HEAD };
	if (o.code == PCAPNG_OPT_END || o.len > block->body_len - OPT_HEAD - *at)
		return false;
	*at += OPT_HEAD + ((o.len + 3u) & ~3u);
	*ret = o;
	return true;
}

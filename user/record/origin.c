// SPDX-License-Identifier: Apache-2.0
#include "user/record/origin.h"

#include <fcntl.h>

#include "user/record/blocks.h"

#define SHB_HEAD 16 /* magic, version, length of the section */
#define EPB_HEAD 20
#define SEARCH_BYTES (1u << 20)

#define OUR_APPLICATION "sentinel"
#define OUR_PACKET "{\"type\":\"packet\",\"id\":\""
static const char *const our_text[] = { "SENTINEL={\"type\":\"", "SENTINEL_RUN=", OUR_PACKET };

/* ---- blocks ---- */

/* Does one of the options from byte `at` of the block's body on have this code and beginning? */
static bool has_option(const struct blocks *b, const struct pcapng_block *block, size_t at,
		       uint16_t code, const char *text)
{
	struct blocks_option o;

	while (blocks_option(b, block, &at, &o))
		if (o.code == code && o.len >= strlen(text) && !memcmp(o.value, text, strlen(text)))
			return true;
	return false;
}

static bool is_ours(const struct blocks *b, const struct pcapng_block *block)
{
	const char *text;
	size_t len;

	switch (block->type) {
	case PCAPNG_SHB:
		return has_option(b, block, SHB_HEAD, PCAPNG_SHB_USERAPPL, OUR_APPLICATION);
	case PCAPNG_EPB:
		if (block->body_len < EPB_HEAD)
			return false;
		len = blocks_u32(b, block->body + 12);
		return len <= block->body_len &&
		       has_option(b, block, EPB_HEAD + ((len + 3) & ~(size_t)3), PCAPNG_OPT_COMMENT,
				  OUR_PACKET);
	case PCAPNG_JOURNAL:
		return !pcapng_read_field(block, "SENTINEL", &text, &len) ||
		       !pcapng_read_field(block, "SENTINEL_RUN", &text, &len);
	default:
		return false;
	}
}

/* ---- where there are no blocks to follow ---- */

static bool has_our_text(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(our_text); i++)
		if (memmem(data, len, our_text[i], strlen(our_text[i])))
			return true;
	return false;
}

/* From where the blocks end to the end of the file. 1, 0 or -errno. */
static int search_rest(struct blocks *b)
{
	size_t overlap = 0, got;
	int err = blocks_room(b, SEARCH_BYTES);

	if (!err && fseeko(b->f, (off_t)b->at, SEEK_SET))
		err = -errno;
	if (err)
		return err;
	while ((got = fread(b->buf + overlap, 1, SEARCH_BYTES - overlap, b->f)) > 0) {
		size_t len = overlap + got;

		if (has_our_text(b->buf, len))
			return 1;
		overlap = MIN(len, sizeof(OUR_PACKET) - 1); /* the longest of them */
		memmove(b->buf, b->buf + len - overlap, overlap);
	}
	return ferror(b->f) ? -EIO : 0;
}

/* ---- files ---- */

/* The magic of pcap: microseconds, nanoseconds, and two old forms with longer packet headers. */
static bool is_pcap(const uint8_t magic[4])
{
	static const uint32_t known[] = { 0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34, 0xa1b234cd };
	uint32_t v;

	memcpy(&v, magic, sizeof(v));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (v == known[i] || __builtin_bswap32(v) == known[i])
			return true;
	return false;
}

static int origin_of_blocks(struct blocks *b, enum origin *ret)
{
	struct pcapng_block block;
	bool any = false;
	int more;

	while ((more = blocks_next(b, &block)) > 0) {
		any = true;
		if (is_ours(b, &block)) {
			*ret = ORIGIN_OURS;
			return 0;
		}
	}
	if (more == -EBADMSG || more == -ENODATA)
		more = search_rest(b);
	if (more < 0)
		return more;
	if (more)
		*ret = ORIGIN_OURS;
	else
		*ret = any ? ORIGIN_PCAPNG : ORIGIN_UNKNOWN;
	return 0;
}

static int origin_of_file(FILE *f, enum origin *ret)
{
	struct blocks blocks;
	uint8_t magic[4];
	int err;

	*ret = ORIGIN_UNKNOWN;
	if (fread(magic, 1, sizeof(magic), f) != sizeof(magic))
		return ferror(f) ? -EIO : 0;
	if (is_pcap(magic))
		*ret = ORIGIN_PCAP;
	if (!blocks_magic(magic))
		return 0;
	rewind(f);
	err = blocks_init(&blocks, f);
	if (!err)
		err = origin_of_blocks(&blocks, ret);
	blocks_done(&blocks);
	return err;
}

int origin_of(const char *path, enum origin *ret)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, path, 0);
	cleanup_file FILE *f = NULL;

	if (fd < 0)
		return fd;
	f = fdopen(fd, "rb");
	if (!f)
		return -errno;
	(void)TAKE_FD(fd);
	return origin_of_file(f, ret);
}

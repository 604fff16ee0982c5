// SPDX-License-Identifier: Apache-2.0
#include "user/record/origin.h"

#include <fcntl.h>

#include "user/record/pcapng.h"

#define BLOCK_HEAD 8
#define BLOCK_MIN 12
#define BLOCK_MAX (16u << 20) /* libpcap refuses longer ones */
#define SHB_HEAD 16	      /* magic, version, length of the section */
#define EPB_HEAD 20
#define OPT_HEAD 4
#define SEARCH_BYTES (1u << 20)

#define OUR_APPLICATION "sentinel"
#define OUR_PACKET "{\"type\":\"packet\",\"id\":\""
static const char *const our_text[] = { "SENTINEL={\"type\":\"", "SENTINEL_RUN=", OUR_PACKET };

struct walker {
	FILE *f;
	uint64_t at;  /* where the block at work begins */
	bool swapped; /* the section is of the other byte order */
	uint8_t *block;
	size_t cap;
};

static uint32_t get_u32(const struct walker *w, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return w->swapped ? __builtin_bswap32(v) : v;
}

static uint16_t get_u16(const struct walker *w, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return w->swapped ? __builtin_bswap16(v) : v;
}

static size_t round_up(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static bool starts_with(const uint8_t *data, size_t len, const char *text)
{
	return len >= strlen(text) && !memcmp(data, text, strlen(text));
}

/* ---- blocks ---- */

static int room(struct walker *w, size_t n)
{
	uint8_t *more;

	if (n <= w->cap)
		return 0;
	more = realloc(w->block, n);
	if (!more)
		return -ENOMEM;
	w->block = more;
	w->cap = n;
	return 0;
}

/* Its own magic says in which order a section is written. */
static bool set_order(struct walker *w, const uint8_t *body)
{
	w->swapped = false;
	if (get_u32(w, body) == PCAPNG_MAGIC)
		return true;
	w->swapped = true;
	return get_u32(w, body) == PCAPNG_MAGIC;
}

/* The next block, whole, to w->block. 1; 0 at the end of the file; -EBADMSG where it is no block or
 * not all there; -errno. */
static int read_block(struct walker *w, struct pcapng_block *ret)
{
	static const uint8_t section[4] = { 0x0a, 0x0d, 0x0d, 0x0a }; /* in either order */
	size_t got = fread(w->block, 1, BLOCK_MIN, w->f);
	uint32_t len;
	int err;

	if (got < BLOCK_MIN)
		return ferror(w->f) ? -EIO : got ? -EBADMSG : 0;
	if (!memcmp(w->block, section, 4) && !set_order(w, w->block + BLOCK_HEAD))
		return -EBADMSG;
	len = get_u32(w, w->block + 4);
	if (len < BLOCK_MIN || len % 4 || len > BLOCK_MAX)
		return -EBADMSG;
	err = room(w, len);
	if (err)
		return err;
	got = fread(w->block + BLOCK_MIN, 1, len - BLOCK_MIN, w->f);
	if (got < len - BLOCK_MIN)
		return ferror(w->f) ? -EIO : -EBADMSG;
	if (get_u32(w, w->block + len - 4) != len)
		return -EBADMSG;
	*ret = (struct pcapng_block){ .type = get_u32(w, w->block),
				      .len = len,
				      .raw = w->block,
				      .body = w->block + BLOCK_HEAD,
				      .body_len = len - BLOCK_MIN };
	w->at += len;
	return 1;
}

/* Does one of the options from byte `at` of the block's body on have this code and beginning? */
static bool has_option(const struct walker *w, const struct pcapng_block *b, size_t at,
		       uint16_t code, const char *text)
{
	while (b->body_len >= OPT_HEAD && at <= b->body_len - OPT_HEAD) {
		const uint8_t *opt = b->body + at;
		uint16_t len = get_u16(w, opt + 2);

		at += OPT_HEAD;
		if (len > b->body_len - at)
			return false;
		if (get_u16(w, opt) == code && starts_with(opt + OPT_HEAD, len, text))
			return true;
		at += round_up(len);
	}
	return false;
}

static bool is_ours(const struct walker *w, const struct pcapng_block *b)
{
	const char *text;
	size_t len;

	switch (b->type) {
	case PCAPNG_SHB:
		return has_option(w, b, SHB_HEAD, PCAPNG_SHB_USERAPPL, OUR_APPLICATION);
	case PCAPNG_EPB:
		if (b->body_len < EPB_HEAD)
			return false;
		len = get_u32(w, b->body + 12);
		return len <= b->body_len &&
		       has_option(w, b, EPB_HEAD + round_up(len), PCAPNG_OPT_COMMENT, OUR_PACKET);
	case PCAPNG_JOURNAL:
		return !pcapng_read_field(b, "SENTINEL", &text, &len) ||
		       !pcapng_read_field(b, "SENTINEL_RUN", &text, &len);
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

/* From the block at work to the end of the file. 1, 0 or -errno. */
static int search_rest(struct walker *w)
{
	size_t overlap = 0, got;
	int err = room(w, SEARCH_BYTES);

	if (!err && fseeko(w->f, (off_t)w->at, SEEK_SET))
		err = -errno;
	if (err)
		return err;
	while ((got = fread(w->block + overlap, 1, SEARCH_BYTES - overlap, w->f)) > 0) {
		size_t len = overlap + got;

		if (has_our_text(w->block, len))
			return 1;
		overlap = MIN(len, sizeof(OUR_PACKET) - 1); /* the longest of them */
		memmove(w->block, w->block + len - overlap, overlap);
	}
	return ferror(w->f) ? -EIO : 0;
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

static int origin_of_blocks(struct walker *w, enum origin *ret)
{
	struct pcapng_block b;
	bool any = false;
	int more;

	while ((more = read_block(w, &b)) > 0) {
		any = true;
		if (is_ours(w, &b)) {
			*ret = ORIGIN_OURS;
			return 0;
		}
	}
	if (more == -EBADMSG)
		more = search_rest(w);
	if (more < 0)
		return more;
	if (more)
		*ret = ORIGIN_OURS;
	else
		*ret = any ? ORIGIN_PCAPNG : ORIGIN_UNKNOWN;
	return 0;
}

static int origin_of_file(struct walker *w, enum origin *ret)
{
	static const uint8_t section[4] = { 0x0a, 0x0d, 0x0d, 0x0a };
	uint8_t magic[4];

	*ret = ORIGIN_UNKNOWN;
	if (fread(magic, 1, sizeof(magic), w->f) != sizeof(magic))
		return ferror(w->f) ? -EIO : 0;
	if (is_pcap(magic)) {
		*ret = ORIGIN_PCAP;
		return 0;
	}
	rewind(w->f);
	return memcmp(magic, section, sizeof(magic)) ? 0 : origin_of_blocks(w, ret);
}

int origin_of(const char *path, enum origin *ret)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, path, 0);
	struct walker w = { .cap = 4096 };
	int err = -ENOMEM;

	if (fd < 0)
		return fd;
	w.f = fdopen(fd, "rb");
	w.block = malloc(w.cap);
	if (w.f) {
		(void)TAKE_FD(fd);
		if (w.block)
			err = origin_of_file(&w, ret);
		(void)fclose(w.f);
	}
	free(w.block);
	return err;
}

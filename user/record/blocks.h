/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a pcapng file that anybody may have written: of either byte order, of any type, one
 * section behind the other. For our own captures there is pcapng.h, which is strict and fast.
 */
#ifndef SENTINEL_RECORD_BLOCKS_H
#define SENTINEL_RECORD_BLOCKS_H

#include "user/record/pcapng.h"

#define BLOCKS_LEN_MAX (16u << 20) /* of one block; libpcap refuses longer ones, too */

struct blocks {
	FILE *f;      /* the caller's, read from its start */
	uint64_t at;  /* in it: of the first byte that is not in a block that was read */
	bool swapped; /* the section is of the other byte order than this machine */
	uint8_t *buf; /* owned: blocks_done() */
	size_t cap;
};

/* 0 or -ENOMEM. */
int blocks_init(struct blocks *b, FILE *f) must_check;
void blocks_done(struct blocks *b);

/* Does such a file begin so? The first four bytes are the same in either order. */
bool blocks_magic(const uint8_t head[4]);

/* The next block, whole and borrowed until the next call. 1; 0 at the end of the file; -ENODATA
 * where the file ends within a block; -EBADMSG where none begins; -ENOMEM, -EIO. */
int blocks_next(struct blocks *b, struct pcapng_block *ret) must_check;

/* Room for n bytes at b->buf, whose content is lost; 0 or -ENOMEM. */
int blocks_room(struct blocks *b, size_t n) must_check;

/* Numbers, in the section's order. */
uint16_t blocks_u16(const struct blocks *b, const uint8_t *p);
uint32_t blocks_u32(const struct blocks *b, const uint8_t *p);
uint64_t blocks_u64(const struct blocks *b, const uint8_t *p);

struct blocks_option {
	uint16_t code, len;
	const uint8_t *value;
};

/* The option at *at of a block's body; *at moves behind it. False at their end, or where they are
 * broken. */
bool blocks_option(const struct blocks *b, const struct pcapng_block *block, size_t *at,
		   struct blocks_option *ret);

#endif

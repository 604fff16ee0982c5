/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of a pcapng file (draft-ietf-opsawg-pcapng) that a capture is made of: section header,
 * interface description, enhanced packet, systemd journal export. Little-endian, one section.
 *
 *   +--------+--------+---- ... ----+--------+
 *   |  type  | length |    body     | length |   32 bits each; length counts all of it
 *   +--------+--------+---- ... ----+--------+
 *
 * The writer appends to a buffer of the caller's; the reader walks a buffer and borrows from it.
 * Neither allocates, and the reader trusts no length before it has compared it with what is there.
 */
#ifndef SENTINEL_RECORD_PCAPNG_H
#define SENTINEL_RECORD_PCAPNG_H

#include "user/base/util.h"

#define PCAPNG_SHB 0x0a0d0d0au
#define PCAPNG_IDB 1u
#define PCAPNG_EPB 6u
#define PCAPNG_JOURNAL 9u

#define PCAPNG_MAGIC 0x1a2b3c4du
#define PCAPNG_LINKTYPE_SLL2 276u

/* The longest block written or read: the largest packet (64 KiB), its JSON, and room. */
#define PCAPNG_BLOCK_MAX (1u << 20)
/* The same snap length on all interfaces, else libpcap refuses the file; its own maximum. */
#define PCAPNG_SNAPLEN 262144u

/* Option codes; what they mean depends on the block. */
#define PCAPNG_OPT_END 0
#define PCAPNG_OPT_COMMENT 1
#define PCAPNG_SHB_USERAPPL 4
#define PCAPNG_IF_NAME 2
#define PCAPNG_IF_DESCRIPTION 3
#define PCAPNG_IF_TSRESOL 9
#define PCAPNG_EPB_FLAGS 2
#define PCAPNG_EPB_PACKETID 5

/* epb_flags, bits 0-1 */
#define PCAPNG_INBOUND 1u
#define PCAPNG_OUTBOUND 2u

struct pcapng_packet {
	uint32_t interface;
	uint64_t time_ns;  /* CLOCK_REALTIME: all interfaces have if_tsresol 9 */
	uint32_t orig_len; /* of the packet before anybody cut it */
	uint32_t head_len, data_len;
	const uint8_t *head; /* writing: goes before data; reading: none, data has all */
	const uint8_t *data; /* borrowed */
	uint32_t flags;	     /* epb_flags */
	uint64_t id;	     /* epb_packetid */
	const char *comment; /* opt_comment: not NUL-terminated */
	uint32_t comment_len;
};

/* ---- writing ---- */

/* Blocks appended one after the other. A block that has no room sticks as error, and leaves len at
 * the end of the last whole one. */
struct pcapng_out {
	uint8_t *buf; /* the caller's */
	size_t len, cap;
	size_t start; /* of the block being written */
	int error;    /* 0 or -ENOBUFS */
};

void pcapng_section(struct pcapng_out *o, const char *application, const char *comment);
void pcapng_interface(struct pcapng_out *o, const char *name, const char *description);
void pcapng_packet(struct pcapng_out *o, const struct pcapng_packet *p);

/* A journal block: begin, fields in order, end. Names are upper case, digits and '_'; a value has
 * no newline (journal export format, text form). */
void pcapng_journal_begin(struct pcapng_out *o);
void pcapng_journal_field(struct pcapng_out *o, const char *name, const char *value, size_t len);
void pcapng_journal_end(struct pcapng_out *o);

/* ---- reading ---- */

struct pcapng_block {
	uint32_t type;
	uint32_t len;	     /* of the whole block */
	const uint8_t *raw;  /* its first byte; borrowed */
	const uint8_t *body; /* between the lengths */
	uint32_t body_len;
};

/*
 * The block at the start of data. Answers its length; -EAGAIN where the block is longer than the
 * len bytes there are (ret->len says how long it wants to be, 0 where not even that is there);
 * -EBADMSG for lengths that can't be: not a multiple of four, under 12, above PCAPNG_BLOCK_MAX, or
 * not the same twice; -EPROTONOSUPPORT for a section header written in big-endian order.
 */
int pcapng_next(const uint8_t *data, size_t len, struct pcapng_block *ret) must_check;

/* Is this the section header of a file that this reader reads? 0; -EPROTONOSUPPORT: written in big-
 * endian order; -EBADMSG: no section header, or of another version. */
int pcapng_read_section(const struct pcapng_block *b) must_check;

/* An enhanced packet. -EBADMSG where a length or an option passes the block's end, or an option
 * that a capture must have once (flags, packet id, comment) is missing, repeated or of another
 * size. */
int pcapng_read_packet(const struct pcapng_block *b, struct pcapng_packet *ret) must_check;

/* The value of a field of a journal block: its first line that starts with "NAME=". -ENOENT where
 * there is none. */
int pcapng_read_field(const struct pcapng_block *b, const char *name, const char **ret,
		      size_t *ret_len) must_check;

#endif

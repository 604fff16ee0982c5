/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose capture a file is. One that a sentinel recorded is never taken for another's, however it
 * was damaged since: any mark of ours that is left in it decides. Marks are the name in a section
 * header, a journal block with a record or a segment, and a record in a packet's comment. Where the
 * blocks can't be followed any more, the rest is searched byte by byte.
 */
#ifndef SENTINEL_RECORD_ORIGIN_H
#define SENTINEL_RECORD_ORIGIN_H

#include "user/base/util.h"

enum origin {
	ORIGIN_UNKNOWN = 0, /* neither pcap nor pcapng, or too broken at its start to tell */
	ORIGIN_OURS,
	ORIGIN_PCAP,   /* another's, as libpcap writes them */
	ORIGIN_PCAPNG, /* another's */
};

/* Reads the file until it is known. 0, -ENOMEM, or -errno of opening or reading: as
 * open_regular(). */
int origin_of(const char *path, enum origin *ret) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Another tool's pcapng. Read here, for libpcap hands over neither what stands beside a packet nor
 * the packets of several link types. Part of foreign.c. */
#ifndef SENTINEL_RECORD_FOREIGN_BLOCKS_H
#define SENTINEL_RECORD_FOREIGN_BLOCKS_H

#include "user/record/blocks.h"
#include "user/record/foreign_packet.h"

#define FOREIGN_INTERFACES_MAX 4096 /* of a section; behind more, nothing is read */

/* 0, also where the file is cut or broken (the report says so), -ENOMEM, -EIO, or what the reader's
 * function answered. */
int foreign_read_blocks(struct foreign_reader *r, FILE *f) must_check;

#endif

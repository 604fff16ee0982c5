/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader's end of a BPF ring buffer (Documentation/bpf/ringbuf.rst in the kernel).
 *
 * One page that we write (how far we read), one that the kernel writes (how far it wrote), then the
 * data, mapped twice in a row so that no record is ever split. A record is a header of 8 bytes,
 * whose first word is the length with two flag bits, and the data, padded to 8.
 */
#ifndef SENTINEL_SENSE_RING_H
#define SENTINEL_SENSE_RING_H

#include "user/base/util.h"

struct ring {
	void *consumer_page; /* owned mappings */
	void *producer_page;
	size_t page, size; /* of a page, of the data */
};

/* map_fd is borrowed; size is the map's max_entries. 0 or -errno. */
int ring_init(struct ring *r, int map_fd, size_t size) must_check;
void ring_done(struct ring *r); /* an all-zero struct is fine */

/* Hands over what is committed now, at most what was there at the call. Number of records. */
int ring_drain(struct ring *r, void (*sink)(void *arg, const void *rec, size_t len), void *arg);

#endif

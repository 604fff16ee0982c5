/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left over of a stream until its next bytes come. A pool of fixed size: the buffer that
 * was begun longest ago makes room, and what it held is lost, counted.
 */
#ifndef SENTINEL_LIVE_CARRY_H
#define SENTINEL_LIVE_CARRY_H

#include "user/base/util.h"

#define CARRY_BYTES                                                                                \
	4096 /* a hello with post-quantum keys has 1.8 kB, a request's head rarely more */

/* Kept beside the stream; zero: nothing is left over. */
struct carry_ref {
	uint32_t slot; /* from 1 */
	uint32_t turn; /* whose it was when this reference was made */
};

struct carry_slot;

struct carry {
	struct carry_slot *slots;
	uint32_t n, next;
	uint64_t evicted; /* buffers given up while they held something */
};

int carry_init(struct carry *c, uint32_t n) must_check; /* n: 1 or more. 0 or -ENOMEM */
void carry_done(struct carry *c);

/* Something was left over, and had to make room since. */
bool carry_lost(const struct carry *c, const struct carry_ref *ref);

/* How many bytes carry_join() takes. */
size_t carry_room(const struct carry *c, const struct carry_ref *ref);

/* What is left over with the next *len bytes behind it; data itself where nothing is. *len, at
 * most carry_room(), becomes how much it is together. Borrowed until the next call. */
const uint8_t *carry_join(struct carry *c, struct carry_ref *ref, const uint8_t *data, size_t *len);

/* Leaves len bytes over, at most CARRY_BYTES: the end of what carry_join() gave. 0 is fine. */
void carry_keep(struct carry *c, struct carry_ref *ref, const uint8_t *data, size_t len);

/* Nothing is left over. */
void carry_drop(struct carry *c, struct carry_ref *ref);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running SHA-256 by a thread of its own, of bytes that the caller goes on reading meanwhile:
 * what is hashed is what was judged, and costs no time where there are two processors.
 *
 * Bytes come in the order in which they lie in memory: each hasher_add() goes on where the one
 * before ended, or hasher_wait() was between them. Until then the caller leaves them as they are.
 * The thread begins with the first longer piece; where it can't, or there is none, the caller's own
 * does the work.
 */
#ifndef SENTINEL_RECORD_HASHER_H
#define SENTINEL_RECORD_HASHER_H

#include "user/base/util.h"
#include "user/decode/ev.h"

struct hasher;

int hasher_new(struct hasher **ret) must_check;
void hasher_free(struct hasher *h); /* NULL is fine; waits */
int hasher_add(struct hasher *h, const uint8_t *data, size_t len) must_check;
/* Nothing that was added is looked at any more. 0 or -EIO of the digest. */
int hasher_wait(struct hasher *h) must_check;
/* Of all that was added so far; more may be added afterwards. */
int hasher_now(struct hasher *h, uint8_t ret[EV_DIGEST_BYTES]) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A running SHA-256 whose value can be read at any point without ending it. */
#ifndef SENTINEL_RECORD_DIGEST_H
#define SENTINEL_RECORD_DIGEST_H

#include "user/base/util.h"
#include "user/decode/ev.h"

struct digest;

int digest_new(struct digest **ret) must_check;
void digest_free(struct digest *d); /* NULL is fine */
int digest_add(struct digest *d, const void *data, size_t len) must_check;

/* Of all that was added so far; more may be added afterwards. */
int digest_now(struct digest *d, uint8_t ret[EV_DIGEST_BYTES]) must_check;

/* Of what is left to read of fd. 0 or -errno. */
int digest_file(int fd, uint8_t ret[EV_DIGEST_BYTES]) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the far side says to a message of text. Pure. */
#ifndef SENTINEL_COLLECTOR_MESSAGE_H
#define SENTINEL_COLLECTOR_MESSAGE_H

#include "user/base/mac.h"
#include "user/base/util.h"

/* "SENTINEL " and 32 digits; "SENTINEL-ANSWER ", 64 digits, newline, NUL */
#define MESSAGE_TOKEN_TEXT_BYTES (9 + 2 * MAC_NONCE_BYTES)
#define MESSAGE_ANSWER_MAX (16 + 2 * MAC_BYTES + 2)

/*
 * Finds "SENTINEL " and exactly 32 hexadecimal digits anywhere in len bytes of anything; the first
 * one counts. false where there is none. *ret_off is where it starts.
 */
bool message_find_token(const void *data, size_t len, uint8_t ret[MAC_NONCE_BYTES],
			size_t *ret_off);

/* The line that answers a token, NUL-terminated. Returns its length. */
size_t message_answer(const uint8_t key[MAC_BYTES], const uint8_t token[MAC_NONCE_BYTES],
		      char out[MESSAGE_ANSWER_MAX]);

#endif

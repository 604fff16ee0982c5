/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a planted secret, and its harmless twin, look where they lie. Pure: written by the client,
 * found by the session and by the judge.
 *
 *   sentinel-secret-<8 hex>-<32 hex>
 *   sentinel-twin-<8 hex>-<32 hex>
 *
 * The 8 digits are of this trial (MAC: the start of a token of its nonce), so that sessions side by
 * side, which may see each other's environments and files, each take their own; they prove nothing.
 */
#ifndef SENTINEL_BASE_PLANTED_H
#define SENTINEL_BASE_PLANTED_H

#include "user/base/mac.h"

#define PLANTED_TEXT_MAX 64 /* with its NUL */

enum planted_kind { PLANTED_SECRET = 0, PLANTED_TWIN };

void planted_text(char out[PLANTED_TEXT_MAX], enum planted_kind kind,
		  const uint8_t nonce[MAC_NONCE_BYTES], const uint8_t planted[MAC_NONCE_BYTES]);

/* The first well-formed one of that kind and trial in len bytes of anything. false: *ret is
 * untouched. */
bool planted_find(const void *data, size_t len, enum planted_kind kind,
		  const uint8_t nonce[MAC_NONCE_BYTES], uint8_t ret[MAC_NONCE_BYTES]);

#endif

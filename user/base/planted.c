// SPDX-License-Identifier: Apache-2.0
#include "user/base/planted.h"

#include "user/base/util.h"

#define TAG_BYTES 4
#define DIGITS (2 * MAC_NONCE_BYTES)

/* Everything that stands before the digits. */
static void prefix_text(char out[PLANTED_TEXT_MAX], enum planted_kind kind,
			const uint8_t nonce[MAC_NONCE_BYTES])
{
	uint8_t tag[MAC_NONCE_BYTES];
	char hex[2 * TAG_BYTES + 1];

	mac_token(nonce, "planted", tag);
	hex_encode(hex, tag, TAG_BYTES);
	(void)str_format(out, PLANTED_TEXT_MAX, "sentinel-%s-%s-",
			 kind == PLANTED_SECRET ? "secret" : "twin", hex);
}

void planted_text(char out[PLANTED_TEXT_MAX], enum planted_kind kind,
		  const uint8_t nonce[MAC_NONCE_BYTES], const uint8_t planted[MAC_NONCE_BYTES])
{
	size_t n;

	prefix_text(out, kind, nonce);
	n = strlen(out);
	_Static_assert(sizeof("sentinel-secret-12345678-") + DIGITS <= PLANTED_TEXT_MAX, "");
	hex_encode(out + n, planted, MAC_NONCE_BYTES);
}

bool planted_find(const void *data, size_t len, enum planted_kind kind,
		  const uint8_t nonce[MAC_NONCE_BYTES], uint8_t ret[MAC_NONCE_BYTES])
{
	char prefix[PLANTED_TEXT_MAX], digits[DIGITS + 1];
	const char *at = data, *end = at + len;
	size_t n;

	prefix_text(prefix, kind, nonce);
	n = strlen(prefix);
	while ((at = memmem(at, (size_t)(end - at), prefix, n))) {
		at += n;
		if ((size_t)(end - at) < DIGITS)
			return false;
		memcpy(digits, at, DIGITS);
		digits[DIGITS] = '\0';
		if (strlen(digits) == DIGITS && hex_decode(ret, MAC_NONCE_BYTES, digits) == 0)
			return true;
	}
	return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/message.h"

#include "probes/probe.h"

#define TOKEN_HEX (2 * MAC_NONCE_BYTES)

_Static_assert(MESSAGE_TOKEN_TEXT_BYTES == sizeof(MAC_TOKEN_PREFIX) - 1 + TOKEN_HEX, "token text");
_Static_assert(MESSAGE_ANSWER_MAX == sizeof(MAC_ANSWER_PREFIX) + 2 * MAC_BYTES + 1, "answer");

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool message_find_token(const void *data, size_t len, uint8_t ret[MAC_NONCE_BYTES], size_t *ret_off)
{
	const size_t prefix_len = sizeof(MAC_TOKEN_PREFIX) - 1;
	const char *at = data, *end = at + len;
	char hex[TOKEN_HEX + 1];

	while ((at = memmem(at, (size_t)(end - at), MAC_TOKEN_PREFIX, prefix_len))) {
		size_t left;

		at += prefix_len;
		left = (size_t)(end - at);
		if (left < TOKEN_HEX || (left > TOKEN_HEX && is_hex(at[TOKEN_HEX])))
			continue;
		memcpy(hex, at, TOKEN_HEX);
		hex[TOKEN_HEX] = '\0';
		if (hex_decode(ret, MAC_NONCE_BYTES, hex) == 0) {
			*ret_off = (size_t)(at - (const char *)data) - prefix_len;
			return true;
		}
	}
	return false;
}

size_t message_answer(const uint8_t key[MAC_BYTES], const uint8_t token[MAC_NONCE_BYTES],
		      char out[MESSAGE_ANSWER_MAX])
{
	const size_t prefix_len = sizeof(MAC_ANSWER_PREFIX) - 1;
	uint8_t mac[MAC_BYTES];

	mac_answer(key, token, mac);
	memcpy(out, MAC_ANSWER_PREFIX, prefix_len);
	hex_encode(out + prefix_len, mac, sizeof(mac));
	memcpy(out + prefix_len + 2 * MAC_BYTES, "\n", 2);
	return MESSAGE_ANSWER_MAX - 1;
}

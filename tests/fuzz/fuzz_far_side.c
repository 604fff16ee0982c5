// SPDX-License-Identifier: Apache-2.0
/*
 * What reaches the collector, as a DNS message and as text: no proof without a token, and an answer
 * is a message that our own parser takes, and that the zone does not answer again.
 */
#include "probes/collector/message.h"
#include "probes/collector/zone.h"
#include "user/decode/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[MAC_BYTES] = { 7 };

static void as_dns(const uint8_t *data, size_t size)
{
	uint8_t out[ZONE_RESPONSE_MAX], more[ZONE_RESPONSE_MAX];
	bool answered = false, again = false;
	size_t len = zone_respond(key, data, size, out, &answered);
	struct dns_reader r;
	struct dns_entry e;

	if (!len) {
		if (answered)
			abort();
		return;
	}
	if (len > sizeof(out) || dns_open(&r, out, len) < 0 || !(r.flags & DNS_FLAG_RESPONSE) ||
	    memcmp(out, data, 2) != 0)
		abort();
	while (dns_next(&r, &e) > 0)
		;
	if (r.pos != len || zone_respond(key, out, len, more, &again) || again)
		abort();
}

static void as_text(const uint8_t *data, size_t size)
{
	char answer[MESSAGE_ANSWER_MAX], hex[2 * MAC_NONCE_BYTES + 1];
	uint8_t token[MAC_NONCE_BYTES], same[MAC_NONCE_BYTES];
	size_t at;

	if (!message_find_token(data, size, token, &at))
		return;
	if (at > size || size - at < MESSAGE_TOKEN_TEXT_BYTES)
		abort();
	memcpy(hex, data + at + sizeof(MAC_TOKEN_PREFIX) - 1, sizeof(hex) - 1);
	hex[sizeof(hex) - 1] = '\0';
	if (hex_decode(same, sizeof(same), hex) < 0 || memcmp(same, token, sizeof(same)) != 0)
		abort();
	if (message_answer(key, token, answer) != MESSAGE_ANSWER_MAX - 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_dns(data, size);
	as_text(data, size);
	return 0;
}

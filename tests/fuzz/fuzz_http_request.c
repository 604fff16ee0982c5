// SPDX-License-Identifier: Apache-2.0
/*
 * What reaches the far side as HTTP: what the parser takes lies within its bytes and is not taken
 * before its last one, and a reply is whole and proves nothing where there was no token.
 */
#include "probes/collector/message.h"
#include "probes/collector/site.h"
#include "user/rig/rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct site site = { .key = { 7 }, .session = "AQAEA" };

static void within(const uint8_t *data, size_t size, struct http_text t)
{
	const uint8_t *p = (const uint8_t *)t.p;

	/* "/" of a target without a path is not of the message */
	if (p < data || p > data + size || t.len > (size_t)(data + size - p))
		abort();
}

static void parse(const uint8_t *data, size_t size)
{
	struct http_request r = { .keeps = false };
	int status = http_request_parse(data, size, &r), shorter;

	if (!status && size >= HTTP_HEAD_MAX + HTTP_BODY_MAX)
		abort();
	if (status != 200)
		return;
	within(data, size, r.method);
	within(data, size, r.query);
	within(data, size, r.fields);
	within(data, size, r.body);
	if (!http_text_is(r.path, "/"))
		within(data, size, r.path);
	for (size_t i = 1; i <= 64 && i <= size; i++) {
		shorter = http_request_parse(data, size - i, &r);
		if (shorter)
			abort();
	}
}

static void respond(const uint8_t *data, size_t size, const char *to)
{
	uint8_t token[MAC_NONCE_BYTES], local[16];
	char answer[MESSAGE_ANSWER_MAX];
	struct reply r;
	size_t off;

	if (parse_addr(to, local))
		abort();
	site_respond(&site, local, 0, data, size, &r);
	if (!r.len || r.len > sizeof(r.bytes) || memcmp(r.bytes, "HTTP/1.1 ", 9) != 0 ||
	    !memmem(r.bytes, r.len, "\r\n\r\n", 4) || !memcmp(r.bytes + 9, "500", 3))
		abort();
	if (!message_find_token(data, size, token, &off)) {
		if (r.proves)
			abort();
		return;
	}
	(void)message_answer(site.key, token, answer);
	if (!memmem(r.bytes, r.len, answer, strlen(answer) - 1) == r.proves)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	parse(data, size);
	respond(data, size, "203.0.113.1");
	respond(data, size, RIG_METADATA4);
	respond(data, size, RIG_METADATA_HOP4);
	respond(data, size, RIG_METADATA_ECS4);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The matcher: however a stream is cut, the same tokens are found, each as often. The first 16
 * bytes of an input are the token, the 17th says where to cut, the rest is the stream.
 */
#include "user/judge/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(void *arg, uint32_t trial, enum match_form form)
{
	uint32_t *found = arg;

	if (trial != 7 || (unsigned int)form >= MATCH_FORM_MAX)
		abort();
	found[form]++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t whole[MATCH_FORM_MAX] = { 0 }, cut[MATCH_FORM_MAX] = { 0 };
	struct match_stream st = { 0 };
	struct match_set *s;
	size_t step;

	if (size < 17 || match_set_new(&s) < 0)
		return 0;
	if (match_set_add(s, data, 7) < 0)
		abort();
	step = 1 + data[16];
	data += 17;
	size -= 17;
	match_scan(s, NULL, data, size, count, whole);
	for (size_t at = 0; at < size; at += step)
		match_scan(s, &st, data + at, MIN(step, size - at), count, cut);
	if (memcmp(whole, cut, sizeof(whole)) != 0)
		abort();
	match_set_free(s);
	return 0;
}

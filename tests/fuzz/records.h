/* SPDX-License-Identifier: Apache-2.0 */
/* A made-up run as text: one record a line, as a capture has them, a packet's with its bytes in
 * hexadecimal behind it. For fuzzers; a line that is none is passed over. */
#ifndef SENTINEL_FUZZ_RECORDS_H
#define SENTINEL_FUZZ_RECORDS_H

#include "user/record/evjson.h"

#define RECORDS_PACKET_MAX 65536

/* Bytes of hexadecimal at hex. */
static inline uint32_t records_bytes(const char *hex, size_t len, uint8_t out[RECORDS_PACKET_MAX])
{
	uint32_t n = 0;
	char byte[3] = "";

	while (len >= 2 && n < RECORDS_PACKET_MAX) {
		memcpy(byte, hex, 2);
		if (hex_decode(out + n, 1, byte))
			break;
		n++;
		hex += 2;
		len -= 2;
	}
	return n;
}

static inline bool records_parse(const char *line, size_t len, struct ev *ret,
				 uint8_t bytes[RECORDS_PACKET_MAX])
{
	const char *end = memrchr(line, '}', len);
	size_t json = end ? (size_t)(end - line) + 1 : 0;

	if (evjson_read(ret, line, json))
		return false;
	if (ret->type != EV_PACKET)
		return true;
	ret->packet.data = bytes;
	ret->packet.data_len = 0;
	if (len > json + 1)
		ret->packet.data_len = records_bytes(end + 2, len - json - 1, bytes);
	ret->packet.len = MAX(ret->packet.len, ret->packet.data_len);
	return true;
}

/* The next record of what lies between *at and end; its packet's bytes last until the next call.
 * False at the end. */
static inline bool records_next(const uint8_t **at, const uint8_t *end, struct ev *ret)
{
	static uint8_t bytes[RECORDS_PACKET_MAX];

	while (*at < end) {
		const char *line = (const char *)*at;
		const uint8_t *newline = memchr(*at, '\n', (size_t)(end - *at));
		size_t len = (size_t)((newline ? newline : end) - *at);

		*at = newline ? newline + 1 : end;
		if (records_parse(line, len, ret, bytes))
			return true;
	}
	return false;
}

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Records are left out, said twice, said at another time, or changed by themselves: bytes changed
 * anywhere would mostly be no JSON any more. */

#define RECORDS_GROWTH 64 /* of a record at once */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Where the n-th line begins, and how long it is, newline included. */
static inline size_t find_line(const uint8_t *data, size_t size, unsigned int n, size_t *ret_len)
{
	size_t lines = 0, at = 0;

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	for (size_t i = lines ? n % lines : 0; i > 0; i--)
		at = (size_t)((const uint8_t *)memchr(data + at, '\n', size - at) - data) + 1;
	for (*ret_len = 0; at + *ret_len < size;)
		if (data[at + (*ret_len)++] == '\n')
			break;
	return at;
}

static inline size_t take_out(uint8_t *data, size_t size, size_t at, size_t len)
{
	memmove(data + at, data + at + len, size - at - len);
	return size - len;
}

static inline size_t put_in(uint8_t *data, size_t size, size_t max_size, size_t at,
			    const uint8_t *line, size_t len)
{
	if (len > max_size - size)
		return size;
	memmove(data + at + len, data + at, size - at);
	memcpy(data + at, line, len);
	return size + len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size_t len, other_len, at = find_line(data, size, seed >> 8, &len);
	cleanup_free uint8_t *line = malloc(len + RECORDS_GROWTH);

	if (!line)
		return size;
	memcpy(line, data + at, len);
	switch (seed % 4) {
	case 0:
		return take_out(data, size, at, len);
	case 1:
		return put_in(data, size, max_size, at, line, len);
	case 2:
		size = take_out(data, size, at, len);
		at = find_line(data, size, seed >> 20, &other_len);
		return put_in(data, size, max_size, at, line, len);
	default:
		size = take_out(data, size, at, len);
		len = LLVMFuzzerMutate(line, len, len + RECORDS_GROWTH);
		return put_in(data, size, max_size, at, line, len);
	}
}
#endif

#endif

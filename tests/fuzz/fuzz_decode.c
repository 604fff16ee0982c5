// SPDX-License-Identifier: Apache-2.0
/*
 * Ring records. An input is a row of records, each behind its length (2, big endian), at an address
 * of its own so that its end is guarded.
 */
#include "user/decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t touched;

static int check(void *arg unused_arg, const struct ev *ev)
{
	if (ev->type == EV_EXEC && strlen(ev->exec.argv) > SNT_ARGV_MAX)
		abort();
	if (ev->type != EV_PACKET)
		return 0;
	if (ev->packet.data_len > ev->packet.len)
		abort();
	if (ev->packet.data_len < ev->packet.len && !(ev->flags & SNT_F_TRUNCATED))
		abort();
	for (uint32_t i = 0; i < ev->packet.data_len; i++)
		touched ^= ev->packet.data[i];
	return 0;
}

static void push(struct decode *d, const uint8_t *data, size_t len)
{
	cleanup_free uint8_t *rec = malloc(len ? len : 1);

	if (!rec)
		return;
	memcpy(rec, data, len);
	if (decode_push(d, rec, len) != 0)
		touched++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decode_stats stats;
	struct decode *d;

	if (decode_new(&d, NULL, check, NULL) < 0)
		return 0;
	while (size >= 2) {
		size_t len = MIN((size_t)(data[0] << 8 | data[1]), size - 2);

		push(d, data + 2, len);
		data += 2 + len;
		size -= 2 + len;
	}
	if (decode_flush(d) < 0)
		abort();
	decode_stats(d, &stats);
	if (stats.malformed + stats.unknown > stats.records)
		abort();
	decode_free(d);
	return 0;
}

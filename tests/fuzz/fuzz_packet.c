// SPDX-License-Identifier: Apache-2.0
/*
 * Frames, and the streams that they make. An input is a row of frames, each behind a header
 *	length (2, big endian), l2_len (1), milliseconds since the one before (1)
 */
#include "user/decode/packet.h"
#include "user/decode/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t touched;

static void touch(const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		touched ^= data[i];
}

static void check_packet(const uint8_t *data, size_t len, uint32_t l2_len)
{
	struct packet p;

	if (packet_parse(data, len, l2_len, 0x86dd, &p) < 0)
		return;
	if (p.payload_len > p.l4_len || p.l4_len > len || p.wire_len < p.payload_len)
		abort();
	touch(p.l4, p.l4_len);
	touch(p.payload, p.payload_len);
	touched ^= (uint8_t)packet_noise(&p);
	touched ^= packet_is_bare_tcp(&p);
}

static int piece(void *arg unused_arg, const struct stream_piece *p)
{
	uint8_t *state = p->state;

	touch(p->data, p->len);
	for (size_t i = 0; i < STREAM_STATE_MAX; i++)
		state[i]++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Small, so that everything that can be evicted is. */
	static const struct stream_opts opts = {
		.flows = 3, .blocks = 6, .flow_blocks = 4, .fragments = 2, .fragment_ns = 100000000
	};
	struct ev ev = { .type = EV_PACKET, .hook = SNT_HOOK_WORLD };
	struct stream *s;

	if (stream_new(&s, &opts, piece, NULL) < 0)
		return 0;
	while (size >= 4) {
		size_t len = MIN((size_t)(data[0] << 8 | data[1]), size - 4);

		ev.packet.l2_len = data[2];
		ev.packet.eth_proto = 0x86dd;
		ev.time_ns += data[3] * NSEC_PER_MSEC;
		ev.packet.data = data + 4;
		ev.packet.len = ev.packet.data_len = (uint32_t)len;
		check_packet(data + 4, len, data[2]);
		if (stream_push(s, &ev) < 0)
			abort();
		data += 4 + len;
		size -= 4 + len;
	}
	stream_free(s);
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Traffic in tables that are too small for it: every frame is accounted for, nothing is read past.
 * An input is a row of packets, each behind a header
 *	length (2, big endian), l2_len (1), how many bytes were cut off (1)
 */
#include "user/live/traffic.h"
#include "user/report/traffic_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evicted(void *arg, const struct flow_row *row)
{
	struct traffic_totals *gone = arg;

	gone->flows.evicted++;
	gone->flows.evicted_frames += row->sent.frames + row->received.frames;
	gone->flows.evicted_bytes += row->sent.bytes + row->received.bytes;
}

static void check(struct traffic *t, const struct traffic_totals *gone)
{
	struct traffic_totals all;
	uint64_t frames = 0;

	traffic_totals(t, &all);
	for (uint32_t i = 0; i < traffic_flows(t); i++)
		frames += traffic_flow(t, i)->sent.frames + traffic_flow(t, i)->received.frames;
	if (all.frames != frames + all.flows.evicted_frames + all.not_ip + all.malformed ||
	    all.flows.flows != traffic_flows(t) + all.flows.evicted ||
	    memcmp(&all.flows.evicted, &gone->flows.evicted, 3 * sizeof(uint64_t)) != 0)
		abort();
}

/* What a stranger put into names must not get out of a line. */
static void print(struct traffic *t)
{
	const struct names *names = traffic_names(t);
	struct json_out j;

	json_out_init(&j);
	for (uint32_t i = 0; i < traffic_flows(t); i++)
		traffic_json_flow(&j, i, "a", traffic_flow(t, i));
	for (uint32_t i = 0; i < names_count(names); i++)
		traffic_json_question(&j, i, "a", names_row(names, i));
	for (size_t i = 0; i < j.len; i++)
		if ((unsigned char)j.buf[i] < 0x20 && j.buf[i] != '\n')
			abort();
	json_out_done(&j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct traffic_totals gone = { 0 };
	const struct traffic_opts opts = {
		.flows = 3,
		.questions = 2,
		.addresses = 2,
		.carries = 2,
		.stream = { .flows = 4, .blocks = 6, .flow_blocks = 4, .fragments = 2 },
		.evicted = evicted,
		.arg = &gone,
	};
	struct ev ev = { .type = EV_PACKET };
	struct traffic *t;

	if (traffic_new(&t, &opts) < 0)
		return 0;
	while (size >= 4) {
		size_t len = MIN((size_t)(data[0] << 8 | data[1]), size - 4);

		ev.time_ns++;
		ev.packet.l2_len = data[2];
		ev.packet.eth_proto = 0x0800;
		ev.packet.data = data + 4;
		ev.packet.data_len = (uint32_t)len;
		ev.packet.len = (uint32_t)len + data[3];
		if (traffic_push(t, &ev, (enum direction)(data[3] % 3)) < 0)
			abort();
		data += 4 + len;
		size -= 4 + len;
	}
	check(t, &gone);
	print(t);
	traffic_free(t);
	return 0;
}

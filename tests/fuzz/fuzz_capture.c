// SPDX-License-Identifier: Apache-2.0
/*
 * A capture that somebody else wrote, as a file, as blocks in memory and as JSON. Nothing is read
 * past, what is called complete is undamaged, and JSON that is accepted is what would be written.
 */
#include <sys/mman.h>

#include "user/record/block.h"
#include "user/record/capture.h"
#include "user/record/evjson.h"
#include "user/record/pcapng.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t touched;

static int touch(void *arg, const struct ev *ev)
{
	if (ev->type == EV_PACKET)
		for (uint32_t i = 0; i < ev->packet.data_len; i++)
			touched ^= ev->packet.data[i];
	*(uint64_t *)arg += 1;
	return 0;
}

static void as_file(const uint8_t *data, size_t size)
{
	struct capture_report r;
	uint64_t records = 0;
	char path[64];
	int fd = memfd_create("capture", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size) < 0 ||
	    str_format(path, sizeof(path), "/proc/self/fd/%d", fd) < 0)
		abort();
	if (capture_read(path, touch, &records, &r, NULL) == 0) {
		if (r.complete == r.damaged || r.damaged != (r.text[0] != '\0'))
			abort();
		if (r.records != records)
			abort();
	}
	(void)close(fd);
}

static void as_json(const char *text, size_t len)
{
	struct ev ev, again;
	struct json_out j;

	if (evjson_read(&ev, text, len) < 0)
		return;
	json_out_init(&j);
	if (evjson_write(&j, &ev) < 0 || evjson_read(&again, j.buf, j.len) < 0 ||
	    memcmp(&ev, &again, sizeof(ev)) != 0)
		abort();
	json_out_done(&j);
}

static void as_blocks(const uint8_t *data, size_t size)
{
	const struct block_context context = { .lanes = 1 };
	struct pcapng_packet packet;
	struct pcapng_block b;
	struct segment segment;
	const char *text;
	struct ev ev = { .type = EV_NONE };
	size_t len;
	int n;

	for (size_t at = 0; (n = pcapng_next(data + at, size - at, &b)) > 0; at += (size_t)n) {
		if (pcapng_read_packet(&b, &packet) == 0)
			as_json(packet.comment, packet.comment_len);
		if (pcapng_read_field(&b, "SENTINEL", &text, &len) == 0)
			as_json(text, len);
		touched ^= block_read(&ev, &context, &b) == 0;
		touched ^= block_read_segment(&segment, &b) == 0;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	as_file(data, size);
	as_blocks(data, size);
	as_json((const char *)data, size);
	return 0;
}

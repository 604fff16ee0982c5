// SPDX-License-Identifier: Apache-2.0
/*
 * What is told about a run that somebody made up: the HTML page, and the time line as text and as
 * JSON. Nothing in them is markup that is not ours, and nothing drives a terminal. Inputs are as
 * records.h says; they become a capture without seals, so damaged evidence it is.
 */
#include <sys/mman.h>

#include "tests/fuzz/records.h"
#include "user/cmd/evidence.h"
#include "user/cmd/timeline_source.h"
#include "user/record/block.h"
#include "user/sense/hook_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOSTILE "<evil" /* so the names in the corpus begin */

/* All records that can be written, as the blocks of a segment. Bytes of it. */
static size_t make_capture(const uint8_t *data, size_t size, uint8_t *buf, size_t cap)
{
	struct segment segment = { .number = 1 };
	struct pcapng_out out = { .buf = buf, .cap = cap };
	struct block_context context = { .lanes = 8 };
	const uint8_t *at = data;
	struct json_out json;
	uint64_t id = 0;
	struct ev ev;

	json_out_init(&json);
	pcapng_section(&out, "sentinel", "made up");
	while (records_next(&at, data + size, &ev)) {
		if (ev.type == EV_RUN_BEGIN && block_context_init(&context, &ev) < 0)
			continue;
		if (!id && ev.type == EV_RUN_BEGIN)
			(void)str_copy(segment.run, sizeof(segment.run), ev.run_begin.run);
		if (!id)
			block_write_segment(&out, &segment, 0);
		id += block_write(&out, &json, &context, &ev, id + 1) == 0;
	}
	json_out_done(&json);
	return out.len;
}

static void check_text(const char *text, size_t len, bool html)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && !(html && text[i] == '\t'))
			abort();
	if (html && memmem(text, len, HOSTILE, strlen(HOSTILE)))
		abort();
}

static void page(const char *path)
{
	struct html_report p;
	struct evidence *e;
	struct judged j;
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	if (judge_bundle_to_explain(path, &j, NULL) < 0)
		return;
	if (!j.damaged)
		abort(); /* nobody sealed it */
	if (evidence_read(path, &j, &e, NULL) == 0) {
		evidence_page(e, &p);
		p.bundle = path;
		p.damage = "made up";
		p.hook_name = hook_name;
		f = open_memstream(&text, &len);
		if (!f || html_write(f, &p) < 0 || fclose(f))
			abort();
		check_text(text, len, true);
		free(text);
		evidence_free(e);
	}
	judged_done(&j);
}

/* Each line behind its frame. */
static void timeline(const char *path, bool json)
{
	const struct timeline_opts o = { .json = json };
	struct timeline_frame frame;
	char *text = NULL;
	bool damaged;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		abort();
	(void)!timeline_source(path, 1, &o, f, &damaged, NULL);
	(void)fclose(f);
	for (size_t at = 0; at + sizeof(frame) <= len; at += frame.len) {
		memcpy(&frame, text + at, sizeof(frame));
		at += sizeof(frame);
		if (frame.len > len - at)
			abort();
		check_text(text + at, frame.len, false);
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t cap = 4096 + 16 * size;
	cleanup_free uint8_t *capture = malloc(cap);
	cleanup_fd int fd = memfd_create("capture", MFD_CLOEXEC);
	char path[64];

	if (!capture || fd < 0 ||
	    write_all(fd, capture, make_capture(data, size, capture, cap)) < 0 ||
	    str_format(path, sizeof(path), "/proc/self/fd/%d", fd) < 0)
		return 0;
	page(path);
	timeline(path, false);
	timeline(path, true);
	return 0;
}

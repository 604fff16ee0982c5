// SPDX-License-Identifier: Apache-2.0
/*
 * The records of a run that somebody made up, with seals that are right: whatever they say, the
 * judge and the reports hold, the same records give the same verdict, and damaged evidence contains
 * nobody. An input is one record a line, as a capture has them, a packet's with its bytes in
 * hexadecimal behind it.
 */
#include "user/judge/correlate.h"
#include "user/record/evjson.h"
#include "user/report/html.h"
#include "user/report/junit.h"
#include "user/report/table.h"
#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PACKET_MAX 65536

struct record_line {
	const char *text;
	size_t len;
};

static bool next_line(const uint8_t **at, const uint8_t *end, struct record_line *ret)
{
	const uint8_t *newline;

	if (*at == end)
		return false;
	newline = memchr(*at, '\n', (size_t)(end - *at));
	*ret = (struct record_line){ .text = (const char *)*at,
				     .len = (size_t)((newline ? newline : end) - *at) };
	*at = newline ? newline + 1 : end;
	return true;
}

/* What stands behind the object. */
static uint32_t read_bytes(const char *hex, size_t len, uint8_t out[PACKET_MAX])
{
	uint32_t n = 0;
	char byte[3] = "";

	while (len >= 2 && n < PACKET_MAX) {
		memcpy(byte, hex, 2);
		if (hex_decode(out + n, 1, byte))
			break;
		n++;
		hex += 2;
		len -= 2;
	}
	return n;
}

static int read_record(const struct record_line *line, struct ev *ret, uint8_t bytes[PACKET_MAX])
{
	const char *end = memrchr(line->text, '}', line->len);
	size_t json = end ? (size_t)(end - line->text) + 1 : 0;
	int err = evjson_read(ret, line->text, json);

	if (err || ret->type != EV_PACKET)
		return err;
	ret->packet.data = bytes;
	ret->packet.data_len = 0;
	if (line->len > json + 1)
		ret->packet.data_len = read_bytes(end + 2, line->len - json - 1, bytes);
	ret->packet.len = MAX(ret->packet.len, ret->packet.data_len);
	return 0;
}

/* Judges it all; the result is to be released. False where there is none. */
static bool judge(const uint8_t *data, size_t size, bool damaged, struct run_result *ret)
{
	static uint8_t bytes[PACKET_MAX];
	const uint8_t *at = data;
	struct correlate *c;
	struct record_line line;
	struct ev ev;
	int err = 0;

	if (correlate_new(&c) < 0)
		return false;
	while (!err && next_line(&at, data + size, &line))
		if (!read_record(&line, &ev, bytes))
			err = correlate_push(c, &ev);
	/* a log that contradicts itself is damaged */
	if (correlate_finish(c, damaged || err ? EVIDENCE_DAMAGED : EVIDENCE_WHOLE, ret) < 0)
		abort();
	correlate_free(c);
	return true;
}

static void check_damaged(const struct run_result *r)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (r->cells[i].judgement.verdict == VERDICT_CONTAINED)
			abort();
}

static int write_page(FILE *f, const struct run_result *r)
{
	cleanup_free struct html_cell *cells = calloc(r->cells_n + 1, sizeof(*cells));
	const struct html_report page = {
		.r = r,
		.bundle = "a",
		.cells = cells,
		.hook_name = hook_name,
	};

	for (uint32_t i = 0; cells && i < r->cells_n; i++)
		cells[i].quote = "";
	return cells ? html_write(f, &page) : -ENOMEM;
}

/* In every form; where shown to people, nothing drives a terminal. */
static void print(const struct run_result *r)
{
	const struct table_opts o = { .hook_name = hook_name };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f || table_print(f, r, &o) < 0 || junit_write(f, r) < 0 || write_page(f, r) < 0 ||
	    fclose(f))
		abort();
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t')
			abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run_result first, again, damaged;
	struct json_out a, b;

	if (!judge(data, size, false, &first) || !judge(data, size, false, &again) ||
	    !judge(data, size, true, &damaged))
		return 0;
	json_out_init(&a);
	json_out_init(&b);
	if (verdict_json(&a, &first, hook_name) < 0 || verdict_json(&b, &again, hook_name) < 0 ||
	    a.len != b.len || memcmp(a.buf, b.buf, a.len) != 0)
		abort();
	print(&first);
	check_damaged(&damaged);
	json_out_done(&a);
	json_out_done(&b);
	run_result_done(&first);
	run_result_done(&again);
	run_result_done(&damaged);
	return 0;
}

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* Records are left out, said twice, said at another time, or changed by themselves: bytes changed
 * anywhere would mostly be no JSON any more. */

#define GROWTH 64 /* of a record at once */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Where the n-th line begins, and how long it is, newline included. */
static size_t find_line(const uint8_t *data, size_t size, unsigned int n, size_t *ret_len)
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

static size_t take_out(uint8_t *data, size_t size, size_t at, size_t len)
{
	memmove(data + at, data + at + len, size - at - len);
	return size - len;
}

static size_t put_in(uint8_t *data, size_t size, size_t max_size, size_t at, const uint8_t *line,
		     size_t len)
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
	cleanup_free uint8_t *line = malloc(len + GROWTH);

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
		len = LLVMFuzzerMutate(line, len, len + GROWTH);
		return put_in(data, size, max_size, at, line, len);
	}
}
#endif

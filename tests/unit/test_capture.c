// SPDX-License-Identifier: Apache-2.0
/*
 * What the capture accepts is what a replay gets, and no byte of it can change unnoticed.
 *
 *   test_capture --write DIR     makes a capture of some segments for tests with other tools
 *   test_capture --bench DIR N   writes and reads N packets and says how long it took
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/unit/event_random.h"
#include "user/record/capture.h"
#include "user/record/pcapng.h"

#define LANES 2
#define START_NS 5000000000ull
#define REAL_NS 1700000000123456789ull
#define PACKET_MAX 2048

/* ---- folders and files ---- */

static char scratch[64];

static int make_scratch(void **state unused_arg)
{
	(void)str_copy(scratch, sizeof(scratch), "/tmp/test_capture.XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static void empty_folder(const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *item;

	while (dir && (item = readdir(dir)))
		if (item->d_name[0] != '.')
			(void)unlinkat(dirfd(dir), item->d_name, 0);
}

static int remove_scratch(void **state unused_arg)
{
	empty_folder(scratch);
	return rmdir(scratch);
}

static const char *in_scratch(const char *name)
{
	static char path[128];

	(void)str_format(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

struct bytes {
	uint8_t *data;
	size_t len;
};

static struct bytes load(const char *name)
{
	struct bytes b;

	assert_int_equal(read_file(in_scratch(name), 1u << 30, (char **)&b.data, &b.len), 0);
	return b;
}

static void store(const char *name, const void *data, size_t len)
{
	cleanup_fd int fd = open(in_scratch(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, data, len), 0);
}

/* ---- events ---- */

static void run_begin(struct ev *ev)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = EV_RUN_BEGIN;
	ev->time_ns = START_NS;
	ev->run_begin.realtime_ns = REAL_NS;
	ev->run_begin.lanes = LANES;
	ev->run_begin.repeat = 1;
	(void)str_copy(ev->run_begin.run, sizeof(ev->run_begin.run), "01TESTRUN");
	(void)str_copy(ev->run_begin.version, sizeof(ev->run_begin.version), "test");
	(void)str_copy(ev->run_begin.kernel, sizeof(ev->run_begin.kernel), "Linux 6.18");
}

static void run_end(struct ev *ev, uint64_t time_ns)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = EV_RUN_END;
	ev->time_ns = time_ns;
	ev->run_end.total[SNT_HOOK_WORLD].seen = ev->run_end.total[SNT_HOOK_WORLD].delivered = 3;
}

/* A DNS question over UDP, 57 bytes from the IP header. */
static const uint8_t frame[] = {
	0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x45,
	0x00, 0x00, 0x39, 0x00, 0x01, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x02,
	0xcb, 0x00, 0x71, 0x05, 0x9c, 0x40, 0x00, 0x35, 0x00, 0x25, 0x00, 0x00, 0x12, 0x34, 0x01,
	0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 'e',  'x',	'a',  'm',  'p',
	'l',  'e',  0x03, 't',	's',  't',  0x00, 0x00, 0x01, 0x00, 0x01,
};
#define ETH_LEN 14

static void packet(struct ev *ev, uint32_t hook, uint64_t time_ns)
{
	bool tc = hook == SNT_HOOK_WORLD || hook == SNT_HOOK_BOUNDARY || hook == SNT_HOOK_BOX;

	memset(ev, 0, sizeof(*ev));
	ev->type = EV_PACKET;
	ev->time_ns = time_ns;
	ev->hook = hook;
	ev->lane = ev->slot = tc ? 1 : 0;
	ev->trial = 3;
	ev->flags = SNT_F_OWNER | SNT_F_FULLSOCK;
	ev->cgroup_id = 7123;
	ev->cpu_seq = 99;
	ev->mark = 0x1122334455667788;
	ev->packet.owner =
		(struct ev_task){ .pid = 4242, .tid = 4242, .start_ns = START_NS, .name = "probe" };
	ev->packet.cookie = 18342;
	ev->packet.ifindex = 12;
	ev->packet.eth_proto = 0x0800;
	ev->packet.outbound = hook != SNT_HOOK_CG_INGRESS;
	ev->packet.l2_len = tc ? ETH_LEN : 0;
	ev->packet.data = frame + (tc ? 0 : ETH_LEN);
	ev->packet.len = ev->packet.data_len = sizeof(frame) - (tc ? 0 : ETH_LEN);
}

/* Any event that may stand within a run; not one of those that only the writer or the test makes.
 */
static void any_event(struct ev *ev, enum ev_type type, uint64_t time_ns, uint8_t *data)
{
	static const uint32_t hooks[] = { SNT_HOOK_WORLD, SNT_HOOK_BOUNDARY, SNT_HOOK_BOX,
					  SNT_HOOK_CG_EGRESS, SNT_HOOK_CG_INGRESS };

	random_event(ev, type);
	ev->time_ns = time_ns;
	if (type != EV_PACKET)
		return;
	ev->hook = hooks[random_u64() % ARRAY_SIZE(hooks)];
	ev->packet.eth_proto &= 0xffff;
	ev->packet.l2_len = random_u64() % 2 ? ETH_LEN : 0;
	ev->packet.data_len = (uint32_t)(random_u64() % PACKET_MAX);
	ev->packet.len = ev->packet.data_len + (uint32_t)(random_u64() % 9);
	ev->packet.data = data;
	random_bytes_at(data, ev->packet.data_len);
}

static bool is_ordinary(enum ev_type type)
{
	return evfields_of[type].type && type != EV_RUN_BEGIN && type != EV_RUN_END &&
	       type != EV_SEAL;
}

/* ---- what sinks collect ---- */

struct collected {
	size_t n, cap;
	struct {
		struct ev ev;
		uint8_t *data; /* a packet's */
	} * item;
};

static int collect(void *arg, const struct ev *ev)
{
	struct collected *c = arg;

	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->item = realloc(c->item, c->cap * sizeof(*c->item));
		assert_non_null(c->item);
	}
	memcpy(&c->item[c->n].ev, ev, sizeof(*ev));
	c->item[c->n].data = NULL;
	if (ev->type == EV_PACKET) {
		c->item[c->n].data = malloc(ev->packet.data_len + 1);
		assert_non_null(c->item[c->n].data);
		memcpy(c->item[c->n].data, ev->packet.data, ev->packet.data_len);
		c->item[c->n].ev.packet.data = NULL;
	}
	c->n++;
	return 0;
}

static void collected_done(struct collected *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->item[i].data);
	free(c->item);
	*c = (struct collected){ 0 };
}

static void assert_same(const struct collected *a, const struct collected *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		assert_memory_equal(&a->item[i].ev, &b->item[i].ev, sizeof(struct ev));
		if (a->item[i].data)
			assert_memory_equal(a->item[i].data, b->item[i].data,
					    a->item[i].ev.packet.data_len);
	}
}

static int ignore(void *arg unused_arg, const struct ev *ev unused_arg)
{
	return 0;
}

/* ---- writing ---- */

static struct capture_writer *create(void)
{
	struct capture_writer *w = NULL;
	struct diag d;

	empty_folder(scratch);
	assert_int_equal(capture_create(&w, scratch, &d), 0);
	return w;
}

static void put(struct capture_writer *w, const struct ev *ev, struct collected *c)
{
	assert_int_equal(capture_put(w, ev, c ? collect : ignore, c), 0);
}

/* A small run: two packets, an exec, one record that fills the first of two segments. */
static void write_small(bool two_segments, struct collected *c, struct capture_totals *totals)
{
	struct capture_writer *w = create();
	struct ev ev;

	if (two_segments)
		capture_set_bounds(w, 3072, 1u << 20, NSEC_PER_SEC);
	run_begin(&ev);
	put(w, &ev, c);
	packet(&ev, SNT_HOOK_WORLD, START_NS + 1000);
	put(w, &ev, c);
	packet(&ev, SNT_HOOK_CG_EGRESS, START_NS + 900);
	put(w, &ev, c);
	memset(&ev, 0, sizeof(ev));
	ev.type = EV_EXEC;
	ev.time_ns = START_NS + NSEC_PER_SEC + 1000;
	ev.hook = SNT_HOOK_EXEC;
	(void)str_copy(ev.exec.task.name, sizeof(ev.exec.task.name), "a\nb\x1b[2J");
	(void)str_copy(ev.exec.argv, sizeof(ev.exec.argv), "probe \"quoted\" \\ \xff");
	put(w, &ev, c);
	packet(&ev, SNT_HOOK_BOUNDARY, START_NS + NSEC_PER_SEC + 2000);
	put(w, &ev, c);
	run_end(&ev, START_NS + NSEC_PER_SEC + 3000);
	put(w, &ev, c);
	assert_int_equal(capture_close(w, totals), 0);
	capture_free(w);
}

static struct capture_report read_all(struct collected *c)
{
	struct capture_report r;
	struct diag d;
	int err = capture_read(scratch, c ? collect : ignore, c, &r, &d);

	if (err)
		fail_msg("capture_read: %d, %s", err, d.text);
	return r;
}

static void assert_whole(const struct capture_report *r)
{
	if (r->damaged)
		fail_msg("damaged at %" PRIu64 " of %s: %s", r->damaged_offset, r->damaged_file,
			 r->text);
	assert_true(r->complete);
	assert_string_equal(r->text, "");
}

/* ---- tests ---- */

static void test_accepted_is_what_is_read(void **state unused_arg)
{
	struct collected accepted = { 0 }, back = { 0 };
	struct capture_writer *w = create();
	static uint8_t data[PACKET_MAX];
	struct capture_totals totals;
	struct capture_report r;
	uint64_t t = START_NS;
	struct ev ev;

	run_begin(&ev);
	put(w, &ev, &accepted);
	for (int round = 0; round < 40; round++) {
		for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
			if (!is_ordinary(type))
				continue;
			any_event(&ev, type, t += NSEC_PER_MSEC, data);
			put(w, &ev, &accepted);
		}
	}
	run_end(&ev, t);
	put(w, &ev, &accepted);
	assert_int_equal(capture_close(w, &totals), 0);
	capture_free(w);

	r = read_all(&back);
	assert_whole(&r);
	assert_same(&accepted, &back);
	assert_int_equal(r.records, totals.records);
	assert_int_equal(back.n, totals.records);
	assert_int_equal(totals.segments, 1);
	assert_true(totals.seals >= 2); /* more than a second of events */
	for (size_t i = 0; i < back.n; i++)
		assert_int_equal(back.item[i].ev.id, i + 1);
	assert_int_equal(back.item[back.n - 1].ev.type, EV_SEAL);
	assert_int_equal(back.item[back.n - 2].ev.type, EV_RUN_END);
	collected_done(&accepted);
	collected_done(&back);
}

static void test_every_field_is_kept(void **state unused_arg)
{
	struct collected accepted = { 0 };
	struct capture_writer *w = create();
	static uint8_t data[PACKET_MAX];
	struct ev ev;

	run_begin(&ev);
	put(w, &ev, NULL);
	for (enum ev_type type = 0; type < EV_TYPE_MAX; type++) {
		const struct ev *got;

		if (!is_ordinary(type))
			continue;
		any_event(&ev, type, START_NS + type, data);
		put(w, &ev, &accepted);
		got = &accepted.item[accepted.n - 1].ev;
		ev.id = got->id;
		if (type == EV_PACKET) {
			uint32_t cut = MIN(ev.packet.l2_len, ev.packet.data_len);

			assert_memory_equal(accepted.item[accepted.n - 1].data, data + cut,
					    ev.packet.data_len - cut);
			ev.packet.data_len -= cut;
			ev.packet.len -= MIN(ev.packet.l2_len, ev.packet.len);
			ev.packet.l2_len = 0;
			ev.packet.data = NULL;
		}
		assert_memory_equal(got, &ev, sizeof(ev));
	}
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);
	collected_done(&accepted);
}

static void test_link_header_becomes_sll2(void **state unused_arg)
{
	struct collected accepted = { 0 };
	struct capture_writer *w = create();
	static const uint8_t sll2[] = { 0x08, 0, 0, 0, 0, 0, 0, 12, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1 };
	struct bytes b;
	struct ev ev;

	run_begin(&ev);
	put(w, &ev, &accepted);
	packet(&ev, SNT_HOOK_WORLD, START_NS);
	put(w, &ev, &accepted);
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);

	assert_int_equal(accepted.item[1].ev.packet.l2_len, 0);
	assert_int_equal(accepted.item[1].ev.packet.len, sizeof(frame) - ETH_LEN);
	assert_int_equal(accepted.item[1].ev.packet.data_len, sizeof(frame) - ETH_LEN);
	assert_memory_equal(accepted.item[1].data, frame + ETH_LEN, sizeof(frame) - ETH_LEN);
	b = load("capture-000001.pcapng");
	assert_non_null(memmem(b.data, b.len, sll2, sizeof(sll2)));
	free(b.data);
	collected_done(&accepted);
}

static void test_segments(void **state unused_arg)
{
	struct collected accepted = { 0 }, back = { 0 };
	struct capture_totals totals;
	struct capture_report r;

	write_small(true, &accepted, &totals);
	assert_int_equal(totals.segments, 2);
	assert_int_equal(access(in_scratch("capture-000001.pcapng"), F_OK), 0);
	assert_int_equal(access(in_scratch("capture-000002.pcapng"), F_OK), 0);
	r = read_all(&back);
	assert_whole(&r);
	assert_same(&accepted, &back);
	collected_done(&accepted);
	collected_done(&back);
}

/* Ten minutes of event time, however little was recorded: and what is older then, as rings are not
 * in order, begins no other. */
static void test_segments_end_by_time(void **state unused_arg)
{
	static const uint64_t after_s[] = { 1, 599, 600, 10, 1199, 1200, 1201, 1202 };
	struct collected accepted = { 0 }, back = { 0 };
	struct capture_writer *w = create();
	struct capture_totals totals;
	struct capture_report r;
	struct ev ev;

	run_begin(&ev);
	put(w, &ev, &accepted);
	for (size_t i = 0; i < ARRAY_SIZE(after_s); i++) {
		packet(&ev, SNT_HOOK_WORLD, START_NS + after_s[i] * NSEC_PER_SEC);
		put(w, &ev, &accepted);
		assert_int_equal(access(in_scratch("capture-000001.pcapng"), F_OK),
				 after_s[i] <= 600 && i < 3 ? -1 : 0);
		assert_int_equal(access(in_scratch("capture-000002.pcapng"), F_OK),
				 after_s[i] <= 1200 ? -1 : 0);
	}
	run_end(&ev, START_NS + 1203 * NSEC_PER_SEC);
	put(w, &ev, &accepted);
	assert_int_equal(capture_close(w, &totals), 0);
	capture_free(w);
	assert_int_equal(totals.segments, 3);
	r = read_all(&back);
	assert_whole(&r);
	assert_int_equal(r.segments, 3);
	assert_int_equal(r.seals, totals.seals);
	assert_int_equal(r.sealed_records, totals.records);
	assert_int_equal(r.sealed_bytes, totals.bytes);
	assert_same(&accepted, &back);
	collected_done(&accepted);
	collected_done(&back);
}

static void test_missing_and_swapped_segments(void **state unused_arg)
{
	struct capture_report r;
	struct bytes one, two;
	struct diag d;

	write_small(true, NULL, NULL);
	one = load("capture-000001.pcapng");
	two = load("capture-000002.pcapng");

	assert_int_equal(unlink(in_scratch("capture-000002.pcapng")), 0);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
	assert_int_equal(r.damaged_offset, one.len);

	store("capture-000002.pcapng", one.data, one.len);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);

	store("capture-000001.pcapng", two.data, two.len);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
	assert_int_equal(r.damaged_offset % 4, 0);

	store("capture-000001.pcapng", one.data, one.len);
	store("capture-000002.pcapng", two.data, two.len);
	r = read_all(NULL);
	assert_whole(&r);
	store("capture-000003.pcapng", two.data, two.len);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);

	assert_int_equal(unlink(in_scratch("capture-000001.pcapng")), 0);
	assert_int_equal(capture_read(scratch, ignore, NULL, &r, &d), -ENOENT);
	free(one.data);
	free(two.data);
}

/* One file by its own name, and a segment that was never finished. */
static void test_files_and_parts(void **state unused_arg)
{
	struct capture_report r;
	struct bytes b;

	write_small(false, NULL, NULL);
	assert_int_equal(capture_read(in_scratch("capture-000001.pcapng"), ignore, NULL, &r, NULL),
			 0);
	assert_whole(&r);
	b = load("capture-000001.pcapng");
	empty_folder(scratch);
	store("capture-000001.pcapng.part", b.data, b.len / 2);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
	assert_true(r.records > 0);
	assert_non_null(strstr(r.damaged_file, "capture-000001.pcapng.part"));
	free(b.data);
}

/* ---- damage ---- */

/* In place: a file that is truncated and written anew is flushed by some file systems, each time.
 */
static void flip_every_byte_of(const char *name)
{
	cleanup_fd int fd = open(in_scratch(name), O_WRONLY | O_CLOEXEC);
	struct bytes b = load(name);
	struct capture_report r;

	assert_true(fd >= 0);
	for (size_t i = 0; i < b.len; i++) {
		uint8_t other = b.data[i] ^ (uint8_t)(1 + random_u64() % 255);
		struct diag d;
		int err;

		assert_int_equal(pwrite(fd, &other, 1, (off_t)i), 1);
		err = capture_read(scratch, ignore, NULL, &r, &d);
		assert_int_equal(pwrite(fd, &b.data[i], 1, (off_t)i), 1);
		if (err || !r.damaged || r.complete || !r.text[0])
			fail_msg("byte %zu of %s changed, and nobody saw it", i, name);
		if (i < r.damaged_offset || i >= r.damaged_end || r.damaged_end > b.len ||
		    !strstr(r.damaged_file, name))
			fail_msg("byte %zu of %s changed, but the damage is said to be in %s, "
				 "%" PRIu64 " to %" PRIu64,
				 i, name, r.damaged_file, r.damaged_offset, r.damaged_end);
	}
	r = read_all(NULL);
	assert_whole(&r);
	free(b.data);
}

static void test_every_byte_matters(void **state unused_arg)
{
	write_small(false, NULL, NULL);
	flip_every_byte_of("capture-000001.pcapng");
}

static void test_every_byte_of_two_segments_matters(void **state unused_arg)
{
	write_small(true, NULL, NULL);
	flip_every_byte_of("capture-000001.pcapng");
	flip_every_byte_of("capture-000002.pcapng");
}

static void cut_everywhere(const char *name)
{
	struct bytes b = load(name);

	for (size_t len = b.len; len--;) {
		struct capture_report r;

		assert_int_equal(truncate(in_scratch(name), (off_t)len), 0);
		r = read_all(NULL);
		if (!r.damaged || r.complete)
			fail_msg("%s cut at %zu, and nobody saw it", name, len);
	}
	store(name, b.data, b.len);
	free(b.data);
}

static void test_every_cut_is_seen(void **state unused_arg)
{
	write_small(false, NULL, NULL);
	cut_everywhere("capture-000001.pcapng");
	write_small(true, NULL, NULL);
	cut_everywhere("capture-000001.pcapng");
	cut_everywhere("capture-000002.pcapng");
}

/* A block taken out, doubled, or exchanged with its neighbour leaves the framing right. */
static void test_blocks_keep_their_place(void **state unused_arg)
{
	struct bytes b;
	size_t at = 0;

	write_small(false, NULL, NULL);
	b = load("capture-000001.pcapng");
	while (at < b.len) {
		struct pcapng_block block, next;
		struct capture_report r;
		uint8_t *copy = malloc(2 * b.len);

		assert_non_null(copy);
		assert_true(pcapng_next(b.data + at, b.len - at, &block) > 0);
		memcpy(copy, b.data, at);
		memcpy(copy + at, b.data + at + block.len, b.len - at - block.len);
		store("capture-000001.pcapng", copy, b.len - block.len);
		r = read_all(NULL);
		assert_true(r.damaged && !r.complete);

		memcpy(copy + at, b.data + at, block.len);
		memcpy(copy + at + block.len, b.data + at, b.len - at);
		store("capture-000001.pcapng", copy, b.len + block.len);
		r = read_all(NULL);
		assert_true(r.damaged && !r.complete);

		if (at + block.len < b.len) {
			const uint8_t *behind = b.data + at + block.len;

			assert_true(pcapng_next(behind, b.len - at - block.len, &next) > 0);
			memcpy(copy + at, behind, next.len);
			memcpy(copy + at + next.len, b.data + at, block.len);
			memcpy(copy + at + next.len + block.len, behind + next.len,
			       b.len - at - block.len - next.len);
			store("capture-000001.pcapng", copy, b.len);
			r = read_all(NULL);
			if (memcmp(copy, b.data, b.len))
				assert_true(r.damaged && !r.complete);
		}
		free(copy);
		at += block.len;
	}
	free(b.data);
}

/* Damage within the evidence costs what it touches, not all that follows. */
/* What only the next seal would miss stands before what can't be read: the first is meant. */
static void test_the_first_damage_is_named(void **state unused_arg)
{
	struct capture_report r;
	struct bytes b;
	uint8_t *message, *json;

	write_small(false, NULL, NULL);
	b = load("capture-000001.pcapng");
	json = memmem(b.data, b.len, "{\"type\":\"exec\"", 14);
	assert_non_null(json);
	message = memmem(b.data, b.len, "MESSAGE=", 8);
	assert_true(message && message < json);
	message[10] ^= 1;
	json[2] = 'T';
	store("capture-000001.pcapng", b.data, b.len);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
	assert_true(r.damaged_offset <= (size_t)(message - b.data));
	assert_true(r.damaged_end > (size_t)(message - b.data));
	free(b.data);
}

static void test_reading_goes_on_behind_damage(void **state unused_arg)
{
	struct collected whole = { 0 }, back = { 0 };
	struct capture_report r;
	struct bytes b;
	uint8_t *json;

	write_small(false, &whole, NULL);
	b = load("capture-000001.pcapng");
	json = memmem(b.data, b.len, "{\"type\":\"exec\"", 14);
	assert_non_null(json);
	json[2] = 'T';
	store("capture-000001.pcapng", b.data, b.len);
	r = read_all(&back);
	assert_true(r.damaged && !r.complete);
	assert_int_equal(back.n, whole.n - 1);
	assert_int_equal(back.item[back.n - 2].ev.type, EV_RUN_END);
	free(b.data);
	collected_done(&whole);
	collected_done(&back);
}

static void test_strangers_are_refused(void **state unused_arg)
{
	static const uint8_t big_endian[28] = { 0x0a, 0x0d, 0x0d, 0x0a, 0,    0, 0,
						28,   0x1a, 0x2b, 0x3c, 0x4d, 0, 1 };
	struct capture_report r;
	struct diag d;

	empty_folder(scratch);
	assert_int_equal(capture_read(scratch, ignore, NULL, &r, &d), -ENOENT);
	assert_int_equal(capture_read(in_scratch("none"), ignore, NULL, &r, &d), -ENOENT);
	store("capture-000001.pcapng", big_endian, sizeof(big_endian));
	assert_int_equal(capture_read(scratch, ignore, NULL, &r, &d), -EPROTONOSUPPORT);
	assert_non_null(strstr(d.text, "big-endian"));
	store("capture-000001.pcapng", "", 0);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
	store("capture-000001.pcapng", "\xd4\xc3\xb2\xa1 a capture of tcpdump's older form", 36);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
	assert_int_equal(r.records, 0);
}

/* A pipe would hold us until somebody writes, a link passes other bytes off as this bundle's. */
static void test_only_plain_files_are_segments(void **state unused_arg)
{
	struct capture_report r;
	struct diag d;

	empty_folder(scratch);
	assert_int_equal(mkfifo(in_scratch("capture-000001.pcapng"), 0600), 0);
	(void)alarm(10); /* it hung here */
	assert_int_equal(capture_read(scratch, ignore, NULL, &r, &d), -EMEDIUMTYPE);
	assert_int_equal(capture_read(in_scratch("capture-000001.pcapng"), ignore, NULL, &r, &d),
			 -EMEDIUMTYPE);
	(void)alarm(0);
	assert_non_null(strstr(d.text, "plain files"));
	empty_folder(scratch);
	assert_int_equal(symlink("elsewhere", in_scratch("capture-000001.pcapng.part")), 0);
	assert_int_equal(capture_read(scratch, ignore, NULL, &r, &d), -ELOOP);
	empty_folder(scratch);
}

static void test_lengths_that_cannot_be(void **state unused_arg)
{
	static const uint32_t bad[] = {
		0, 4, 8, 11, 13, 15, PCAPNG_BLOCK_MAX + 4, 17u << 20, UINT32_MAX, 0x80000000u
	};
	uint32_t words[8] = { PCAPNG_JOURNAL };
	struct pcapng_block b;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		words[1] = bad[i];
		assert_int_equal(pcapng_next((uint8_t *)words, sizeof(words), &b), -EBADMSG);
	}
	words[1] = sizeof(words);
	words[7] = sizeof(words);
	assert_int_equal(pcapng_next((uint8_t *)words, sizeof(words), &b), sizeof(words));
	assert_int_equal(b.body_len, sizeof(words) - 12);
	assert_int_equal(pcapng_next((uint8_t *)words, sizeof(words) - 1, &b), -EAGAIN);
	assert_int_equal(b.len, sizeof(words));
	assert_int_equal(pcapng_next((uint8_t *)words, 7, &b), -EAGAIN);
	words[7] = sizeof(words) + 4;
	assert_int_equal(pcapng_next((uint8_t *)words, sizeof(words), &b), -EBADMSG);
}

/* ---- order, seals, failure ---- */

static void test_order_is_kept(void **state unused_arg)
{
	struct capture_writer *w = create();
	struct capture_writer *second = NULL;
	struct ev ev;

	assert_int_equal(capture_create(&second, scratch, NULL), -EEXIST);
	packet(&ev, SNT_HOOK_WORLD, START_NS);
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	run_begin(&ev);
	(void)str_copy(ev.run_begin.run, sizeof(ev.run_begin.run), "a\nb");
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	run_begin(&ev);
	ev.run_begin.lanes = SNT_SLOT_MAX;
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	run_begin(&ev);
	memset(ev.run_begin.kernel, 'x', sizeof(ev.run_begin.kernel));
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	run_begin(&ev);
	put(w, &ev, NULL);
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	ev.type = EV_SEAL;
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	packet(&ev, SNT_HOOK_EXEC, START_NS);
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	run_end(&ev, START_NS);
	put(w, &ev, NULL);
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EINVAL);
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);
	{
		struct capture_report r = read_all(NULL);

		assert_whole(&r);
		assert_int_equal(r.records, 3);
	}
}

static void test_nothing_put_leaves_nothing(void **state unused_arg)
{
	struct capture_writer *w = create();
	struct capture_totals totals;

	assert_int_equal(capture_close(w, &totals), 0);
	assert_int_equal(totals.segments, 0);
	assert_int_not_equal(access(in_scratch("capture-000001.pcapng.part"), F_OK), 0);
	capture_free(w);
	capture_free(NULL);
}

static size_t count_seals(const struct collected *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->item[i].ev.type == EV_SEAL;
	return n;
}

static void test_seals_by_time_and_size(void **state unused_arg)
{
	struct collected c = { 0 };
	struct capture_writer *w = create();
	struct ev ev;

	run_begin(&ev);
	put(w, &ev, &c);
	packet(&ev, SNT_HOOK_WORLD, START_NS + NSEC_PER_SEC - 1);
	put(w, &ev, &c);
	assert_int_equal(count_seals(&c), 0);
	assert_int_equal(capture_tick(w, START_NS + NSEC_PER_SEC - 1, collect, &c), 0);
	assert_int_equal(count_seals(&c), 0);
	assert_int_equal(capture_tick(w, START_NS + NSEC_PER_SEC, collect, &c), 0);
	assert_int_equal(count_seals(&c), 1);
	assert_int_equal(capture_tick(w, START_NS + 9 * NSEC_PER_SEC, collect, &c), 0);
	assert_int_equal(count_seals(&c), 1); /* nothing new to seal */
	ev.time_ns = START_NS;		      /* older than the seal */
	put(w, &ev, &c);
	assert_int_equal(count_seals(&c), 1);
	ev.time_ns = START_NS + 2 * NSEC_PER_SEC;
	put(w, &ev, &c);
	assert_int_equal(count_seals(&c), 2);
	while (c.n < 20000 && count_seals(&c) == 2)
		put(w, &ev, &c);
	assert_in_range(c.item[c.n - 1].ev.seal.offset, 4u << 20, (8u << 20));
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);
	collected_done(&c);
}

/* SIGKILL keeps what a seal covered. */
static void test_sealed_is_in_the_file(void **state unused_arg)
{
	struct capture_writer *w = create();
	struct collected back = { 0 };
	struct capture_report r;
	struct ev ev;

	run_begin(&ev);
	put(w, &ev, NULL);
	packet(&ev, SNT_HOOK_WORLD, START_NS + NSEC_PER_SEC);
	put(w, &ev, NULL);
	packet(&ev, SNT_HOOK_WORLD, START_NS + NSEC_PER_SEC + 1);
	put(w, &ev, NULL);
	capture_free(w);
	r = read_all(&back);
	assert_true(r.damaged && !r.complete);
	assert_int_equal(back.n, 3);
	assert_int_equal(back.item[2].ev.type, EV_SEAL);
	collected_done(&back);
}

static void test_a_failed_write_sticks(void **state unused_arg)
{
	struct rlimit before, small = { .rlim_cur = 1u << 20 };
	struct capture_writer *w = create();
	struct capture_report r;
	struct ev ev;
	int err = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	run_begin(&ev);
	put(w, &ev, NULL);
	packet(&ev, SNT_HOOK_WORLD, START_NS);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	for (int i = 0; i < 10000 && !err; i++)
		err = capture_put(w, &ev, ignore, NULL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(capture_put(w, &ev, ignore, NULL), -EFBIG);
	assert_int_equal(capture_tick(w, UINT64_MAX, ignore, NULL), -EFBIG);
	assert_int_equal(capture_close(w, NULL), -EFBIG);
	capture_free(w);
	assert_int_not_equal(access(in_scratch("capture-000001.pcapng"), F_OK), 0);
	r = read_all(NULL);
	assert_true(r.damaged && !r.complete);
}

/* Three seconds of packets, into a file that may have so many bytes. The first error. */
static int write_limited(const struct rlimit *limit, struct capture_totals *totals)
{
	struct capture_writer *w = create();
	struct rlimit before;
	struct ev ev;
	int err, closed;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, limit), 0);
	run_begin(&ev);
	err = capture_put(w, &ev, ignore, NULL);
	for (uint64_t i = 1; i <= 15 && !err; i++) {
		packet(&ev, SNT_HOOK_WORLD, START_NS + i * 200 * NSEC_PER_MSEC);
		err = capture_put(w, &ev, ignore, NULL);
	}
	run_end(&ev, START_NS + 3 * NSEC_PER_SEC);
	if (!err)
		err = capture_put(w, &ev, ignore, NULL);
	closed = capture_close(w, totals);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	capture_free(w);
	return err ? err : closed;
}

static void test_full_at_any_byte(void **state unused_arg)
{
	struct capture_totals totals;
	struct capture_report r;
	struct rlimit limit;

	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(write_limited(&limit, &totals), 0);
	for (limit.rlim_cur = 0; limit.rlim_cur < totals.bytes; limit.rlim_cur++) {
		assert_int_equal(write_limited(&limit, NULL), -EFBIG);
		r = read_all(NULL);
		assert_true(r.damaged && !r.complete);
		assert_true(r.sealed_offset <= limit.rlim_cur);
		assert_true(r.damaged_end <= limit.rlim_cur);
		if (limit.rlim_cur > totals.bytes - 10)
			assert_true(r.sealed_records >= 10);
	}
	assert_int_equal(write_limited(&limit, &totals), 0);
	r = read_all(NULL);
	assert_whole(&r);
}

static int refuse_packets(void *arg, const struct ev *ev)
{
	*(int *)arg += 1;
	return ev->type == EV_PACKET ? -ECANCELED : 0;
}

static void test_a_sinks_answer_comes_back(void **state unused_arg)
{
	struct capture_writer *w = create();
	struct capture_report r;
	struct diag d;
	struct ev ev;
	int calls = 0;

	run_begin(&ev);
	assert_int_equal(capture_put(w, &ev, refuse_packets, &calls), 0);
	packet(&ev, SNT_HOOK_WORLD, START_NS);
	assert_int_equal(capture_put(w, &ev, refuse_packets, &calls), -ECANCELED);
	run_end(&ev, START_NS);
	assert_int_equal(capture_put(w, &ev, refuse_packets, &calls), 0);
	assert_int_equal(calls, 4);
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);
	assert_int_equal(capture_read(scratch, refuse_packets, &calls, &r, &d), -ECANCELED);
	assert_int_equal(calls, 6);
}

/* ---- for other tools, and by hand ---- */

static int write_for_tools(const char *dir)
{
	static const uint32_t hooks[] = { SNT_HOOK_CG_EGRESS, SNT_HOOK_BOX, SNT_HOOK_BOUNDARY,
					  SNT_HOOK_WORLD, SNT_HOOK_CG_INGRESS };
	static uint8_t data[PACKET_MAX];
	struct capture_writer *w = NULL;
	uint64_t t = START_NS;
	struct diag d;
	struct ev ev;
	int err = capture_create(&w, dir, &d);

	if (err)
		return err;
	capture_set_bounds(w, 64u << 10, 4u << 20, NSEC_PER_SEC);
	run_begin(&ev);
	err = capture_put(w, &ev, ignore, NULL);
	for (int i = 0; !err && i < 100; i++) {
		packet(&ev, hooks[(size_t)i % ARRAY_SIZE(hooks)], t += 10 * NSEC_PER_MSEC);
		err = capture_put(w, &ev, ignore, NULL);
	}
	for (int i = 0; !err && i < 2; i++) { /* the first ends a segment by its time */
		packet(&ev, hooks[(size_t)i], t += 600 * NSEC_PER_SEC);
		err = capture_put(w, &ev, ignore, NULL);
	}
	for (enum ev_type type = 0; !err && type < EV_TYPE_MAX; type++) {
		if (!is_ordinary(type) || type == EV_PACKET)
			continue;
		any_event(&ev, type, t += NSEC_PER_MSEC, data);
		err = capture_put(w, &ev, ignore, NULL);
	}
	run_end(&ev, t);
	if (!err)
		err = capture_put(w, &ev, ignore, NULL);
	if (!err)
		err = capture_close(w, NULL);
	capture_free(w);
	return err;
}

static int bench(const char *dir, uint64_t n)
{
	struct capture_writer *w = NULL;
	struct capture_totals totals;
	struct capture_report r;
	uint64_t t0, t1, t2;
	struct ev ev;
	int err = capture_create(&w, dir, NULL);

	if (err)
		return err;
	t0 = mono_ns();
	run_begin(&ev);
	err = capture_put(w, &ev, ignore, NULL);
	packet(&ev, SNT_HOOK_WORLD, START_NS);
	for (uint64_t i = 0; !err && i < n; i++) {
		ev.time_ns += 4000;
		ev.cpu_seq++;
		err = capture_put(w, &ev, ignore, NULL);
	}
	run_end(&ev, ev.time_ns);
	if (!err)
		err = capture_put(w, &ev, ignore, NULL);
	t1 = mono_ns();
	if (!err)
		err = capture_close(w, &totals);
	capture_free(w);
	if (err)
		return err;
	t2 = mono_ns();
	(void)printf("put: %.0f ns a packet, %.0f bytes; close %.3f s, %u segments\n",
		     (double)(t1 - t0) / (double)n, (double)totals.bytes / (double)n,
		     (double)(t2 - t1) / 1e9, totals.segments);
	t0 = mono_ns();
	err = capture_read(dir, ignore, NULL, &r, NULL);
	t1 = mono_ns();
	(void)printf("read: %.0f ns a packet, %s\n", (double)(t1 - t0) / (double)n,
		     r.complete ? "complete" : r.text);
	return err;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted_is_what_is_read),
		cmocka_unit_test(test_every_field_is_kept),
		cmocka_unit_test(test_link_header_becomes_sll2),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_segments_end_by_time),
		cmocka_unit_test(test_missing_and_swapped_segments),
		cmocka_unit_test(test_files_and_parts),
		cmocka_unit_test(test_every_byte_matters),
		cmocka_unit_test(test_every_byte_of_two_segments_matters),
		cmocka_unit_test(test_every_cut_is_seen),
		cmocka_unit_test(test_blocks_keep_their_place),
		cmocka_unit_test(test_the_first_damage_is_named),
		cmocka_unit_test(test_reading_goes_on_behind_damage),
		cmocka_unit_test(test_strangers_are_refused),
		cmocka_unit_test(test_only_plain_files_are_segments),
		cmocka_unit_test(test_lengths_that_cannot_be),
		cmocka_unit_test(test_order_is_kept),
		cmocka_unit_test(test_nothing_put_leaves_nothing),
		cmocka_unit_test(test_seals_by_time_and_size),
		cmocka_unit_test(test_sealed_is_in_the_file),
		cmocka_unit_test(test_a_failed_write_sticks),
		cmocka_unit_test(test_full_at_any_byte),
		cmocka_unit_test(test_a_sinks_answer_comes_back),
	};
	uint64_t n;

	if (argc == 3 && !strcmp(argv[1], "--write"))
		return write_for_tools(argv[2]) ? 1 : 0;
	if (argc == 4 && !strcmp(argv[1], "--bench") && !parse_u64(argv[3], 1, UINT32_MAX, &n))
		return bench(argv[2], n) ? 1 : 0;
	return cmocka_run_group_tests_name("capture", tests, make_scratch, remove_scratch);
}

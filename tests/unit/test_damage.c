// SPDX-License-Identifier: Apache-2.0
/*
 * A run whose cell is contained, and what becomes of it when any byte of its capture is another
 * one, or the rest of it is gone: nothing is contained, and nothing is lost that the seals still
 * prove.
 *
 * There are no sums beside the capture: whoever changes it would make them anew, so that the seals
 * alone have to tell.
 */
#include "tests/unit/story.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "user/cmd/judge_bundle.h"
#include "user/record/capture.h"
#include "user/record/pcapng.h"

#define CAPTURE "capture-000001.pcapng"
#define SEAL_BYTES 16384
/* Of the bytes that are flipped each, so many are judged: the judge takes longer than the reader,
 * and asks of damage only whether there is some. */
#define JUDGED_EVERY 241
#ifdef __SANITIZE_ADDRESS__
#define FLIPPED_EVERY 11 /* five times as slow */
#else
#define FLIPPED_EVERY 1
#endif

/* ---- the run ---- */

static void attempt(struct run *r, const struct ev_trial *t, int64_t ret)
{
	const char *line = token_line(t->token);

	call(r, t,
	     (struct call){ .name = "sendto",
			    .ret = ret < 0 ? ret : (int64_t)strlen(line),
			    .family = AF_INET,
			    .data = line,
			    .data_len = strlen(line) });
}

static void opened(struct run *r, const struct ev_trial *t)
{
	attempt(r, t, 0);
	travels(r, t, SNT_HOOK_WORLD,
		(struct frame){ .protocol = IPPROTO_TCP,
				.tcp_flags = 0x02,
				.payload = token_line(t->token) });
	if (t->far == FAR_DEAF)
		return;
	received_token(r, t, IPPROTO_TCP);
	r->claim.answer = true;
}

static void closed(struct run *r, const struct ev_trial *t)
{
	attempt(r, t, -EACCES);
}

static const struct way way = {
	.probe = { .name = "tcp-fastopen",
		   .channel = CHANNEL_TCP,
		   .family = AF_INET,
		   .answers = true },
	.open = opened,
	.closed = closed,
	.deaf = opened,
};

static char dir[64];

static const char *capture_path(void)
{
	static char path[128];

	(void)str_format(path, sizeof(path), "%s/" CAPTURE, dir);
	return path;
}

static int record(void *arg, const struct ev *ev)
{
	struct ev mine = *ev;

	if (ev->type == EV_RUN_BEGIN)
		mine.run_begin.lanes = 8;
	return capture_put(arg, &mine, NULL, NULL);
}

static void record_run(const struct story *s, uint64_t seal_bytes)
{
	struct run r = { .s = s, .now = 1000 * MS, .key = { 9 }, .sink = record };
	struct capture_writer *w = NULL;
	struct diag d;

	(void)unlink(capture_path());
	assert_int_equal(capture_create(&w, dir, &d), 0);
	capture_set_bounds(w, UINT64_MAX, seal_bytes, 3600 * NSEC_PER_SEC);
	r.sink_arg = w;
	tell_run(&r);
	assert_int_equal(capture_close(w, NULL), 0);
	capture_free(w);
}

static int make(void **state unused_arg)
{
	(void)str_copy(dir, sizeof(dir), "/tmp/test_damage.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state unused_arg)
{
	(void)unlink(capture_path());
	return rmdir(dir);
}

/* ---- the judge ---- */

static void judged(struct judged *ret)
{
	struct diag d;

	if (judge_bundle(dir, ret, &d))
		fail_msg("%s: %s", d.file, d.text);
}

static const struct judgement *box_of(const struct judged *j)
{
	return &cell_of_box(&j->result)->judgement;
}

static void assert_whole(enum verdict want)
{
	struct judged j;

	judged(&j);
	assert_false(j.damaged);
	assert_int_equal(j.result.status, RUN_VALID);
	assert_int_equal(box_of(&j)->verdict, want);
	judged_done(&j);
}

/* What can't be read at all has no verdict: that is fine, too. */
static bool is_held_good(const char *what, size_t at)
{
	struct judged j;
	struct diag d;
	bool good = false;

	if (judge_bundle(dir, &j, &d))
		return false;
	if (!j.damaged || !j.report.text[0])
		fail_msg("%s at %zu, and nobody saw it", what, at);
	for (uint32_t i = 0; i < j.result.cells_n; i++) {
		enum verdict v = j.result.cells[i].judgement.verdict;

		good |= v == VERDICT_CONTAINED || v == VERDICT_PROVISIONAL;
	}
	judged_done(&j);
	return good;
}

static void never_good(const char *what, size_t at)
{
	if (is_held_good(what, at))
		fail_msg("%s at %zu, and something is contained", what, at);
}

static int ignore(void *arg unused_arg, const struct ev *ev unused_arg)
{
	return 0;
}

/* Seen by the reader, and the byte is among those that it names. */
static void never_whole(size_t at)
{
	struct capture_report r;

	if (capture_read(dir, ignore, NULL, &r, NULL))
		return;
	if (!r.damaged || r.complete)
		fail_msg("byte %zu changed, and nobody saw it", at);
	if (at < r.damaged_offset || at >= r.damaged_end)
		fail_msg("byte %zu changed, and %zu to %zu are blamed: %s", at,
			 (size_t)r.damaged_offset, (size_t)r.damaged_end, r.text);
	if (r.sealed_offset > at)
		fail_msg("byte %zu changed, and %zu bytes are called sealed", at,
			 (size_t)r.sealed_offset);
}

struct bytes {
	uint8_t *data;
	size_t len;
};

static struct bytes load(void)
{
	struct bytes b;

	assert_int_equal(read_file(capture_path(), 1u << 24, (char **)&b.data, &b.len), 0);
	return b;
}

/* ---- flipped ---- */

static void test_every_byte(void **state unused_arg)
{
	static const struct story honest = { .way = &way };
	cleanup_fd int fd = -1;
	struct bytes b;

	record_run(&honest, SEAL_BYTES);
	assert_whole(VERDICT_CONTAINED);
	b = load();
	fd = open(capture_path(), O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t i = 0; i < b.len; i += FLIPPED_EVERY) {
		uint8_t other = b.data[i] ^ (uint8_t)(1u << i % 8);

		assert_int_equal(pwrite(fd, &other, 1, (off_t)i), 1);
		never_whole(i);
		if (i / FLIPPED_EVERY % JUDGED_EVERY == 0)
			never_good("a byte changed", i);
		assert_int_equal(pwrite(fd, &b.data[i], 1, (off_t)i), 1);
	}
	assert_whole(VERDICT_CONTAINED);
	free(b.data);
}

/* ---- cut ---- */

static void test_every_edge(void **state unused_arg)
{
	static const struct story honest = { .way = &way };
	struct pcapng_block block;
	struct bytes b;
	size_t edges = 0;

	record_run(&honest, SEAL_BYTES);
	b = load();
	for (size_t at = 0; at < b.len; at += block.len, edges++) {
		assert_int_equal(truncate(capture_path(), (off_t)at), 0);
		never_good("cut", at);
		{
			cleanup_fd int fd = open(capture_path(), O_WRONLY | O_CLOEXEC);

			assert_int_equal(write_all(fd, b.data, b.len), 0);
		}
		assert_true(pcapng_next(b.data + at, b.len - at, &block) > 0);
	}
	assert_true(edges > 100);
	assert_whole(VERDICT_CONTAINED);
	free(b.data);
}

/* ---- what is proven all the same ---- */

/* The offset of the n-th seal's block, from behind. */
static size_t seal_from_behind(const struct bytes *b, unsigned int n)
{
	static const char mark[] = "{\"type\":\"seal\"";
	size_t at = b->len;

	while (n--) {
		do
			at--;
		while (memcmp(b->data + at, mark, strlen(mark)) != 0);
	}
	return at;
}

static void change(size_t at, const struct bytes *b)
{
	cleanup_fd int fd = open(capture_path(), O_WRONLY | O_CLOEXEC);
	uint8_t other = b->data[at] ^ 1;

	assert_int_equal(pwrite(fd, &other, 1, (off_t)at), 1);
}

static void assert_escaped(const char *what)
{
	struct judged j;

	judged(&j);
	assert_true(j.damaged);
	if (box_of(&j)->verdict != VERDICT_ESCAPED || box_of(&j)->grade != GRADE_PAYLOAD)
		fail_msg("%s: the seals prove an escape, and it is gone", what);
	for (uint32_t i = 0; i < j.result.cells_n; i++) {
		const struct judgement *v = &j.result.cells[i].judgement;

		if (v->grade == GRADE_NONE)
			assert_int_equal(v->reasons, R(EVIDENCE_DAMAGED));
	}
	judged_done(&j);
}

static void test_a_sealed_escape_stays(void **state unused_arg)
{
	static const struct story escape = { .way = &way, .on = opened };
	struct bytes b;
	size_t last, before;
	struct judged j;

	record_run(&escape, 2048);
	assert_whole(VERDICT_ESCAPED);
	b = load();
	last = seal_from_behind(&b, 1);
	before = seal_from_behind(&b, 2);
	change(before + 600, &b); /* behind the seal before the last */
	assert_escaped("a byte changed behind it");
	assert_int_equal(truncate(capture_path(), (off_t)last - 200), 0);
	assert_escaped("cut behind it");

	/* the seal that covers the escape is gone: it could be anybody's */
	free(b.data);
	record_run(&escape, UINT64_MAX);
	b = load();
	change(b.len / 2, &b);
	judged(&j);
	assert_true(j.damaged);
	assert_int_equal(box_of(&j)->verdict, VERDICT_INCONCLUSIVE);
	assert_int_equal(box_of(&j)->reasons, R(EVIDENCE_DAMAGED));
	judged_done(&j);
	free(b.data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_byte, make, clean),
		cmocka_unit_test_setup_teardown(test_every_edge, make, clean),
		cmocka_unit_test_setup_teardown(test_a_sealed_escape_stays, make, clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

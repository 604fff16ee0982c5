// SPDX-License-Identifier: Apache-2.0
#include "user/record/capture.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "user/record/block.h"
#include "user/record/hasher.h"

/* Read() into a window, not mmap(): a file that is cut under a mapping is a signal. */
#define WINDOW_BYTES (4u << 20)
#define READ_BYTES                                                                                 \
	(256u << 10) /* at once: what was just read is still in a cache when it is looked at */
#define HASH_BYTES (128u << 10) /* at once, for the hasher to work beside the judge */
_Static_assert(WINDOW_BYTES >= 2 * PCAPNG_BLOCK_MAX + READ_BYTES, "a block always fits");

struct reader {
	ev_sink_fn sink;
	void *arg;
	struct capture_report *report;
	struct hasher *hasher;
	struct json_out json; /* scratch for writing seals anew */
	struct pcapng_out out;

	uint8_t *window;
	size_t at, end; /* what is read and not yet walked */
	size_t hashed;	/* up to where the window is in the digest; at most `at` */
	uint64_t base;	/* bytes of the run before the window's first */
	int fd;

	char path[256];		/* of the segment, for the report */
	size_t block_len;	/* of the block being looked at; 0 where none could be read */
	uint64_t segment_base;	/* bytes of the run before the segment */
	uint64_t sealed;	/* bytes of the run that the last good seal covers */
	struct segment segment; /* expected: its run is known after the first */
	struct block_context context;
	struct ev ev; /* the record being looked at */
	uint64_t records, last_ns;
	bool begun, ended, final; /* run.begin, run.end, and its seal were read */
};

static uint64_t position(const struct reader *r)
{
	return r->base + r->at;
}

/* Up to where what begins here is not worth anything: a block's end, or where none can be read,
 * that of the file. */
static uint64_t damage_end(const struct reader *r)
{
	struct stat st;

	if (r->block_len || r->fd < 0 || fstat(r->fd, &st))
		return position(r) - r->segment_base + r->block_len;
	return MAX(position(r) - r->segment_base, (uint64_t)st.st_size);
}

/*
 * Only the first damage is told: what comes after is often its consequence. Where it was noticed is
 * not where it begins: a byte that only the next seal would miss may stand before it. What is
 * certain is that all before the last good seal is whole.
 */
static void printf_like(2, 3) damage(struct reader *r, const char *fmt, ...)
{
	struct capture_report *report = r->report;
	va_list ap;

	if (report->damaged)
		return;
	report->damaged = true;
	report->damaged_offset = MAX(r->sealed, r->segment_base) - r->segment_base;
	report->damaged_end = MAX(damage_end(r), report->damaged_offset);
	(void)escape_text(report->damaged_file, sizeof(report->damaged_file), r->path,
			  strlen(r->path));
	va_start(ap, fmt);
	(void)vsnprintf(report->text, sizeof(report->text), fmt, ap);
	va_end(ap);
}

/* ---- the window ---- */

static int hash_walked(struct reader *r)
{
	int err = hasher_add(r->hasher, r->window + r->hashed, r->at - r->hashed);

	r->hashed = r->at;
	return err;
}

/* What is walked goes, what is not goes to the front. */
static int make_room(struct reader *r)
{
	int err = hash_walked(r);

	if (!err)
		err = hasher_wait(r->hasher);
	if (err)
		return err;
	memmove(r->window, r->window + r->at, r->end - r->at);
	r->base += r->at;
	r->end -= r->at;
	r->at = r->hashed = 0;
	return 0;
}

/* Reads on, behind what is there. 1, 0 at the end of the file, -errno. */
static int refill(struct reader *r)
{
	int err = r->at - r->hashed >= HASH_BYTES ? hash_walked(r) : 0;
	ssize_t n;

	if (!err && WINDOW_BYTES - r->end < READ_BYTES)
		err = make_room(r);
	if (err)
		return err;
	do
		n = read(r->fd, r->window + r->end, READ_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->end += (size_t)n;
	return n > 0;
}

/* 1 and a block; 0 at the end of the segment or where the framing is broken; -errno. */
static int next_block(struct reader *r, struct pcapng_block *ret)
{
	for (;;) {
		int n = pcapng_next(r->window + r->at, r->end - r->at, ret);

		r->block_len = n > 0 ? ret->len : 0;
		if (n > 0)
			return 1;
		if (n == -EPROTONOSUPPORT)
			return n;
		if (n != -EAGAIN) {
			damage(r, "no block of a capture starts at byte %" PRIu64,
			       position(r) - r->segment_base);
			return 0;
		}
		n = refill(r);
		if (n < 0)
			return n;
		if (!n && r->at < r->end)
			damage(r, "the file is cut in the middle of a block");
		if (!n)
			return 0;
	}
}

/* ---- records ---- */

/* A seal is the one record that no later seal may cover, so every byte of it is compared with what
 * the writer makes of its values. */
static bool seal_is_canonical(struct reader *r, const struct ev *ev, const struct pcapng_block *b)
{
	r->out.len = 0;
	return !block_write(&r->out, &r->json, &r->context, ev, ev->id) && r->out.len == b->len &&
	       !memcmp(r->out.buf, b->raw, b->len);
}

static int check_seal(struct reader *r, const struct ev *ev, const struct pcapng_block *b)
{
	uint8_t sha256[EV_DIGEST_BYTES];
	int err = hash_walked(r);

	if (!err)
		err = hasher_now(r->hasher, sha256);
	if (err)
		return err;
	if (ev->seal.offset != position(r) || ev->time_ns != r->last_ns ||
	    !seal_is_canonical(r, ev, b))
		damage(r, "the seal is not as the recorder writes it");
	else if (memcmp(sha256, ev->seal.sha256, sizeof(sha256)))
		damage(r, "they are not what was sealed, or the seal at their end is not");
	r->sealed = position(r) + b->len;
	r->report->seals++;
	return 0;
}

static void extend_sealed(struct reader *r, const struct ev *ev, const struct pcapng_block *b)
{
	struct capture_report *report = r->report;

	if (report->damaged)
		return;
	report->sealed_records = ev->id;
	report->sealed_ns = ev->time_ns;
	report->sealed_bytes = position(r) + b->len;
	report->sealed_offset = report->sealed_bytes - r->segment_base;
	(void)escape_text(report->sealed_file, sizeof(report->sealed_file), r->path,
			  strlen(r->path));
}

/* What must hold between one record and the next. */
static int check_order(struct reader *r, const struct ev *ev, const struct pcapng_block *b)
{
	bool first = !r->records;

	if (ev->id != r->records + 1)
		damage(r, "record %" PRIu64 " follows record %" PRIu64, ev->id, r->records);
	if (first != (ev->type == EV_RUN_BEGIN))
		damage(r, "a run must have one beginning, at its start");
	if (r->final || (r->ended && ev->type != EV_SEAL))
		damage(r, "there is a record after the end of the run");
	if (ev->type == EV_SEAL)
		return check_seal(r, ev, b);
	return 0;
}

static void follow(struct reader *r, const struct ev *ev)
{
	if (ev->type == EV_RUN_BEGIN && strcmp(ev->run_begin.run, r->segment.run))
		damage(r, "the segment belongs to another run");
	if (ev->type == EV_RUN_END)
		r->ended = true;
	if (ev->type == EV_SEAL && r->ended)
		r->final = true;
	r->records = ev->id;
	r->last_ns = ev->time_ns;
}

/* The anchor of all times comes with the first record, which is a journal block and needs none. */
static int begin(struct reader *r, const struct ev *ev)
{
	int err = r->begun ? 0 : block_context_init(&r->context, ev);

	if (!err)
		r->begun = true;
	return err;
}

static int take_record(struct reader *r, const struct pcapng_block *b)
{
	struct ev *ev = &r->ev;
	int err = block_read(ev, &r->context, b);

	if (!err)
		err = begin(r, ev);
	if (err) {
		damage(r, "the record at byte %" PRIu64 " can't be read",
		       position(r) - r->segment_base);
		r->records++; /* it had a number: go on behind it */
		return 0;
	}
	err = check_order(r, ev, b);
	if (err)
		return err;
	follow(r, ev);
	if (ev->type == EV_SEAL)
		extend_sealed(r, ev, b);
	r->report->records++;
	return r->sink(r->arg, ev);
}

/* ---- segments ---- */

static void check_segment(struct reader *r, const struct pcapng_block *b)
{
	struct segment s;

	if (block_read_segment(&s, b))
		damage(r, "the segment does not say which it is");
	else if (s.number != r->segment.number)
		damage(r, "this is segment %u where %u belongs", s.number, r->segment.number);
	else if (r->segment.run[0] && strcmp(r->segment.run, s.run))
		damage(r, "the segment belongs to another run");
	else
		r->segment = s;
}

enum place { AT_SECTION, AT_INTERFACES, AT_RECORDS };

static int take_block(struct reader *r, const struct pcapng_block *b, enum place *place)
{
	if (*place == AT_SECTION) {
		int err = pcapng_read_section(b);

		if (err == -EPROTONOSUPPORT)
			return err;
		if (err)
			damage(r, "this is no capture of a sentinel");
		*place = AT_INTERFACES;
		return 0;
	}
	if (*place == AT_INTERFACES && b->type == PCAPNG_IDB)
		return 0;
	if (*place == AT_INTERFACES) {
		check_segment(r, b);
		*place = AT_RECORDS;
		return 0;
	}
	if (b->type != PCAPNG_EPB && b->type != PCAPNG_JOURNAL) {
		damage(r, "there is a block that no recorder wrote");
		return 0;
	}
	return take_record(r, b);
}

static int read_segment(struct reader *r)
{
	enum place place = AT_SECTION;
	struct pcapng_block b;
	int more, err;

	r->segment_base = position(r);
	while ((more = next_block(r, &b)) > 0) {
		err = take_block(r, &b, &place);
		if (err)
			return err;
		r->at += b.len;
	}
	if (more < 0)
		return more;
	if (place != AT_RECORDS)
		damage(r, "the segment has no records");
	r->at = r->end; /* behind broken framing nothing is read */
	r->block_len = 0;
	r->fd = -1;
	r->report->bytes = position(r);
	r->report->segments++;
	return hash_walked(r);
}

/* One after the other until one is missing; where that was too early, there is no run.end. */
static int read_folder(struct reader *r, int dir_fd, const char *path)
{
	char name[SEGMENT_NAME_MAX];
	int err = 0;

	for (uint32_t n = 1; !err; n++) {
		cleanup_fd int fd = segment_open(dir_fd, n, name);

		if (fd == -ENOENT && n > 1)
			return 0;
		if (fd < 0)
			return fd;
		if (position(r) != r->sealed)
			damage(r, "the segment does not end with a seal");
		(void)str_format(r->path, sizeof(r->path), "%s/%s", path, name);
		r->fd = fd;
		r->segment.number = n;
		err = read_segment(r);
	}
	return err;
}

static int read_bundle(struct reader *r, const char *bundle)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, bundle, 0);

	if (fd == -EISDIR) {
		fd = open(bundle, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : read_folder(r, fd, bundle);
	}
	if (fd < 0)
		return fd;
	(void)str_copy(r->path, sizeof(r->path), bundle);
	r->fd = fd;
	r->segment.number = 1;
	return read_segment(r);
}

static void conclude(struct reader *r)
{
	if (!r->ended)
		damage(r, "the capture ends without the end of the run");
	else if (!r->final)
		damage(r, "the end of the run is not sealed");
	r->report->complete = r->final && !r->report->damaged;
}

static int reader_init(struct reader *r)
{
	json_out_init(&r->json);
	r->window = malloc(WINDOW_BYTES);
	r->out = (struct pcapng_out){ .buf = malloc(PCAPNG_BLOCK_MAX), .cap = PCAPNG_BLOCK_MAX };
	return r->window && r->out.buf ? hasher_new(&r->hasher) : -ENOMEM;
}

static void reader_done(struct reader *r)
{
	hasher_free(r->hasher);
	json_out_done(&r->json);
	free(r->out.buf);
	free(r->window);
}

int capture_read(const char *bundle, ev_sink_fn sink, void *arg, struct capture_report *ret,
		 struct diag *d)
{
	struct capture_report report = { 0 };
	struct reader r = { .sink = sink, .arg = arg, .report = &report, .fd = -1 };
	int err = reader_init(&r);

	if (!err)
		err = read_bundle(&r, bundle);
	if (!err)
		conclude(&r);
	reader_done(&r);
	if (err == -EPROTONOSUPPORT)
		return diag_set(d, err, bundle, 0, 0,
				"the capture was written on a big-endian machine");
	if (err == -ENOENT)
		return diag_set(d, err, bundle, 0, 0, "there is no capture here");
	if (err == -EMEDIUMTYPE || err == -EISDIR || err == -ELOOP)
		return diag_set(d, err, bundle, 0, 0, "a capture is made of plain files");
	if (err)
		return diag_set(d, err, bundle, 0, 0, "can't read the capture: %s", strerror(-err));
	*ret = report;
	return 0;
}

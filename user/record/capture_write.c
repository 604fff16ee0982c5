// SPDX-License-Identifier: Apache-2.0
#include "user/record/capture.h"

#include <fcntl.h>

#include "user/record/block.h"
#include "user/record/digest.h"
#include "user/record/interfaces.h"
#include "user/record/segment.h"

#define SEGMENT_BYTES (64ull << 20)
#define SEGMENT_NS (600 * NSEC_PER_SEC)
#define SEAL_BYTES (4ull << 20)
#define SEAL_NS NSEC_PER_SEC
/* Blocks gather until this much is there; one more always fits behind it. */
#define FLUSH_BYTES (1u << 20)
#define BUFFER_BYTES (FLUSH_BYTES + PCAPNG_BLOCK_MAX)

struct capture_writer {
	int dir_fd, fd;
	int error; /* of the first write that failed: sticks */
	bool begun, ended;
	struct segment segment;
	struct block_context context;
	struct pcapng_out out; /* what is not in the file yet */
	size_t hashed;	       /* how much of it is in the digest */
	struct digest *digest;
	struct json_out json;
	struct ev accepted; /* the last record, as the reader reads it */

	uint64_t segment_max, segment_ns, seal_max, seal_ns;
	uint64_t flushed;		  /* bytes of all segments that left the buffer */
	uint64_t segment_start;		  /* where the segment started, counted like flushed */
	uint64_t segment_start_ns;	  /* the time of the record before it */
	uint64_t sealed_bytes, sealed_ns; /* at the last seal */
	uint64_t last_ns;		  /* of the last record */
	bool unsealed;			  /* a record follows the last seal */
	uint64_t records, seals;
};

static int fail(struct capture_writer *w, int err)
{
	if (err && !w->error)
		w->error = err;
	return err;
}

static uint64_t total_bytes(const struct capture_writer *w)
{
	return w->flushed + w->out.len;
}

static int hash_pending(struct capture_writer *w)
{
	int err = digest_add(w->digest, w->out.buf + w->hashed, w->out.len - w->hashed);

	w->hashed = w->out.len;
	return fail(w, err);
}

static int flush(struct capture_writer *w)
{
	int err = hash_pending(w);

	if (!err)
		err = fail(w, write_all(w->fd, w->out.buf, w->out.len));
	if (err)
		return err;
	w->flushed += w->out.len;
	w->out.len = w->hashed = 0;
	return 0;
}

/* ---- segments ---- */

static int open_segment(struct capture_writer *w)
{
	char name[SEGMENT_NAME_MAX];

	segment_name(w->segment.number, true, name);
	w->fd = openat(w->dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	return w->fd < 0 ? -errno : 0;
}

static void write_head(struct capture_writer *w, uint64_t time_ns)
{
	char text[INTERFACE_TEXT_MAX], name[INTERFACE_NAME_MAX], comment[SEGMENT_RUN_MAX + 32];

	(void)str_format(comment, sizeof(comment), "run %s, segment %u", w->segment.run,
			 w->segment.number);
	w->segment_start = total_bytes(w);
	w->segment_start_ns = time_ns;
	pcapng_section(&w->out, "sentinel", comment);
	for (uint32_t i = 0; i < interfaces_count(w->context.lanes); i++) {
		interfaces_describe(w->context.lanes, i, name, text);
		pcapng_interface(&w->out, name, text);
	}
	block_write_segment(&w->out, &w->segment, time_ns + w->context.to_realtime_ns);
}

/* The segment is whole: its name says so only when its bytes are on disk. */
static int finish_segment(struct capture_writer *w)
{
	char part[SEGMENT_NAME_MAX], whole[SEGMENT_NAME_MAX];
	int fd, err = flush(w);

	if (err)
		return err;
	segment_name(w->segment.number, true, part);
	segment_name(w->segment.number, false, whole);
	if (fsync(w->fd))
		return fail(w, -errno);
	fd = TAKE_FD(w->fd);
	if (close(fd) || renameat(w->dir_fd, part, w->dir_fd, whole) || fsync(w->dir_fd))
		return fail(w, -errno);
	return 0;
}

static int rotate(struct capture_writer *w)
{
	int err = finish_segment(w);

	if (err)
		return err;
	w->segment.number++;
	err = fail(w, open_segment(w));
	if (!err)
		write_head(w, w->last_ns);
	return err;
}

/* ---- records ---- */

/* What is in the capture from now on is what the reader makes of it. */
static int hand_over(struct capture_writer *w, size_t start, uint64_t id, ev_sink_fn accepted,
		     void *arg, int *ret_accepted)
{
	struct ev *ev = &w->accepted;
	struct pcapng_block block;

	if (pcapng_next(w->out.buf + start, w->out.len - start, &block) < 0 ||
	    block_read(ev, &w->context, &block) || ev->id != id) {
		w->out.len = start; /* nothing that can't be read again is evidence */
		return -EINVAL;
	}
	w->records++;
	w->last_ns = ev->time_ns;
	w->unsealed = ev->type != EV_SEAL;
	*ret_accepted = accepted ? accepted(arg, ev) : 0;
	return 0;
}

static int append(struct capture_writer *w, const struct ev *ev, ev_sink_fn accepted, void *arg,
		  int *ret_accepted)
{
	uint64_t id = w->records + 1;
	size_t start;
	int err = w->out.len >= FLUSH_BYTES ? flush(w) : 0;

	if (err)
		return err;
	start = w->out.len;
	err = block_write(&w->out, &w->json, &w->context, ev, id);
	if (err == -ENOBUFS)
		return -EINVAL; /* longer than any block may be */
	if (err)
		return err;
	return hand_over(w, start, id, accepted, arg, ret_accepted);
}

/* A seal goes to the file at once: what it covers is then safe from our own death. */
static int seal(struct capture_writer *w, ev_sink_fn accepted, void *arg, int *ret_accepted)
{
	struct ev ev;
	int err = hash_pending(w);

	if (err)
		return err;
	memset(&ev, 0, sizeof(ev));
	ev.type = EV_SEAL;
	ev.time_ns = w->last_ns;
	ev.seal.offset = total_bytes(w);
	err = fail(w, digest_now(w->digest, ev.seal.sha256));
	if (!err)
		err = fail(w, append(w, &ev, accepted, arg, ret_accepted));
	if (err)
		return err;
	w->seals++;
	w->sealed_bytes = total_bytes(w);
	w->sealed_ns = w->last_ns;
	return flush(w);
}

/* Rings are not ordered in time, so a record may be older than the last seal, or than the segment.
 */
static bool segment_is_full(const struct capture_writer *w)
{
	return total_bytes(w) - w->segment_start >= w->segment_max ||
	       (w->last_ns > w->segment_start_ns &&
		w->last_ns - w->segment_start_ns >= w->segment_ns);
}

static bool seal_is_due(const struct capture_writer *w)
{
	return w->ended || segment_is_full(w) || total_bytes(w) - w->sealed_bytes >= w->seal_max ||
	       (w->last_ns > w->sealed_ns && w->last_ns - w->sealed_ns >= w->seal_ns);
}

/* A run's name goes into lines of text of ours: letters, digits and -_. only. */
static bool is_run_name(const char *run)
{
	size_t len =
		strspn(run, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.");

	return len && !run[len];
}

static int begin(struct capture_writer *w, const struct ev *ev)
{
	int err = block_context_init(&w->context, ev);

	if (err)
		return err;
	if (strnlen(ev->run_begin.run, SEGMENT_RUN_MAX) == SEGMENT_RUN_MAX ||
	    !is_run_name(ev->run_begin.run))
		return -EINVAL;
	(void)str_copy(w->segment.run, sizeof(w->segment.run), ev->run_begin.run);
	write_head(w, ev->time_ns);
	w->sealed_ns = ev->time_ns;
	w->begun = true;
	return 0;
}

/* The first event was refused: there is nothing yet. */
static void unbegin(struct capture_writer *w)
{
	w->begun = false;
	w->out.len = w->hashed = 0;
}

static int admit(struct capture_writer *w, const struct ev *ev)
{
	if (w->error)
		return w->error;
	if (w->ended || ev->type == EV_SEAL)
		return -EINVAL;
	if (!w->begun)
		return begin(w, ev);
	if (ev->type == EV_RUN_BEGIN)
		return -EINVAL;
	return !w->unsealed && segment_is_full(w) ? rotate(w) : 0;
}

int capture_put(struct capture_writer *w, const struct ev *ev, ev_sink_fn accepted, void *arg)
{
	int accepted_record = 0, accepted_seal = 0;
	int err = admit(w, ev);

	if (err)
		return err;
	err = append(w, ev, accepted, arg, &accepted_record);
	if (err) {
		if (!w->records)
			unbegin(w);
		return err;
	}
	w->ended = ev->type == EV_RUN_END;
	if (seal_is_due(w))
		err = seal(w, accepted, arg, &accepted_seal);
	if (err)
		return err;
	return accepted_record ? accepted_record : accepted_seal;
}

int capture_tick(struct capture_writer *w, uint64_t now_ns, ev_sink_fn accepted, void *arg)
{
	int accepted_seal = 0, err;

	if (w->error)
		return w->error;
	if (!w->unsealed || now_ns < w->sealed_ns || now_ns - w->sealed_ns < w->seal_ns)
		return 0;
	err = seal(w, accepted, arg, &accepted_seal);
	return err ? err : accepted_seal;
}

static int discard_empty(struct capture_writer *w)
{
	char name[SEGMENT_NAME_MAX];

	segment_name(w->segment.number, true, name);
	return unlinkat(w->dir_fd, name, 0) ? -errno : 0;
}

int capture_close(struct capture_writer *w, struct capture_totals *ret)
{
	int ignored, err = w->error;

	if (err)
		return err;
	if (w->fd < 0)
		return -EBADF; /* closed before */
	if (!w->begun)
		err = discard_empty(w);
	if (!err && w->unsealed)
		err = seal(w, NULL, NULL, &ignored);
	if (!err && w->begun)
		err = finish_segment(w);
	w->ended = true;
	if (err || !ret)
		return err;
	*ret = (struct capture_totals){
		.records = w->records,
		.seals = w->seals,
		.bytes = w->flushed,
		.segments = w->begun ? w->segment.number : 0,
	};
	return digest_now(w->digest, ret->sha256);
}

/* ---- life ---- */

int capture_create(struct capture_writer **ret, const char *dir, struct diag *d)
{
	struct capture_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return diag_set(d, -ENOMEM, dir, 0, 0, "out of memory");
	w->fd = -1;
	w->segment.number = 1;
	capture_set_bounds(w, SEGMENT_BYTES, SEAL_BYTES, SEAL_NS);
	w->segment_ns = SEGMENT_NS;
	json_out_init(&w->json);
	w->out = (struct pcapng_out){ .buf = malloc(BUFFER_BYTES), .cap = BUFFER_BYTES };
	err = w->out.buf ? digest_new(&w->digest) : -ENOMEM;
	w->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!err && w->dir_fd < 0)
		err = -errno;
	if (!err && segment_exists(w->dir_fd, 1))
		err = -EEXIST;
	if (!err)
		err = open_segment(w);
	if (err) {
		capture_free(w);
		return diag_set(d, err, dir, 0, 0, "can't start a capture: %s", strerror(-err));
	}
	*ret = w;
	return 0;
}

void capture_set_bounds(struct capture_writer *w, uint64_t segment_bytes, uint64_t seal_bytes,
			uint64_t seal_ns)
{
	w->segment_max = segment_bytes;
	w->seal_max = seal_bytes;
	w->seal_ns = seal_ns;
}

void capture_free(struct capture_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		(void)close(w->fd);
	if (w->dir_fd >= 0)
		(void)close(w->dir_fd);
	digest_free(w->digest);
	json_out_done(&w->json);
	free(w->out.buf);
	free(w);
}

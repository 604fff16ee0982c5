/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture: the truth of a run, from which alone the judge judges (DESIGN.md 6.5).
 *
 * capture-000001.pcapng and its successors in the run's folder. One segment:
 *
 *   section header, one interface per hook and lane, journal record of the segment,
 *   then the records in the order in which they were accepted: packets as enhanced packet blocks
 *   (SLL2 header, packet from its network header, JSON in the comment), all else as journal blocks
 *   (MESSAGE for people, SENTINEL=JSON), seals among them.
 *
 * A seal holds the SHA-256 of every byte before its block, counted from the first byte of the first
 * segment: `cat capture-*.pcapng | head -c OFFSET | sha256sum`. There is one after each second of
 * event time, after 4 MiB, at the end of each segment, and right after run.end. Its time is that of
 * the record before it. A segment ends with 64 MiB, after ten minutes of event time, or with the
 * run; it is called NAME.part until it is whole.
 *
 * Time in blocks is CLOCK_REALTIME, by the anchor in run.begin; the JSON has CLOCK_MONOTONIC.
 * "Outbound" in a packet's flags and SLL2 header means: away from the sandbox, at every hook.
 */
#ifndef SENTINEL_RECORD_CAPTURE_H
#define SENTINEL_RECORD_CAPTURE_H

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

/* ---- writing: one thread ---- */

struct capture_writer;

struct capture_totals {
	uint64_t records; /* seals included */
	uint64_t seals;
	uint64_t bytes; /* of all segments */
	uint32_t segments;
	uint8_t sha256[EV_DIGEST_BYTES]; /* of all bytes of all segments */
};

/* Opens the first segment in dir, which must exist and hold no capture (-EEXIST). The caller owns
 * *ret. */
int capture_create(struct capture_writer **ret, const char *dir, struct diag *d) must_check;

/* For tests: other bounds than 64 MiB a segment, 4 MiB and one second a seal. Before the first put.
 */
void capture_set_bounds(struct capture_writer *w, uint64_t segment_bytes, uint64_t seal_bytes,
			uint64_t seal_ns);

/*
 * Accepts one event: gives it the next record number (the id in ev is not looked at), appends it,
 * then decodes the block it just made with the reader's own code and hands that to accepted, so
 * that the live judge gets exactly what a replay will; a seal that is due is made and handed over
 * too.
 *
 * What accepted gets differs from ev in this: id is set; a packet starts at its network header
 * (l2_len 0, len without the link header; the source MAC is in the SLL2 header only); what is
 * unused in arrays is zero. EV_SEAL is the writer's own: -EINVAL. The first event must be
 * EV_RUN_BEGIN and nothing follows EV_RUN_END (-EINVAL). An event that evjson_write() refuses is
 * -EINVAL and leaves nothing behind. A write that failed (-ENOSPC, -EIO, ...) sticks: that is the
 * answer from then on. What accepted answers, if not 0, is handed back; the record is in the
 * capture then.
 */
int capture_put(struct capture_writer *w, const struct ev *ev, ev_sink_fn accepted,
		void *arg) must_check;

/* Seals what is unsealed if the last seal is a second older than now_ns (CLOCK_MONOTONIC): for when
 * no event comes. The seal goes to accepted. */
int capture_tick(struct capture_writer *w, uint64_t now_ns, ev_sink_fn accepted,
		 void *arg) must_check;

/* Seals what put has not (only where there was no EV_RUN_END), syncs, renames the last segment. The
 * answer tells whether everything is on disk. ret may be NULL. */
int capture_close(struct capture_writer *w, struct capture_totals *ret) must_check;

/* NULL is fine. Without capture_close() the last segment stays a .part. */
void capture_free(struct capture_writer *w);

/* ---- reading ---- */

struct capture_report {
	uint64_t records; /* handed to the sink */
	bool complete;	  /* run.end and its seal are there and nothing follows */
	bool damaged;	  /* some byte is not what was written, or the end is missing */
	/* In damaged_file: the first byte that is not as it was written is from here on, and before
	 * the end; what is before them is sealed and whole. The same where something is missing. */
	uint64_t damaged_offset, damaged_end;
	char damaged_file[256]; /* escaped */
	char text[256];		/* what is wrong, for people; "" where nothing is */

	/* The sealed prefix: all up to the last good seal before any damage, the seal included */
	uint64_t sealed_records, sealed_ns; /* CLOCK_MONOTONIC; 0 where there is none */
	uint64_t sealed_bytes;		    /* of all segments */
	uint64_t sealed_offset;		    /* in sealed_file */
	char sealed_file[256];		    /* escaped */

	uint64_t seals, bytes; /* all that was read */
	uint32_t segments;
};

/*
 * Reads a run's folder, or one capture file, once, in constant memory, and hands every record to
 * sink in the order of the capture, seals too; verifies every seal, record number and what a
 * packet's block says against its JSON. Records are handed over before the seal that covers them
 * was read: only ret tells, at the end, what they are worth.
 *
 * 0 whenever there was something to read, also where it is damaged: a record that can't be decoded
 * is skipped, broken framing ends the reading, and ret says what and where. -ENOENT: no capture;
 * -EPROTONOSUPPORT: big-endian; -EMEDIUMTYPE, -EISDIR, -ELOOP: a segment is no plain file; else
 * -errno of a read, or what sink answered; d says more.
 */
int capture_read(const char *bundle, ev_sink_fn sink, void *arg, struct capture_report *ret,
		 struct diag *d) must_check;

#endif

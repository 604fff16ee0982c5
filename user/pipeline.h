/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one-way flow of a run (DESIGN.md 4), on two threads:
 *
 *   reader:  sense -> queue                     drains the rings, waits for nothing else
 *   writer:  queue -> decode -> attribute -> record -> correlate
 *
 * The run's log (pipeline_log()) joins at record. The judge gets what the capture accepted, in that
 * order, decoded from the capture's own bytes.
 */
#ifndef SENTINEL_PIPELINE_H
#define SENTINEL_PIPELINE_H

#include "user/base/diag.h"
#include "user/decode/ev.h"
#include "user/judge/correlate.h"
#include "user/sense/sense.h"

struct pipeline;

/* Opens the capture in dir and writes begin as its first record. s is borrowed for the pipeline's
 * life. 0, or -errno with d filled. The caller owns *ret: pipeline_free(). */
int pipeline_new(struct pipeline **ret, struct sense *s, const char *dir, const struct ev *begin,
		 struct diag *d) must_check;

/* Starts the threads. */
int pipeline_start(struct pipeline *p) must_check;

/* One entry of the run's log, copied; from one thread. Its time, where 0, becomes now. Accepted
 * before any kernel record that was made after this returned. */
int pipeline_log(struct pipeline *p, const struct ev *ev) must_check;

/* How many entries of the log are not accepted yet: who adds what a stranger causes stops there. */
uint64_t pipeline_log_waiting(struct pipeline *p);

/* Waits until everything that was in the rings and the log when this was called is accepted. */
void pipeline_sync(struct pipeline *p);

/* Until when W must listen, by what is accepted so far: correlate_window_end(). */
uint64_t pipeline_window_end(const struct pipeline *p);

/* The first error of the flow (capture or correlation), 0 while there is none. */
int pipeline_error(const struct pipeline *p);

/* After sense_stop(): drains the rings a last time and ends the reader. Counters may be read after
 * this, and their losses logged. */
void pipeline_drain(struct pipeline *p);

/* After pipeline_drain(): records that have a sequence number and never came, over all rings and
 * CPUs. More than none, where the kernel counted no full ring, is a loss that nobody accounts for.
 */
uint64_t pipeline_missing(const struct pipeline *p);

/* Writes end (EV_RUN_END) and closes the capture, ends the writer, and judges. 0 or the flow's
 * first error; ret is filled only on 0: run_result_done(). */
int pipeline_finish(struct pipeline *p, const struct ev *end, struct run_result *ret) must_check;

void pipeline_free(struct pipeline *p); /* NULL is fine; ends what still runs */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct ev as one flat JSON object, and back: the form that every record has in a capture.
 *
 * One table (evfields.c) serves both directions, so that nothing is written that can't be read. The
 * first key is "type"; then come the fields of every record and those of its type, with the names
 * of ECS where it has one ("process.pid", "source.ip"), always in the same order:
 *
 *   {"type":"exit","id":"12","t":"81234567890","hook":"exit","process.pid":4242}
 *
 * A field that is zero (false, empty, the address ::) is left out, and one that is left out reads
 * as zero. 64-bit numbers are decimal strings, times CLOCK_MONOTONIC nanoseconds, bytes
 * hexadecimal, addresses text. Text is what a stranger chose: it is escaped as escape_text() does
 * it before it becomes a JSON string, so that a decoded value still drives no terminal and any byte
 * comes back.
 */
#ifndef SENTINEL_RECORD_EVJSON_H
#define SENTINEL_RECORD_EVJSON_H

#include "user/base/json_out.h"
#include "user/base/util.h"
#include "user/decode/ev.h"

/* "packet", "exec", "run.begin", "trial", ...; "unknown" for a number that is no type. Static. */
const char *ev_type_name(enum ev_type type);

/* Appends ev as one object to j. A packet's bytes are not in it. 0; -EINVAL where the event holds
 * what the format can't say (unknown type, hook or enumerator, a length above its array);
 * json_out_error() otherwise. */
int evjson_write(struct json_out *j, const struct ev *ev) must_check;

/*
 * Reads one object: text of len bytes, no NUL needed, nothing but white space after it. Unknown
 * keys with a string, number or literal value are skipped. ret is written only on success; what the
 * text doesn't name is zero, and a packet's data is NULL, its length what the text says.
 * -EBADMSG: not JSON, not flat, "type" unknown or not first, a value of the wrong kind or range,
 * text or bytes longer than their array, a key twice.
 */
int evjson_read(struct ev *ret, const char *text, size_t len) must_check;

/* The same for one record after the other into the same memory, which is all zero before the first
 * and touched by nobody else: only what the record before has left there is cleared. After an error
 * it is all zero. */
int evjson_reread(struct ev *ev, const char *text, size_t len) must_check;

#endif

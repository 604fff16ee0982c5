/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the far side says over HTTP: an ordinary server that takes what is sent to it, and, at their
 * addresses, look-alikes of the metadata services of clouds (metadata.h). Pure.
 *
 * A token travels as text (mac.h) anywhere in a request. The proof stands in the reply as
 * "SENTINEL-ANSWER <64 digits>", within JSON that looks like the real one.
 *
 *   any request with a token              200, JSON with the proof
 *   GET of / or /index.html without       200, a page
 *   others without                        GET: 404; POST, PUT, PATCH: 202; the rest: 405
 *   what is no request                    the status of http_request_parse()
 */
#ifndef SENTINEL_COLLECTOR_SITE_H
#define SENTINEL_COLLECTOR_SITE_H

#include "probes/collector/metadata.h"

struct site {
	uint8_t key[MAC_BYTES]; /* of the run */
	char session[METADATA_SESSION_DIGITS + 1];
};

/* session: random. 0 or -errno. */
int site_init(struct site *s, const uint8_t key[MAC_BYTES]) must_check;

/* Answers one message that came to the address `local`. */
void site_respond(const struct site *s, const uint8_t local[16], uint64_t now_s, const void *msg,
		  size_t len, struct reply *ret);

#endif

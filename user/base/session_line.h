/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines by which a session speaks to whoever launched it. Pure: written by sentinel-probe, read
 * by the client out of whatever a sandbox printed.
 *
 *   SENTINEL1:alive1 instance=<32 hex> mac=<64 hex>
 *   SENTINEL1:ran instance=<32 hex> mac=<64 hex> view=<word> answer=<64 hex, or ->
 *                 secret=<64 hex, or -> twin=<64 hex, or ->
 *   SENTINEL1:alive2 instance=<32 hex> mac=<64 hex>
 *
 * One line each. One space between the fields, in this order, nothing left out. What a line means
 * is checked by the daemon (mac.h); here only its form is.
 *
 * Who is there beside a session says SENTINEL1:ready, perhaps with " at=ADDRESS" behind it.
 */
#ifndef SENTINEL_BASE_SESSION_LINE_H
#define SENTINEL_BASE_SESSION_LINE_H

#include "user/base/mac.h"
#include "user/base/util.h"

#define SESSION_LINE_PREFIX "SENTINEL1:"
#define SESSION_LINE_READY SESSION_LINE_PREFIX "ready"
#define SESSION_VIEW_MAX 64  /* bytes of view with its NUL */
#define SESSION_LINE_MAX 480 /* bytes of the longest line, newline and NUL included */

enum session_line_kind {
	SESSION_LINE_NONE = 0,
	SESSION_LINE_ALIVE1,
	SESSION_LINE_RAN,
	SESSION_LINE_ALIVE2,
};

struct session_line {
	enum session_line_kind kind;
	uint8_t instance[MAC_NONCE_BYTES];
	uint8_t mac[MAC_BYTES];
	/* of `ran` only, else zero */
	bool has_answer, has_secret, has_twin;
	uint8_t answer[MAC_BYTES];
	uint8_t secret[MAC_BYTES], twin[MAC_BYTES]; /* mac_plant() of each */
	char view[SESSION_VIEW_MAX];		    /* [A-Za-z0-9_-]+: safe to show */
};

/*
 * Finds the first well-formed session line in len bytes of hostile output: NULs and anything else
 * may stand before the prefix and behind the last field (a terminal's "\r", a log's quote). The
 * last field must end where its alphabet ends. len is not bounded; the work is linear in it.
 *
 * 0; -ENOENT where no prefix is in it; -EBADMSG where none that is leads a well-formed line. *ret
 * is written on 0 only.
 */
int session_line_parse(const char *line, size_t len, struct session_line *ret) must_check;

/* Writes the line with its newline into out of size n (SESSION_LINE_MAX always suffices). 0,
 * -EINVAL for a kind or view that could not be read back, or -ENAMETOOLONG. */
int session_line_format(char *out, size_t n, const struct session_line *line) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token matcher: does a token of this run stand in these bytes, in any of the codings that a
 * way out may use? Pure, exact: one bit of difference is no match.
 *
 * Found are the 16 bytes of a token
 *   MATCH_RAW     as they are
 *   MATCH_HEX     as 32 hexadecimal digits, of any mix of case
 *   MATCH_BASE32  in RFC 4648 base32 of either case, alone or anywhere within longer data
 *   MATCH_BASE64  in base64 or base64url, alone or anywhere within longer data
 * at any offset, with or without padding. Coding is judged digit by digit, so digits must follow
 * each other: for names of DNS, scan the labels joined (dns_name_join()) as a second pass.
 */
#ifndef SENTINEL_MATCH_H
#define SENTINEL_MATCH_H

#include "user/base/util.h"

#define MATCH_TOKEN_BYTES 16
#define MATCH_TOKENS_MAX 65536
#define MATCH_TAIL_MAX 31 /* longest coding, 32 digits, less one */

enum match_form { MATCH_RAW = 0, MATCH_HEX, MATCH_BASE32, MATCH_BASE64, MATCH_FORM_MAX };

/* What is carried from one piece of a stream to the next: its last bytes. All zero = a beginning.
 */
struct match_stream {
	uint8_t len;
	uint8_t tail[MATCH_TAIL_MAX];
};

typedef void (*match_fn)(void *arg, uint32_t trial, enum match_form form);

struct match_set;

/* The caller owns *ret: match_set_free(). 0 or -ENOMEM. */
int match_set_new(struct match_set **ret) must_check;
void match_set_free(struct match_set *s); /* NULL is fine */

/* 0; -EEXIST where the token is there already; -ENOSPC above MATCH_TOKENS_MAX; -ENOMEM. */
int match_set_add(struct match_set *s, const uint8_t token[MATCH_TOKEN_BYTES],
		  uint32_t trial) must_check;

/*
 * The next len bytes of a stream; st may be NULL for bytes that stand alone. fn is called once for
 * each occurrence that ends in these bytes, also one that began in earlier pieces. Allocates
 * nothing.
 */
void match_scan(const struct match_set *s, struct match_stream *st, const void *data, size_t len,
		match_fn fn, void *arg);

const char *match_form_text(enum match_form form); /* "raw", "hex", "base32", "base64" */

#endif

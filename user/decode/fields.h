/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of one record, translated: what decode.c does for every type but packets. */
#ifndef SENTINEL_FIELDS_H
#define SENTINEL_FIELDS_H

#include "user/decode/decode.h"

/* The header. Clears the rest of ev. */
void fields_header(struct ev *ev, const struct snt_hdr *h);

void fields_task(struct ev_task *ret, const struct snt_task *t);

/* rec: h->len bytes, of any alignment. ev's header is filled. 0; -EBADMSG where the record is
 * shorter than its type or a length in it lies; -ENOENT for a type that is not known. */
int fields_body(struct ev *ev, const struct snt_hdr *h, const void *rec,
		const struct decode_opts *names) must_check;

#endif

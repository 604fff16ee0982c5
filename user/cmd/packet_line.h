/* SPDX-License-Identifier: Apache-2.0 */
/* A packet of the capture in one line, for time lines. */
#ifndef SENTINEL_PACKET_LINE_H
#define SENTINEL_PACKET_LINE_H

#include "user/base/util.h"
#include "user/decode/ev.h"
#include "user/record/message.h"

/* From where to where, by which protocol, how long. Of a packet's content nothing is shown. token
 * says in which coding the token of trial t is in it, "" where it is not, or t is NULL. */
void packet_line(const struct ev_packet *e, const struct ev_trial *t, char out[MESSAGE_MAX],
		 char *token, size_t token_n);

#endif

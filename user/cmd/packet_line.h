/* SPDX-License-Identifier: Apache-2.0 */
/* A packet of the capture in one line, for `explain`. */
#ifndef SENTINEL_PACKET_LINE_H
#define SENTINEL_PACKET_LINE_H

#include "user/decode/ev.h"
#include "user/record/message.h"

/* From where to where, by which protocol, how long, and whether the trial's token is in it, in
 * which coding. Of a packet's content nothing is shown. */
void packet_line(const struct ev_packet *e, const struct ev_trial *t, char out[MESSAGE_MAX]);

#endif

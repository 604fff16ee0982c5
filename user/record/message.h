/* SPDX-License-Identifier: Apache-2.0 */
/* One line for people about a record: what Wireshark and tshark show of a journal block. */
#ifndef SENTINEL_RECORD_MESSAGE_H
#define SENTINEL_RECORD_MESSAGE_H

#include "user/base/util.h"
#include "user/decode/ev.h"

#define MESSAGE_MAX 512

/* Escaped (no newline, no control character), cut where it is too long. A function of ev alone. */
const char *message_text(const struct ev *ev, char out[MESSAGE_MAX]);

#endif

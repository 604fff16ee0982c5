/* SPDX-License-Identifier: Apache-2.0 */
/* One line for people about a record: what Wireshark and tshark show of a journal block. */
#ifndef SENTINEL_RECORD_MESSAGE_H
#define SENTINEL_RECORD_MESSAGE_H

#include "user/base/util.h"
#include "user/decode/ev.h"

#define MESSAGE_MAX 512

/* Escaped (no newline, no control character), cut where it is too long. A function of ev alone. */
const char *message_text(const struct ev *ev, char out[MESSAGE_MAX]);

/* Parts of such lines. "203.0.113.7:9000", "[2001:db8::1]:9000" */
#define ENDPOINT_MAX 64
const char *message_endpoint(const uint8_t a[16], uint32_t port, char out[ENDPOINT_MAX]);

/* What a call was aimed at: an address, a name, a file; "" for none. Hostile, not escaped; in out
 * or in c. */
const char *message_call_aim(const struct ev_call *c, char out[SNT_CALL_DATA_MAX + 1]);

#endif

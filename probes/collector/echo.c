// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/echo.h"

#define REQUEST4 8
#define REPLY4 0
#define REQUEST6 128
#define REPLY6 129

/* RFC 1071, over whole messages: an odd last byte counts as if a zero followed. */
static uint16_t checksum(const uint8_t *p, size_t len)
{
	uint32_t sum = 0; /* at most 32 Ki times 65535 */

	for (size_t i = 0; i < len; i++)
		sum += i & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

bool echo_is_request(bool v6, const uint8_t *msg, size_t len)
{
	if (len < ECHO_HEADER_BYTES || msg[0] != (v6 ? REQUEST6 : REQUEST4) || msg[1])
		return false;
	return v6 || checksum(msg, len) == 0;
}

void echo_make_reply(bool v6, uint8_t *msg, size_t len)
{
	uint16_t sum;

	msg[0] = v6 ? REPLY6 : REPLY4;
	msg[2] = 0;
	msg[3] = 0;
	if (v6) /* the kernel's to fill in */
		return;
	sum = checksum(msg, len);
	msg[2] = (uint8_t)(sum >> 8);
	msg[3] = (uint8_t)sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The Internet checksum (RFC 1071). Pure. */
#ifndef SENTINEL_PROBES_CHECKSUM_H
#define SENTINEL_PROBES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* Adds bytes to a sum that starts at 0. Only the last part of several may have an odd length. */
uint32_t checksum_add(uint32_t sum, const void *data, size_t len);

/* The sum as it stands in a header, in network order. */
uint16_t checksum_end(uint32_t sum);

static inline uint16_t checksum_of(const void *data, size_t len)
{
	return checksum_end(checksum_add(0, data, len));
}

#endif

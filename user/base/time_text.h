/* SPDX-License-Identifier: Apache-2.0 */
/* A time for people and programs: RFC 3339, UTC, always nine digits, so that it sorts as text. */
#ifndef SENTINEL_BASE_TIME_TEXT_H
#define SENTINEL_BASE_TIME_TEXT_H

#include "user/base/util.h"

#define TIME_TEXT_MAX 32

/* Nanoseconds since 1970 (CLOCK_REALTIME). Returns out. */
const char *time_text(uint64_t ns, char out[TIME_TEXT_MAX]);

#endif

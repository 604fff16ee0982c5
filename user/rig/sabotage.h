/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to break the instrument on purpose, so that its own tests can see it say so. What was broken
 * stands in the capture's run.begin. None can make a cell look better than it is.
 */
#ifndef SENTINEL_SABOTAGE_H
#define SENTINEL_SABOTAGE_H

#include "user/base/util.h"

#define SABOTAGE_NO_COLLECTOR (1u << 0)	     /* the far side is not started */
#define SABOTAGE_QUIET_COLLECTOR (1u << 1)   /* it answers and does not log */
#define SABOTAGE_NO_IPV6 (1u << 2)	     /* lanes without IPv6 */
#define SABOTAGE_NO_WAIT (1u << 3)	     /* W does not listen for late packets */
#define SABOTAGE_SMALL_PACKET_RING (1u << 4) /* of A and B: one page */
#define SABOTAGE_SMALL_LIFE_RING (1u << 5)   /* of exec, connect, calls: one page */
#define SABOTAGE_ALL 0x3fu

/* The bit of a name, 0 where there is no such sabotage. */
uint32_t sabotage_find(const char *name);

/* The names of all bits, separated by spaces. Returns out. */
const char *sabotage_names(uint32_t bits, char *out, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where a trial's attempt goes, by its probe's kind of destination (rig.h has the plan). Pure. */
#ifndef SENTINEL_DESTINATION_H
#define SENTINEL_DESTINATION_H

#include "user/base/util.h"
#include "user/decode/ev.h"

/*
 * Fills address and port of a trial of probe p in a lane, aimed at that far side. n counts the
 * lane's trials from 0. A trial without an address (AF_UNIX, secrets) has `::` and 0; the path of
 * an AF_UNIX one is the caller's to fill.
 */
void destination_of(const struct ev_probe *p, uint32_t port, enum far_side far, uint32_t lane,
		    uint32_t n, uint8_t ret_addr[16], uint32_t *ret_port);

/* What a platform's policy may allow, of the address family of p. */
void destination_allowed(const struct ev_probe *p, uint8_t ret_addr[16]);

#endif

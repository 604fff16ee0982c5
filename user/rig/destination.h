/* SPDX-License-Identifier: Apache-2.0 */
/* Where a trial's attempt goes, by its probe's kind of destination (rig.h has the plan). Pure. */
#ifndef SENTINEL_DESTINATION_H
#define SENTINEL_DESTINATION_H

#include "user/base/util.h"
#include "user/decode/ev.h"

#define DESTINATION_PATH_MAX 108 /* sun_path, and ev_trial's path */

/*
 * Fills address and port of a trial of probe p in a lane, aimed at that far side. n counts the
 * lane's trials from 0. A trial without an address (AF_UNIX, secrets) has `::` and 0; the path of
 * an AF_UNIX one is the caller's to fill.
 */
void destination_of(const struct ev_probe *p, uint32_t port, enum far_side far, uint32_t lane,
		    uint32_t n, uint8_t ret_addr[16], uint32_t *ret_port);

/* What a platform's policy may allow, of the family of a trial's own address; IPv4 where it has
 * none. */
void destination_allowed(const uint8_t own[16], uint8_t ret_addr[16]);

/* Whether the probe could go there as well, by address or by name; else it knows but one
 * destination. */
bool destination_can_be_allowed(const struct ev_probe *p);

/*
 * Completes a trial: t has arm, far, lane, dest, dport, and a daddr of the family that is wanted.
 * folder: where the lanes' UNIX listeners are (destination_path()).
 */
void destination_complete(struct ev_trial *t, uint32_t n, const char *folder);

/* The AF_UNIX name of a lane's listener, by an abstract one's '@', or "" for another dest. Nobody
 * listens at the deaf one. */
void destination_path(enum dest dest, enum far_side far, uint32_t lane, const char *folder,
		      char ret[DESTINATION_PATH_MAX]);

/* The name that a trial's probe asks for, where it is not the probe's own ("name=" of a session):
 * "" or one of rig.h. Matters to RESOLVER and PROXY alone. */
const char *destination_name(const struct ev_probe *p, enum arm arm, enum far_side far);

#endif

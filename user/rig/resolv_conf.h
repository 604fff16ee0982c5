/* SPDX-License-Identifier: Apache-2.0 */
/* Whom the sandboxes of a run ask for names: the resolver of their lane, not the machine's. */
#ifndef SENTINEL_RESOLV_CONF_H
#define SENTINEL_RESOLV_CONF_H

#include "user/base/diag.h"
#include "user/base/util.h"

/*
 * Moves this process, which must have one thread, into a mount namespace of its own, where
 * /etc/resolv.conf (or what it is a link to) names the lane's resolver. What it starts from now on
 * sees that too; the machine's own mounts and files stay as they are. 0, or -errno with d filled,
 * and then a sandbox asks whomever the machine asks.
 */
int resolv_conf_of_lane(struct diag *d) must_check;

#endif

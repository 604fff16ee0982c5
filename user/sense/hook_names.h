/* SPDX-License-Identifier: Apache-2.0 */
/* What people call a hook, and which hooks a verdict can't do without. */
#ifndef SENTINEL_SENSE_HOOK_NAMES_H
#define SENTINEL_SENSE_HOOK_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* "tcx/ingress@world", "cgroup_skb/egress", ... for SNT_HOOK_*; "unknown" for any other number.
 * Static text, stable: messages and verdict.json use it. A capture names hooks by where they are
 * ("world") instead, user/record/hooks.h: a replay must not depend on how they were attached. */
const char *hook_name(uint32_t hook);

/* True where the absence of the hook is a reason of its own (DESIGN.md 3.5): W, B, exec and the
 * address-family independent root-cgroup set. */
bool sense_hook_needed(uint32_t hook);

/* True for a hook that each lane has (W, B, box); false for one that the machine has once. */
bool sense_hook_per_lane(uint32_t hook);

#endif

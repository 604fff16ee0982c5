/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interfaces of a capture: one per hook that sees packets; where each lane has the hook, one
 * per lane, and one without a number for packets of no known lane. The numbering follows from the
 * number of lanes alone, so that a reader can check it:
 *
 *   0 cgroup_skb/egress  1 cgroup_skb/ingress  2 world  3 world@1 ...  boundary  boundary@1 ... box
 * ...
 */
#ifndef SENTINEL_RECORD_INTERFACES_H
#define SENTINEL_RECORD_INTERFACES_H

#include "user/base/util.h"

#define INTERFACE_NAME_MAX 32
#define INTERFACE_TEXT_MAX 96

uint32_t interfaces_count(uint32_t lanes);

/* The interface of a packet seen by hook in lane. -EINVAL where the hook sees no packets. */
int interfaces_find(uint32_t lanes, uint32_t hook, uint32_t lane, uint32_t *ret) must_check;

/* Name and description of interface i < interfaces_count(lanes). */
void interfaces_describe(uint32_t lanes, uint32_t i, char name[INTERFACE_NAME_MAX],
			 char text[INTERFACE_TEXT_MAX]);

#endif

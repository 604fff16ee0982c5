/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequence numbers, by ring and CPU: how many have no record? A program can interrupt another on
 * its CPU between numbering and reserving, so neighbours may change places; what counts is how many
 * numbers lie between the lowest and the highest, and how many records came.
 */
#ifndef SENTINEL_SEQUENCE_H
#define SENTINEL_SEQUENCE_H

#include "user/decode/decode.h"

struct sequence {
	struct {
		uint64_t low, high, count;
	} cpu[SNT_RING_MAX][DECODE_CPUS_MAX];
};

void sequence_note(struct sequence *s, uint32_t hook, uint32_t cpu, uint64_t seq);
uint64_t sequence_missing(const struct sequence *s);

#endif

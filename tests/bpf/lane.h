/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A box - host - world chain for the tests of the kernel side, of its own making so that a fault in
 * the rig can't hide one here. Anonymous: it goes with its descriptors.
 *
 *   box  b0 10.77.0.2, fd77::2 -- h0 10.77.0.1 host 10.78.0.1 h1 -- w0 10.78.0.2 world
 *
 * host forwards, and prohibits 10.99.0.0/16. box has no IPv6 route beyond its link.
 */
#ifndef TESTS_BPF_LANE_H
#define TESTS_BPF_LANE_H

#include <stdint.h>

#define LANE_WORLD_ADDR "10.78.0.2"
#define LANE_PROHIBITED_ADDR "10.99.0.1"

enum { NS_BOX, NS_HOST, NS_WORLD, NS_MAX };

struct test_lane {
	int ns[NS_MAX];
	uint64_t cookie[NS_MAX];
	uint32_t inum[NS_MAX];
	int b0, h0, h1, w0; /* interface indexes */
};

/* base: first of four interface indexes that nobody else uses. 0 or a negative number. */
int test_lane_make(struct test_lane *l, int base);
void test_lane_done(struct test_lane *l);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that a sandbox must refuse, made for the kernel to see what comes of them: some controls,
 * Landlock above all, show nowhere else (sentinel-target(5), refused).
 */
#ifndef SENTINEL_PROBES_CANARY_H
#define SENTINEL_PROBES_CANARY_H

/* connect() by TCP to the discard port of this network's own loopback; waits for nothing. */
void canary_connect(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sentinel-probe is besides a session: somebody whom a session may find. It says
 * SESSION_LINE_READY on a line of its own once it is there, and goes with its stdin.
 */
#ifndef SENTINEL_PROBES_STAND_IN_H
#define SENTINEL_PROBES_STAND_IN_H

#include "user/base/session_line.h"

/* `sentinel-probe decoy`: a process with an environment. Its exit code. */
int decoy_run(int in, int out);

/*
 * `sentinel-probe sibling PORT CHALLENGE`: another sandbox's listener (sibling.c). The first line
 * of its stdin is the secret, 32 hexadecimal digits; SESSION_LINE_READY is followed by " at=" and
 * the address by which others may reach it, where it has one. Its exit code.
 */
int sibling_run(const char *port, const char *challenge, int in, int out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own probe: any executable, started where our functions would make their attempt. */
#ifndef SENTINEL_PROBES_OWN_H
#define SENTINEL_PROBES_OWN_H

#include "probes/probe.h"

/*
 * Starts the command, fills in its words, and waits until it ended or the deadline passed; then
 * kills it with its process group. What it prints stays here: up to a bound it is searched for the
 * far side's answer (a line "SENTINEL-ANSWER " and 64 digits), the rest is read and forgotten, so
 * that nothing of it can be taken for the session's own lines. Its standard input is empty.
 *
 * The view is "answered", "exit-N", "signal-N", "timeout", or the errno's name where it could not
 * be executed.
 */
void probe_own(const struct probe_attempt *a, char *const *command, struct probe_outcome *ret);

#endif

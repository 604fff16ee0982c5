/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon: one run at a time over one control connection (rig/control.h). It makes the rig,
 * observes (observe.h), records and judges; it never runs a command for anyone but its own
 * collector.
 */
#ifndef SENTINEL_DAEMON_H
#define SENTINEL_DAEMON_H

#include "user/base/util.h"

/* Serves the connection until it ends, or SIGTERM or SIGHUP comes (-EINTR; they stay blocked). A
 * run that has not ended leaves a bundle that says so; then everything of it is removed. collector:
 * path of sentinel-collector. 0 or -errno. */
int daemon_serve(int control, const char *collector) must_check;

#endif

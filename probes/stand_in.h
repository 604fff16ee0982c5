/* SPDX-License-Identifier: Apache-2.0 */
/* What sentinel-probe is besides a session: somebody whom a session may find. */
#ifndef SENTINEL_PROBES_STAND_IN_H
#define SENTINEL_PROBES_STAND_IN_H

#include "user/base/util.h"

/* On a line of its own, once it is there. */
#define STAND_IN_READY "SENTINEL1:ready"

/* `sentinel-probe decoy`: a process with an environment, until the end of its stdin. Its exit code.
 */
int decoy_run(int in, int out);

#endif

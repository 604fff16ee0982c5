// SPDX-License-Identifier: Apache-2.0
/*
 * env-credential: a secret among the variables that the session was given. The twin is another
 * variable, which a sandbox may well pass on.
 *
 * Decisive step: open("/proc/self/environ"), which the kernel sees; the same bytes lie in our own
 * memory, and are looked at there too, for a sandbox may have no /proc.
 */
#include "probes/search.h"

void probe_env_credential(const struct probe_attempt *a, struct probe_outcome *ret)
{
	int err = search_file(a, "/proc/self/environ", ret);

	for (char **e = environ; e && *e; e++)
		search_bytes(a, *e, strlen(*e), ret);
	search_outcome(ret, err);
}

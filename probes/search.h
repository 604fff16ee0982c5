/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes of secrets share: looking for the trial's planted secret and its twin. */
#ifndef SENTINEL_PROBES_SEARCH_H
#define SENTINEL_PROBES_SEARCH_H

#include "probes/attempt.h"

#define SEARCH_MAX 65536 /* bytes of a file that are looked at; a planted one is small */

/* Takes what is in there into the outcome; what was found before stays. */
void search_bytes(const struct probe_attempt *a, const void *data, size_t len,
		  struct probe_outcome *ret);

/* The same with a file's first bytes. 0, or -errno of the call that failed. */
int search_file(const struct probe_attempt *a, const char *path, struct probe_outcome *ret);

/* The view: "secret-read", "twin-read", or else the errno's name of err (0 or -errno),
 * "nothing-found" where nothing failed. */
void search_outcome(struct probe_outcome *o, int err);

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * file-credential: a secret in a file of the launcher's home, where tools of a cloud keep theirs.
 * The twin is a file elsewhere, which a sandbox may well show.
 *
 * Decisive step: open() of .aws/credentials below HOME and below what the session was told that
 * the launcher's home is, since many sandboxes set a HOME of their own.
 */
#include "probes/search.h"

#define FILE_BELOW_HOME ".aws/credentials"

static int search_home(const struct probe_attempt *a, const char *home, struct probe_outcome *ret)
{
	char path[4096];
	int err;

	if (!home || !home[0])
		return 0;
	err = str_format(path, sizeof(path), "%s/" FILE_BELOW_HOME, home);
	return err ? err : search_file(a, path, ret);
}

void probe_file_credential(const struct probe_attempt *a, struct probe_outcome *ret)
{
	const char *home = getenv("HOME");
	int err = search_home(a, a->home, ret);

	if (!ret->has_secret && home && strcmp(home, a->home) != 0)
		(void)search_home(a, home, ret);
	if (a->twin[0])
		(void)search_file(a, a->twin, ret);
	search_outcome(ret, err);
}

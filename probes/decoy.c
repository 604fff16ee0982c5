// SPDX-License-Identifier: Apache-2.0
/*
 * The process whose environment proc-environ is to find. It does nothing; the environment is what
 * it was executed with.
 */
#include "probes/stand_in.h"

int decoy_run(int in, int out)
{
	static const char ready[] = SESSION_LINE_READY "\n";
	char data[256];
	ssize_t n;

	if (write_all(out, ready, sizeof(ready) - 1))
		return EXIT_FAILURE;
	do {
		n = read(in, data, sizeof(data));
	} while (n > 0 || (n < 0 && errno == EINTR));
	return EXIT_SUCCESS;
}

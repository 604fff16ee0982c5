/* SPDX-License-Identifier: Apache-2.0 */
/* How a test sees that nothing was left open. */
#ifndef SENTINEL_TEST_OPEN_FDS_H
#define SENTINEL_TEST_OPEN_FDS_H

#include "user/base/util.h"

static unsigned int open_fds(void)
{
	cleanup_dir DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	return n;
}

#endif

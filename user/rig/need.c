// SPDX-License-Identifier: Apache-2.0
#include "user/rig/need.h"

#include <linux/landlock.h>
#include <sys/syscall.h>

#include "user/rig/program.h"

static const char landlock[] = "landlock:";

static int find_landlock(const char *wanted, char *ret, size_t n)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	uint32_t least;
	int err = parse_u32(wanted, 1, UINT16_MAX, &least);

	if (err)
		return -EINVAL;
	return abi < (long)least ? -ENOENT : str_format(ret, n, "ABI %ld", abi);
}

int need_find(const char *need, char *ret, size_t n)
{
	if (!strncmp(need, landlock, sizeof(landlock) - 1))
		return find_landlock(need + sizeof(landlock) - 1, ret, n);
	return program_find(need, NULL, ret, n);
}

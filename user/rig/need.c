// SPDX-License-Identifier: Apache-2.0
#include "user/rig/need.h"

#include <linux/landlock.h>
#include <sys/syscall.h>

#include "user/rig/program.h"

static const char landlock[] = "landlock:";

static bool is_landlock(const char *need)
{
	return !strncmp(need, landlock, sizeof(landlock) - 1);
}

static int landlock_abi(const char *need, uint32_t *ret)
{
	return parse_u32(need + sizeof(landlock) - 1, 1, UINT16_MAX, ret);
}

bool need_is_valid(const char *need)
{
	uint32_t abi;

	return !is_landlock(need) || !landlock_abi(need, &abi);
}

static int find_landlock(const char *need, char *ret, size_t n)
{
	uint32_t least;
	long abi;

	if (landlock_abi(need, &least))
		return -EINVAL;
	abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	return abi < (long)least ? -ENOENT : str_format(ret, n, "ABI %ld", abi);
}

int need_find(const char *need, char *ret, size_t n)
{
	return is_landlock(need) ? find_landlock(need, ret, n) : program_find(need, NULL, ret, n);
}

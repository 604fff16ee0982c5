// SPDX-License-Identifier: Apache-2.0
#include "user/rig/program.h"

#include <sys/stat.h>

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111);
}

int program_find(const char *name, const char *path, char *ret, size_t n)
{
	const char *dir = path ? path : PROGRAM_PATH;

	if (strchr(name, '/'))
		return is_program(name) ? str_copy(ret, n, name) : -ENOENT;
	while (*dir) {
		size_t len = strcspn(dir, ":");

		if (len && str_format(ret, n, "%.*s/%s", (int)len, dir, name) == 0 &&
		    is_program(ret))
			return 0;
		dir += len + (dir[len] == ':');
	}
	return -ENOENT;
}

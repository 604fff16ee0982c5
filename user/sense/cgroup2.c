// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>

#include "user/sense/sense_priv.h"

/* mountinfo's line: "ID PARENT DEV ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS"
 * (proc_pid_mountinfo(5)). */
int cgroup2_root(void)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[1024], root[256], point[256];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");
		int fd;

		if (!type || strncmp(type, " - cgroup2 ", 11))
			continue;
		if (sscanf(line, "%*d %*d %*s %255s %255s", root, point) != 2 || strcmp(root, "/"))
			continue;
		fd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	return -ENOENT;
}

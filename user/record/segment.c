// SPDX-License-Identifier: Apache-2.0
#include "user/record/segment.h"

#include <fcntl.h>

void segment_name(uint32_t number, bool part, char ret[SEGMENT_NAME_MAX])
{
	(void)str_format(ret, SEGMENT_NAME_MAX, "capture-%06u.pcapng%s", number,
			 part ? ".part" : "");
}

bool segment_exists(int dir_fd, uint32_t number)
{
	char name[SEGMENT_NAME_MAX];

	for (int part = 0; part < 2; part++) {
		segment_name(number, part, name);
		if (!faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW))
			return true;
	}
	return false;
}

int segment_open(int dir_fd, uint32_t number, char name[SEGMENT_NAME_MAX])
{
	int fd = -ENOENT;

	for (int part = 0; fd == -ENOENT && part < 2; part++) {
		segment_name(number, part, name);
		fd = open_regular(dir_fd, name, O_NOFOLLOW);
	}
	return fd;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/rig/folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#define DEPTH_MAX 64 /* deeper folders stay; a sandbox could nest them without end */

static int make_parent(void)
{
	static const char *const steps[] = { "/run/sentinel", FOLDER_PARENT };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (mkdir(steps[i], 0755) && errno != EEXIST)
			return -errno;
	return 0;
}

int folder_make(uid_t uid, gid_t gid, char ret[FOLDER_PATH_MAX])
{
	char path[FOLDER_PATH_MAX] = FOLDER_PARENT "/XXXXXX";
	int err = make_parent();

	if (err)
		return err;
	if (!mkdtemp(path))
		return -errno;
	if (chown(path, uid, gid)) {
		err = -errno;
		(void)rmdir(path);
		return err;
	}
	memcpy(ret, path, sizeof(path));
	return 0;
}

/* Takes the descriptor over. */
static void empty(int fd, unsigned int depth)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		(void)close(fd);
		return;
	}
	while ((e = readdir(dir))) {
		int sub;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!unlinkat(dirfd(dir), e->d_name, 0) || depth == DEPTH_MAX)
			continue;
		sub = openat(dirfd(dir), e->d_name,
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			empty(sub, depth + 1);
		(void)unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
	(void)closedir(dir);
}

void folder_remove(const char *path)
{
	int fd = path[0] ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	empty(fd, 0);
	(void)rmdir(path);
}

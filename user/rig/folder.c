// SPDX-License-Identifier: Apache-2.0
#include "user/rig/folder.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>

#define DEPTH_MAX 64 /* deeper folders stay; a sandbox could nest them without end */
#define MAKE_TRIES 100

/* ---- removing ---- */

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

/* ---- one client's ---- */

/* A descriptor that holds the lock of the folder; -EWOULDBLOCK where somebody else has it, -ESTALE
 * where it was removed meanwhile, -errno. */
static int lock_folder(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat held, named;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) || fstat(fd, &held))
		return -errno;
	if (stat(path, &named) || named.st_ino != held.st_ino || named.st_dev != held.st_dev)
		return -ESTALE;
	return TAKE_FD(fd);
}

void folders_sweep(void)
{
	cleanup_dir DIR *dir = opendir(FOLDER_PARENT);
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[sizeof(FOLDER_PARENT) + NAME_MAX + 1];
		cleanup_fd int lock = -1;

		if (e->d_name[0] == '.')
			continue;
		(void)str_format(path, sizeof(path), "%s/%s", FOLDER_PARENT, e->d_name);
		lock = lock_folder(path);
		if (lock >= 0)
			folder_remove(path);
	}
}

/* Every sandbox's user must pass them, whatever the caller's umask is. */
static int make_parent(void)
{
	static const char *const steps[] = { "/run/sentinel", FOLDER_PARENT };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((mkdir(steps[i], 0755) && errno != EEXIST) || chmod(steps[i], 0755))
			return -errno;
	return 0;
}

/* A sweep that comes between making and locking takes the new folder for a dead client's. */
static int folders_open(struct folders *f)
{
	int err = make_parent();

	for (int i = 0; i < MAKE_TRIES && !err; i++) {
		char path[FOLDER_PATH_MAX] = FOLDER_PARENT "/XXXXXX";
		int lock;

		if (!mkdtemp(path))
			return -errno;
		lock = lock_folder(path);
		if (lock < 0)
			continue;
		if (chmod(path, 0711)) {
			err = -errno;
			(void)rmdir(path);
			(void)close(lock);
			return err;
		}
		f->lock = lock;
		memcpy(f->path, path, sizeof(path));
		return 0;
	}
	return err ? err : -EBUSY;
}

int folder_make(struct folders *f, uid_t uid, gid_t gid, char ret[FOLDER_PATH_MAX])
{
	char path[FOLDER_PATH_MAX];
	int err = f->lock < 0 ? folders_open(f) : 0;

	if (!err)
		err = str_format(path, sizeof(path), "%s/XXXXXX", f->path);
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

void folders_done(struct folders *f)
{
	if (f->lock < 0)
		return;
	folder_remove(f->path);
	(void)close(f->lock);
	*f = FOLDERS_NONE;
}

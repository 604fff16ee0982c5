// SPDX-License-Identifier: Apache-2.0
#include "user/base/cgroup_root.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define CGROUP_ROOT_INO 1 /* of the hierarchy's real root: kernfs numbers its root first */

/* mountinfo writes space, tab, newline and backslash as \ooo (show_mountinfo() in
 * fs/proc_namespace.c). */
static int unescape(const char *text, size_t len, char *ret, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\\' && i + 3 < len) {
			c = (char)((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
				   (text[i + 3] - '0'));
			i += 3;
		}
		if (out + 1 >= n)
			return -ENAMETOOLONG;
		ret[out++] = c;
	}
	ret[out] = '\0';
	return 0;
}

int cgroup_parse_mount(const char *line, char *ret, size_t n)
{
	/* id parent major:minor root mountpoint options [optional]... - type source super */
	const char *type = strstr(line, " - ");
	const char *point = line;
	size_t len;

	if (!type || strncmp(type + 3, "cgroup2 ", 8) != 0)
		return -ENOENT;
	for (int field = 0; field < 4; field++) {
		point = strchr(point, ' ');
		if (!point || point > type)
			return -ENOENT;
		point++;
	}
	len = strcspn(point, " ");
	if (!len || point + len > type)
		return -ENOENT;
	return unescape(point, len, ret, n);
}

/* Whether fd is the root of the whole hierarchy. 0, -ENOENT where another mount hides this one,
 * -EOPNOTSUPP where it shows a part only (a cgroup namespace, or a bind mount), -errno. */
static int check_root(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (fs.f_type != CGROUP2_SUPER_MAGIC)
		return -ENOENT;
	return st.st_ino == CGROUP_ROOT_INO ? 0 : -EOPNOTSUPP;
}

/* A descriptor of the first mount that is the root and is still to be seen at its place. */
static int open_mount(void)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t cap = 0;
	int err = -ENOENT;

	if (!f)
		return -errno;
	while (getline(&line, &cap, f) >= 0) {
		cleanup_fd int fd = -1;
		char path[4096];
		int one;

		if (cgroup_parse_mount(line, path, sizeof(path)) < 0)
			continue;
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		one = fd < 0 ? -errno : check_root(fd);
		if (!one)
			return TAKE_FD(fd);
		if (err == -ENOENT)
			err = one;
	}
	return err;
}

int cgroup_open_root(struct diag *d)
{
	int fd = open_mount();

	if (fd == -EOPNOTSUPP)
		return diag_set(d, fd, NULL, 0, 0,
				"the root of the cgroup v2 hierarchy is not visible here; "
				"start in the machine's own cgroup namespace");
	if (fd < 0)
		return diag_set(d, fd, NULL, 0, 0,
				"no cgroup v2 hierarchy is mounted; "
				"try 'mount -t cgroup2 none /sys/fs/cgroup/unified'");
	return fd;
}

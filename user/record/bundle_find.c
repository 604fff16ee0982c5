// SPDX-License-Identifier: Apache-2.0
#include "user/record/bundle_find.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/record/bundle.h"

#define SEGMENT_PREFIX "capture-"
#define SEGMENT_SUFFIX ".pcapng"
#define VERDICT "verdict.json"

static int refuse(struct diag *d, int err, const char *path)
{
	if (err == -ELOOP)
		return diag_set(d, err, path, 0, 0,
				"deeper than bundles are looked for: name a folder nearer to them");
	return diag_set(d, err, path, 0, 0, "can't look for bundles here: %s", strerror(-err));
}

/* ---- the list ---- */

static int append(struct bundle_list *l, const char *path, size_t len)
{
	if (l->n == BUNDLE_FIND_MAX)
		return -E2BIG;
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		char **more = reallocarray(l->path, cap, sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->path = more;
		l->cap = cap;
	}
	l->path[l->n] = strndup(path, len);
	if (!l->path[l->n])
		return -ENOMEM;
	l->n++;
	return 0;
}

static void cut(struct bundle_list *l, size_t n)
{
	while (l->n > n)
		free(l->path[--l->n]);
}

void bundle_list_done(struct bundle_list *l)
{
	cut(l, 0);
	free(l->path);
	*l = (struct bundle_list){ .path = NULL };
}

static int by_path(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ---- folders ---- */

/* Of a segment, whole or not (".part"). */
static bool is_segment(const char *name)
{
	return !strncmp(name, SEGMENT_PREFIX, strlen(SEGMENT_PREFIX)) &&
	       strstr(name, SEGMENT_SUFFIX);
}

static bool is_of_bundle(const char *name)
{
	return is_segment(name) || !strcmp(name, VERDICT) || !strcmp(name, BUNDLE_SUMS);
}

struct walk {
	struct bundle_list *list;
	struct diag *diag;
	char path[PATH_MAX]; /* of the folder being looked at */
};

static int walk_folder(struct walk *w, int fd, unsigned int depth);

/* The folder that an entry of another is; -ENOTDIR where it is none, or gone. */
static int open_below(int dir_fd, const char *name, unsigned int depth)
{
	struct stat st;
	int fd;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return -ENOTDIR;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? -ENOTDIR : -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (depth == BUNDLE_FIND_DEPTH)
		return -ELOOP;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int walk_into(struct walk *w, int dir_fd, const char *name, unsigned int depth)
{
	int fd = open_below(dir_fd, name, depth), err = fd;
	size_t len = strlen(w->path);

	if (fd == -ENOTDIR)
		return 0;
	if (str_format(w->path + len, sizeof(w->path) - len, "%s%s",
		       w->path[len - 1] == '/' ? "" : "/", name))
		err = -ENAMETOOLONG;
	if (err >= 0) {
		err = walk_folder(w, fd, depth + 1);
	} else {
		if (fd >= 0)
			(void)close(fd);
		err = refuse(w->diag, err, w->path);
	}
	w->path[len] = '\0';
	return err;
}

/* 1 where it holds what a bundle holds; 0; -errno. */
static int is_bundle(DIR *dir)
{
	const struct dirent *item;

	while ((errno = 0, item = readdir(dir)))
		if (is_of_bundle(item->d_name))
			return 1;
	return -errno;
}

static int walk_below(struct walk *w, DIR *dir, unsigned int depth)
{
	const struct dirent *item;
	int err = 0;

	rewinddir(dir);
	while (!err && (errno = 0, item = readdir(dir)))
		err = walk_into(w, dirfd(dir), item->d_name, depth);
	if (!err && errno)
		err = refuse(w->diag, -errno, w->path);
	return err;
}

/* Takes fd. */
static int walk_folder(struct walk *w, int fd, unsigned int depth)
{
	cleanup_dir DIR *dir = fdopendir(fd);
	int err;

	if (!dir) {
		err = -errno;
		(void)close(fd);
		return refuse(w->diag, err, w->path);
	}
	err = is_bundle(dir);
	if (!err)
		return walk_below(w, dir, depth);
	if (err > 0)
		err = append(w->list, w->path, strlen(w->path));
	return err ? refuse(w->diag, err, w->path) : 0;
}

static int add_folder(struct bundle_list *l, int fd, const char *path, struct diag *d)
{
	struct walk w = { .list = l, .diag = d };
	size_t before = l->n, len = strlen(path);
	int err = str_copy(w.path, sizeof(w.path), path);

	while (len > 1 && w.path[len - 1] == '/')
		w.path[--len] = '\0';
	if (err) {
		(void)close(fd);
		return refuse(d, err, path);
	}
	err = walk_folder(&w, fd, 0);
	if (!err && l->n == before)
		err = diag_set(d, -ENOENT, path, 0, 0,
			       "there is no bundle in this folder or below it");
	if (err)
		cut(l, before);
	else
		qsort(l->path + before, l->n - before, sizeof(*l->path), by_path);
	return err;
}

int bundle_list_add(struct bundle_list *l, const char *path, struct diag *d)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd >= 0)
		return add_folder(l, fd, path, d);
	err = append(l, path, strlen(path));
	return err ? refuse(d, err, path) : 0;
}

/* ---- files of paths ---- */

static int read_lines(struct bundle_list *l, FILE *f, const char *file, struct diag *d)
{
	cleanup_free char *line = NULL;
	unsigned int number = 0;
	size_t cap = 0;
	ssize_t len;
	int err = 0;

	while (!err && (errno = 0, len = getline(&line, &cap, f)) >= 0) {
		number++;
		if (len && line[len - 1] == '\n')
			line[--len] = '\0';
		if (strlen(line) != (size_t)len || len >= PATH_MAX)
			return diag_set(d, -EINVAL, file, number, 1, "no path can be like this");
		err = len ? bundle_list_add(l, line, d) : 0;
	}
	if (!err && errno)
		err = diag_set(d, -errno, file, 0, 0, "can't read the list: %s", strerror(errno));
	return err;
}

int bundle_list_read(struct bundle_list *l, const char *file, struct diag *d)
{
	cleanup_file FILE *opened = strcmp(file, "-") ? fopen(file, "re") : NULL;
	size_t before = l->n;
	int err;

	if (!opened && strcmp(file, "-"))
		return diag_set(d, -errno, file, 0, 0, "can't read the list: %s", strerror(errno));
	err = read_lines(l, opened ? opened : stdin, file, d);
	if (err)
		cut(l, before);
	return err;
}

/* ---- sizes ---- */

static uint64_t size_of_segments(DIR *dir)
{
	const struct dirent *item;
	uint64_t bytes = 0;
	struct stat st;

	while ((item = readdir(dir)))
		if (is_segment(item->d_name) &&
		    !fstatat(dirfd(dir), item->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	return bytes;
}

uint64_t bundle_size(const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	struct stat st;

	if (dir)
		return size_of_segments(dir);
	return !stat(path, &st) && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

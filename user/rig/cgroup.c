// SPDX-License-Identifier: Apache-2.0
#include "user/rig/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "user/base/cgroup_root.h"

#define WAIT_MS 2000	 /* for a killed cgroup to be empty */
#define REMOVE_TRIES 100 /* rmdir meets EBUSY while the last dead tasks are being released ... */
#define REMOVE_PAUSE_US 2000
#define LOCK_TRIES 100 /* ... and a lock is briefly held by a sweep that looks whose it is */
#define LOCK_PAUSE_US 2000
#define DEPTH_MAX 32 /* of what a platform makes below a trial: the remover recurses */

/* ---- trees ---- */

static int open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* A reader of dir's entries from the first on; dir stays the caller's. */
static int dir_reopen(int dir, DIR **ret)
{
	cleanup_fd int copy = open_dir(dir, ".");

	if (copy < 0)
		return copy;
	*ret = fdopendir(copy);
	if (!*ret)
		return -errno;
	(void)TAKE_FD(copy);
	return 0;
}

/* 1 where a task lives in dir or below, 0 where none does, or -errno. events: its cgroup.events. */
static int is_populated(int events)
{
	char text[128];
	ssize_t n = pread(events, text, sizeof(text) - 1, 0);

	if (n < 0)
		return -errno;
	text[n] = '\0';
	return strstr(text, "populated 1") != NULL;
}

static int wait_empty(int dir)
{
	cleanup_fd int events = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	const uint64_t deadline = mono_ns() + WAIT_MS * NSEC_PER_MSEC;
	struct pollfd p = { .fd = events, .events = POLLPRI };

	if (events < 0)
		return -errno;
	for (;;) {
		int populated = is_populated(events);

		if (populated <= 0)
			return populated;
		if (mono_ns() >= deadline)
			return -ETIMEDOUT;
		/* Wakes with a change, but the kernel tells at most one in 10 ms
		 * (CGROUP_FILE_NOTIFY_MIN_INTV): so look again. */
		if (poll(&p, 1, 1) < 0 && errno != EINTR)
			return -errno;
	}
}

/* SIGKILL to all in dir and below, also to what is being forked there (Linux 5.14). */
static int kill_all(int dir)
{
	cleanup_fd int fd = openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, "1", 1);
	return err ? err : wait_empty(dir);
}

static int remove_dir(int at, const char *name)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		(void)usleep(REMOVE_PAUSE_US);
	}
	return -EBUSY;
}

/* Removes what is below dir, which stays. It is empty of tasks. */
static int remove_below(int dir, unsigned int depth)
{
	cleanup_dir DIR *entries = NULL;
	const struct dirent *e;
	int err;

	if (depth == DEPTH_MAX)
		return -ELOOP;
	err = dir_reopen(dir, &entries);
	if (err)
		return err;
	while ((e = readdir(entries))) {
		cleanup_fd int sub = -1;

		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		sub = open_dir(dir, e->d_name);
		if (sub == -ENOENT)
			continue;
		err = sub < 0 ? sub : remove_below(sub, depth + 1);
		if (!err)
			err = remove_dir(dir, e->d_name);
		if (err)
			break;
	}
	return err;
}

/* Kills and removes the tree at/name. 0 also where there is none. */
static int remove_tree(int at, const char *name)
{
	cleanup_fd int dir = open_dir(at, name);
	int err;

	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	err = kill_all(dir);
	if (!err)
		err = remove_below(dir, 0);
	return err ? err : remove_dir(at, name);
}

/* ---- locks ---- */

static bool is_run_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");

	return n > 0 && n <= CGROUP_RUN_ID_MAX && !id[n];
}

/* The directory of lock files, made where it is missing. */
static int open_locks(void)
{
	if (mkdir("/run/sentinel", 0755) < 0 && errno != EEXIST)
		return -errno;
	if (mkdir(CGROUP_LOCK_DIR, 0700) < 0 && errno != EEXIST)
		return -errno;
	return open_dir(AT_FDCWD, CGROUP_LOCK_DIR);
}

/*
 * Takes the lock of a run: a descriptor, -EWOULDBLOCK where somebody holds it, -ESTALE where its
 * file was unlinked while we were getting it (then it says nothing about the run any more), -errno.
 */
static int take_lock(int locks, const char *id)
{
	cleanup_fd int fd = openat(locks, id, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat held, named;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	if (fstat(fd, &held) < 0)
		return -errno;
	if (fstatat(locks, id, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (held.st_ino != named.st_ino || held.st_dev != named.st_dev)
		return -ESTALE;
	return TAKE_FD(fd);
}

/* ... for good. -EBUSY where the run lives. */
static int wait_lock(int locks, const char *id)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		int fd = take_lock(locks, id);

		if (fd != -EWOULDBLOCK && fd != -ESTALE)
			return fd;
		(void)usleep(LOCK_PAUSE_US);
	}
	return -EBUSY;
}

/* Unlinks first, closes then: whoever gets the lock in between sees -ESTALE. */
static void drop_lock(const char *id, int *fd)
{
	char path[sizeof(CGROUP_LOCK_DIR) + CGROUP_RUN_ID_MAX + 1];

	if (*fd < 0)
		return;
	if (str_format(path, sizeof(path), CGROUP_LOCK_DIR "/%s", id) == 0)
		(void)unlink(path);
	(void)close(*fd);
	*fd = -1;
}

/* ---- a run ---- */

static const struct cgroup_run run_none = { .root_fd = -1, .dir_fd = -1, .lock_fd = -1 };

static const char *run_id_of(const char *name)
{
	const size_t n = sizeof(CGROUP_NAME_PREFIX) - 1;

	return strncmp(name, CGROUP_NAME_PREFIX, n) == 0 && is_run_id(name + n) ? name + n : NULL;
}

static int make_dir(int at, const char *name, int *ret_fd, uint64_t *ret_id)
{
	struct stat st;
	int fd;

	if (mkdirat(at, name, 0755) < 0)
		return -errno;
	fd = open_dir(at, name);
	if (fd < 0 || fstat(fd, &st) < 0) {
		int err = fd < 0 ? fd : -errno;

		if (fd >= 0)
			(void)close(fd);
		(void)unlinkat(at, name, AT_REMOVEDIR);
		return err;
	}
	*ret_fd = fd;
	*ret_id = st.st_ino;
	return 0;
}

int cgroup_run_make(struct cgroup_run *r, const char *run_id, struct diag *d)
{
	cleanup_fd int locks = -1, root = -1, lock = -1;
	int err;

	*r = run_none;
	if (!is_run_id(run_id))
		return diag_set(d, -EINVAL, NULL, 0, 0, "the run id is not a name");
	locks = open_locks();
	if (locks < 0)
		return diag_set(d, locks, CGROUP_LOCK_DIR, 0, 0, "%s", strerror(-locks));
	root = cgroup_open_root(d);
	if (root < 0)
		return root;
	lock = wait_lock(locks, run_id);
	if (lock < 0)
		return diag_set(d, lock, NULL, 0, 0, "the lock of run '%s': %s", run_id,
				strerror(-lock));
	(void)str_format(r->name, sizeof(r->name), CGROUP_NAME_PREFIX "%s", run_id);
	err = make_dir(root, r->name, &r->dir_fd, &r->id);
	if (err) {
		*r = run_none;
		drop_lock(run_id, &lock);
		return diag_set(d, err, NULL, 0, 0, "making the cgroup of run '%s': %s", run_id,
				strerror(-err));
	}
	r->root_fd = TAKE_FD(root);
	r->lock_fd = TAKE_FD(lock);
	r->level = 1;
	return 0;
}

void cgroup_run_remove(struct cgroup_run *r)
{
	if (!r || !r->name[0])
		return;
	cleanup_fd_(&r->dir_fd);
	if (remove_tree(r->root_fd, r->name) == 0)
		drop_lock(run_id_of(r->name), &r->lock_fd);
	else
		cleanup_fd_(&r->lock_fd); /* free, and its file there: the next sweep tries again */
	cleanup_fd_(&r->root_fd);
	*r = run_none;
}

/* ---- trials ---- */

#define TRIAL_NAME_MAX 24

static void trial_name(char out[TRIAL_NAME_MAX], uint32_t trial)
{
	(void)str_format(out, TRIAL_NAME_MAX, "trial-%u", trial);
}

int cgroup_trial_make(struct cgroup_run *r, uint32_t trial, int *ret_fd, uint64_t *ret_id)
{
	char name[TRIAL_NAME_MAX];

	trial_name(name, trial);
	return make_dir(r->dir_fd, name, ret_fd, ret_id);
}

int cgroup_trial_kill(struct cgroup_run *r, uint32_t trial)
{
	char name[TRIAL_NAME_MAX];
	cleanup_fd int dir = -1;

	trial_name(name, trial);
	dir = open_dir(r->dir_fd, name);
	return dir < 0 ? dir : kill_all(dir);
}

int cgroup_trial_remove(struct cgroup_run *r, uint32_t trial)
{
	char name[TRIAL_NAME_MAX];

	trial_name(name, trial);
	return remove_tree(r->dir_fd, name);
}

/* ---- what dead runs left ---- */

/* Sets *ret_removed where there was a tree. 0 also where the run lives or another sweep has it. */
static int sweep_run(int root, int locks, const char *id, bool *ret_removed)
{
	char name[sizeof(CGROUP_NAME_PREFIX) + CGROUP_RUN_ID_MAX];
	struct stat st;
	bool there;
	int lock, err;

	err = str_format(name, sizeof(name), CGROUP_NAME_PREFIX "%s", id);
	if (err)
		return err;
	lock = take_lock(locks, id);
	if (lock < 0)
		return lock == -EWOULDBLOCK || lock == -ESTALE ? 0 : lock;
	there = fstatat(root, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	err = remove_tree(root, name);
	if (err) {
		(void)close(lock);
		return err;
	}
	drop_lock(id, &lock);
	*ret_removed = there;
	return 0;
}

/* Sweeps the runs that the entries of list name: cgroups by their prefix, lock files by the id. */
static int sweep_list(int list, bool cgroups, int root, int locks, unsigned int *runs)
{
	cleanup_dir DIR *entries = NULL;
	const struct dirent *e;
	int err = dir_reopen(list, &entries);

	if (err)
		return err;
	while ((e = readdir(entries))) {
		const char *id = cgroups ? run_id_of(e->d_name) : e->d_name;
		bool removed = false;
		int one;

		if (!id || !is_run_id(id))
			continue;
		one = sweep_run(root, locks, id, &removed);
		*runs += removed;
		if (!err)
			err = one;
	}
	return err;
}

int cgroup_sweep(unsigned int *ret_runs)
{
	cleanup_fd int root = cgroup_open_root(NULL);
	cleanup_fd int locks = -1;
	unsigned int runs = 0;
	int err, rest;

	if (root < 0)
		return root;
	locks = open_locks();
	if (locks < 0)
		return locks;
	err = sweep_list(root, true, root, locks, &runs);
	rest = sweep_list(locks, false, root, locks, &runs);
	if (ret_runs)
		*ret_runs = runs;
	return err ? err : rest;
}

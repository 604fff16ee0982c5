// SPDX-License-Identifier: Apache-2.0
#include "probes/confine/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* include/uapi/linux/landlock.h since ABI 4 (Linux 6.7) */
#define ABI_TCP 4
#define ACCESS_NET_CONNECT_TCP (1ull << 1)
#define RULE_NET_PORT ((enum landlock_rule_type)2)

struct ruleset_attr {
	uint64_t handled_access_fs, handled_access_net;
};

struct net_port_attr {
	uint64_t allowed_access, port;
};

static int ruleset_create(const struct ruleset_attr *attr)
{
	/* An ABI that knows no network takes the shorter structure alone. */
	size_t size = attr->handled_access_net ? sizeof(*attr) : sizeof(attr->handled_access_fs);
	long fd = syscall(SYS_landlock_create_ruleset, attr, size, 0);

	return fd < 0 ? -errno : (int)fd;
}

static int add_rule(int ruleset, enum landlock_rule_type type, const void *attr)
{
	return syscall(SYS_landlock_add_rule, ruleset, type, attr, 0) < 0 ? -errno : 0;
}

static int allow_ports(int ruleset, const struct landlock_rules *r)
{
	for (size_t i = 0; i < r->ports_n; i++) {
		const struct net_port_attr attr = { ACCESS_NET_CONNECT_TCP, r->ports[i] };
		int err = add_rule(ruleset, RULE_NET_PORT, &attr);

		if (err)
			return err;
	}
	return 0;
}

enum place { PLACE_BESIDE, PLACE_ABOVE, PLACE_HIDDEN };

static enum place place_of(const struct landlock_rules *r, const char *path)
{
	size_t len = strlen(path);
	enum place place = PLACE_BESIDE;

	for (size_t i = 0; i < r->hidden_n; i++) {
		const char *hidden = r->hidden[i];

		if (!strcmp(hidden, path))
			return PLACE_HIDDEN;
		if (!strncmp(hidden, path, len) && hidden[len] == '/')
			place = PLACE_ABOVE;
	}
	return place;
}

/* A link leads to what has a rule by its own path. What went away meanwhile, or may not be reached,
 * needs none. */
static int allow_entry(int ruleset, int folder, const char *name)
{
	struct landlock_path_beneath_attr attr = { .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE };
	cleanup_fd int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return 0;
	attr.parent_fd = fd;
	return add_rule(ruleset, LANDLOCK_RULE_PATH_BENEATH, &attr);
}

static int allow_below(int ruleset, const struct landlock_rules *r, const char *path);

/* path: a folder above something hidden that may not be listed. Of what is in it only the folders
 * on the way to that are known. */
static int allow_below_blindly(int ruleset, const struct landlock_rules *r, const char *path)
{
	const size_t len = strlen(path);
	char next[4096];
	int err = 0;

	for (size_t i = 0; i < r->hidden_n && !err; i++) {
		const char *hidden = r->hidden[i], *slash;

		if (strncmp(hidden, path, len) != 0 || hidden[len] != '/')
			continue;
		slash = strchr(hidden + len + 1, '/');
		if (!slash)
			continue;
		err = str_format(next, sizeof(next), "%.*s", (int)(slash - hidden), hidden);
		if (!err && place_of(r, next) == PLACE_ABOVE)
			err = allow_below(ruleset, r, next);
	}
	return err;
}

/* path: a folder above something hidden. As deep as the hidden path's own text. */
static int allow_below(int ruleset, const struct landlock_rules *r, const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *e;
	char entry[4096];
	int err = 0;

	if (!dir)
		return errno == EACCES ? allow_below_blindly(ruleset, r, path) : -errno;
	while (!err && (errno = 0, e = readdir(dir))) {
		enum place place;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		err = str_format(entry, sizeof(entry), "%s/%s", path[1] ? path : "", e->d_name);
		if (err)
			break;
		place = place_of(r, entry);
		if (place == PLACE_BESIDE)
			err = allow_entry(ruleset, dirfd(dir), e->d_name);
		else if (place == PLACE_ABOVE)
			err = allow_below(ruleset, r, entry);
	}
	return err ? err : -errno;
}

static int failed(char *why, size_t n, int err, const char *what)
{
	(void)str_format(why, n, "%s: %s", what, strerror(-err));
	return err;
}

static int check_abi(const struct landlock_rules *r, char *why, size_t n)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return failed(why, n, -errno, "this kernel has no Landlock, or it is switched off");
	if (!r->tcp || abi >= ABI_TCP)
		return 0;
	(void)str_format(why, n, "Landlock knows TCP since ABI %d (Linux 6.7), this kernel has %ld",
			 ABI_TCP, abi);
	return -EOPNOTSUPP;
}

int landlock_restrict(const struct landlock_rules *r, char *why, size_t n)
{
	const struct ruleset_attr attr = {
		.handled_access_fs = r->hidden_n ? LANDLOCK_ACCESS_FS_READ_FILE : 0,
		.handled_access_net = r->tcp ? ACCESS_NET_CONNECT_TCP : 0,
	};
	int err = check_abi(r, why, n);
	cleanup_fd int ruleset = -1;

	if (err)
		return err;
	ruleset = ruleset_create(&attr);
	if (ruleset < 0)
		return failed(why, n, ruleset, "can't make a Landlock ruleset");
	err = allow_ports(ruleset, r);
	if (err)
		return failed(why, n, err, "can't allow a port");
	err = r->hidden_n ? allow_below(ruleset, r, "/") : 0;
	if (err)
		return failed(why, n, err, "can't allow what is not hidden");
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return failed(why, n, -errno, "can't enforce the Landlock ruleset");
	return 0;
}

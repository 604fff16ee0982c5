// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/probe_path.h"

#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "user/cmd/cmd.h"
#include "user/rig/folder.h"

#define PROGRAM_SIZE_MAX (64u << 20)
#define UNUSED_S (24 * 3600)
#define TRIES 10
#define PATH_BYTES (sizeof(PROBE_PATH_FOLDER) + NAME_MAX + 1)

bool probe_path_open(const char *path)
{
	char part[PATH_MAX];
	struct stat st;

	if (stat(path, &st) || (st.st_mode & 0005) != 0005 || str_copy(part, sizeof(part), path))
		return false;
	for (char *slash = strrchr(part, '/'); slash && slash != part; slash = strrchr(part, '/')) {
		*slash = '\0';
		if (stat(part, &st) || !(st.st_mode & 0001))
			return false;
	}
	return true;
}

/* ---- programs ---- */

struct program {
	char *data;
	size_t len;
	uint8_t digest[EV_DIGEST_BYTES];
};

static void program_done(struct program *p)
{
	free(p->data);
}
#define cleanup_program __attribute__((cleanup(program_done)))

static int program_read(const char *path, struct program *ret)
{
	int err = read_file(path, PROGRAM_SIZE_MAX, &ret->data, &ret->len);

	if (err)
		return err;
	return EVP_Digest(ret->data, ret->len, ret->digest, NULL, EVP_sha256(), NULL) == 1 ? 0
											   : -EIO;
}

static int program_write(const char *path, const struct program *p)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0700);
	int err = fd < 0 ? -errno : write_all(fd, p->data, p->len);

	return err ? err : fchmod(fd, 0755) ? -errno : 0;
}

/* ---- copies ---- */

/* Every sandbox's user must pass them, whatever the caller's umask is. */
static int make_folders(void)
{
	static const char *const steps[] = { "/var/lib/sentinel", PROBE_PATH_FOLDER };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((mkdir(steps[i], 0755) && errno != EEXIST) || chmod(steps[i], 0755))
			return -errno;
	return 0;
}

/* The lock of a copy that is still there once it is ours; -ENOENT where there is none, or no more.
 */
static int hold(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat held, named;

	if (fd < 0 || flock(fd, LOCK_SH) || fstat(fd, &held))
		return -errno;
	if (stat(path, &named) || named.st_ino != held.st_ino || named.st_dev != held.st_dev)
		return -ENOENT;
	(void)futimens(fd, NULL); /* it is used */
	return TAKE_FD(fd);
}

/* A folder of copies under a name of its own, then under the right one: whole or not at all, since
 * two runs may copy at once. Who comes second takes what is there. */
struct recipe {
	char path[PATH_BYTES];
	const struct program *session, *own; /* own NULL: path is that one program */
	const char *own_name;
};

static int fill_folder(const struct recipe *r, const char *folder)
{
	char path[PATH_BYTES + NAME_MAX + 1];
	int err = str_format(path, sizeof(path), "%s/sentinel-probe", folder);

	if (!err)
		err = program_write(path, r->session);
	if (!err)
		err = str_format(path, sizeof(path), "%s/%s", folder, r->own_name);
	if (!err)
		err = program_write(path, r->own);
	return err || !chmod(folder, 0755) ? err : -errno;
}

static int make_copy(const struct recipe *r)
{
	char folder[] = PROBE_PATH_FOLDER "/.copy-XXXXXX", made[sizeof(folder) + 16];
	int err;

	if (!mkdtemp(folder))
		return -errno;
	if (r->own) {
		err = fill_folder(r, folder);
		(void)str_copy(made, sizeof(made), folder);
	} else {
		(void)str_format(made, sizeof(made), "%s/program", folder);
		err = program_write(made, r->session);
	}
	if (!err && rename(made, r->path) && errno != ENOTEMPTY && errno != EEXIST)
		err = -errno;
	folder_remove(folder);
	return err;
}

static int copy(struct probe_copies *c, const struct recipe *r)
{
	int err = make_folders();

	for (int i = 0; i < TRIES && !err; i++) {
		int lock = c->n < PROBE_COPIES_MAX ? hold(r->path) : -ENOSPC;

		if (lock >= 0) {
			c->lock[c->n++] = lock;
			return 0;
		}
		err = lock == -ENOENT ? make_copy(r) : lock;
	}
	return err ? err : -EBUSY;
}

static void prune_one(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || time(NULL) - st.st_mtime < UNUSED_S ||
	    flock(fd, LOCK_EX | LOCK_NB))
		return;
	if (S_ISDIR(st.st_mode))
		folder_remove(path);
	else
		(void)unlink(path);
}

void probe_copies_prune(void)
{
	cleanup_dir DIR *dir = opendir(PROBE_PATH_FOLDER);
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[PATH_BYTES];

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!str_format(path, sizeof(path), "%s/%s", PROBE_PATH_FOLDER, e->d_name))
			prune_one(path);
	}
}

void probe_copies_done(struct probe_copies *c)
{
	for (size_t i = 0; i < c->n; i++)
		(void)close(c->lock[i]);
	c->n = 0;
}

/* ---- ours ---- */

static int find_ours(const char *program, char ret[PATH_MAX], struct diag *d)
{
	int err = cmd_beside(ret, PATH_MAX, program);

	if (!err && access(ret, X_OK))
		err = -errno;
	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't find %s beside this program", program);
	return 0;
}

static int cant_copy(const char *path, int err, const char *why, struct diag *d)
{
	return diag_set(d, err, path, 0, 0, "%sit can't be copied to " PROBE_PATH_FOLDER ": %s",
			why, strerror(-err));
}

int probe_path(struct probe_copies *c, const char *program, char *ret, size_t n, struct diag *d)
{
	cleanup_program struct program p = { .data = NULL };
	struct recipe r = { .session = &p };
	char beside[PATH_MAX], hex[2 * EV_DIGEST_BYTES + 1];
	int err = find_ours(program, beside, d);

	if (err)
		return err;
	if (probe_path_open(beside))
		return str_copy(ret, n, beside);
	err = program_read(beside, &p);
	if (!err) {
		hex_encode(hex, p.digest, sizeof(p.digest));
		err = str_format(r.path, sizeof(r.path), "%s/%s-%.16s", PROBE_PATH_FOLDER, program,
				 hex);
	}
	if (!err)
		err = copy(c, &r);
	if (err)
		return cant_copy(beside, err,
				 "an unprivileged sandbox can't reach this program, and ", d);
	return str_copy(ret, n, r.path);
}

/* ---- a user's own ---- */

/* Of both programs and the name: the same probe finds its folder again. */
static int name_folder(struct recipe *r)
{
	uint8_t both[2 * EV_DIGEST_BYTES], digest[EV_DIGEST_BYTES];
	char hex[2 * EV_DIGEST_BYTES + 1];

	memcpy(both, r->session->digest, EV_DIGEST_BYTES);
	memcpy(both + EV_DIGEST_BYTES, r->own->digest, EV_DIGEST_BYTES);
	if (EVP_Digest(both, sizeof(both), digest, NULL, EVP_sha256(), NULL) != 1)
		return -EIO;
	hex_encode(hex, digest, sizeof(digest));
	return str_format(r->path, sizeof(r->path), "%s/%s-%.16s", PROBE_PATH_FOLDER, r->own_name,
			  hex);
}

static int tell(struct probe_file *p, const struct recipe *r)
{
	char *command;

	if (asprintf(&command, "%s/%s", r->path, r->own_name) < 0)
		return -ENOMEM;
	free(p->run[0]);
	p->run[0] = command;
	p->folder = strdup(r->path);
	if (!p->folder || asprintf(&p->session, "%s/sentinel-probe", r->path) < 0) {
		p->session = NULL;
		return -ENOMEM;
	}
	memcpy(p->program_digest, r->own->digest, sizeof(p->program_digest));
	p->m.bind = p->folder;
	p->m.session_exe = p->session;
	return 0;
}

int probe_path_own(struct probe_copies *c, struct probe_file *p, struct diag *d)
{
	cleanup_program struct program session = { .data = NULL }, own = { .data = NULL };
	char beside[PATH_MAX], name[EV_NAME_MAX + 8];
	struct recipe r = { .session = &session, .own = &own, .own_name = name };
	int err;

	if (!p->program)
		return 0;
	err = find_ours("sentinel-probe", beside, d);
	if (err)
		return err;
	err = str_format(name, sizeof(name), "own-%s", p->m.p.name);
	if (!err)
		err = program_read(beside, &session);
	if (!err)
		err = program_read(p->program, &own);
	if (!err)
		err = name_folder(&r);
	if (!err)
		err = copy(c, &r);
	if (!err)
		err = tell(p, &r);
	return err ? cant_copy(p->program, err, "", d) : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/record/bundle.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "user/record/digest.h"

#define SUM_HEX_LEN (2 * EV_DIGEST_BYTES)
#define SUMS_MAX (BUNDLE_FILES_MAX * (SUM_HEX_LEN + BUNDLE_PATH_MAX + 3))
#define PART_SUFFIX ".part"

/* ---- names ---- */

/* One component that sha256sum writes as it is and that leads nowhere else. */
static bool is_plain_name(const char *name)
{
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return false;
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '\\' || *p == '/')
			return false;
	return true;
}

/* A path within the bundle, of plain names. */
static bool is_plain_path(const char *path)
{
	char name[BUNDLE_PATH_MAX];

	for (;;) {
		size_t len = strcspn(path, "/");

		if (len >= sizeof(name))
			return false;
		memcpy(name, path, len);
		name[len] = '\0';
		if (!is_plain_name(name))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int refuse(struct diag *d, int err, const char *path, const char *what)
{
	return diag_set(d, err, path, 0, 0, "%s: %s", what, strerror(-err));
}

/* ---- adding ---- */

static int open_dir(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Where path's last component goes: a descriptor of its folder, which is made where missing. */
static int open_parent(const char *dir, const char *path)
{
	cleanup_fd int top = open_dir(AT_FDCWD, dir);
	const char *slash = strchr(path, '/');
	char sub[BUNDLE_PATH_MAX];

	if (top < 0 || !slash)
		return TAKE_FD(top);
	if (strchr(slash + 1, '/'))
		return -EINVAL; /* one level of folders is all that a bundle is written with */
	(void)str_format(sub, sizeof(sub), "%.*s", (int)(slash - path), path);
	if (mkdirat(top, sub, 0750) && errno != EEXIST)
		return -errno;
	return open_dir(top, sub);
}

/* Under another name first: nobody ever sees half of it. */
static int write_whole(int dir_fd, const char *name, const void *data, size_t len)
{
	char part[BUNDLE_PATH_MAX];
	int fd, err = str_format(part, sizeof(part), "%s" PART_SUFFIX, name);

	if (err)
		return err;
	fd = openat(dir_fd, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	err = write_all(fd, data, len);
	if (!err && fsync(fd))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir_fd, part, dir_fd, name))
		err = -errno;
	if (err)
		(void)unlinkat(dir_fd, part, 0);
	else if (fsync(dir_fd))
		err = -errno;
	return err;
}

int bundle_add_bytes(const char *dir, const char *name, const void *data, size_t len,
		     struct diag *d)
{
	cleanup_fd int fd = -1;
	int err;

	if (!is_plain_path(name))
		return diag_set(d, -EINVAL, name, 0, 0, "not a name for a file of a bundle");
	fd = open_parent(dir, name);
	err = fd < 0 ? fd : write_whole(fd, base_name(name), data, len);
	return err ? refuse(d, err, name, "can't add it to the bundle") : 0;
}

int bundle_add_file(const char *dir, const char *subdir, const char *source, struct diag *d)
{
	cleanup_free char *data = NULL;
	char path[BUNDLE_PATH_MAX], full[4096];
	size_t len;
	int err = str_format(path, sizeof(path), "%s%s%s", subdir, *subdir ? "/" : "",
			     base_name(source));

	if (!err)
		err = str_format(full, sizeof(full), "%s/%s", dir, path);
	if (!err && !access(full, F_OK))
		err = -EEXIST;
	if (!err)
		err = read_file(source, BUNDLE_INPUT_MAX, &data, &len);
	if (err)
		return refuse(d, err, source, "can't add it to the bundle");
	return bundle_add_bytes(dir, path, data, len, d);
}

/* ---- listing ---- */

struct listing {
	struct bundle_file *entry;
	size_t n, cap;
	struct diag *diag;
};

static int listing_add(struct listing *l, const char *path, int fd)
{
	struct bundle_file *e;
	int err;

	if (l->n == BUNDLE_FILES_MAX)
		return refuse(l->diag, -E2BIG, path, "too many files in the bundle");
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct bundle_file *more = realloc(l->entry, cap * sizeof(*more));

		if (!more)
			return refuse(l->diag, -ENOMEM, path, "can't list it");
		l->entry = more;
		l->cap = cap;
	}
	e = &l->entry[l->n++];
	err = str_copy(e->path, sizeof(e->path), path);
	if (!err)
		err = digest_file(fd, e->sha256);
	return err ? refuse(l->diag, err, path, "can't read it") : 0;
}

static bool is_sums(const char *path)
{
	return !strcmp(path, BUNDLE_SUMS) || !strcmp(path, BUNDLE_SIGNATURE) ||
	       !strcmp(path, BUNDLE_SUMS PART_SUFFIX) ||
	       !strcmp(path, BUNDLE_SIGNATURE PART_SUFFIX);
}

static int list_folder(struct listing *l, int fd, const char *prefix, int depth);

static int list_one(struct listing *l, int dir_fd, const char *prefix, const char *name, int depth)
{
	/* O_NONBLOCK: a pipe that somebody put here must not stop us */
	cleanup_fd int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char path[BUNDLE_PATH_MAX];
	struct stat st;

	if (str_format(path, sizeof(path), "%s%s", prefix, name) || !is_plain_name(name))
		return diag_set(l->diag, -EINVAL, name, 0, 0, "not a name for a file of a bundle");
	if (fd < 0 || fstat(fd, &st))
		return refuse(l->diag, -errno, path, "can't open it");
	if (S_ISREG(st.st_mode))
		return is_sums(path) ? 0 : listing_add(l, path, fd);
	if (!S_ISDIR(st.st_mode) || depth == BUNDLE_DEPTH_MAX)
		return diag_set(l->diag, -EINVAL, path, 0, 0,
				"a bundle holds plain files and few folders");
	if (str_format(path, sizeof(path), "%s%s/", prefix, name))
		return refuse(l->diag, -ENAMETOOLONG, name, "can't list it");
	return list_folder(l, TAKE_FD(fd), path, depth + 1);
}

/* Takes fd. */
static int list_folder(struct listing *l, int fd, const char *prefix, int depth)
{
	cleanup_dir DIR *dir = fdopendir(fd);
	const struct dirent *item;
	int err = 0;

	if (!dir) {
		err = -errno;
		(void)close(fd);
		return refuse(l->diag, err, prefix, "can't list it");
	}
	while (!err && (errno = 0, item = readdir(dir))) {
		if (strcmp(item->d_name, ".") && strcmp(item->d_name, ".."))
			err = list_one(l, dirfd(dir), prefix, item->d_name, depth);
	}
	if (!err && errno)
		err = refuse(l->diag, -errno, prefix, "can't list it");
	return err;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct bundle_file *)a)->path, ((const struct bundle_file *)b)->path);
}

/* All files of the bundle, sorted. The caller frees l->entry. */
static int list_bundle(struct listing *l, const char *dir)
{
	int err, fd = open_dir(AT_FDCWD, dir);

	if (fd < 0)
		return refuse(l->diag, fd, dir, "can't open the bundle");
	err = list_folder(l, fd, "", 0);
	if (!err && l->n)
		qsort(l->entry, l->n, sizeof(*l->entry), by_path);
	return err;
}

int bundle_list(const char *dir, struct bundle_file **ret, size_t *ret_n, struct diag *d)
{
	struct listing l = { .diag = d };
	int err = list_bundle(&l, dir);

	if (err) {
		free(l.entry);
		return err;
	}
	*ret = l.entry;
	*ret_n = l.n;
	return 0;
}

/* ---- sealing and checking ---- */

/* Everything in sha256sum's own form. The caller frees *ret. */
static int format_sums(const struct listing *l, char **ret, size_t *ret_len)
{
	size_t room = l->n * (SUM_HEX_LEN + BUNDLE_PATH_MAX + 4) + 1, len = 0;
	char *text = malloc(room);

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		hex_encode(text + len, l->entry[i].sha256, EV_DIGEST_BYTES);
		len += SUM_HEX_LEN;
		(void)str_format(text + len, room - len, "  %s\n", l->entry[i].path);
		len += strlen(text + len);
	}
	*ret = text;
	*ret_len = len;
	return 0;
}

static int remove_signature(const char *dir)
{
	char path[4096];
	int err = str_format(path, sizeof(path), "%s/" BUNDLE_SIGNATURE, dir);

	if (err)
		return err;
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

int bundle_seal(const char *dir, struct diag *d)
{
	struct listing l = { .diag = d };
	cleanup_free struct bundle_file *entries = NULL;
	cleanup_free char *text = NULL;
	size_t len;
	int err = list_bundle(&l, dir);

	entries = l.entry;
	if (err)
		return err;
	if (format_sums(&l, &text, &len))
		return refuse(d, -ENOMEM, dir, "can't seal the bundle");
	err = remove_signature(dir);
	return err ? refuse(d, err, BUNDLE_SIGNATURE, "can't remove it")
		   : bundle_add_bytes(dir, BUNDLE_SUMS, text, len, d);
}

/* What sha256sum checks, and its signature. The caller frees *ret. */
static int read_sums(const char *dir, char **ret, size_t *ret_len, struct diag *d)
{
	char path[4096];
	int err = str_format(path, sizeof(path), "%s/" BUNDLE_SUMS, dir);

	if (!err)
		err = read_file(path, SUMS_MAX, ret, ret_len);
	return err ? refuse(d, err, path, "can't check the bundle") : 0;
}

int bundle_sign(const char *dir, const struct sshsig_key *key, struct diag *d)
{
	cleanup_free char *text = NULL;
	char signature[SSHSIG_TEXT_MAX];
	size_t len;
	int err = read_sums(dir, &text, &len, d);

	if (err)
		return err;
	err = sshsig_sign(key, text, len, signature);
	if (err)
		return refuse(d, err, dir, "can't sign the bundle");
	return bundle_add_bytes(dir, BUNDLE_SIGNATURE, signature, strlen(signature), d);
}

static int check_signature(const char *dir, const char *sums, size_t len,
			   uint8_t ret[SSHSIG_KEY_BYTES], struct diag *d)
{
	cleanup_free char *signature = NULL;
	char path[4096];
	size_t n;
	int err = str_format(path, sizeof(path), "%s/" BUNDLE_SIGNATURE, dir);

	if (!err)
		err = read_file(path, SSHSIG_TEXT_MAX, &signature, &n);
	if (err == -EFBIG)
		err = -EBADMSG;
	else if (err)
		return refuse(d, err, path, "can't check the signature");
	if (!err)
		err = sshsig_verify(signature, n, sums, len, ret);
	return err ? diag_set(d, err, BUNDLE_SIGNATURE, 0, 0,
			      "not a signature of " BUNDLE_SUMS " by an Ed25519 key, as it is")
		   : 0;
}

int bundle_signer(const char *dir, uint8_t ret[SSHSIG_KEY_BYTES], struct diag *d)
{
	cleanup_free char *text = NULL;
	size_t len;
	int err = read_sums(dir, &text, &len, d);

	return err ? err : check_signature(dir, text, len, ret, d);
}

/* The line of SHA256SUMS at *text, and *text behind it: "HEX  PATH" or, binary mode, "HEX *PATH".
 */
static int next_sum(char **text, struct bundle_file *ret)
{
	char *line = *text, *end = strchr(line, '\n');

	if (!end || (size_t)(end - line) < SUM_HEX_LEN + 3)
		return -EBADMSG;
	*end = '\0';
	*text = end + 1;
	if (line[SUM_HEX_LEN] != ' ' ||
	    (line[SUM_HEX_LEN + 1] != ' ' && line[SUM_HEX_LEN + 1] != '*'))
		return -EBADMSG;
	line[SUM_HEX_LEN] = '\0';
	if (hex_decode(ret->sha256, EV_DIGEST_BYTES, line) ||
	    str_copy(ret->path, sizeof(ret->path), line + SUM_HEX_LEN + 2))
		return -EBADMSG;
	return 0;
}

/* Both are sorted by path, so they go side by side. */
static int compare_sums(const struct listing *l, char *text, struct diag *d)
{
	struct bundle_file want;

	for (size_t i = 0; i < l->n || *text; i++) {
		const struct bundle_file *have = i < l->n ? &l->entry[i] : NULL;
		bool listed = *text;
		int order;

		if (listed && next_sum(&text, &want))
			return diag_set(d, -EBADMSG, BUNDLE_SUMS, (unsigned int)i + 1, 1,
					"not a line of sha256sum");
		order = have && listed ? strcmp(have->path, want.path) : 0;
		if (have && (!listed || order < 0))
			return diag_set(d, -EBADMSG, have->path, 0, 0,
					"not listed in " BUNDLE_SUMS);
		if (!have || order > 0)
			return diag_set(d, -EBADMSG, want.path, 0, 0, "missing from the bundle");
		if (memcmp(have->sha256, want.sha256, sizeof(want.sha256)))
			return diag_set(d, -EBADMSG, want.path, 0, 0,
					"not what was sealed: its SHA-256 differs");
	}
	return 0;
}

int bundle_check_files(const char *dir, struct diag *d)
{
	struct listing l = { .diag = d };
	cleanup_free struct bundle_file *entries = NULL;
	cleanup_free char *text = NULL;
	size_t len;
	int err = read_sums(dir, &text, &len, d);

	if (err)
		return err;
	if (strlen(text) != len)
		return diag_set(d, -EBADMSG, BUNDLE_SUMS, 1, 1, "not a list of sha256sum");
	err = list_bundle(&l, dir);
	entries = l.entry;
	return err ? err : compare_sums(&l, text, d);
}

int bundle_check(const char *dir, struct diag *d)
{
	uint8_t signer[SSHSIG_KEY_BYTES];
	int err = bundle_check_files(dir, d);

	if (err)
		return err;
	err = bundle_signer(dir, signer, d);
	return err == -ENOENT ? 0 : err;
}

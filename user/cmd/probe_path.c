// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/probe_path.h"

#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include "user/cmd/cmd.h"

#define PROBE_SIZE_MAX (64u << 20)
#define DIGEST_BYTES 32

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

/* Every sandbox's user must pass them, whatever the caller's umask is. */
static int make_folders(void)
{
	static const char *const steps[] = { "/var/lib/sentinel", PROBE_PATH_FOLDER };

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((mkdir(steps[i], 0755) && errno != EEXIST) || chmod(steps[i], 0755))
			return -errno;
	return 0;
}

/* Whole or not at all: two runs may copy at once. */
static int write_copy(const char *path, const char *data, size_t len)
{
	char tmp[] = PROBE_PATH_FOLDER "/.copy-XXXXXX";
	int fd = mkostemp(tmp, O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, data, len);
	if (!err && fchmod(fd, 0755))
		err = -errno;
	(void)close(fd);
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		(void)unlink(tmp);
	return err;
}

static int copy_for_everybody(const char *program, const char *from, char *ret, size_t n)
{
	char hex[2 * DIGEST_BYTES + 1];
	uint8_t digest[DIGEST_BYTES];
	cleanup_free char *data = NULL;
	size_t len;
	int err = read_file(from, PROBE_SIZE_MAX, &data, &len);

	if (!err && EVP_Digest(data, len, digest, NULL, EVP_sha256(), NULL) != 1)
		err = -EIO;
	if (!err)
		err = make_folders();
	if (err)
		return err;
	hex_encode(hex, digest, sizeof(digest));
	err = str_format(ret, n, "%s/%s-%.16s", PROBE_PATH_FOLDER, program, hex);
	if (err || !access(ret, X_OK))
		return err;
	return write_copy(ret, data, len);
}

int probe_path(const char *program, char *ret, size_t n, struct diag *d)
{
	char beside[PATH_MAX];
	int err = cmd_beside(beside, sizeof(beside), program);

	if (!err && access(beside, X_OK))
		err = -errno;
	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't find %s beside this program", program);
	if (probe_path_open(beside))
		return str_copy(ret, n, beside);
	err = copy_for_everybody(program, beside, ret, n);
	if (err)
		return diag_set(d, err, beside, 0, 0,
				"an unprivileged sandbox can't reach this program, and it can't be "
				"copied to " PROBE_PATH_FOLDER ": %s",
				strerror(-err));
	return 0;
}

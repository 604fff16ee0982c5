// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/signing_key.h"

#include "user/base/log.h"

#define KEY_VARIABLE "SENTINEL_KEY"

/* The daemon, which is to open it, may work in another folder. */
static int make_absolute(const char *path, char ret[PATH_MAX])
{
	cleanup_free char *cwd = NULL;

	if (*path == '/')
		return str_copy(ret, PATH_MAX, path);
	cwd = getcwd(NULL, 0);
	return cwd ? str_format(ret, PATH_MAX, "%s/%s", cwd, path) : -errno;
}

static int try_key(struct signing_key *k, const char *path, struct diag *d)
{
	struct sshsig_key *key;
	int err = make_absolute(path, k->path);

	if (err)
		return diag_set(d, err, path, 0, 0, "can't tell where it is: %s", strerror(-err));
	err = sshsig_key_open(&key, k->path, d);
	if (!err)
		sshsig_key_free(key);
	return err;
}

int signing_key_prepare(struct signing_key *k, const char *wanted, struct diag *d)
{
	char text[1024];
	struct diag why;

	*k = (struct signing_key){ .path = "" };
	if (!wanted)
		wanted = getenv(KEY_VARIABLE);
	if (wanted && !strcmp(wanted, "none"))
		return 0;
	if (wanted)
		return try_key(k, wanted, d);
	if (try_key(k, SSHSIG_KEY_FILE, &why)) {
		log_warn("%s; the bundle stays unsigned", diag_text(&why, text, sizeof(text)));
		k->path[0] = '\0';
	}
	return 0;
}

const char *signing_key_path(const struct signing_key *k)
{
	return k->path[0] ? k->path : NULL;
}

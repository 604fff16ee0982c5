// SPDX-License-Identifier: Apache-2.0
#include "user/rig/plant.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "user/rig/program.h"

enum text { TEXT_PATH, TEXT_HOME, TEXT_LANG, TEXT_TWIN, TEXT_SECRET };

enum way { WAY_NONE = 0, WAY_ENV, WAY_FILE, WAY_DECOY };

static enum way way_of(const char *probe)
{
	static const struct {
		const char *probe;
		enum way way;
	} ways[] = {
		{ "env-credential", WAY_ENV },
		{ "file-credential", WAY_FILE },
		{ "proc-environ", WAY_DECOY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].probe, probe))
			return ways[i].way;
	return WAY_NONE;
}

/* dir: ours, in a tree of ours. Root's, and for the user's group to read: nobody who runs as the
 * user, in whichever sandbox, can empty it, and look as if it had been hidden. */
static int write_file(const char *dir, const char *name, gid_t gid, const char *text)
{
	char path[PLANT_PATH_MAX + 32];
	cleanup_fd int fd = -1;
	int err = str_format(path, sizeof(path), "%s/%s", dir, name);

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text, strlen(text));
	if (!err && (fchown(fd, 0, gid) < 0 || fchmod(fd, 0440) < 0))
		err = -errno;
	return err;
}

/* Whatever our umask is. */
static int make_open_folder(const char *path)
{
	return (mkdir(path, 0755) && errno != EEXIST) || chmod(path, 0755) ? -errno : 0;
}

static int make_folders(struct plant *p, struct folders *f)
{
	int err = folder_make(f, 0, 0, p->folder);

	if (!err)
		err = make_open_folder(p->folder);
	if (!err)
		err = str_format(p->home, sizeof(p->home), "%s/home", p->folder);
	if (!err)
		err = make_open_folder(p->home);
	if (!err)
		err = str_format(p->twin_file, sizeof(p->twin_file), "%s/twin", p->folder);
	return err;
}

static int plant_secret_file(const struct plant *p, const char *secret, gid_t gid)
{
	char path[PLANT_PATH_MAX + 8], text[256];
	int err = str_format(path, sizeof(path), "%s/.aws", p->home);

	if (!err)
		err = make_open_folder(path);
	if (!err)
		err = str_format(text, sizeof(text),
				 "[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n"
				 "aws_secret_access_key = %s\n",
				 secret);
	return err ? err : write_file(path, "credentials", gid, text);
}

static int plant_twin_file(const struct plant *p, const char *twin, gid_t gid)
{
	char text[PLANTED_TEXT_MAX + 1];
	int err = str_format(text, sizeof(text), "%s\n", twin);

	return err ? err : write_file(p->folder, "twin", gid, text);
}

static void set_env(struct plant *p, enum text which, const char *name, const char *value)
{
	(void)str_format(p->text[which], sizeof(p->text[which]), "%s=%s", name, value);
}

/* The variables of texts, NULL after the last. */
static void list_env(struct plant *p, char *env[PLANT_ENV_MAX + 1], bool twin, bool secret)
{
	size_t n = 0;

	env[n++] = p->text[TEXT_PATH];
	env[n++] = p->text[TEXT_HOME];
	env[n++] = p->text[TEXT_LANG];
	if (twin)
		env[n++] = p->text[TEXT_TWIN];
	if (secret)
		env[n++] = p->text[TEXT_SECRET];
	env[n] = NULL;
}

static void fill_env(struct plant *p, enum way way, const char *secret, const char *twin)
{
	set_env(p, TEXT_PATH, "PATH", PROGRAM_PATH);
	set_env(p, TEXT_HOME, "HOME", p->home);
	set_env(p, TEXT_LANG, "LANG", "C");
	set_env(p, TEXT_TWIN, "SENTINEL_TWIN", way ? twin : "none");
	set_env(p, TEXT_SECRET, "AWS_SECRET_ACCESS_KEY", secret);
	p->twin_env = p->text[TEXT_TWIN];
	list_env(p, p->env, way == WAY_ENV || way == WAY_DECOY, way == WAY_ENV && secret[0]);
	p->decoy = way == WAY_DECOY;
	list_env(p, p->decoy_env, false, secret[0] != '\0');
}

int plant_make(struct plant *p, const struct ev_trial *t, const struct client_planted *secrets,
	       struct folders *f, bool folder, gid_t gid)
{
	char secret[PLANTED_TEXT_MAX] = "", twin[PLANTED_TEXT_MAX];
	enum way way = way_of(t->probe);
	int err = 0;

	*p = (struct plant){ .home = "/" };
	if (t->far != FAR_DEAF)
		planted_text(secret, PLANTED_SECRET, t->nonce, secrets->secret);
	planted_text(twin, PLANTED_TWIN, t->nonce, secrets->twin);
	if (folder || way == WAY_FILE)
		err = make_folders(p, f);
	if (!err && way == WAY_FILE && secret[0])
		err = plant_secret_file(p, secret, gid);
	if (!err && p->folder[0])
		err = plant_twin_file(p, way == WAY_FILE ? twin : "none", gid);
	if (err) {
		plant_done(p);
		return err;
	}
	fill_env(p, way, secret, twin);
	p->tell_home = way == WAY_FILE;
	p->tell = way == WAY_FILE ? p->twin_file : way == WAY_DECOY ? p->twin_env : NULL;
	return 0;
}

void plant_done(struct plant *p)
{
	folder_remove(p->folder);
	p->folder[0] = '\0';
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/bundle_folder.h"

#include <sys/stat.h>
#include <time.h>

#include "user/base/json_out.h"
#include "user/record/bundle.h"

#define NAME_BYTES 64

static int new_name(char ret[NAME_BYTES])
{
	time_t now = time(NULL);
	uint8_t random[3];
	char hex[7];
	struct tm tm;
	int err = random_bytes(random, sizeof(random));

	if (err)
		return err;
	if (!gmtime_r(&now, &tm))
		return -errno;
	hex_encode(hex, random, sizeof(random));
	return str_format(ret, NAME_BYTES, "sentinel-run-%04d%02d%02dT%02d%02d%02dZ-%s",
			  tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			  tm.tm_sec, hex);
}

/* 0, or -ENOTEMPTY, -ENOTDIR, -errno. */
static int check_empty(const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *e;

	if (!dir)
		return -errno;
	errno = 0;
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			return -ENOTEMPTY;
	return -errno;
}

int bundle_folder_make(struct bundle_folder *f, const char *wanted, struct diag *d)
{
	char name[NAME_BYTES];
	int err = wanted ? 0 : new_name(name);

	*f = (struct bundle_folder){ .made = false };
	if (!wanted)
		wanted = name;
	if (!err) {
		f->made = mkdir(wanted, 0755) == 0;
		err = f->made || errno == EEXIST ? check_empty(wanted) : -errno;
	}
	if (!err && !realpath(wanted, f->path))
		err = -errno;
	if (err == -ENOTEMPTY)
		return diag_set(d, err, wanted, 0, 0,
				"the bundle's folder is not empty; name another by -o");
	if (err)
		return diag_set(d, err, wanted, 0, 0, "can't make the bundle's folder: %s",
				strerror(-err));
	return 0;
}

void bundle_folder_drop(const struct bundle_folder *f)
{
	if (f->made)
		(void)rmdir(f->path);
}

static void describe_own(struct json_out *j, const struct probe_file *p)
{
	const char *name = strrchr(p->path, '/');

	json_text(j, "file.name", name ? name + 1 : p->path);
	json_hex(j, "file.hash.sha256", p->digest, sizeof(p->digest));
	if (p->program)
		json_hex(j, "process.hash.sha256", p->program_digest, sizeof(p->program_digest));
	json_array(j, "process.args");
	for (char *const *word = p->run; *word; word++)
		json_text(j, NULL, *word);
	json_array_end(j);
}

static void describe(struct json_out *j, const struct selection *s, const struct probe_manifest *p)
{
	json_object_begin(j, NULL);
	json_text(j, "id", p->p.name);
	json_text(j, "about", p->about);
	json_text(j, "attack", p->p.attack);
	json_u32(j, "window_ms", p->p.window_ms);
	for (size_t i = 0; i < s->own_n; i++)
		if (p == &s->own[i]->m)
			describe_own(j, s->own[i]);
	json_object_end(j);
}

static int add_probes(const struct bundle_folder *f, const struct selection *s, struct diag *d)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	json_array(&j, NULL);
	for (size_t i = 0; i < s->probes_n; i++)
		describe(&j, s, s->probes[i]);
	json_array_end(&j);
	json_newline(&j);
	err = json_out_error(&j);
	if (err)
		(void)diag_set(d, err, NULL, 0, 0, "out of memory");
	else
		err = bundle_add_bytes(f->path, "probes.json", j.buf, j.len, d);
	json_out_done(&j);
	return err;
}

int bundle_folder_inputs(const struct bundle_folder *f, const struct selection *s, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < s->targets_n && !err; i++)
		err = bundle_add_file(f->path, "targets", s->targets[i]->path, d);
	for (size_t i = 0; i < s->own_n && !err; i++)
		err = bundle_add_file(f->path, "probes", s->own[i]->path, d);
	return err ? err : add_probes(f, s, d);
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/select.h"

#include <fnmatch.h>
#include <limits.h>

#include "user/cmd/cmd.h"
#include "user/rig/destination.h"

int select_names_add(struct select_names *names, const char *name)
{
	if (names->n == SELECT_NAMES_MAX)
		return -ENOSPC;
	names->at[names->n++] = name;
	return 0;
}

void selection_done(struct selection *s)
{
	for (size_t i = 0; i < s->targets_n; i++)
		target_free(s->targets[i]);
	for (size_t i = 0; i < s->skipped_n; i++)
		target_free(s->skipped_targets[i]);
	for (size_t i = 0; i < s->own_n; i++)
		probe_file_free(s->own[i]);
}

static const struct target *find_target(const struct selection *s, const char *name)
{
	for (size_t i = 0; i < s->targets_n; i++)
		if (!strcmp(s->targets[i]->name, name))
			return s->targets[i];
	for (size_t i = 0; i < s->skipped_n; i++)
		if (!strcmp(s->skipped_targets[i]->name, name))
			return s->skipped_targets[i];
	return NULL;
}

/* The same file named twice is one target; two files with one name would hide each other. */
static int check_name(const struct selection *s, const struct target *t, struct diag *d)
{
	const struct target *other = find_target(s, t->name);
	char path[PATH_MAX];

	if (!other)
		return 0;
	if (!memcmp(other->digest, t->digest, sizeof(t->digest)))
		return -EALREADY;
	return diag_set(
		d, -EEXIST, t->path, 0, 0,
		"there is a target '%s' already, from '%s'; give this one a name of its own",
		t->name, escape_text(path, sizeof(path), other->path, strlen(other->path)));
}

/* Takes t over. */
static int take_target(struct selection *s, struct target *t, bool named, struct diag *d)
{
	size_t i = s->skipped_n;
	int err = check_name(s, t, d);

	if (err) {
		target_free(t);
		return err == -EALREADY ? 0 : err;
	}
	if (s->targets_n == TARGET_LIST_MAX || s->skipped_n == TARGET_LIST_MAX) {
		target_free(t);
		return diag_set(d, -ENOSPC, NULL, 0, 0, "too many targets");
	}
	if (target_available(t, s->missing[i], sizeof(s->missing[i]))) {
		s->targets[s->targets_n++] = t;
		return 0;
	}
	s->skipped_targets[i] = t;
	s->skipped[i] = (struct table_skipped){ .name = t->name, .missing = s->missing[i] };
	s->skipped_n++;
	s->skipped_named |= named;
	return 0;
}

static bool is_path(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') || (len > 5 && !strcmp(name + len - 5, ".yaml"));
}

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}

/* By the file's name, which is the target's: a broken one that nobody asks for is not opened. */
static bool file_matches(const char *glob, const char *path)
{
	const char *base = strrchr(path, '/') + 1;
	char name[NAME_MAX + 1];

	return !str_format(name, sizeof(name), "%.*s", (int)(strlen(base) - strlen(".yaml")),
			   base) &&
	       !fnmatch(glob, name, 0);
}

static int take_glob(struct selection *s, const char *folder, const char *glob, struct diag *d)
{
	char **paths = NULL;
	bool any = false;
	int err = targets_find(folder, &paths);

	if (err)
		return diag_set(d, err, folder, 0, 0, "can't list the targets: %s", strerror(-err));
	for (char **p = paths; *p && !err; p++) {
		struct target *t;

		if (!file_matches(glob, *p))
			continue;
		any = true;
		err = target_load(&t, *p, d);
		if (!err)
			err = take_target(s, t, false, d);
	}
	target_argv_free(paths);
	return err || any ? err
			  : diag_set(d, -ENOENT, NULL, 0, 0,
				     "no target is like '%s'; `sentinel targets` lists them", glob);
}

static int take_named(struct selection *s, const char *folder, const char *name, struct diag *d)
{
	char path[PATH_MAX];
	struct target *t;
	int err;

	if (is_path(name))
		err = str_copy(path, sizeof(path), name);
	else
		err = str_format(path, sizeof(path), "%s/%s.yaml", folder, name);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "the path is too long");
	if (!is_path(name) && access(path, R_OK))
		return diag_set(d, -ENOENT, NULL, 0, 0,
				"no target '%s'; `sentinel targets` lists them", name);
	err = target_load(&t, path, d);
	return err ? err : take_target(s, t, true, d);
}

/* Calibrators are in every run; the others where they are named, or all where none is. */
static int take_folder(struct selection *s, const char *folder, bool all, struct diag *d)
{
	char **paths = NULL;
	int err = targets_find(folder, &paths);

	if (err)
		return diag_set(d, err, folder, 0, 0, "can't list the targets: %s", strerror(-err));
	for (int pass = 0; pass < 2 && !err; pass++) {
		for (char **p = paths; *p && !err; p++) {
			struct target *t;

			err = target_load(&t, *p, d);
			if (err)
				break;
			if ((t->role != ROLE_TARGET) != (pass == 0) || (pass == 1 && !all))
				target_free(t);
			else
				err = take_target(s, t, false, d);
		}
	}
	target_argv_free(paths);
	return err;
}

/* The same file named twice is one probe; two files with one id would hide each other. */
static int take_own(struct selection *s, const char *path, struct diag *d)
{
	struct probe_file *p;
	int err = probe_file_load(&p, path, d);

	if (err)
		return err;
	for (size_t i = 0; i < s->own_n; i++) {
		if (strcmp(s->own[i]->m.p.name, p->m.p.name) != 0)
			continue;
		err = memcmp(s->own[i]->digest, p->digest, sizeof(p->digest)) ? -EEXIST : -EALREADY;
	}
	if (err == -EEXIST)
		(void)diag_set(d, err, path, 0, 0,
			       "there is a probe '%s' already; give this one an id of its own",
			       p->m.p.name);
	else if (!err && s->probes_n == SELECT_NAMES_MAX)
		err = diag_set(d, -ENOSPC, NULL, 0, 0, "too many probes");
	if (err) {
		probe_file_free(p);
		return err == -EALREADY ? 0 : err;
	}
	s->own[s->own_n++] = p;
	s->probes[s->probes_n++] = &p->m;
	return 0;
}

static int take_ours(struct selection *s, const struct select_names *names, struct diag *d)
{
	size_t n;
	const struct probe_manifest *all = probe_manifests(&n);
	bool used[SELECT_NAMES_MAX] = { false };

	for (size_t i = 0; i < n && s->probes_n < SELECT_NAMES_MAX; i++) {
		bool wanted = !names->n;

		for (size_t k = 0; k < names->n; k++)
			if (!fnmatch(names->at[k], all[i].p.name, 0) ||
			    probe_has_family(&all[i], names->at[k]))
				wanted = used[k] = true;
		if (wanted)
			s->probes[s->probes_n++] = &all[i];
	}
	for (size_t k = 0; k < names->n; k++)
		if (!used[k] && !is_path(names->at[k]))
			return diag_set(d, -ENOENT, NULL, 0, 0,
					"no probe '%s'; `sentinel probes` lists them",
					names->at[k]);
	return 0;
}

int select_probes(struct selection *s, const struct select_names *names, struct diag *d)
{
	int err = take_ours(s, names, d);

	for (size_t k = 0; k < names->n && !err; k++)
		if (is_path(names->at[k]))
			err = take_own(s, names->at[k], d);
	return err;
}

static bool answers_to(const struct probe_manifest *m, const char *pattern)
{
	return !strcmp(m->p.name, pattern) || probe_has_family(m, pattern);
}

static bool knows(void *arg, const char *pattern)
{
	const struct selection *s = arg;

	for (size_t i = 0; i < s->own_n; i++)
		if (answers_to(&s->own[i]->m, pattern))
			return true;
	return pattern[0] == '@' ? probe_family_known(pattern)
				 : probe_manifest_find(pattern) != NULL;
}

static bool can_allow(void *arg, const char *pattern)
{
	const struct selection *s = arg;
	size_t n;
	const struct probe_manifest *all = probe_manifests(&n);

	for (size_t i = 0; i < n; i++)
		if (answers_to(&all[i], pattern) && destination_can_be_allowed(&all[i].p))
			return true;
	for (size_t i = 0; i < s->own_n; i++)
		if (answers_to(&s->own[i]->m, pattern) &&
		    destination_can_be_allowed(&s->own[i]->m.p))
			return true;
	return false;
}

int select_check_target(const struct selection *s, const struct target *t, struct diag *d)
{
	const struct target_knowing k = { knows, can_allow, (void *)(uintptr_t)s };

	return target_check_probes(t, &k, d);
}

/* Those that can't be tested here too: who wrote one learns of it anyway. */
static int check_targets(struct selection *s, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < s->targets_n && !err; i++)
		err = select_check_target(s, s->targets[i], d);
	for (size_t i = 0; i < s->skipped_n && !err; i++)
		err = select_check_target(s, s->skipped_targets[i], d);
	return err;
}

static int take_all_named(struct selection *s, const struct select_names *targets,
			  const char *folder, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < targets->n && !err; i++) {
		const char *name = targets->at[i];

		if (is_glob(name) && !is_path(name))
			err = take_glob(s, folder, name, d);
		else
			err = take_named(s, folder, name, d);
	}
	return err;
}

int select_all(struct selection *s, const struct select_names *targets,
	       const struct select_names *probes, struct diag *d)
{
	char folder[PATH_MAX];
	int err = cmd_policies(folder, sizeof(folder), "targets", d);

	if (!err)
		err = select_probes(s, probes, d);
	if (!err)
		err = take_folder(s, folder, !targets->n, d);
	if (!err)
		err = take_all_named(s, targets, folder, d);
	return err ? err : check_targets(s, d);
}

int select_targets(struct selection *s, const struct select_names *targets, struct diag *d)
{
	char folder[PATH_MAX];
	int err = cmd_policies(folder, sizeof(folder), "targets", d);

	if (err)
		return err;
	return targets->n ? take_all_named(s, targets, folder, d) : take_folder(s, folder, true, d);
}

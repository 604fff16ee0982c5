// SPDX-License-Identifier: Apache-2.0
/* What a run asks of a loaded target: matching, expanding, finding. */
#include <limits.h>

#include "user/rig/need.h"
#include "user/rig/target.h"

/* ---- patterns ---- */

static const char *without_at(const char *family)
{
	return family[0] == '@' ? family + 1 : family;
}

static bool pattern_matches(const char *pattern, const char *probe, const char *const *families,
			    size_t n)
{
	if (!strcmp(pattern, "*") || !strcmp(pattern, probe))
		return true;
	if (pattern[0] != '@')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(pattern + 1, without_at(families[i])))
			return true;
	return false;
}

static bool any_matches(char *const *patterns, const char *probe, const char *const *families,
			size_t n)
{
	for (; *patterns; patterns++)
		if (pattern_matches(*patterns, probe, families, n))
			return true;
	return false;
}

const struct target_claim *target_claim_for(const struct target *t, const char *probe,
					    const char *const *families, size_t n)
{
	for (size_t i = 0; i < t->claims_n; i++)
		if (any_matches(t->claims[i].probes, probe, families, n))
			return &t->claims[i];
	return NULL;
}

const struct target_off *target_off_for(const struct target *t, const char *probe,
					const char *const *families, size_t n)
{
	for (size_t i = 0; i < t->off_n; i++)
		if (any_matches(t->off[i].probes, probe, families, n))
			return &t->off[i];
	return NULL;
}

bool target_allows(const struct target *t, const char *probe, const char *const *families, size_t n)
{
	return t->allowed && any_matches(t->allowed, probe, families, n);
}

static int check_patterns(const struct target *t, char *const *patterns,
			  const struct target_place *places, const struct target_knowing *k,
			  struct diag *d)
{
	char text[2 * EV_NAME_MAX];

	for (size_t i = 0; patterns[i]; i++)
		if (strcmp(patterns[i], "*") != 0 && !k->known(k->arg, patterns[i]))
			return diag_set(
				d, -EINVAL, t->path, places[i].line, places[i].column,
				"no probe is '%s': expected an id or an '@family' that "
				"`sentinel probes` lists, or one of a probe file given by "
				"-p",
				escape_text(text, sizeof(text), patterns[i], strlen(patterns[i])));
	return 0;
}

/* Where a probe knows but one destination, allowing that would be the hole itself. */
static int check_allowed(const struct target *t, const struct target_knowing *k, struct diag *d)
{
	int r = check_patterns(t, t->allowed, t->allowed_places, k, d);

	for (size_t i = 0; t->allowed[i] && r >= 0; i++)
		if (strcmp(t->allowed[i], "*") != 0 && !k->can_allow(k->arg, t->allowed[i]))
			r = diag_set(d, -EINVAL, t->path, t->allowed_places[i].line,
				     t->allowed_places[i].column,
				     "'%s' has no allowed destination: expected probes that go to "
				     "an address or a name of the far side",
				     t->allowed[i]);
	return r;
}

int target_check_probes(const struct target *t, const struct target_knowing *k, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < t->claims_n && r >= 0; i++)
		r = check_patterns(t, t->claims[i].probes, t->claims[i].places, k, d);
	for (size_t i = 0; i < t->off_n && r >= 0; i++)
		r = check_patterns(t, t->off[i].probes, t->off[i].places, k, d);
	return r < 0 ? r : check_allowed(t, k, d);
}

/* ---- the capture's view ---- */

const char *target_source_text(const struct target_source *s, char *out, size_t n)
{
	if (!s->document[0])
		(void)str_copy(out, n, "");
	else if (str_format(out, n, "%s, %s, %s", s->document, s->section, s->version) < 0 &&
		 n >= 4)
		memcpy(out + n - 4, "...", 4);
	return out;
}

void target_to_ev(const struct target *t, const char *version, struct ev_target *ret)
{
	*ret = (struct ev_target){
		.role = t->role,
		.expect = t->expect,
		.expect_uid = t->expect_uid,
		.expect_nnp = t->expect_nnp,
		.expect_seccomp = t->expect_seccomp,
		.inferred = t->inferred,
		.has_on2 = true, /* a command that was run once can be run again */
		.settle_ms = t->settle_ms,
		.steady_ms = t->steady_ms,
	};
	(void)str_copy(ret->name, sizeof(ret->name), t->name);
	(void)str_copy(ret->version, sizeof(ret->version), version ? version : "");
	(void)str_copy(ret->about, sizeof(ret->about), t->about);
	memcpy(ret->digest, t->digest, sizeof(ret->digest));
}

/* ---- expansion ---- */

static int expand_arg(const char *arg, const struct target_vars *vars, char **ret)
{
	char out[TARGET_ARG_MAX];
	int err = placeholder_fill(arg, vars->value, out, sizeof(out));

	if (err)
		return err;
	*ret = strdup(out);
	return *ret ? 0 : -ENOMEM;
}

static size_t argv_len(char *const *argv)
{
	size_t n = 0;

	while (argv && argv[n])
		n++;
	return n;
}

static bool is_cmd(const char *arg)
{
	return !strcmp(arg, "{cmd}");
}

static int expand_into(char *const *argv, const struct target_vars *vars, char **list)
{
	size_t at = 0;
	int r = 0;

	for (; r >= 0 && *argv; argv++) {
		if (!is_cmd(*argv)) {
			r = expand_arg(*argv, vars, &list[at++]);
			continue;
		}
		if (!vars->cmd)
			return -EINVAL;
		for (char *const *c = vars->cmd; *c; c++)
			if (!(list[at++] = strdup(*c)))
				return -ENOMEM;
	}
	return r;
}

int target_expand(char *const *argv, const struct target_vars *vars, char ***ret_argv)
{
	size_t cmd_n = argv_len(vars->cmd), n = 0;
	char **list;
	int r;

	for (size_t i = 0; argv[i]; i++)
		n += is_cmd(argv[i]) ? cmd_n : 1;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	r = expand_into(argv, vars, list);
	if (r < 0) {
		target_argv_free(list);
		return r;
	}
	*ret_argv = list;
	return 0;
}

/* ---- what is there ---- */

static int only_yaml(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 5 && !strcmp(e->d_name + len - 5, ".yaml");
}

static size_t stem_len(const struct dirent *e)
{
	return strlen(e->d_name) - strlen(".yaml");
}

/* By the bytes of the name, not by the locale: the order of targets is in the evidence. The ending
 * does not count, so that "a" is before "a-b". */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	size_t m = stem_len(*a), n = stem_len(*b);
	int order = memcmp((*a)->d_name, (*b)->d_name, MIN(m, n));

	return order ? order : (m > n) - (m < n);
}

int targets_find(const char *dir, char ***ret_paths)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, only_yaml, by_name), r = 0;
	char **paths;

	if (n < 0)
		return -errno;
	paths = calloc((size_t)n + 1, sizeof(*paths));
	if (!paths)
		r = -ENOMEM;
	for (int i = 0; i < n; i++) {
		if (r >= 0 && asprintf(&paths[i], "%s/%s", dir, entries[i]->d_name) < 0) {
			paths[i] = NULL;
			r = -ENOMEM;
		}
		free(entries[i]);
	}
	free(entries);
	if (r < 0) {
		target_argv_free(paths);
		return r;
	}
	*ret_paths = paths;
	return 0;
}

bool target_available(const struct target *t, char *missing, size_t n)
{
	char path[PATH_MAX];

	for (char *const *need = t->needs; *need; need++)
		if (need_find(*need, path, sizeof(path))) {
			(void)str_copy(missing, n, *need);
			return false;
		}
	return true;
}

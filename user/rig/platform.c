// SPDX-License-Identifier: Apache-2.0
#include "user/rig/platform.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/record/digest.h"
#include "user/rig/program.h"

#define FILE_MAX (1ull << 30) /* what is larger is no program; to digest it takes a second */

struct listing {
	struct ev_program program[PLATFORM_PROGRAMS_MAX];
	size_t n;
	const char *target;
};

static bool is_listed(const struct listing *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->program[i].path, path))
			return true;
	return false;
}

static int describe(struct ev_program *ret, const char *path)
{
	cleanup_fd int fd = open_regular(AT_FDCWD, path, 0);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	if ((uint64_t)st.st_size > FILE_MAX)
		return -EFBIG;
	ret->size = (uint64_t)st.st_size;
	return digest_file(fd, ret->digest);
}

/* name: of a command, as it is looked up where it is started. */
static void add(struct listing *l, const char *name)
{
	char found[EV_TEXT_MAX], real[PATH_MAX];
	struct ev_program *p = &l->program[l->n];

	if (l->n == PLATFORM_PROGRAMS_MAX || program_find(name, NULL, found, sizeof(found)) ||
	    !realpath(found, real))
		return;
	*p = (struct ev_program){ .size = 0 };
	if (str_copy(p->path, sizeof(p->path), real) || is_listed(l, p->path) || describe(p, real))
		return;
	(void)str_copy(p->target, sizeof(p->target), l->target);
	l->n++;
}

static int tell(const struct listing *l, program_fn fn, void *arg, struct diag *d)
{
	int err = 0;

	for (size_t i = 0; i < l->n && !err; i++)
		err = fn(arg, &l->program[i], d);
	return err;
}

static void add_command(struct listing *l, char *const *command)
{
	if (command && command[0])
		add(l, command[0]);
}

int platform_programs(const struct target *t, program_fn fn, void *arg, struct diag *d)
{
	struct listing *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	l->target = t->name;
	add_command(l, t->run);
	for (size_t i = 0; i < t->off_n; i++)
		add_command(l, t->off[i].run);
	add_command(l, t->version);
	for (char *const *need = t->needs; need && *need; need++)
		add(l, *need);
	err = tell(l, fn, arg, d);
	free(l);
	return err;
}

int own_programs(char *const *paths, program_fn fn, void *arg, struct diag *d)
{
	struct listing *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	l->target = "";
	for (; *paths; paths++)
		add(l, *paths);
	err = tell(l, fn, arg, d);
	free(l);
	return err;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * proc-environ: a secret in the environment of another process of the same user, which whoever may
 * trace that process reads in /proc/PID/environ. The twin is in the session's own environment, or
 * in what it was told.
 *
 * Decisive step: open("/proc/self/environ") and then of every other process that is to be seen.
 */
#include "probes/search.h"

#include <sys/types.h>

#define PIDS_MAX 16384

/* How far each was numbered before us: the decoy was started just then. A number beyond ours was
 * given before the numbers began anew, and is as far as can be (modulo 2^32). */
struct pids {
	uint32_t before[PIDS_MAX];
	size_t n;
};

static int nearest_first(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The kernel lists them in ascending order: of too many, the nearest before us overwrite others.
 * Whether those are all. */
static bool list_pids(struct pids *p, uint32_t self)
{
	cleanup_dir DIR *dir = opendir("/proc");
	const struct dirent *e = NULL;
	size_t seen = 0;
	uint32_t pid;

	while (dir && (e = readdir(dir))) {
		if (parse_u32(e->d_name, 1, INT32_MAX, &pid))
			continue;
		if (pid > self && seen >= PIDS_MAX)
			break;
		p->before[seen++ % PIDS_MAX] = self - pid;
	}
	p->n = MIN(seen, (size_t)PIDS_MAX);
	qsort(p->before, p->n, sizeof(p->before[0]), nearest_first);
	return seen <= PIDS_MAX && !e;
}

void probe_proc_environ(const struct probe_attempt *a, struct probe_outcome *ret)
{
	int err = search_file(a, "/proc/self/environ", ret);
	const uint32_t self = (uint32_t)getpid();
	size_t looked = 0;
	struct pids p;
	bool all;

	search_bytes(a, a->twin, strlen(a->twin), ret);
	all = list_pids(&p, self);
	for (; looked < p.n && !ret->has_secret && mono_ns() < a->deadline_ns; looked++) {
		char path[64];

		(void)str_format(path, sizeof(path), "/proc/%u/environ", self - p.before[looked]);
		(void)search_file(a, path, ret);
	}
	search_outcome(ret, err);
	if (ret->has_secret || (all && looked == p.n))
		return;
	/* Nothing is said of those that nobody looked at: as if the twin had not been there. */
	ret->has_twin = false;
	outcome_word(ret, "not-all-searched");
}

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

/* Of a machine with more, the newest: the decoy was started just before us. */
#define PIDS_MAX 4096

struct pids {
	uint32_t at[PIDS_MAX];
	size_t n;
};

static int newest_first(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

static int list_pids(struct pids *p)
{
	cleanup_dir DIR *dir = opendir("/proc");
	const struct dirent *e;

	p->n = 0;
	if (!dir)
		return -errno;
	while (p->n < PIDS_MAX && (e = readdir(dir)))
		if (parse_u32(e->d_name, 1, INT32_MAX, &p->at[p->n]) == 0)
			p->n++;
	qsort(p->at, p->n, sizeof(p->at[0]), newest_first);
	return 0;
}

void probe_proc_environ(const struct probe_attempt *a, struct probe_outcome *ret)
{
	int err = search_file(a, "/proc/self/environ", ret);
	struct pids p;

	search_bytes(a, a->twin, strlen(a->twin), ret);
	(void)!list_pids(&p);
	for (size_t i = 0; i < p.n && !ret->has_secret && mono_ns() < a->deadline_ns; i++) {
		char path[64];

		(void)str_format(path, sizeof(path), "/proc/%u/environ", p.at[i]);
		(void)search_file(a, path, ret);
	}
	search_outcome(ret, err);
}

// SPDX-License-Identifier: Apache-2.0
#include "user/sense/symbols.h"

#include <pthread.h>

#define SYMBOLS_MAX 1000000u /* a kernel with every module loaded has a quarter of this */

struct symbol {
	uint64_t addr;
	uint32_t name; /* offset in names */
};

struct symbols {
	pthread_t thread;
	pthread_mutex_t join; /* one of those who wait joins the thread */
	bool running;
	struct symbol *all;
	size_t n, cap;
	bool unsorted;
	char *names;
	size_t names_len, names_cap;
};

static int symbols_grow(struct symbols *s, size_t name_len)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 65536;
		struct symbol *all = realloc(s->all, cap * sizeof(*all));

		if (!all)
			return -ENOMEM;
		s->all = all;
		s->cap = cap;
	}
	if (s->names_len + name_len > s->names_cap) {
		size_t cap = s->names_cap ? s->names_cap * 2 : 1 << 20;
		char *names = realloc(s->names, cap);

		if (!names)
			return -ENOMEM;
		s->names = names;
		s->names_cap = cap;
	}
	return 0;
}

/* The kernel writes lower-case digits alone. Of 200,000 lines strtoull() is a fifth of the work. */
static uint64_t hex_number(const char **p)
{
	uint64_t n = 0;

	for (;; (*p)++) {
		if (**p >= '0' && **p <= '9')
			n = n << 4 | (uint64_t)(**p - '0');
		else if (**p >= 'a' && **p <= 'f')
			n = n << 4 | (uint64_t)(**p - 'a' + 10);
		else
			return n;
	}
}

/* "ffffffff81000000 T name [module]": functions only. Addresses are all 0 where they are hidden. */
static int symbols_line(struct symbols *s, const char *line)
{
	uint64_t addr = hex_number(&line);
	const char *name;
	size_t len;

	if (!addr || line[0] != ' ' || (line[1] != 't' && line[1] != 'T') || line[2] != ' ')
		return 0;
	name = line + 3;
	len = strcspn(name, " \t\n");
	len = MIN(len, (size_t)SYMBOL_NAME_MAX - 1);
	if (symbols_grow(s, SYMBOL_NAME_MAX))
		return -ENOMEM;
	if (s->n && addr < s->all[s->n - 1].addr)
		s->unsorted = true; /* modules and BPF programs come after the kernel's own */
	s->all[s->n++] = (struct symbol){ addr, (uint32_t)s->names_len };
	memcpy(s->names + s->names_len, name, len);
	s->names[s->names_len + len] = '\0';
	s->names_len += len + 1;
	return 0;
}

static int symbol_order(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void *symbols_read(void *arg)
{
	struct symbols *s = arg;
	cleanup_file FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];

	if (!f)
		return NULL;
	while (s->n < SYMBOLS_MAX && fgets(line, sizeof(line), f))
		if (symbols_line(s, line))
			break;
	if (s->unsorted)
		qsort(s->all, s->n, sizeof(*s->all), symbol_order);
	return NULL;
}

struct symbols *symbols_new(void)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return NULL;
	(void)pthread_mutex_init(&s->join, NULL);
	r = pthread_create(&s->thread, NULL, symbols_read, s);
	if (r) {
		free(s);
		errno = r;
		return NULL;
	}
	s->running = true;
	return s;
}

void symbols_wait(struct symbols *s)
{
	(void)pthread_mutex_lock(&s->join);
	if (s->running)
		(void)pthread_join(s->thread, NULL);
	s->running = false;
	(void)pthread_mutex_unlock(&s->join);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	symbols_wait(s);
	(void)pthread_mutex_destroy(&s->join);
	free(s->all);
	free(s->names);
	free(s);
}

bool symbols_find(const struct symbols *s, uint64_t addr, char ret[SYMBOL_NAME_MAX])
{
	size_t lo = 0, hi = s->n; /* the first one that starts beyond addr */

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->all[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	return !str_copy(ret, SYMBOL_NAME_MAX, s->names + s->all[lo - 1].name);
}

bool symbols_range(const struct symbols *s, const char *name, uint64_t *ret_start,
		   uint64_t *ret_end)
{
	for (size_t i = 0; i + 1 < s->n; i++)
		if (!strcmp(s->names + s->all[i].name, name)) {
			*ret_start = s->all[i].addr;
			*ret_end = s->all[i + 1].addr;
			return true;
		}
	return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/batch.h"

#include "user/judge/verdict.h"

enum { KEY_LIST = 0x1100, KEY_SHARD, KEY_EXIT_ZERO };

static const struct argp_option options[] = {
	{ "list", KEY_LIST, "FILE", 0, "Bundles to replay, a path a line; - is standard input", 0 },
	{ "shard", KEY_SHARD, "K/N", 0,
	  "Of all bundles every Nth, from the Kth on; auto or auto/N: as Slurm or Kubernetes says",
	  0 },
	{ "exit-zero", KEY_EXIT_ZERO, NULL, 0,
	  "Exit with 0 whatever the verdicts are; damaged evidence and faults still show", 0 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct batch *b = state->input;
	struct diag d;

	switch (key) {
	case KEY_LIST:
		b->list_file = arg;
		return 0;
	case KEY_SHARD:
		if (shard_parse(&b->shard, arg, &d))
			argp_error(state, "%s", d.text);
		return 0;
	case KEY_EXIT_ZERO:
		b->exit_zero = true;
		return 0;
	case ARGP_KEY_ARGS:
		b->names = state->argv + state->next;
		b->names_n = state->argc - state->next;
		return 0;
	case ARGP_KEY_END:
		if (!b->names_n && !b->list_file)
			argp_error(state, "name a bundle: a folder that `sentinel run` left, a "
					  "capture, or a folder that holds bundles");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp batch_argp = { options, parse, NULL, NULL, NULL, NULL, NULL };

/* One name that led to itself: slashes at its end may be gone. */
static bool is_single(const struct batch *b)
{
	const char *found = b->list.n == 1 ? b->list.path[0] : "";
	size_t len = strlen(found);

	return b->names_n == 1 && !b->list_file && !b->shard.n && b->list.n == 1 &&
	       !strncmp(b->names[0], found, len) &&
	       strspn(b->names[0] + len, "/") == strlen(b->names[0] + len);
}

/* Parts are told apart by the place in the list, which is the same for all who are given it. */
static void keep_part(struct batch *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->list.n; i++) {
		if (shard_has(&b->shard, i))
			b->list.path[n++] = b->list.path[i];
		else
			free(b->list.path[i]);
	}
	b->list.n = n;
}

int batch_open(struct batch *b, struct diag *d)
{
	int err = 0;

	for (int i = 0; i < b->names_n && !err; i++)
		err = bundle_list_add(&b->list, b->names[i], d);
	if (!err && b->list_file)
		err = bundle_list_read(&b->list, b->list_file, d);
	if (err)
		return err;
	b->several = !is_single(b);
	keep_part(b);
	return 0;
}

void batch_done(struct batch *b)
{
	bundle_list_done(&b->list);
}

int batch_exit_code(const struct batch *b, int code)
{
	bool verdict =
		code == EXIT_ESCAPED || code == EXIT_INCONCLUSIVE || code == EXIT_PROVISIONAL;

	return b->exit_zero && verdict ? EXIT_CONTAINED : code;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/base/shard.h"

#define WORD_MAX 64

#define refuse(d, ...) diag_set(d, -EINVAL, NULL, 0, 0, __VA_ARGS__)

static const char *shown(char out[WORD_MAX], const char *text)
{
	return escape_text(out, WORD_MAX, text, strlen(text));
}

/* A variable that holds a number; 0, -ENOENT where it is not set, or -EINVAL. */
static int variable(const char *name, uint32_t *ret, struct diag *d)
{
	const char *text = getenv(name);
	char word[WORD_MAX];

	if (!text || !*text)
		return -ENOENT;
	if (parse_u32(text, 0, UINT32_MAX, ret))
		return refuse(d, "%s is '%s', and no number", name, shown(word, text));
	return 0;
}

/* Stays what it is where it is not set. */
static int optional(const char *name, uint32_t *ret, struct diag *d)
{
	int err = variable(name, ret, d);

	return err == -ENOENT ? 0 : err;
}

/* *n: 0 = as the variable says. Where both say it, they must agree: of an array that was submitted
 * again for its failed tasks alone, numbers of tasks are none of parts. */
static int number_of_parts(const char *name, uint32_t *n, struct diag *d)
{
	uint32_t said = *n;
	int err = optional(name, &said, d);

	if (err)
		return err;
	if (!said)
		return refuse(d, "%s is not set: name the number of parts by --shard auto/N", name);
	if (*n && said != *n)
		return refuse(d, "%s is %u, not %u: name the part by --shard K/N", name, said, *n);
	*n = said;
	return 0;
}

static int slurm(struct shard *ret, uint32_t id, uint32_t n, struct diag *d)
{
	uint32_t first = 0, step = 1;
	int err = optional("SLURM_ARRAY_TASK_MIN", &first, d);

	if (!err)
		err = optional("SLURM_ARRAY_TASK_STEP", &step, d);
	if (!err)
		err = number_of_parts("SLURM_ARRAY_TASK_COUNT", &n, d);
	if (err)
		return err;
	if (!step || id < first || (id - first) % step || (id - first) / step >= n)
		return refuse(d,
			      "SLURM_ARRAY_TASK_ID %u is none of %u tasks from %u on, in steps of "
			      "%u: name the part by --shard K/N",
			      id, n, first, step);
	*ret = (struct shard){ (id - first) / step + 1, n };
	return 0;
}

static int kubernetes(struct shard *ret, uint32_t index, uint32_t n, struct diag *d)
{
	int err = number_of_parts("JOB_COMPLETIONS", &n, d);

	if (err)
		return err;
	if (index >= n)
		return refuse(d, "JOB_COMPLETION_INDEX %u is none of %u, which count from 0", index,
			      n);
	*ret = (struct shard){ index + 1, n };
	return 0;
}

/* n: 0 = as the batch system says. */
static int automatic(struct shard *ret, uint32_t n, struct diag *d)
{
	uint32_t id = 0, index = 0;
	int by_id = variable("SLURM_ARRAY_TASK_ID", &id, d);
	int by_index = by_id == -EINVAL ? by_id : variable("JOB_COMPLETION_INDEX", &index, d);

	if (by_id == -EINVAL || by_index == -EINVAL)
		return -EINVAL;
	if (by_id && by_index)
		return refuse(d, "--shard auto: neither SLURM_ARRAY_TASK_ID nor "
				 "JOB_COMPLETION_INDEX is set: name the part by --shard K/N");
	if (!by_id && !by_index)
		return refuse(d, "--shard auto: both SLURM_ARRAY_TASK_ID and JOB_COMPLETION_INDEX "
				 "are set: name the part by --shard K/N");
	return by_index ? slurm(ret, id, n, d) : kubernetes(ret, index, n, d);
}

int shard_parse(struct shard *ret, const char *text, struct diag *d)
{
	const char *slash = strchr(text, '/');
	char part[WORD_MAX], word[WORD_MAX];
	uint32_t k, n = 0;

	if (!slash && !strcmp(text, "auto"))
		return automatic(ret, 0, d);
	if (!slash || (size_t)(slash - text) >= sizeof(part))
		return refuse(d, "--shard takes K/N, auto or auto/N, not '%s'", shown(word, text));
	memcpy(part, text, (size_t)(slash - text));
	part[slash - text] = '\0';
	if (parse_u32(slash + 1, 1, UINT32_MAX, &n))
		return refuse(d, "--shard %s: N is the number of parts, 1 or more",
			      shown(word, text));
	if (!strcmp(part, "auto"))
		return automatic(ret, n, d);
	if (parse_u32(part, 1, n, &k))
		return refuse(d, "--shard %s: K is the number of this part, 1 to %u",
			      shown(word, text), n);
	*ret = (struct shard){ k, n };
	return 0;
}

bool shard_has(const struct shard *s, size_t place)
{
	return !s->n || place % s->n == s->k - 1;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/moment_list.h"

static int reserve(struct moment_list *l)
{
	if (l->at)
		return 0;
	l->at = calloc(l->max, sizeof(*l->at));
	if (!l->at)
		return -ENOMEM;
	for (size_t r = 0; r < MOMENT_RANKS; r++) {
		l->ranked[r] = calloc(l->max, sizeof(*l->ranked[r]));
		if (!l->ranked[r])
			return -ENOMEM;
	}
	return 0;
}

/* A place for one of that rank: a new one, or that of the latest of those that tell least. False:
 * all that are there tell as much. */
static bool find_place(struct moment_list *l, unsigned int rank, uint32_t *ret)
{
	unsigned int least = MOMENT_RANKS - 1;

	if (l->n < l->max) {
		*ret = (uint32_t)l->n++;
		return true;
	}
	l->left_out++;
	while (least > rank && !l->ranked_n[least])
		least--;
	if (least <= rank)
		return false;
	*ret = l->ranked[least][--l->ranked_n[least]];
	moment_free(&l->at[*ret]);
	return true;
}

int moment_list_add(struct moment_list *l, const struct ev *ev, const struct ev_trial *t)
{
	unsigned int rank = moment_rank(ev);
	struct moment_room room;
	struct moment m;
	uint32_t place;
	int err = reserve(l);

	if (err)
		return err;
	if (!find_place(l, rank, &place))
		return 0;
	l->ranked[rank][l->ranked_n[rank]++] = place;
	moment_of(ev, t, &room, &m);
	return moment_copy(&m, &l->at[place]);
}

void moment_list_sort(struct moment_list *l)
{
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), moment_order);
}

void moment_list_done(struct moment_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		moment_free(&l->at[i]);
	for (size_t r = 0; r < MOMENT_RANKS; r++)
		free(l->ranked[r]);
	free(l->at);
	*l = (struct moment_list){ .at = NULL };
}

// SPDX-License-Identifier: Apache-2.0
#include "user/attribute/attribute.h"

#include "user/attribute/owner_table.h"
#include "user/base/mac.h"

int attribute_init(struct attribute *a)
{
	struct owner_table *t = malloc(sizeof(*t));

	a->table = NULL;
	if (!t)
		return -ENOMEM;
	if (owner_table_init(t) < 0) {
		free(t);
		return -ENOMEM;
	}
	a->table = t;
	return 0;
}

void attribute_done(struct attribute *a)
{
	if (!a->table)
		return;
	owner_table_done(a->table);
	free(a->table);
	a->table = NULL;
}

int attribute_lane(struct attribute *a, const struct ev_lane *lane)
{
	const struct {
		enum owner_kind kind;
		uint64_t number;
	} owned[] = {
		{ OWNED_IFINDEX, lane->world_ifindex }, { OWNED_IFINDEX, lane->boundary_ifindex },
		{ OWNED_IFINDEX, lane->box_ifindex },	{ OWNED_NETNS, lane->box.net },
		{ OWNED_NETNS, lane->host.net },	{ OWNED_NETNS, lane->world.net },
		{ OWNED_COOKIE, lane->box_cookie },	{ OWNED_COOKIE, lane->host_cookie },
		{ OWNED_COOKIE, lane->world_cookie },
	};
	int err = 0;

	if (!lane->lane)
		return -EINVAL;
	for (size_t i = 0; !err && i < ARRAY_SIZE(owned); i++)
		err = owner_table_set(a->table, owned[i].kind, owned[i].number, lane->lane, 0);
	return err;
}

int attribute_trial(struct attribute *a, const struct ev_trial *trial)
{
	uint64_t mark = mac_mark(trial->nonce);
	const struct owner_entry *e = owner_table_get(a->table, OWNED_MARK, mark);
	int err;

	if (!trial->id)
		return -EINVAL;
	if (e && e->trial != trial->id)
		return -EEXIST;
	err = owner_table_set(a->table, OWNED_MARK, mark, trial->lane, trial->id);
	if (!err)
		err = owner_table_set(a->table, OWNED_CGROUP, trial->cgroup_id, trial->lane,
				      trial->id);
	return err;
}

static bool is_lane_hook(uint32_t hook)
{
	return hook == SNT_HOOK_WORLD || hook == SNT_HOOK_BOUNDARY || hook == SNT_HOOK_BOX;
}

/* Records made in whatever context a packet or a timer brought along: the current task is nobody.
 */
static bool has_no_task(const struct ev *ev)
{
	return ev->type == EV_PACKET || ev->type == EV_DROP || ev->type == EV_STATE;
}

/* Whether cgroup_id can be trusted. At packet hooks it is the socket's (bpf/events.h); at the
 * others without a task, only where it was read from the socket's storage. */
static bool has_cgroup(const struct ev *ev)
{
	return !has_no_task(ev) || ev->type == EV_PACKET || (ev->flags & SNT_F_OWNER);
}

static bool has_mark(const struct ev *ev)
{
	return !has_no_task(ev) || (ev->flags & SNT_F_OWNER);
}

static enum owner find_trial(const struct owner_table *t, const struct ev *ev,
			     const struct owner_entry **ret)
{
	*ret = has_mark(ev) ? owner_table_get(t, OWNED_MARK, ev->mark) : NULL;
	if (*ret)
		return has_no_task(ev) ? OWNER_SOCKET : OWNER_MARK;
	*ret = has_cgroup(ev) ? owner_table_get(t, OWNED_CGROUP, ev->cgroup_id) : NULL;
	return *ret ? OWNER_CGROUP : OWNER_UNKNOWN;
}

static uint32_t ifindex_of(const struct ev *ev)
{
	/* At cgroup hooks, and in a namespace of a sandbox's own, indexes are not ours. */
	return ev->type == EV_PACKET && is_lane_hook(ev->hook) ? ev->packet.ifindex : 0;
}

static uint32_t netns_of(const struct ev *ev)
{
	if (ev->type == EV_DROP)
		return ev->drop.netns;
	return ev->type == EV_EXEC ? ev->exec.ns.net : 0;
}

static enum owner find_place(const struct owner_table *t, const struct ev *ev,
			     const struct owner_entry **ret)
{
	*ret = owner_table_get(t, OWNED_IFINDEX, ifindex_of(ev));
	if (*ret)
		return OWNER_INTERFACE;
	*ret = owner_table_get(t, OWNED_NETNS, netns_of(ev));
	if (!*ret)
		*ret = owner_table_get(t, OWNED_COOKIE, ev->netns_cookie);
	return *ret ? OWNER_NETNS : OWNER_UNKNOWN;
}

static bool is_of_the_kernel(const struct ev *ev)
{
	return ev->type > EV_NONE && ev->type < EV_RUN_BEGIN;
}

enum owner attribute_push(const struct attribute *a, struct ev *ev)
{
	const struct owner_entry *place, *owner;
	enum owner by_place, how;

	if (!is_of_the_kernel(ev))
		return OWNER_UNKNOWN;
	by_place = find_place(a->table, ev, &place);
	how = find_trial(a->table, ev, &owner);
	ev->trial = owner ? owner->trial : 0;
	if (place)
		ev->lane = place->lane;
	else
		ev->lane = owner ? owner->lane : ev->slot;
	if (how != OWNER_UNKNOWN)
		return how;
	if (by_place != OWNER_UNKNOWN)
		return by_place;
	return ev->lane ? OWNER_SLOT : OWNER_UNKNOWN;
}

const char *owner_text(enum owner how)
{
	switch (how) {
	case OWNER_INTERFACE:
		return "interface";
	case OWNER_NETNS:
		return "netns";
	case OWNER_SLOT:
		return "slot";
	case OWNER_CGROUP:
		return "cgroup";
	case OWNER_MARK:
		return "mark";
	case OWNER_SOCKET:
		return "socket";
	case OWNER_UNKNOWN:
	case OWNER_MAX:
		break;
	}
	return "unknown";
}

// SPDX-License-Identifier: Apache-2.0
/* The hooks of one lane: W, B and the box's own end. */
#include <bpf/bpf.h>
#include <fcntl.h>

#include "user/base/netns.h"
#include "user/sense/sense_priv.h"

static const struct {
	uint32_t hook;
	bool egress;
} devices[DEV_MAX] = {
	[DEV_WORLD] = { SNT_HOOK_WORLD, false },
	[DEV_BOUNDARY] = { SNT_HOOK_BOUNDARY, false },
	[DEV_BOX] = { SNT_HOOK_BOX, true },
};

struct dev_value { /* struct snt_dev of bpf/state.bpf.h */
	uint32_t slot, is_box;
	uint64_t netns_cookie;
};

struct lane_job {
	struct sense *sense;
	struct lane_hooks *hooks;
	uint32_t failed; /* hook */
};

static int dev_netns(const struct sense_lane *l, int dev)
{
	return dev == DEV_WORLD ? l->world_ns : dev == DEV_BOUNDARY ? l->host_ns : l->box_ns;
}

static uint32_t dev_ifindex(const struct sense_lane *l, int dev)
{
	return dev == DEV_WORLD	     ? l->world_ifindex
	       : dev == DEV_BOUNDARY ? l->boundary_ifindex
				     : l->box_ifindex;
}

static uint64_t dev_cookie(const struct sense_lane *l, int dev)
{
	return dev == DEV_WORLD	     ? l->world_cookie
	       : dev == DEV_BOUNDARY ? l->host_cookie
				     : l->box_cookie;
}

static int attach_devices(void *arg)
{
	struct lane_job *j = arg;

	for (int i = 0; i < DEV_MAX; i++) {
		struct dev_hook *d = &j->hooks->dev[i];
		uint32_t hook = devices[i].hook;
		int prog_fd = hook_prog_fd(j->sense, hook);
		int r;

		if (!d->ifindex)
			continue;
		j->failed = hook;
		if (prog_fd < 0)
			return prog_fd;
		r = netns_move(d->netns_fd);
		if (!r)
			r = device_attach(d, prog_fd, devices[i].egress, j->sense->no_tcx);
		if (r && sense_hook_needed(hook))
			return r;
	}
	return 0;
}

static int put_inum(struct sense *s, uint32_t inum, uint32_t slot)
{
	return inum ? bpf_map_update_elem(sense_map(s, "snt_drop_netns"), &inum, &slot, BPF_ANY)
		    : 0;
}

static int put_maps(struct sense *s, const struct sense_lane *l)
{
	int r = 0;

	for (int i = 0; i < DEV_MAX && !r; i++) {
		struct dev_value v = { l->lane, i == DEV_BOX, dev_cookie(l, i) };
		uint32_t ifindex = dev_ifindex(l, i);

		if (ifindex)
			r = bpf_map_update_elem(sense_map(s, "snt_devs"), &ifindex, &v, BPF_ANY);
	}
	if (!r && l->box_cookie)
		r = bpf_map_update_elem(sense_map(s, "snt_netns"), &l->box_cookie, &l->lane,
					BPF_ANY);
	if (!r)
		r = put_inum(s, l->box_inum, l->lane);
	if (!r)
		r = put_inum(s, l->host_inum, l->lane);
	if (!r)
		r = put_inum(s, l->world_inum, l->lane);
	return r;
}

static void drop_maps(struct sense *s, const struct sense_lane *l)
{
	const uint32_t inums[] = { l->box_inum, l->host_inum, l->world_inum };

	for (int i = 0; i < DEV_MAX; i++) {
		uint32_t ifindex = dev_ifindex(l, i);

		(void)bpf_map_delete_elem(sense_map(s, "snt_devs"), &ifindex);
		(void)bpf_map_delete_elem(sense_map(s, "snt_drop_netns"), &inums[i]);
	}
	(void)bpf_map_delete_elem(sense_map(s, "snt_netns"), &l->box_cookie);
}

static int open_devices(struct lane_hooks *h, const struct sense_lane *l)
{
	for (int i = 0; i < DEV_MAX; i++)
		h->dev[i] = (struct dev_hook){ .link_fd = -1, .netns_fd = -1 };
	for (int i = 0; i < DEV_MAX; i++) {
		struct dev_hook *d = &h->dev[i];

		d->ifindex = dev_ifindex(l, i);
		if (!d->ifindex)
			continue;
		d->netns_fd = fcntl(dev_netns(l, i), F_DUPFD_CLOEXEC, 3);
		if (d->netns_fd < 0)
			return -errno;
	}
	return 0;
}

int sense_attach_lane(struct sense *s, const struct sense_lane *l, struct diag *d)
{
	struct lane_job job = { .sense = s };
	int r;

	if (!l->lane || l->lane >= SNT_SLOT_MAX || !l->world_ifindex || !l->boundary_ifindex)
		return diag_set(d, -EINVAL, "", 0, 0, "lane %u lacks a device", l->lane);
	if (s->lanes[l->lane].attached)
		return diag_set(d, -EEXIST, "", 0, 0, "lane %u is attached already", l->lane);
	job.hooks = &s->lanes[l->lane];
	job.hooks->lane = *l;
	job.hooks->attached = true;
	r = open_devices(job.hooks, l);
	if (!r)
		r = put_maps(s, l); /* first, so that no packet finds its device unknown */
	if (!r)
		r = netns_run(attach_devices, &job);
	if (!r)
		return 0;
	sense_detach_lane(s, l->lane);
	return diag_set(d, r, "", 0, 0, "hook '%s' of lane %u can't be attached: %s",
			hook_name(job.failed), l->lane, strerror(-r));
}

void sense_detach_lane(struct sense *s, uint32_t lane)
{
	struct lane_hooks *h;

	if (lane >= SNT_SLOT_MAX || !s->lanes[lane].attached)
		return;
	h = &s->lanes[lane];
	for (int i = 0; i < DEV_MAX; i++)
		device_detach(&h->dev[i], devices[i].egress);
	drop_maps(s, &h->lane);
	*h = (struct lane_hooks){ 0 };
}

/* ---- state ---- */

bool sense_hook_state(struct sense *s, uint32_t hook, uint32_t lane, char detail[64])
{
	(void)str_copy(detail, 64, "not attached");
	if (hook >= SNT_HOOK_MAX || lane >= SNT_SLOT_MAX)
		return false;
	if (!sense_hook_per_lane(hook))
		return host_state(s, hook, detail);
	if (!s->lanes[lane].attached)
		return false;
	for (int i = 0; i < DEV_MAX; i++)
		if (devices[i].hook == hook)
			return device_state(&s->lanes[lane].dev[i], hook_prog_fd(s, hook),
					    devices[i].egress, detail);
	return false;
}

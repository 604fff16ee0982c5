// SPDX-License-Identifier: Apache-2.0
/*
 * One program on one device: by a tcx link (6.6) or, where the kernel has none, by a filter of the
 * clsact qdisc. A link is better: it dies with us, and nobody removes it by its name.
 */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/bpf.h>

#include "user/base/netns.h"
#include "user/sense/attach_types.h"
#include "user/sense/sense_priv.h"

static enum bpf_tc_attach_point clsact_point(bool egress)
{
	return egress ? BPF_TC_EGRESS : BPF_TC_INGRESS;
}

/* The kernel chooses handle and priority, so that two observers of one device stay apart. */
static int clsact_attach(struct dev_hook *d, int prog_fd, bool egress)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)d->ifindex,
		    .attach_point = BPF_TC_INGRESS | BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, opts, .prog_fd = prog_fd);
	int r = bpf_tc_hook_create(&hook);

	if (r && r != -EEXIST)
		return r;
	hook.attach_point = clsact_point(egress);
	r = bpf_tc_attach(&hook, &opts);
	d->handle = opts.handle;
	d->priority = opts.priority;
	return r;
}

/* The kernels without tcx don't know the attach type. */
static bool is_no_tcx(int err)
{
	return err == -EINVAL || err == -EOPNOTSUPP || err == -ENOTSUP;
}

int device_attach(struct dev_hook *d, int prog_fd, bool egress, bool no_tcx)
{
	int fd = no_tcx ? -EOPNOTSUPP
			: bpf_link_create(prog_fd, (int)d->ifindex,
					  (enum bpf_attach_type)(egress ? TCX_EGRESS : TCX_INGRESS),
					  NULL);

	if (fd >= 0) {
		d->link_fd = fd;
		return 0;
	}
	if (!is_no_tcx(fd))
		return fd;
	fd = clsact_attach(d, prog_fd, egress);
	d->clsact = !fd;
	return fd;
}

struct clsact_job {
	const struct dev_hook *dev;
	bool egress;
	uint32_t prog_id; /* found */
};

static int clsact_ask(void *arg)
{
	struct clsact_job *j = arg;
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)j->dev->ifindex,
		    .attach_point = clsact_point(j->egress));
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = j->dev->handle, .priority = j->dev->priority);
	int r = netns_move(j->dev->netns_fd);

	if (!r)
		r = bpf_tc_query(&hook, &opts);
	j->prog_id = r ? 0 : opts.prog_id;
	return r;
}

static int clsact_remove(void *arg)
{
	struct clsact_job *j = arg;
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)j->dev->ifindex,
		    .attach_point = clsact_point(j->egress));
	LIBBPF_OPTS(bpf_tc_opts, opts, .handle = j->dev->handle, .priority = j->dev->priority);
	int r = netns_move(j->dev->netns_fd);

	return r ? r : bpf_tc_detach(&hook, &opts);
}

void device_detach(struct dev_hook *d, bool egress)
{
	struct clsact_job job = { .dev = d, .egress = egress };
	int ignored = d->clsact ? netns_run(clsact_remove, &job) : 0; /* may be gone with it */

	(void)ignored;
	if (d->link_fd >= 0)
		(void)close(d->link_fd);
	if (d->netns_fd >= 0)
		(void)close(d->netns_fd);
	*d = (struct dev_hook){ .link_fd = -1, .netns_fd = -1 };
}

static int link_state(const struct dev_hook *d, bool egress)
{
	struct { /* struct bpf_link_info of 6.6, as far as tcx */
		uint32_t type, id, prog_id, _pad;
		uint32_t ifindex, attach_type;
		uint64_t room[8];
	} info = { 0 };
	uint32_t len = sizeof(info);
	int r = bpf_obj_get_info_by_fd(d->link_fd, &info, &len);

	if (r)
		return r;
	if (info.type != LINK_TYPE_TCX || info.ifindex != d->ifindex ||
	    info.attach_type != (egress ? TCX_EGRESS : TCX_INGRESS))
		return -ENOLINK; /* detached: the kernel answers interface 0 */
	return 0;
}

static int filter_state(const struct dev_hook *d, int prog_fd, bool egress)
{
	struct clsact_job job = { .dev = d, .egress = egress };
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);
	int r = netns_run(clsact_ask, &job);

	if (!r)
		r = bpf_obj_get_info_by_fd(prog_fd, &info, &len);
	if (r)
		return r;
	return job.prog_id == info.id ? 0 : -ENOLINK;
}

bool device_state(const struct dev_hook *d, int prog_fd, bool egress, char detail[64])
{
	int r = -ENOLINK;

	if (d->clsact)
		r = filter_state(d, prog_fd, egress);
	else if (d->link_fd >= 0)
		r = link_state(d, egress);
	(void)str_copy(detail, 64, r ? strerror(-r) : d->clsact ? "clsact" : "tcx");
	return !r;
}

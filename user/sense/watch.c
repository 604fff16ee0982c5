// SPDX-License-Identifier: Apache-2.0
/* Which cgroups and sessions are ours, and what the kernel side counted. */
#include <bpf/bpf.h>

#include "user/sense/sense_priv.h"

int sense_watch_cgroup(struct sense *s, uint64_t cgroup_id, uint32_t slot)
{
	if (!cgroup_id || slot >= SNT_SLOT_MAX)
		return -EINVAL;
	return bpf_map_update_elem(sense_map(s, "snt_cgroups"), &cgroup_id, &slot, BPF_ANY);
}

void sense_unwatch_cgroup(struct sense *s, uint64_t cgroup_id)
{
	(void)bpf_map_delete_elem(sense_map(s, "snt_cgroups"), &cgroup_id);
}

int sense_watch_mark(struct sense *s, uint64_t mark, uint32_t slot)
{
	if (!mark || slot >= SNT_SLOT_MAX)
		return -EINVAL;
	symbols_ready(s); /* drops matter from now on; long ago, but for the very first trial */
	return bpf_map_update_elem(sense_map(s, "snt_trials"), &mark, &slot, BPF_ANY);
}

void sense_unwatch_mark(struct sense *s, uint64_t mark)
{
	(void)bpf_map_delete_elem(sense_map(s, "snt_trials"), &mark);
}

static void count_add(struct snt_count *sum, const struct snt_count *c)
{
	sum->seen += c->seen;
	sum->delivered += c->delivered;
	sum->ring_full += c->ring_full;
	sum->oversized += c->oversized;
	sum->map_full += c->map_full;
	sum->filtered += c->filtered;
}

int sense_count(struct sense *s, uint32_t hook, uint32_t slot, struct snt_count *ret)
{
	uint32_t key = hook * SNT_SLOT_MAX + slot;
	cleanup_free struct snt_count *per_cpu = NULL;
	struct snt_count sum = { 0 };
	int cpus = libbpf_num_possible_cpus();
	int r;

	if (hook >= SNT_HOOK_MAX || slot >= SNT_SLOT_MAX)
		return -EINVAL;
	if (cpus < 0)
		return cpus;
	per_cpu = calloc((size_t)cpus, sizeof(*per_cpu));
	if (!per_cpu)
		return -ENOMEM;
	r = bpf_map_lookup_elem(sense_map(s, "snt_counts"), &key, per_cpu);
	if (r)
		return r;
	for (int i = 0; i < cpus; i++)
		count_add(&sum, &per_cpu[i]);
	*ret = sum;
	return 0;
}

uint64_t sense_recursion(struct sense *s, uint32_t hook)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (hook >= SNT_HOOK_MAX || !s->host[hook].prog)
		return 0;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(s->host[hook].prog), &info, &len))
		return 0;
	return info.recursion_misses;
}

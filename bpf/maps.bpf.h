/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every map, its bound, who fills it, and who deletes from it. */
#ifndef SNT_MAPS_BPF_H
#define SNT_MAPS_BPF_H

#include "bpf/config.bpf.h"
#include "bpf/state.bpf.h"

/* Three rings, so that a flood of packets can't push out what explains it. User space sets sizes.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} rb_world __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} rb_packet __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} rb_life __weak SEC(".maps");

/* [hook * SNT_SLOT_MAX + slot]. Only ever grows. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SNT_HOOK_MAX *SNT_SLOT_MAX);
	__type(key, __u32);
	__type(value, struct snt_count);
} snt_counts __weak SEC(".maps");

/* Next cpu_seq of each ring, then next pkt_id of each hook. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SNT_RING_MAX + SNT_HOOK_MAX);
	__type(key, __u32);
	__type(value, __u64);
} snt_seqs __weak SEC(".maps");

/* Interface index -> lane: the devices of W, B and box. Filled and emptied with the lane. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SNT_SLOT_MAX * 4);
	__type(key, __u32);
	__type(value, struct snt_dev);
} snt_devs __weak SEC(".maps");

/* Cookie of a lane's box -> slot. Filled and emptied with the lane. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SNT_SLOT_MAX * 4);
	__type(key, __u64);
	__type(value, __u32);
} snt_netns __weak SEC(".maps");

/* Inode number of a lane's three namespaces -> slot: where drops are of interest. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, SNT_SLOT_MAX * 4);
	__type(key, __u32);
	__type(value, __u32);
} snt_drop_netns __weak SEC(".maps");

/* Child of the run's cgroup -> slot. Filled by sense_watch_cgroup(), emptied by its twin. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u32);
} snt_cgroups __weak SEC(".maps");

/* Thread group -> mark. Filled at exec and fork, deleted when the group's last thread exits. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, struct snt_mark);
} snt_marks __weak SEC(".maps");

/* Mark of a trial -> slot. Filled by sense_watch_mark(), emptied by its twin. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u32);
} snt_trials __weak SEC(".maps");

/* Thread groups that ended of late. Filled by snt_exit_live, before 6.16 only. LRU, since only the
 * last microseconds count. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct snt_ended);
	__type(value, __u32);
} snt_ended __weak SEC(".maps");

/* Thread -> number of the system call it is in. Filled at sys_enter, deleted at sys_exit and at the
 * thread's exit. Not LRU: an evicted entry would look like seccomp's answer. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);
	__type(value, __u32);
} snt_entered __weak SEC(".maps");

/* Socket -> who made or last addressed it. Lives and dies with the socket; accepted ones inherit.
 */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, __u32);
	__type(value, struct snt_owner);
} snt_owners __weak SEC(".maps");

/* Where snt_exec, which never runs twice at a time on a CPU, reads argv[0]. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct snt_argv0);
} snt_argv __weak SEC(".maps");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first stage: loads the kernel side, attaches it, and hands over what the rings hold.
 *
 * What is watched at A: marked sessions and their descendants, the run's cgroup, and the network
 * namespaces of the lanes' boxes. Host and world are watched for drops alone.
 *
 * Life: sense_new(), sense_attach_host(), sense_attach_lane() and sense_watch_cgroup() in any
 * order, then sense_wait() and sense_drain() in a loop; at the end sense_stop(), a last
 * sense_drain(), and only then sense_count(): read earlier, records on their way look like loss.
 *
 * Threads: sense_wait() and sense_drain() belong to one thread. sense_count(), sense_recursion(),
 * sense_hook_state() and the sense_watch_*() family may be called from another at the same time.
 * Attaching, detaching and stopping are one thread's at a time.
 */
#ifndef SENTINEL_SENSE_H
#define SENTINEL_SENSE_H

#include "bpf/events.h"
#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/sense/hook_names.h"

struct sense;

struct sense_opts {
	/* Bytes of the three rings, powers of two and multiples of the page; 0 = 16 MiB, 16 MiB and
	 * 4 MiB. */
	uint32_t world_ring_bytes, packet_ring_bytes, life_ring_bytes;
	uint32_t snapshot; /* most bytes copied of a packet elsewhere than at W; 0 = 512, at most
			    * SNT_PKT_DATA_LARGE */
	/* The run's cgroup v2: its id (inode number of its directory) and its level below the root
	 * of the hierarchy (the root is 0). Trials' cgroups are its children. 0, 0 = none: then
	 * only marks and namespaces say what is ours. */
	uint64_t run_cgroup_id;
	uint32_t run_cgroup_level;
	/* Only sessions announced by sense_watch_mark() are marked: those of another run on the
	 * same machine are then strangers. */
	bool known_marks_only;
};

/* Opens, configures and loads; attaches nothing. 0, or -errno with the remedy in d where the kernel
 * refuses. The caller owns *ret: sense_free(). */
int sense_new(struct sense **ret, const struct sense_opts *o, struct diag *d) must_check;

/* Detaches everything and frees. NULL is fine. */
void sense_free(struct sense *s);

/* The set on the root of cgroup v2 (cgroup_root_fd: a descriptor of its directory, borrowed) and
 * tracing. -errno where a needed hook could not be attached; a hook that only adds evidence may be
 * missing afterwards, sense_hook_state() tells which and why. */
int sense_attach_host(struct sense *s, int cgroup_root_fd, struct diag *d) must_check;

/* One lane. The descriptors of its namespaces are borrowed for the call. Indexes are run-wide
 * unique; an index, cookie or inode number of 0 is left out. Inode numbers are those of
 * /proc/PID/ns/net, cookies those of SO_NETNS_COOKIE. lane is also the slot: 1..SNT_SLOT_MAX-1. */
struct sense_lane {
	uint32_t lane;
	int world_ns, host_ns, box_ns;
	uint32_t world_ifindex, boundary_ifindex, box_ifindex;
	uint64_t box_cookie, host_cookie, world_cookie;
	uint32_t box_inum, host_inum, world_inum;
};

/* Attaches W, B and box to the lane's devices: by tcx, or by a clsact filter where the kernel has
 * no tcx. Enters the namespaces in a thread of its own. W and B must succeed; -EEXIST where the
 * lane is attached already. */
int sense_attach_lane(struct sense *s, const struct sense_lane *l, struct diag *d) must_check;

/* Undoes sense_attach_lane(); a lane that is not attached is fine. */
void sense_detach_lane(struct sense *s, uint32_t lane);

/* Everything in and below this child of the run's cgroup is counted in slot. */
int sense_watch_cgroup(struct sense *s, uint64_t cgroup_id, uint32_t slot) must_check;
void sense_unwatch_cgroup(struct sense *s, uint64_t cgroup_id);

/* The trial with this mark (snt_hdr.mark) is counted in slot, wherever its platform puts it. Before
 * anything of the trial runs. At most 16384 at a time: -E2BIG. */
int sense_watch_mark(struct sense *s, uint64_t mark, uint32_t slot) must_check;
void sense_unwatch_mark(struct sense *s, uint64_t mark);

/* One record as bpf/events.h lays it out, borrowed for the call. */
typedef void (*sense_sink_fn)(void *arg, const void *rec, size_t len);

/* Sleeps until a ring passed its fill mark, or for timeout_ms. 0 or -errno (-EINTR on a signal). */
int sense_wait(struct sense *s, int timeout_ms) must_check;

/* Hands over what is in the rings now, ring by ring, lifecycle first, at most a ring's size of
 * each. Number of records. */
int sense_drain(struct sense *s, sense_sink_fn sink, void *arg);

/* No program emits from now on: call, then drain, then count. It closes a gate in the kernel and
 * waits for the programs that are past it; the links stay, so that sense_hook_state() still answers
 * what the kernel says, and go with sense_free(). */
void sense_stop(struct sense *s);

/* The counters of one hook and slot, summed over the CPUs; after sense_stop() exact:
 * seen = delivered + ring_full + oversized + map_full + filtered. */
int sense_count(struct sense *s, uint32_t hook, uint32_t slot, struct snt_count *ret) must_check;

/* Runs of the hook's programs that the kernel skipped because the program was already running on
 * that CPU (bpf_prog_info.recursion_misses). They are in no other counter. */
uint64_t sense_recursion(struct sense *s, uint32_t hook);

/* Asks the kernel whether the hook's link is still attached to its device or cgroup; lane 0 for the
 * machine's hooks. detail says why not, or how ("tcx", "clsact", "link"). */
bool sense_hook_state(struct sense *s, uint32_t hook, uint32_t lane, char detail[64]);

/* SHA-256 of the BPF object that was loaded. */
void sense_digest(const struct sense *s, uint8_t ret[32]);

/* "TC_EGRESS" for a number of this kernel's enum skb_drop_reason, without its SKB_DROP_REASON_;
 * NULL where it has none. Borrowed until sense_free(). */
const char *sense_drop_reason(const struct sense *s, uint32_t reason);

/* The kernel function that holds addr. False where the kernel's symbols are not readable, and
 * before the first sense_watch_mark(), which waits for them. */
bool sense_symbol(const struct sense *s, uint64_t addr, char ret[64]);

#endif

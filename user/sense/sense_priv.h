/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this stage alone. */
#ifndef SENTINEL_SENSE_PRIV_H
#define SENTINEL_SENSE_PRIV_H

#include <bpf/libbpf.h>

#include "user/sense/kernel_btf.h"
#include "user/sense/programs.h"
#include "user/sense/ring.h"
#include "user/sense/sense.h"
#include "user/sense/symbols.h"

enum { DEV_WORLD, DEV_BOUNDARY, DEV_BOX, DEV_MAX };

struct dev_hook {
	int link_fd;  /* tcx; -1 where it is not attached, or by clsact */
	int netns_fd; /* of the device; a duplicate, owned. clsact needs it to ask and to detach */
	uint32_t ifindex; /* 0: none */
	bool clsact;
	uint32_t handle, priority; /* of the clsact filter */
};

struct lane_hooks {
	bool attached;
	struct sense_lane lane; /* its descriptors are not ours */
	struct dev_hook dev[DEV_MAX];
};

struct host_hook {
	const struct program *program; /* NULL: none was loaded */
	struct bpf_program *prog;
	struct bpf_link *link;
	int error; /* why not loaded or attached */
};

struct sense {
	struct sentinel *skel;
	struct kernel_btf *btf;
	struct symbols *symbols; /* read by a thread; symbols_read: it has, and all may ask */
	bool symbols_read;
	struct ring rings[SNT_RING_MAX];
	int epoll_fd;
	struct host_hook host[SNT_HOOK_MAX]; /* of a lane's hook: the program alone */
	uint64_t root_cgroup_id;
	struct lane_hooks lanes[SNT_SLOT_MAX];
	bool no_tcx; /* never try tcx */
	uint8_t digest[32];
};

int sense_map(const struct sense *s, const char *name); /* descriptor, borrowed; -ENOENT */
int hook_prog_fd(const struct sense *s, uint32_t hook); /* borrowed; -errno where there is none */

/* Waits until the kernel's symbols are read, and tells the kernel side what it needs of them. */
void symbols_ready(struct sense *s);

/* Features that are to be taken as missing, for tests of what is done without them: a list of names
 * with commas in the environment variable SENTINEL_FEATURES_OFF. */
bool feature_is_off(const char *name);

/* host.c: of a hook that the machine has once, as sense_hook_state(). */
bool host_state(const struct sense *s, uint32_t hook, char detail[64]);

/* device.c: one program on one device of the namespace that the calling thread is in. */
int device_attach(struct dev_hook *d, int prog_fd, bool egress, bool no_tcx);
void device_detach(struct dev_hook *d, bool egress);
bool device_state(const struct dev_hook *d, int prog_fd, bool egress, char detail[64]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cgroups of a run: /sentinel-RUNID/ under the cgroup v2 root, one trial-N below it per trial.
 * They are the only trace of a run that SIGKILL leaves behind. So a run holds the lock file
 * /run/sentinel/lock/RUNID (flock by an open descriptor) from before its first cgroup until after
 * its last, and whoever starts next removes the trees whose lock is free.
 */
#ifndef SENTINEL_CGROUP_H
#define SENTINEL_CGROUP_H

#include "user/base/diag.h"
#include "user/base/util.h"

#define CGROUP_NAME_PREFIX "sentinel-"
#define CGROUP_RUN_ID_MAX 40 /* letters, digits, '-' and '_' */
#define CGROUP_LOCK_DIR "/run/sentinel/lock"

struct cgroup_run {
	int root_fd;	/* the cgroup v2 root directory */
	int dir_fd;	/* the run's own */
	int lock_fd;	/* private: holds the flock */
	char name[64];	/* of the run's directory, "sentinel-RUNID"; "" = not made */
	uint64_t id;	/* cgroup id of dir_fd, as BPF sees it */
	uint32_t level; /* of dir_fd below the root (which is 0): bpf_skb_ancestor_cgroup_id() */
};

/* 0; -EINVAL for a bad run_id, -EBUSY if that run is alive, -EEXIST if its tree is there unswept,
 * or as cgroup_open_root(). Nothing is left on error. */
int cgroup_run_make(struct cgroup_run *r, const char *run_id, struct diag *d) must_check;

/* Kills what is in it, waits (bounded) until it is empty, removes the tree, then the lock. What
 * can't be removed is left to a later sweep. NULL, a zeroed and a removed one are fine. */
void cgroup_run_remove(struct cgroup_run *r);

/* Makes trial-N. The caller closes *ret_fd; *ret_id is the cgroup id (the directory's inode number,
 * as in bpf_get_current_cgroup_id()). 0 or -errno. */
int cgroup_trial_make(struct cgroup_run *r, uint32_t trial, int *ret_fd,
		      uint64_t *ret_id) must_check;

/* SIGKILL to all in it, then waits until it is empty. 0, -ETIMEDOUT after 2 s, or -errno. Nothing
 * can be launched in it afterwards (launch.h). */
int cgroup_trial_kill(struct cgroup_run *r, uint32_t trial) must_check;

/* Removes trial-N and what was made below it, killing first what still lives there. 0 or -errno. */
int cgroup_trial_remove(struct cgroup_run *r, uint32_t trial) must_check;

/*
 * Removes what dead runs left: every sentinel-* tree whose lock is free, and their lock files. Live
 * runs are left alone, and of two sweeps at once each tree is removed by one. *ret_runs (may be
 * NULL) counts the trees removed. 0, or the first -errno after having tried all.
 */
int cgroup_sweep(unsigned int *ret_runs) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts one command where it belongs: born in a trial's cgroup (no moment outside it), in a lane's
 * box, under its uid, with nothing of ours: no descriptor, no signal disposition, no variable.
 */
#ifndef SENTINEL_LAUNCH_H
#define SENTINEL_LAUNCH_H

#include <sys/types.h>

#include "user/base/diag.h"
#include "user/base/util.h"

struct launch_opts {
	/* argv[0] without a slash is looked up in the PATH of env. The command starts in "/", with
	 * umask 022, so that nothing depends on where we were started: use absolute paths. */
	char *const *argv;
	char *const *env; /* NULL: PATH, HOME=/, LANG=C */
	/* Of a v2 directory; -1: ours. After cgroup.kill Linux 6.18 kills whatever is started in
	 * that cgroup again: make a new one. */
	int cgroup_fd;
	int netns_fd; /* -1: ours */
	/* No supplementary groups. A uid other than 0 has these capabilities (bit per CAP_*) in all
	 * of its sets, the ambient and bounding ones too, and no others: set-user-ID helpers gain
	 * none. Root keeps its own. no_new_privs stays as it is. */
	uint32_t uid, gid;
	uint64_t caps;
	bool dies_with_us; /* when the thread that starts it ends, killed too (PR_SET_PDEATHSIG) */
};

struct launch {
	bool started; /* false: nothing below is valid */
	pid_t pid;    /* 0 after it was reaped */
	int pidfd;    /* readable once it ended; the caller may poll it */
	int in;	      /* its stdin; O_NONBLOCK. The caller may close it and set -1 */
	int out;      /* its stdout and stderr; O_NONBLOCK; ends with its last heir */
};

/*
 * Ignore SIGPIPE: writing to `in` after the command's end raises it.
 *
 * 0: the command was executed. Else -errno of the step that failed (-ENOENT: no such command), d
 * says which, and *l needs no launch_done(). -ECANCELED: it was killed before it executed. Blocks
 * until exec, about a millisecond.
 */
int launch_start(struct launch *l, const struct launch_opts *o, struct diag *d) must_check;

/* Never blocks: 0 and the status as wait() gives it, -EAGAIN while it runs, -ECHILD if it was
 * reaped before. The descriptors stay open. */
int launch_reap(struct launch *l, int *ret_status) must_check;

/* Kills it if it is alive (itself; its heirs are the cgroup's matter), reaps it, closes all. NULL,
 * a zeroed and a done one are fine. */
void launch_done(struct launch *l);

#endif

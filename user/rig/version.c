// SPDX-License-Identifier: Apache-2.0
#include "user/rig/version.h"

#include <poll.h>

#include "user/rig/launch.h"

#define VERSION_TIMEOUT_MS 5000

/* Until the first line is whole, its end, or the time-out. */
static void read_line(const struct launch *l, const volatile sig_atomic_t *stop,
		      char ret[EV_TEXT_MAX])
{
	uint64_t until = mono_ns() + VERSION_TIMEOUT_MS * NSEC_PER_MSEC;
	size_t len = 0;

	ret[0] = '\0';
	while (len < EV_TEXT_MAX - 1 && !strchr(ret, '\n') && mono_ns() < until &&
	       !(stop && *stop)) {
		struct pollfd p = { .fd = l->out, .events = POLLIN };
		ssize_t n;

		(void)poll(&p, 1, 100);
		n = read(l->out, ret + len, EV_TEXT_MAX - 1 - len);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
		ret[len] = '\0';
	}
	ret[strcspn(ret, "\n")] = '\0';
}

int version_of(struct client *c, const struct target *t, const volatile sig_atomic_t *stop,
	       char ret[EV_TEXT_MAX], struct diag *d)
{
	struct launch_opts o = { .argv = t->version, .uid = t->uid, .gid = t->gid };
	cleanup_fd int cgroup = -1, box = -1;
	struct launch l = { 0 };
	int err;

	ret[0] = '\0';
	if (!t->version || !t->version[0])
		return 0;
	err = client_helper_begin(c, &cgroup, &box, d);
	if (err)
		return err;
	o.cgroup_fd = cgroup;
	o.netns_fd = box;
	if (!launch_start(&l, &o, NULL))
		read_line(&l, stop, ret);
	launch_done(&l);
	err = client_helper_end(c, d);
	if (!err && stop && *stop)
		err = diag_set(d, -EINTR, NULL, 0, 0, "interrupted");
	return err;
}

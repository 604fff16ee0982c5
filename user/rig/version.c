// SPDX-License-Identifier: Apache-2.0
#include "user/rig/version.h"

#include <poll.h>
#include <sys/wait.h>

#define VERSION_TIMEOUT_MS 5000

/* ---- one command ---- */

struct reading {
	const struct launch *l;
	const volatile sig_atomic_t *stop;
	uint64_t until;
};

static bool in_time(const struct reading *r)
{
	return mono_ns() < r->until && !(r->stop && *r->stop);
}

static void wait_for(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	(void)poll(&p, 1, 100);
}

/* Until the first line is whole, its end, or the time-out. */
static void read_line(const struct reading *r, char ret[EV_TEXT_MAX])
{
	size_t len = 0;

	ret[0] = '\0';
	while (len < EV_TEXT_MAX - 1 && !strchr(ret, '\n') && in_time(r)) {
		ssize_t n;

		wait_for(r->l->out);
		n = read(r->l->out, ret + len, EV_TEXT_MAX - 1 - len);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			break;
		len += n > 0 ? (size_t)n : 0;
		ret[len] = '\0';
	}
	ret[strcspn(ret, "\n")] = '\0';
}

/* Reads on, and away: who can't print does not end. */
static int await_end(const struct reading *r, struct launch *l, int *ret_status)
{
	int err;

	while ((err = launch_reap(l, ret_status)) == -EAGAIN && in_time(r)) {
		char away[4096];

		if (read(l->out, away, sizeof(away)) <= 0)
			wait_for(l->pidfd);
	}
	return err;
}

static int judge_end(int err, int status, const char *line, const char *command, struct diag *d)
{
	char name[128];

	(void)escape_text(name, sizeof(name), command, strlen(command));
	if (err)
		return diag_set(d, -ETIMEDOUT, NULL, 0, 0, "'%s' did not end within %d s", name,
				VERSION_TIMEOUT_MS / 1000);
	if (WIFSIGNALED(status))
		return diag_set(d, -EIO, NULL, 0, 0, "'%s' was ended by signal %d", name,
				WTERMSIG(status));
	if (WEXITSTATUS(status))
		return diag_set(d, -EIO, NULL, 0, 0, "'%s' ended with status %d", name,
				WEXITSTATUS(status));
	if (!line[0])
		return diag_set(d, -ENODATA, NULL, 0, 0, "'%s' printed nothing", name);
	return 0;
}

int version_run(const struct launch_opts *o, const volatile sig_atomic_t *stop,
		char ret[EV_TEXT_MAX], struct diag *d)
{
	struct launch l = { 0 };
	struct reading r = { .l = &l,
			     .stop = stop,
			     .until = mono_ns() + VERSION_TIMEOUT_MS * NSEC_PER_MSEC };
	int err, status = 0;

	ret[0] = '\0';
	err = launch_start(&l, o, d);
	if (err)
		return err;
	read_line(&r, ret);
	err = await_end(&r, &l, &status);
	err = judge_end(err, status, ret, o->argv[0], d);
	launch_done(&l);
	return err;
}

/* ---- a target's ---- */

int version_of(struct client *c, const struct target *t, const volatile sig_atomic_t *stop,
	       char ret[EV_TEXT_MAX], struct diag *wrong, struct diag *d)
{
	struct launch_opts o = { .argv = t->version, .uid = t->uid, .gid = t->gid };
	cleanup_fd int cgroup = -1, box = -1;
	int err;

	ret[0] = '\0';
	*wrong = (struct diag){ .text = "" };
	if (!t->version || !t->version[0])
		return 0;
	err = client_helper_begin(c, &cgroup, &box, d);
	if (err)
		return err;
	o.cgroup_fd = cgroup;
	o.netns_fd = box;
	if (!version_run(&o, stop, ret, wrong))
		*wrong = (struct diag){ .text = "" };
	err = client_helper_end(c, d);
	if (!err && stop && *stop)
		err = diag_set(d, -EINTR, NULL, 0, 0, "interrupted");
	return err;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/rig/resolver.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "user/rig/program.h"
#include "user/rig/rig.h"

#define NO_USER 65533 /* the far side's: no sandbox has it */
#define ASK_PAUSE_MS 5

/*
 * By unbound.conf(5). Minimal: one thread, little memory, no root, no file but this. No state about
 * servers outlives a question (a server that was deaf once must be asked again), no answer is kept,
 * no name is asked that was not asked of it (qname-minimisation), and none outside our zones leaves
 * ("." refuse; "test." is one that unbound refuses by itself). A server that does not answer is
 * given up soon, so that what is late is not later than it must be. Few ports, since it shuffles
 * them all at its start, by a system call each.
 */
static const char config[] = "server:\n"
			     "  interface: " RIG_RESOLVER4 "@53\n"
			     "  access-control: 0.0.0.0/0 allow\n"
			     "  do-ip6: no\n"
			     "  username: \"\"\n"
			     "  chroot: \"\"\n"
			     "  directory: \"\"\n"
			     "  pidfile: \"\"\n"
			     "  logfile: \"\"\n"
			     "  use-syslog: no\n"
			     "  verbosity: 0\n"
			     "  do-daemonize: no\n"
			     "  num-threads: 1\n"
			     "  outgoing-port-avoid: 0-65535\n"
			     "  outgoing-port-permit: 40000-41023\n"
			     "  outgoing-range: 128\n"
			     "  num-queries-per-thread: 64\n"
			     "  msg-cache-size: 64k\n"
			     "  msg-cache-slabs: 1\n"
			     "  rrset-cache-size: 64k\n"
			     "  rrset-cache-slabs: 1\n"
			     "  infra-cache-numhosts: 64\n"
			     "  infra-cache-slabs: 1\n"
			     "  key-cache-slabs: 1\n"
			     "  module-config: \"iterator\"\n"
			     "  qname-minimisation: no\n"
			     "  infra-host-ttl: 0\n"
			     "  infra-keep-probing: yes\n"
			     "  cache-max-ttl: 0\n"
			     "  cache-max-negative-ttl: 0\n"
			     "  target-fetch-policy: \"0 0 0 0 0\"\n"
			     "  outbound-msg-retry: 2\n"
			     "  minimal-responses: yes\n"
			     "  local-zone: \".\" refuse\n"
			     "  local-zone: \"" RIG_ZONE ".\" transparent\n"
			     "  local-zone: \"" RIG_ZONE_DEAF ".\" transparent\n"
			     "remote-control:\n"
			     "  control-enable: no\n"
			     "stub-zone:\n"
			     "  name: \"" RIG_ZONE "\"\n"
			     "  stub-addr: " RIG_ZONE_SERVER4 "\n"
			     "  stub-no-cache: yes\n"
			     "stub-zone:\n"
			     "  name: \"" RIG_ZONE_DEAF "\"\n"
			     "  stub-addr: " RIG_ZONE_DEAF_SERVER4 "\n"
			     "  stub-no-cache: yes\n";

static int write_config(struct resolver *r, struct folders *folders, char *path, size_t n)
{
	cleanup_fd int fd = -1;
	int err = folder_make(folders, NO_USER, NO_USER, r->folder);

	if (!err)
		err = str_format(path, n, "%s/unbound.conf", r->folder);
	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || fchmod(fd, 0644))
		return -errno;
	return write_all(fd, config, strlen(config));
}

static int open_asker(const struct lane *l)
{
	const struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(RIG_PORT_DNS) };
	cleanup_fd int fd = lane_socket(l->host_ns, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in at = to;
	uint8_t addr[16];
	int err = parse_addr(RIG_RESOLVER4, addr);

	if (fd < 0 || err)
		return fd < 0 ? fd : err;
	memcpy(&at.sin_addr, addr + 12, sizeof(at.sin_addr));
	return connect(fd, (const struct sockaddr *)&at, sizeof(at)) < 0 ? -errno : TAKE_FD(fd);
}

static int launch(struct resolver *r, const struct lane *l, char *exe, char *path, struct diag *d)
{
	char foreground[] = "-d", with[] = "-c";
	char *const argv[] = { exe, foreground, with, path, NULL };
	const struct launch_opts o = { .argv = argv,
				       .cgroup_fd = -1,
				       .netns_fd = l->host_ns,
				       .uid = NO_USER,
				       .gid = NO_USER,
				       .caps = 1u << CAP_NET_BIND_SERVICE,
				       .dies_with_us = true };

	return launch_start(&r->launch, &o, d);
}

int resolver_start(struct resolver *r, struct folders *folders, const struct lane *l,
		   struct diag *d)
{
	char exe[4096], path[FOLDER_PATH_MAX + 16];
	int err;

	*r = (struct resolver){ .asks = -1 };
	err = program_find("unbound", NULL, exe, sizeof(exe));
	if (err)
		return diag_set(d, err, NULL, 0, 0,
				"no 'unbound' on this machine: scripts/deps.sh installs it");
	err = write_config(r, folders, path, sizeof(path));
	if (!err) {
		r->asks = open_asker(l);
		err = r->asks < 0 ? r->asks : 0;
	}
	if (err)
		(void)diag_set(d, err, NULL, 0, 0, "lane %u's resolver: %s", l->number,
			       strerror(-err));
	else
		err = launch(r, l, exe, path, d);
	if (err)
		resolver_stop(r);
	return err;
}

/* ---- until it answers ---- */

/* Any answer will do, and this question it answers by itself. */
static void ask(const struct resolver *r)
{
	static const uint8_t question[] = { 0, 1,   0,	 0,   0,   1,	0, 0, 0, 0, 0, 0,
					    5, 'r', 'e', 'a', 'd', 'y', 0, 0, 1, 0, 1 };

	(void)!send(r->asks, question, sizeof(question), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void take_answer(struct resolver *r)
{
	uint8_t answer[512];

	if (recv(r->asks, answer, sizeof(answer), MSG_DONTWAIT) <= 0)
		return;
	r->ready = true;
	(void)close(r->asks);
	r->asks = -1;
}

int resolver_tend(struct resolver *r)
{
	char buf[4096];
	int status;

	if (!r->launch.started || !r->launch.pid)
		return 0;
	for (ssize_t n; (n = read(r->launch.out, buf, sizeof(buf))) > 0;) {
		size_t room = sizeof(r->said) - 1 - r->said_len;
		size_t kept = MIN((size_t)n, room);

		memcpy(r->said + r->said_len, buf, kept);
		r->said_len += (uint32_t)kept;
	}
	return launch_reap(&r->launch, &status) == 0 ? -ECHILD : 0;
}

static int say_ended(const struct resolver *r, size_t i, struct diag *d)
{
	char text[512];

	return diag_set(d, -ECHILD, NULL, 0, 0, "lane %zu's resolver has ended: %s", i + 1,
			escape_text(text, sizeof(text), r->said, r->said_len));
}

/* -EAGAIN: not yet. */
static int look(struct resolver *r, size_t i, struct diag *d)
{
	if (!r->launch.started || r->ready)
		return 0;
	take_answer(r);
	if (r->ready)
		return 0;
	if (resolver_tend(r))
		return say_ended(r, i, d);
	ask(r);
	return -EAGAIN;
}

int resolvers_wait(struct resolver *r, size_t n, uint32_t ms, struct diag *d)
{
	const uint64_t until = mono_ns() + ms * NSEC_PER_MSEC;

	for (;;) {
		size_t waiting = n;

		for (size_t i = 0; i < n; i++) {
			int err = look(&r[i], i, d);

			if (err == -EAGAIN)
				waiting = i;
			else if (err)
				return err;
		}
		if (waiting == n)
			return 0;
		if (mono_ns() > until)
			return diag_set(d, -ETIMEDOUT, NULL, 0, 0,
					"lane %zu's resolver does not answer", waiting + 1);
		(void)poll(NULL, 0, ASK_PAUSE_MS);
	}
}

void resolver_stop(struct resolver *r)
{
	launch_done(&r->launch);
	if (r->folder[0] && r->asks >= 0) /* a zeroed one has neither */
		(void)close(r->asks);
	folder_remove(r->folder);
	*r = (struct resolver){ .asks = -1 };
}

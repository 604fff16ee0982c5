// SPDX-License-Identifier: Apache-2.0
#include "user/rig/farside.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define READ_MAX_AT_ONCE (256 * 1024) /* before others get their turn: a sandbox may flood it */

/* In the child, between fork and exec: async-signal-safe calls only. */
static _Noreturn void exec_collector(char *const *argv, int world_ns, int key, int log,
				     pid_t parent)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(126);
	if (setns(world_ns, CLONE_NEWNET))
		_exit(126);
	/* Whatever else is open, those two alone are its own. */
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) || fcntl(key, F_SETFD, 0) ||
	    fcntl(log, F_SETFD, 0))
		_exit(126);
	(void)execv(argv[0], argv);
	_exit(127);
}

static int spawn(struct farside *f, const char *exe, int world_ns, int key, int log, bool quiet)
{
	char lane[16], epoch[16], key_fd[16], log_fd[16], path[4096];
	char *argv[] = { path,	 (char[]){ "--lane" },
			 lane,	 (char[]){ "--epoch" },
			 epoch,	 (char[]){ "--key-fd" },
			 key_fd, (char[]){ "--log-fd" },
			 log_fd, NULL,
			 NULL };
	char quiet_arg[] = "--quiet";
	pid_t parent = getpid(), pid;

	(void)str_copy(path, sizeof(path), exe);
	(void)str_format(lane, sizeof(lane), "%u", f->lane);
	(void)str_format(epoch, sizeof(epoch), "%u", f->epoch);
	(void)str_format(key_fd, sizeof(key_fd), "%d", key);
	(void)str_format(log_fd, sizeof(log_fd), "%d", log);
	if (quiet)
		argv[9] = quiet_arg;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		exec_collector(argv, world_ns, key, log, parent);
	f->pid = pid;
	return 0;
}

int farside_start(struct farside *f, const char *exe, int world_ns, uint32_t lane, uint32_t epoch,
		  const uint8_t key[EV_MAC_BYTES], bool quiet, struct diag *d)
{
	int key_pipe[2], log_pair[2], err;

	*f = (struct farside){ .log = -1, .lane = lane, .epoch = epoch, .last_ns = mono_ns() };
	if (pipe2(key_pipe, O_CLOEXEC))
		return diag_set(d, -errno, NULL, 0, 0, "can't make a pipe: %m");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, log_pair)) {
		err = -errno;
		(void)close(key_pipe[0]);
		(void)close(key_pipe[1]);
		return diag_set(d, err, NULL, 0, 0, "can't make a socket pair: %s", strerror(-err));
	}
	err = write_all(key_pipe[1], key, EV_MAC_BYTES);
	if (!err)
		err = spawn(f, exe, world_ns, key_pipe[0], log_pair[1], quiet);
	(void)close(key_pipe[0]);
	(void)close(key_pipe[1]);
	(void)close(log_pair[1]);
	if (!err && fcntl(log_pair[0], F_SETFL, O_NONBLOCK))
		err = -errno;
	if (err) {
		(void)close(log_pair[0]);
		farside_stop(f);
		return diag_set(d, err, exe, 0, 0, "can't start the far side: %s", strerror(-err));
	}
	f->log = log_pair[0];
	return 0;
}

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, json_type_string))
		return "";
	return json_object_get_string(v);
}

static int number_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int(v) : 0;
}

static int received_of(const struct farside *f, struct json_object *o, struct ev *ev)
{
	struct ev_received *r = &ev->received;
	const char *proto = text_of(o, "proto"), *data = text_of(o, "data");
	size_t len = strlen(data) / 2;

	*ev = (struct ev){ .type = EV_RECEIVED };
	if (parse_u64(text_of(o, "time"), 0, UINT64_MAX, &ev->time_ns) ||
	    parse_addr(text_of(o, "src"), r->saddr) || parse_addr(text_of(o, "dst"), r->daddr) ||
	    len > EV_RECEIVED_MAX || hex_decode(r->data, len, data))
		return -EBADMSG;
	r->lane = f->lane;
	r->epoch = f->epoch;
	r->protocol = !strcmp(proto, "tcp") ? IPPROTO_TCP : IPPROTO_UDP;
	r->sport = (uint32_t)number_of(o, "sport");
	r->dport = (uint32_t)number_of(o, "dport");
	r->answered = number_of(o, "answered");
	r->data_len = (uint32_t)len;
	return 0;
}

/* count messages are missing, received after the line before. */
static void gap_of(const struct farside *f, struct ev *ev, uint64_t count)
{
	*ev = (struct ev){ .type = EV_GAP, .time_ns = mono_ns(), .lane = f->lane };
	(void)str_copy(ev->gap.stage, sizeof(ev->gap.stage), "collector");
	ev->gap.count = count;
	ev->gap.from_ns = f->last_ns;
}

int farside_give_up(struct farside *f, ev_sink_fn sink, void *arg)
{
	struct ev ev;

	gap_of(f, &ev, 1);
	f->last_ns = ev.time_ns;
	return sink(arg, &ev);
}

static int take_record(struct farside *f, struct json_object *o, ev_sink_fn sink, void *arg)
{
	struct json_object *v;
	struct ev ev;

	if (o && json_object_object_get_ex(o, "lost", &v))
		gap_of(f, &ev, (uint64_t)json_object_get_int64(v));
	else if (!o || received_of(f, o, &ev))
		gap_of(f, &ev, 1);
	f->last_ns = ev.time_ns;
	return sink(arg, &ev);
}

static int take_line(struct farside *f, ev_sink_fn sink, void *arg)
{
	struct json_object *o, *v;
	int err = 0;

	f->line[f->skipping ? 0 : f->len] = '\0';
	f->len = 0;
	f->skipping = false;
	o = json_tokener_parse(f->line);
	if (o && json_object_object_get_ex(o, "ready", &v))
		f->ready = true;
	else if (o && json_object_object_get_ex(o, "sync", &v))
		f->synced = (uint32_t)json_object_get_int64(v);
	else
		err = take_record(f, o, sink, arg);
	json_object_put(o);
	return err;
}

static int take_bytes(struct farside *f, const char *buf, size_t n, ev_sink_fn sink, void *arg)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (buf[i] == '\n')
			err = take_line(f, sink, arg);
		else if (f->len < sizeof(f->line) - 1)
			f->line[f->len++] = buf[i];
		else
			f->skipping = true;
	}
	return err;
}

static int take_end(struct farside *f, ev_sink_fn sink, void *arg)
{
	int err = f->len ? take_line(f, sink, arg) : 0;

	if (!err)
		err = farside_give_up(f, sink, arg);
	return err ? err : -EPIPE;
}

int farside_read(struct farside *f, ev_sink_fn sink, void *arg)
{
	char buf[16384];
	size_t total = 0;
	int err = 0;

	while (!err && total < READ_MAX_AT_ONCE) {
		ssize_t n = read(f->log, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) /* killed with our bytes unread, its end is a reset */
			return take_end(f, sink, arg);
		total += (size_t)n;
		err = take_bytes(f, buf, (size_t)n, sink, arg);
	}
	return err;
}

void farside_ask_sync(struct farside *f)
{
	if (f->pid && send(f->log, "s", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
		f->asked++;
}

bool farside_is_synced(const struct farside *f)
{
	return !f->pid || (int32_t)(f->synced - f->asked) >= 0;
}

void farside_stop(struct farside *f)
{
	if (!f || !f->pid)
		return;
	(void)kill(f->pid, SIGKILL);
	while (waitpid(f->pid, NULL, 0) < 0 && errno == EINTR)
		;
	f->pid = 0;
	if (f->log >= 0)
		(void)close(f->log);
	f->log = -1;
}

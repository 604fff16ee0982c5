// SPDX-License-Identifier: Apache-2.0
#include "user/rig/farside.h"

#include <fcntl.h>
#include <json-c/json.h>
#include <linux/close_range.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define READ_MAX_AT_ONCE (256 * 1024) /* before others get their turn: a sandbox may flood it */

/* In the child, between fork and exec: async-signal-safe calls only. */
static bool keep_its_own(const struct farside_opts *o, int key, int log)
{
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) || fcntl(key, F_SETFD, 0) ||
	    fcntl(log, F_SETFD, 0))
		return false;
	for (size_t i = 0; i < o->listen_n; i++)
		if (fcntl(o->listen[i].fd, F_SETFD, 0))
			return false;
	return true;
}

/* Likewise. */
static _Noreturn void exec_collector(const struct farside_opts *o, const char *const *argv, int key,
				     int log, pid_t parent)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(126);
	if (setns(o->world_ns, CLONE_NEWNET) || !keep_its_own(o, key, log))
		_exit(126);
	(void)execv(o->exe, (char *const *)(uintptr_t)argv); /* which it doesn't write to */
	_exit(127);
}

struct command_line {
	const char *argv[1 + 2 * (4 + FARSIDE_LISTEN_MAX) + 2]; /* exe, options, --quiet, NULL */
	size_t n;
	char text[4 + FARSIDE_LISTEN_MAX][32];
	size_t used; /* of text */
};

static void add_option(struct command_line *c, const char *name, const char *fmt, ...)
	printf_like(3, 4);
static void add_option(struct command_line *c, const char *name, const char *fmt, ...)
{
	char *value = c->text[c->used++];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(value, sizeof(c->text[0]), fmt, ap);
	va_end(ap);
	c->argv[c->n++] = name;
	c->argv[c->n++] = value;
}

static int spawn(struct farside *f, const struct farside_opts *o, int key, int log)
{
	struct command_line c = { .n = 0 };
	pid_t parent = getpid(), pid;

	c.argv[c.n++] = o->exe;
	add_option(&c, "--lane", "%u", o->lane);
	add_option(&c, "--epoch", "%u", o->epoch);
	add_option(&c, "--key-fd", "%d", key);
	add_option(&c, "--log-fd", "%d", log);
	for (size_t i = 0; i < o->listen_n; i++)
		add_option(&c, "--listen", "%s:%d", o->listen[i].kind, o->listen[i].fd);
	if (o->quiet)
		c.argv[c.n++] = "--quiet";
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		exec_collector(o, c.argv, key, log, parent);
	f->pid = pid;
	return 0;
}

int farside_start(struct farside *f, const struct farside_opts *o, struct diag *d)
{
	int key_pipe[2], log_pair[2], err;

	*f = (struct farside){
		.log = -1, .lane = o->lane, .epoch = o->epoch, .last_ns = mono_ns()
	};
	if (pipe2(key_pipe, O_CLOEXEC))
		return diag_set(d, -errno, NULL, 0, 0, "can't make a pipe: %m");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, log_pair)) {
		err = -errno;
		(void)close(key_pipe[0]);
		(void)close(key_pipe[1]);
		return diag_set(d, err, NULL, 0, 0, "can't make a socket pair: %s", strerror(-err));
	}
	err = write_all(key_pipe[1], o->key, EV_MAC_BYTES);
	if (!err)
		err = spawn(f, o, key_pipe[0], log_pair[1]);
	(void)close(key_pipe[0]);
	(void)close(key_pipe[1]);
	(void)close(log_pair[1]);
	if (!err && fcntl(log_pair[0], F_SETFL, O_NONBLOCK))
		err = -errno;
	if (err) {
		(void)close(log_pair[0]);
		farside_stop(f);
		return diag_set(d, err, o->exe, 0, 0, "can't start the far side: %s",
				strerror(-err));
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

/* 0 is AF_UNIX, which has none. */
static uint32_t protocol_of(const char *proto)
{
	static const struct {
		const char *name;
		uint32_t protocol;
	} all[] = { { "tcp", IPPROTO_TCP },
		    { "udp", IPPROTO_UDP },
		    { "icmp", IPPROTO_ICMP },
		    { "icmp6", IPPROTO_ICMPV6 } };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcmp(proto, all[i].name))
			return all[i].protocol;
	return 0;
}

static int received_of(const struct farside *f, struct json_object *o, struct ev *ev)
{
	struct ev_received *r = &ev->received;
	const char *proto = text_of(o, "proto"), *data = text_of(o, "data");
	size_t len = strlen(data) / 2;

	*ev = (struct ev){ .type = EV_RECEIVED };
	if (parse_u64(text_of(o, "time"), 0, UINT64_MAX, &ev->time_ns) ||
	    parse_addr(text_of(o, "src"), r->saddr) || parse_addr(text_of(o, "dst"), r->daddr) ||
	    str_copy(r->path, sizeof(r->path), text_of(o, "path")) || len > EV_RECEIVED_MAX ||
	    hex_decode(r->data, len, data))
		return -EBADMSG;
	r->lane = f->lane;
	r->epoch = f->epoch;
	r->protocol = protocol_of(proto);
	r->sport = (uint32_t)number_of(o, "sport");
	r->dport = (uint32_t)number_of(o, "dport");
	r->forbidden = number_of(o, "forbidden");
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

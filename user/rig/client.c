// SPDX-License-Identifier: Apache-2.0
#include "user/rig/client.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "user/record/evjson.h"
#include "user/rig/control.h"

#define DAEMON_FD 3	     /* where the private daemon finds its end */
#define STOP_TIMEOUT_MS 5000 /* for it to take the rig down */

static _Noreturn void exec_daemon(char *const *argv, int sock)
{
	/* Its own group: a key pressed at the terminal reaches us alone, and we tell it. */
	(void)setpgid(0, 0);
	if (sock == DAEMON_FD ? fcntl(sock, F_SETFD, 0) : dup2(sock, DAEMON_FD) < 0)
		_exit(126);
	(void)execv(argv[0], argv);
	_exit(127);
}

int client_start(struct client *c, const char *exe, bool json, struct diag *d)
{
	char path[4096], fd_arg[] = "--control-fd=3", json_arg[] = "--json";
	char *argv[] = { path, fd_arg, json ? json_arg : NULL, NULL };
	int pair[2];

	*c = (struct client){ .sock = -1 };
	if (str_copy(path, sizeof(path), exe))
		return diag_set(d, -ENAMETOOLONG, NULL, 0, 0, "the daemon's path is too long");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return diag_set(d, -errno, NULL, 0, 0, "can't make a socket pair: %m");
	c->daemon = fork();
	if (!c->daemon)
		exec_daemon(argv, pair[1]);
	(void)close(pair[1]);
	if (c->daemon < 0) {
		int err = -errno;

		c->daemon = 0;
		(void)close(pair[0]);
		return diag_set(d, err, exe, 0, 0, "can't start the daemon: %s", strerror(-err));
	}
	c->sock = pair[0];
	return 0;
}

/* 0, or -ETIMEDOUT where it still runs. */
static int wait_daemon(pid_t daemon)
{
	uint64_t until = mono_ns() + STOP_TIMEOUT_MS * NSEC_PER_MSEC, now;
	cleanup_fd int pidfd = pidfd_open(daemon, 0);

	for (now = mono_ns(); now < until; now = mono_ns()) {
		struct pollfd p = { .fd = pidfd, .events = POLLIN };

		if (poll(&p, 1, (int)((until - now) / NSEC_PER_MSEC) + 1) > 0)
			return 0;
	}
	return -ETIMEDOUT;
}

int client_stop(struct client *c)
{
	int err = 0;

	if (c->sock >= 0)
		(void)close(c->sock);
	c->sock = -1;
	if (!c->daemon)
		return 0;
	err = wait_daemon(c->daemon);
	if (err)
		(void)kill(c->daemon, SIGKILL);
	while (waitpid(c->daemon, NULL, 0) < 0 && errno == EINTR)
		;
	c->daemon = 0;
	return err;
}

static void request_open(struct json_out *j, const char *op)
{
	json_out_init(j);
	json_object_begin(j, NULL);
	json_text(j, "op", op);
}

/* Sends j (and frees it), waits for the answer. On 0 the message is the caller's. */
static int ask(struct client *c, struct json_out *j, struct control_message *ret, struct diag *d)
{
	const char *error;
	char text[512];
	int err;

	json_object_end(j);
	err = control_send(c->sock, j, NULL, 0);
	json_out_done(j);
	if (!err)
		err = control_recv(c->sock, ret);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "the daemon is gone: %s", strerror(-err));
	error = control_text(ret, "error");
	if (!error)
		return 0;
	err = diag_set(d, -EPROTO, NULL, 0, 0, "%s",
		       escape_text(text, sizeof(text), error, strlen(error)));
	control_message_done(ret);
	return err;
}

static int ask_only(struct client *c, struct json_out *j, struct diag *d)
{
	struct control_message m;
	int err = ask(c, j, &m, d);

	if (!err)
		control_message_done(&m);
	return err;
}

static int add_ev(struct json_out *j, const struct ev *ev, struct diag *d)
{
	struct json_out raw;
	int err;

	json_out_init(&raw);
	err = evjson_write(&raw, ev);
	if (!err)
		json_raw(j, "ev", raw.buf, raw.len);
	json_out_done(&raw);
	if (err) {
		json_out_done(j);
		return diag_set(d, err, NULL, 0, 0, "can't describe a '%s' record",
				ev_type_name(ev->type));
	}
	return 0;
}

static int ask_with_ev(struct client *c, const char *op, const struct ev *ev, struct diag *d)
{
	struct json_out j;
	int err;

	request_open(&j, op);
	err = add_ev(&j, ev, d);
	return err ? err : ask_only(c, &j, d);
}

int client_run_begin(struct client *c, const struct client_run *r, char ret_run[32], struct diag *d)
{
	struct control_message m;
	struct json_out j;
	const char *run;
	int err;

	request_open(&j, "run.begin");
	json_text(&j, "dir", r->dir);
	if (r->key)
		json_text(&j, "key", r->key);
	json_u32(&j, "lanes", r->lanes);
	json_u32(&j, "repeat", r->repeat);
	json_u32(&j, "world_ring", r->world_ring);
	json_boolean(&j, "resolver", r->resolver);
	json_u32(&j, "sabotage", r->sabotage);
	err = ask(c, &j, &m, d);
	if (err)
		return err;
	run = control_text(&m, "run");
	err = run ? str_copy(ret_run, 32, run) : -EBADMSG;
	control_message_done(&m);
	return err ? diag_set(d, err, NULL, 0, 0, "the daemon's answer has no run") : 0;
}

int client_log(struct client *c, const struct ev *ev, struct diag *d)
{
	return ask_with_ev(c, "log", ev, d);
}

/* Where to run something: its cgroup and its box. Takes the message over. */
static int take_place(struct control_message *m, int *ret_cgroup, int *ret_box, struct diag *d)
{
	bool whole = m->fds[0] >= 0 && m->fds[1] >= 0;

	if (whole) {
		*ret_cgroup = TAKE_FD(m->fds[0]);
		*ret_box = TAKE_FD(m->fds[1]);
	}
	control_message_done(m);
	return whole ? 0 : diag_set(d, -EBADMSG, NULL, 0, 0, "the daemon's answer names no place");
}

static void take_planted(const struct control_message *m, const char *name,
			 uint8_t ret[EV_NONCE_BYTES])
{
	const char *hex = control_text(m, name);

	if (!hex || hex_decode(ret, EV_NONCE_BYTES, hex))
		memset(ret, 0, EV_NONCE_BYTES);
}

int client_trial_new(struct client *c, struct ev *ev, bool closed,
		     struct client_planted *ret_planted, int *ret_cgroup, int *ret_box,
		     struct diag *d)
{
	struct control_message m;
	struct json_out j;
	int err;

	request_open(&j, "trial.new");
	json_boolean(&j, "closed", closed);
	err = add_ev(&j, ev, d);
	if (!err)
		err = ask(c, &j, &m, d);
	if (err)
		return err;
	if (control_ev(&m, ev)) {
		control_message_done(&m);
		return diag_set(d, -EBADMSG, NULL, 0, 0, "the daemon's answer is no trial");
	}
	take_planted(&m, "secret", ret_planted->secret);
	take_planted(&m, "twin", ret_planted->twin);
	return take_place(&m, ret_cgroup, ret_box, d);
}

int client_arm_end(struct client *c, const struct ev *ev, bool *ret_retired, struct diag *d)
{
	struct control_message m;
	struct json_out j;
	int err;

	request_open(&j, "arm.end");
	err = add_ev(&j, ev, d);
	if (!err)
		err = ask(c, &j, &m, d);
	if (err)
		return err;
	*ret_retired = control_flag(&m, "retired");
	control_message_done(&m);
	return 0;
}

int client_helper_begin(struct client *c, int *ret_cgroup, int *ret_box, struct diag *d)
{
	struct control_message m;
	struct json_out j;
	int err;

	request_open(&j, "helper.begin");
	err = ask(c, &j, &m, d);
	return err ? err : take_place(&m, ret_cgroup, ret_box, d);
}

int client_helper_end(struct client *c, struct diag *d)
{
	struct json_out j;

	request_open(&j, "helper.end");
	return ask_only(c, &j, d);
}

int client_run_wait(struct client *c, uint32_t *ret_ms, struct diag *d)
{
	struct control_message m;
	struct json_out j;
	int err;

	request_open(&j, "run.wait");
	err = ask(c, &j, &m, d);
	if (err)
		return err;
	*ret_ms = (uint32_t)control_number(&m, "ms", 0);
	control_message_done(&m);
	return 0;
}

int client_run_end(struct client *c, struct diag *d)
{
	struct json_out j;

	request_open(&j, "run.end");
	return ask_only(c, &j, d);
}

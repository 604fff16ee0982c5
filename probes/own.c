// SPDX-License-Identifier: Apache-2.0
#include "probes/own.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "probes/attempt.h"
#include "user/base/own_words.h"

#define TICK_MS 20	     /* how often its end is looked for: a sandbox may have no pidfd */
#define LINE_MAX 256	     /* an answer is much shorter */
#define SEARCHED_MAX 1048576 /* bytes of its output */

/* ---- the child ---- */

struct own_argv {
	char *argv[OWN_ARGS_MAX + 1];
	char text[OWN_ARGS_MAX][OWN_ARG_MAX];
};

static int fill(const struct probe_attempt *a, char *const *command, struct own_argv *ret)
{
	char to[ADDR_TEXT_MAX], port[8], timeout[24];
	const uint64_t now = mono_ns();
	const char *const value[OWN_WORDS] = { [OWN_TO] = addr_text(a->to, to),
					       [OWN_PORT] = port,
					       [OWN_TOKEN] = a->token,
					       [OWN_TIMEOUT_MS] = timeout };
	size_t n = 0;

	(void)str_format(port, sizeof(port), "%u", a->port);
	(void)str_format(timeout, sizeof(timeout), "%llu",
			 (unsigned long long)(a->deadline_ns > now
						      ? (a->deadline_ns - now) / NSEC_PER_MSEC
						      : 0));
	for (; command[n]; n++) {
		int err =
			n < OWN_ARGS_MAX ? own_words_fill(command[n], value, ret->text[n]) : -E2BIG;

		if (err)
			return err;
		ret->argv[n] = ret->text[n];
	}
	ret->argv[n] = NULL;
	return n ? 0 : -EINVAL;
}

/* What failed before or at exec is told through err_fd, which exec closes. */
static __attribute__((noreturn)) void child(char *const *argv, int in, int out, int err_fd)
{
	int err;

	(void)setpgid(0, 0);
	(void)signal(SIGPIPE, SIG_DFL);
	if (dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(out, STDERR_FILENO) >= 0)
		(void)execvp(argv[0], argv);
	err = errno;
	(void)!write(err_fd, &err, sizeof(err));
	_exit(127);
}

struct pipes {
	int in[2], out[2], err[2];
};

static void pipes_done(struct pipes *p)
{
	int *const all[] = { p->in, p->out, p->err };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (int k = 0; k < 2; k++)
			cleanup_fd_(&all[i][k]);
}
#define cleanup_pipes __attribute__((cleanup(pipes_done)))

static void close_end(int *fd)
{
	cleanup_fd_(fd);
	*fd = -1;
}

/* Its pid, once it executed; -errno where it did not. */
static pid_t start(char *const *argv, struct pipes *p)
{
	pid_t pid;
	int err = 0;

	if (pipe2(p->in, O_CLOEXEC) || pipe2(p->out, O_CLOEXEC) || pipe2(p->err, O_CLOEXEC) ||
	    fcntl(p->out[0], F_SETFL, O_NONBLOCK))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		child(argv, p->in[0], p->out[1], p->err[1]);
	(void)setpgid(pid, pid); /* whoever comes first */
	close_end(&p->in[0]);
	close_end(&p->in[1]);
	close_end(&p->out[1]);
	close_end(&p->err[1]);
	while (read(p->err[0], &err, sizeof(err)) < 0 && errno == EINTR)
		;
	if (!err)
		return pid;
	(void)waitpid(pid, NULL, 0);
	return -err;
}

/* ---- its output ---- */

struct output {
	int fd;
	size_t searched, len;
	char line[LINE_MAX];
	bool too_long;
};

static void end_line(struct output *o, struct probe_outcome *ret)
{
	while (o->len && o->line[o->len - 1] == '\r')
		o->len--;
	if (!o->too_long && !ret->has_answer && o->len + 1 < LINE_MAX) {
		o->line[o->len++] = '\n';
		(void)outcome_answer_text(ret, o->line, o->len);
	}
	o->len = 0;
	o->too_long = false;
}

static void search(struct output *o, const char *data, size_t n, struct probe_outcome *ret)
{
	for (size_t i = 0; i < n && o->searched < SEARCHED_MAX; i++, o->searched++) {
		if (data[i] == '\n')
			end_line(o, ret);
		else if (o->len < LINE_MAX - 2)
			o->line[o->len++] = data[i];
		else
			o->too_long = true;
	}
}

/* All that is there now, but not for ever: false at its end. */
static bool drain(struct output *o, struct probe_outcome *ret)
{
	char data[4096];

	for (int i = 0; i < 64; i++) {
		ssize_t n = read(o->fd, data, sizeof(data));

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (!n) {
			end_line(o, ret); /* one without its newline */
			return false;
		}
		search(o, data, (size_t)n, ret);
	}
	return true;
}

/* ---- its life ---- */

/* Until it ended: 0 and its status. -ETIMEDOUT: it did not, in time. */
static int await(pid_t pid, struct output *o, uint64_t deadline_ns, struct probe_outcome *ret,
		 int *ret_status)
{
	bool open = true;

	while (mono_ns() < deadline_ns) {
		struct pollfd p = { .fd = open ? o->fd : -1, .events = POLLIN };

		(void)poll(&p, 1, TICK_MS);
		open = open && drain(o, ret);
		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return 0;
	}
	return -ETIMEDOUT;
}

static void say_end(struct probe_outcome *ret, int err, int status)
{
	if (ret->has_answer)
		outcome_word(ret, "answered");
	else if (err)
		outcome_word(ret, "timeout");
	else if (WIFSIGNALED(status))
		(void)str_format(ret->view, sizeof(ret->view), "signal-%d", WTERMSIG(status));
	else
		(void)str_format(ret->view, sizeof(ret->view), "exit-%d", WEXITSTATUS(status));
}

static void run(const struct probe_attempt *a, char *const *argv, struct probe_outcome *ret)
{
	cleanup_pipes struct pipes p = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	struct output o = { .len = 0 };
	pid_t pid = start(argv, &p);
	int status = 0, err;

	if (pid < 0) {
		outcome_errno(ret, -pid);
		return;
	}
	o.fd = p.out[0];
	err = await(pid, &o, a->deadline_ns, ret, &status);
	/* Its children too, also where it ended: the attempt is over. */
	(void)kill(-pid, SIGKILL);
	if (err)
		(void)waitpid(pid, &status, 0);
	(void)drain(&o, ret);
	say_end(ret, err, status);
}

void probe_own(const struct probe_attempt *a, char *const *command, struct probe_outcome *ret)
{
	struct own_argv *filled = calloc(1, sizeof(*filled));
	int err = filled ? fill(a, command, filled) : -ENOMEM;

	if (err)
		outcome_errno(ret, -err);
	else
		run(a, filled->argv, ret);
	free(filled);
}

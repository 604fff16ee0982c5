// SPDX-License-Identifier: Apache-2.0
/*
 * close-fd PID FD: makes a process call close(2) on a descriptor of its own. A tracing hook can't
 * be detached from outside; it is gone with the last descriptor of its link.
 *
 * The process must be waiting in a system call, so that the instruction behind which it stands is
 * one that makes a system call: it is made to do so once more, with other registers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <elf.h>

static void fail(const char *what)
{
	fprintf(stderr, "close-fd: %s: %s\n", what, strerror(errno));
	exit(1);
}

#if defined(__x86_64__)
static void ask_close(struct user_regs_struct *r, int fd)
{
	r->rip -= 2; /* syscall is 0f 05 */
	r->rax = SYS_close;
	r->orig_rax = (unsigned long)-1; /* not in a call, so that none is restarted */
	r->rdi = (unsigned long)fd;
}

static long result(const struct user_regs_struct *r)
{
	return (long)r->rax;
}
#elif defined(__aarch64__)
static void ask_close(struct user_regs_struct *r, int fd)
{
	r->pc -= 4;
	r->regs[8] = SYS_close;
	r->regs[0] = (unsigned long)fd;
}

static long result(const struct user_regs_struct *r)
{
	return (long)r->regs[0];
}
#else
#error "which registers does a system call take here?"
#endif

static void registers(int request, pid_t pid, struct user_regs_struct *r)
{
	struct iovec io = { .iov_base = r, .iov_len = sizeof(*r) };

	if (ptrace(request, pid, (void *)NT_PRSTATUS, &io))
		fail("registers");
}

static void wait_stop(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		fail("it did not stop");
}

int main(int argc, char **argv)
{
	struct user_regs_struct was, now;
	int pid, fd;

	if (argc != 3)
		return 2;
	if (sscanf(argv[1], "%d", &pid) != 1 || sscanf(argv[2], "%d", &fd) != 1)
		return 2;
	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
		fail("attach");
	wait_stop(pid);
	registers(PTRACE_GETREGSET, pid, &was);
	now = was;
	ask_close(&now, fd);
	registers(PTRACE_SETREGSET, pid, &now);
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
		fail("step");
	wait_stop(pid);
	registers(PTRACE_GETREGSET, pid, &now);
	registers(PTRACE_SETREGSET, pid, &was);
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL))
		fail("detach");
	if (result(&now)) {
		errno = (int)-result(&now);
		fail("close");
	}
	return 0;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The 32-bit entry of a 64-bit process, and x32: classic holes in filters. Each call shows as the
 * one that it is, whatever its number there.
 */
#include "tests/bpf/stage.h"

#include <signal.h>
#include <sys/mman.h>

#define NR_OPENAT ((uint32_t)SYS_openat)
#define ABSENT "/nonexistent/sentinel-planted"

#if defined(__x86_64__)

#define SYS32_SOCKETCALL 102 /* arch/x86/entry/syscalls/syscall_32.tbl */
#define SYS32_OPEN 5
#define SYS32_OPENAT 295
#define SYS32_CONNECT 362
#define SYS32_SENDMSG 370
#define X32_BIT 0x40000000

/* All that a 32-bit call points to, where its pointers reach. */
struct low {
	uint32_t args[6];
	uint32_t iov[2];
	uint32_t msg[7];
	struct sockaddr_in to;
	char token[sizeof(TOKEN)];
	char path[sizeof(ABSENT)];
};

static void no_int80(int sig)
{
	(void)sig;
	_exit(77); /* a kernel without IA32 emulation */
}

static long int80(long nr, uint32_t b, uint32_t c, uint32_t d)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"((long)b), "c"((long)c), "d"((long)d)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

static uint32_t low_addr(const void *p)
{
	return (uint32_t)(uintptr_t)p;
}

static int do_compat(void)
{
	struct low *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd;

	if (m == MAP_FAILED || signal(SIGSEGV, no_int80) == SIG_ERR)
		return 1;
	*m = (struct low){ .args = { AF_INET, SOCK_DGRAM, IPPROTO_UDP },
			   .to = world_addr(LANE_WORLD_ADDR),
			   .token = TOKEN,
			   .path = ABSENT };
	fd = int80(SYS32_SOCKETCALL, 1 /* socket */, low_addr(m->args), 0);
	if (fd < 0)
		return 2;
	memcpy(m->args,
	       (uint32_t[]){ (uint32_t)fd, low_addr(m->token), strlen(TOKEN), 0, low_addr(&m->to),
			     sizeof(m->to) },
	       sizeof(m->args));
	if (int80(SYS32_SOCKETCALL, 11 /* sendto */, low_addr(m->args), 0) != strlen(TOKEN))
		return 3;
	memcpy(m->iov, (uint32_t[]){ low_addr(m->token), strlen(TOKEN) }, sizeof(m->iov));
	memcpy(m->msg, (uint32_t[]){ low_addr(&m->to), sizeof(m->to), low_addr(m->iov), 1 }, 16);
	if (int80(SYS32_SENDMSG, (uint32_t)fd, low_addr(m->msg), 0) != strlen(TOKEN))
		return 4;
	if (int80(SYS32_CONNECT, (uint32_t)fd, low_addr(&m->to), sizeof(m->to)))
		return 5;
	if (int80(SYS32_OPEN, low_addr(m->path), 0, 0) != -ENOENT)
		return 6;
	if (int80(SYS32_OPENAT, (uint32_t)AT_FDCWD, low_addr(m->path), 0) != -ENOENT)
		return 7;
	return syscall(X32_BIT | SYS_socket, AF_INET6, SOCK_STREAM, 0) >= 0 ? 0 : errno != ENOSYS;
}

#else

static int do_compat(void)
{
	return 77;
}

#endif

static void check_compat(const struct snt_call *c, uint32_t nr, int64_t ret)
{
	check_call(c, nr, ret, SNT_F_COMPAT);
	assert_int_equal(AF_INET, c->family);
	if (nr == NR_SOCKET)
		return;
	assert_int_equal(PORT, c->dport);
	assert_v4(c->daddr, LANE_WORLD_ADDR);
	if (nr == NR_CONNECT)
		return;
	assert_int_equal(strlen(TOKEN), c->data_cap);
	assert_memory_equal(TOKEN, c->data, strlen(TOKEN));
}

/* open() and openat(): the same. */
static unsigned int opens_of_absent(void)
{
	const struct snt_call *c = NULL;
	unsigned int n = 0;

	while ((c = next_call_of(c, NR_OPENAT))) {
		if (!(c->h.flags & SNT_F_COMPAT))
			continue; /* the loader's */
		check_call(c, NR_OPENAT, -ENOENT, SNT_F_COMPAT);
		assert_int_equal(AT_FDCWD, c->fd);
		assert_int_equal(O_RDONLY, c->arg2);
		assert_int_equal(strlen(ABSENT), c->data_cap);
		assert_memory_equal(ABSENT, c->data, strlen(ABSENT));
		n++;
	}
	return n;
}

/* x32 shows even where the kernel refuses it. */
static void test_compat(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("compat", IN_CGROUP);
	c = call_of(NR_SOCKET);
	assert_non_null(c);
	check_compat(c, NR_SOCKET, c->ret);
	assert_true(c->ret > 0);
	assert_int_equal(SOCK_DGRAM, c->arg1);
	check_compat(call_of(NR_SENDTO), NR_SENDTO, (int64_t)strlen(TOKEN));
	check_compat(call_of(NR_SENDMSG), NR_SENDMSG, (int64_t)strlen(TOKEN));
	check_compat(call_of(NR_CONNECT), NR_CONNECT, 0);
	assert_int_equal(2, opens_of_absent());
	do {
		c = next_of(c, SNT_HOOK_SYS_EXIT, SNT_EV_CALL);
		assert_non_null(c);
	} while (c->nr != NR_SOCKET);
	assert_int_equal(SNT_F_COMPAT, c->h.flags);
	assert_int_equal(AF_INET6, c->family);
}

static const struct stage_act acts[] = {
	{ "compat", do_compat },
};

static int tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_compat),
		cmocka_unit_test(stage_test_count),
	};

	return cmocka_run_group_tests(list, stage_set_up, stage_tear_down);
}

int main(int argc, char **argv)
{
	return stage_main(argc, argv, acts, ARRAY_SIZE(acts), tests);
}

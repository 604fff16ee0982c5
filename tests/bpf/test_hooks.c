// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel side against real system calls: a session is executed in a cgroup and a lane made by
 * the test, does one thing, and what the hooks told must be what it did.
 *
 * The program starts itself as the session: argv[1] is a session's, argv[2] says what to do.
 */
#include <bpf/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
/* cmocka wants those two first */
#include <cmocka.h>

#include "user/base/cgroup_root.h"
#include "user/sense/sense_priv.h"

#include "tests/bpf/lane.h"

#define MARK 0x0123456789abcdefull
#define NONCE "0123456789abcdef00112233445566ff"
#define TOKEN "token-of-the-trial-0123456789"
#define LANE 7
#define PORT 4242
#define STREAM_BYTES 300000
#define NOBODY 65534
#define FLOOD 20000 /* datagrams of each of two senders */

#define NR_SOCKET ((uint32_t)SYS_socket)
#define NR_CONNECT ((uint32_t)SYS_connect)
#define NR_SENDTO ((uint32_t)SYS_sendto)
#define NR_SENDMSG ((uint32_t)SYS_sendmsg)

/* ---- the session's side: one thing each; the exit status says how far it came ---- */

static struct sockaddr_in world_addr(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	(void)inet_pton(AF_INET, text, &a.sin_addr);
	return a;
}

static int do_udp_to(const char *text)
{
	struct sockaddr_in a = world_addr(text);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;

	if (fd < 0)
		return 1;
	(void)setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one));
	if (sendto(fd, TOKEN, strlen(TOKEN), 0, (struct sockaddr *)&a, sizeof(a)) < 0)
		return 2;
	return close(fd) ? 3 : 0;
}

static int do_udp(void)
{
	return do_udp_to(LANE_WORLD_ADDR);
}

static int do_prohibited(void)
{
	return do_udp_to(LANE_PROHIBITED_ADDR);
}

static int do_fork(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(do_udp());
	return pid > 0 && waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 1;
}

static int do_unreachable(void)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	(void)inet_pton(AF_INET6, "2001:db8::1", &a.sin6_addr);
	if (fd < 0)
		return 1;
	return !connect(fd, (struct sockaddr *)&a, sizeof(a)) || errno != ENETUNREACH;
}

static int do_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) >= 0 || errno != EPERM;
}

/* Two connections in one: the bytes tell their own offset. */
static int do_stream(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	static uint8_t buf[STREAM_BYTES];

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i >> 8 ^ i);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	if (write_all(fd, buf, sizeof(buf)) || shutdown(fd, SHUT_WR))
		return 2;
	return read(fd, buf, 1) != 0; /* until the far side has read all */
}

/* Two senders at once, as fast as they can. Datagrams that the stack refused are not counted. */
static int do_flood(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), status;
	pid_t pid = fork();

	if (fd < 0 || pid < 0)
		return 1;
	for (int i = 0; i < FLOOD; i++)
		if (sendto(fd, TOKEN, strlen(TOKEN), 0, (struct sockaddr *)&a, sizeof(a)) < 0)
			return 2;
	if (!pid)
		_exit(0);
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 3;
}

/* A request that does nothing, through the ring. */
static int do_uring(void)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &p);
	struct io_uring_sqe *sqe;
	uint32_t *tail, *array;
	uint8_t *sq;

	if (fd < 0)
		return 77;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(uint32_t), PROT_READ | PROT_WRITE,
		  MAP_SHARED, fd, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqe == MAP_FAILED)
		return 1;
	tail = (uint32_t *)(void *)(sq + p.sq_off.tail);
	array = (uint32_t *)(void *)(sq + p.sq_off.array);
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_NOP };
	array[0] = 0;
	__atomic_store_n(tail, 1, __ATOMIC_RELEASE);
	return syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1;
}

/* A frame of its own making, with a VLAN tag, to everybody on the link. */
static int do_vlan(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = 6 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	uint8_t frame[14 + 4 + sizeof(TOKEN)] = { 255, 255, 255, 255,  255, 255, 2,  0,	   0,
						  0,   0,   1,	 0x81, 0,   0,	 42, 0x88, 0xb5 };

	memcpy(frame + 18, TOKEN, sizeof(TOKEN));
	to.sll_ifindex = (int)if_nametoindex("b0");
	if (fd < 0 || !to.sll_ifindex)
		return 1;
	return sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)) !=
	       (ssize_t)sizeof(frame);
}

#define ABSTRACT "\0sentinel\0test" /* with a NUL inside: its length says where it ends */
#define ABSTRACT_LEN (sizeof(ABSTRACT) - 1)
#define UNIX_PATH "/nonexistent/sentinel-test"

/* Nobody listens at either name: what the kernel is asked for is told all the same. */
static int do_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = ABSTRACT };
	struct sockaddr_un p = { .sun_family = AF_UNIX, .sun_path = UNIX_PATH };
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + ABSTRACT_LEN;
	int s = socket(AF_UNIX, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (s < 0 || d < 0)
		return 1;
	if (!connect(s, (struct sockaddr *)&a, len) || errno != ECONNREFUSED)
		return 2;
	return sendto(d, TOKEN, strlen(TOKEN), 0, (struct sockaddr *)&p, sizeof(p)) >= 0 ||
	       errno != ENOENT;
}

#if defined(__x86_64__)

#define SYS32_SOCKETCALL 102 /* arch/x86/entry/syscalls/syscall_32.tbl */
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
			   .token = TOKEN };
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
	return syscall(X32_BIT | SYS_socket, AF_INET6, SOCK_STREAM, 0) >= 0 ? 0 : errno != ENOSYS;
}

#else

static int do_compat(void)
{
	return 77;
}

#endif

static int do_nothing(void)
{
	return 0;
}

static const struct {
	const char *name;
	int (*fn)(void);
} acts[] = {
	{ "udp", do_udp },	 { "prohibited", do_prohibited },   { "fork", do_fork },
	{ "socket", do_socket }, { "unreachable", do_unreachable }, { "stream", do_stream },
	{ "uring", do_uring },	 { "nothing", do_nothing },	    { "flood", do_flood },
	{ "unix", do_unix },	 { "compat", do_compat },	    { "vlan", do_vlan },
};

static int act(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(acts); i++)
		if (!strcmp(acts[i].name, name))
			return acts[i].fn();
	return 99;
}

/* ---- what the kernel told ---- */

#define LOG_BYTES (16u << 20)

static struct {
	uint8_t *bytes;
	size_t len;
	unsigned int n;
} told;

/* arg: the ring that it came out of. */
static void keep(void *arg, const void *rec, size_t len)
{
	assert_int_equal(*(const uint32_t *)arg, snt_ring_of(((const struct snt_hdr *)rec)->hook));
	assert_true(told.len + len <= LOG_BYTES);
	assert_int_equal(len, ((const struct snt_hdr *)rec)->len);
	memcpy(told.bytes + told.len, rec, len);
	told.len += (len + 7) & ~(size_t)7;
	told.n++;
}

/* What is of an earlier test. */
static void forget(void *arg, const void *rec, size_t len)
{
	(void)arg;
	(void)rec;
	(void)len;
}

/* The first record after `after` (NULL: of all) of a hook and type. */
static const void *next_of(const void *after, uint32_t hook, uint32_t type)
{
	size_t at = 0;

	if (after)
		at = (size_t)((const uint8_t *)after - told.bytes) +
		     ((((const struct snt_hdr *)after)->len + 7) & ~(size_t)7);
	while (at < told.len) {
		const struct snt_hdr *h = (const void *)(told.bytes + at);

		if (h->hook == hook && h->type == type)
			return h;
		at += (h->len + 7) & ~(size_t)7;
	}
	return NULL;
}

static const void *first_of(uint32_t hook, uint32_t type)
{
	const void *r = next_of(NULL, hook, type);

	if (!r)
		fail_msg("nothing of hook '%s', type %u among %u records", hook_name(hook), type,
			 told.n);
	return r;
}

/* ---- the stage on which it plays ---- */

static struct {
	struct sense *sense;
	struct test_lane lane;
	char run_name[64], trial_path[128];
	uint64_t run_id, trial_id;
	int root_fd;
} stage;

static uint64_t make_cgroup(const char *path)
{
	struct stat st;

	assert_int_equal(0, mkdirat(stage.root_fd, path, 0755));
	assert_int_equal(0, fstatat(stage.root_fd, path, &st, 0));
	return st.st_ino;
}

static struct sense_lane lane_of(const struct test_lane *l)
{
	return (struct sense_lane){
		.lane = LANE,
		.world_ns = l->ns[NS_WORLD],
		.host_ns = l->ns[NS_HOST],
		.box_ns = l->ns[NS_BOX],
		.world_ifindex = (uint32_t)l->w0,
		.boundary_ifindex = (uint32_t)l->h0,
		.box_ifindex = (uint32_t)l->b0,
		.box_cookie = l->cookie[NS_BOX],
		.host_cookie = l->cookie[NS_HOST],
		.world_cookie = l->cookie[NS_WORLD],
		.box_inum = l->inum[NS_BOX],
		.host_inum = l->inum[NS_HOST],
		.world_inum = l->inum[NS_WORLD],
	};
}

static int set_up(void **state)
{
	struct sense_opts o = { .run_cgroup_level = 1, .known_marks_only = true };
	struct sense_lane l;
	struct diag d = { 0 };

	(void)state;
	told.bytes = malloc(LOG_BYTES);
	assert_non_null(told.bytes);
	stage.root_fd = cgroup_open_root(&d);
	assert_true(stage.root_fd >= 0);
	(void)str_format(stage.run_name, sizeof(stage.run_name), "snt-test-%d", getpid());
	(void)str_format(stage.trial_path, sizeof(stage.trial_path), "%s/trial", stage.run_name);
	o.run_cgroup_id = stage.run_id = make_cgroup(stage.run_name);
	stage.trial_id = make_cgroup(stage.trial_path);
	assert_int_equal(0, test_lane_make(&stage.lane, 1000000 + getpid() * 4));

	if (sense_new(&stage.sense, &o, &d) || sense_attach_host(stage.sense, stage.root_fd, &d))
		fail_msg("%s", d.text);
	l = lane_of(&stage.lane);
	if (sense_attach_lane(stage.sense, &l, &d))
		fail_msg("%s", d.text);
	assert_int_equal(0, sense_watch_cgroup(stage.sense, stage.trial_id, LANE));
	assert_int_equal(0, sense_watch_mark(stage.sense, MARK, LANE));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sense_free(stage.sense);
	test_lane_done(&stage.lane);
	(void)unlinkat(stage.root_fd, stage.trial_path, AT_REMOVEDIR);
	(void)unlinkat(stage.root_fd, stage.run_name, AT_REMOVEDIR);
	(void)close(stage.root_fd);
	free(told.bytes);
	return 0;
}

#define IN_CGROUP (1u << 0)
#define AS_NOBODY (1u << 1)
#define NO_SOCKETS (1u << 2) /* a seccomp filter that answers socket() with EPERM */
#define WRAPPED (1u << 3)    /* the session's argument, but not as argv[1] */

static int refuse_sockets(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { ARRAY_SIZE(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

/* As sense_drain() does, and each record must come out of the ring that is its hook's. */
static void drain_rings(void)
{
	for (uint32_t ring = SNT_RING_MAX; ring-- > 0;)
		(void)ring_drain(&stage.sense->rings[ring], keep, &ring);
}

/* In the child: enters everything, then becomes the session. Answers only where that failed. */
static int become(const char *name, uint32_t how)
{
	char *plain[] = { (char *)(uintptr_t) "session", (char *)(uintptr_t) "SENTINEL1:" NONCE,
			  (char *)(uintptr_t)name, NULL };
	char *wrapped[] = { (char *)(uintptr_t) "wrapper", (char *)(uintptr_t) "--",
			    (char *)(uintptr_t) "SENTINEL1:" NONCE, (char *)(uintptr_t)name, NULL };
	char path[160];
	int fd;

	(void)str_format(path, sizeof(path), "%s/cgroup.procs", stage.trial_path);
	if (how & IN_CGROUP) {
		fd = openat(stage.root_fd, path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write_all(fd, "0", 1))
			return 101;
		(void)close(fd);
	}
	if (netns_move(stage.lane.ns[NS_BOX]))
		return 102;
	if (how & AS_NOBODY && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
				setresuid(NOBODY, NOBODY, NOBODY)))
		return 103;
	if (how & NO_SOCKETS && refuse_sockets())
		return 104;
	(void)execve("/proc/self/exe", how & WRAPPED ? wrapped : plain, environ);
	return 105;
}

/* Runs the session, and keeps what the kernel told until it was quiet. Its pid. */
static pid_t play_status(const char *name, uint32_t how, int expect)
{
	int status;
	pid_t pid;

	(void)sense_drain(stage.sense, forget, NULL);
	told.len = told.n = 0;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(become(name, how));
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);

		assert_int_equal(0, sense_wait(stage.sense, 2));
		drain_rings();
		if (r == pid)
			break;
	}
	(void)usleep(20000); /* softirq of the last packet */
	drain_rings();
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(expect, WEXITSTATUS(status));
	return pid;
}

static pid_t play(const char *name, uint32_t how)
{
	return play_status(name, how, 0);
}

static void assert_v4(const uint8_t a[16], const char *text)
{
	uint8_t want[16];

	assert_int_equal(0, parse_addr(text, want));
	assert_memory_equal(want, a, sizeof(want));
}

static void assert_ours(const struct snt_hdr *h)
{
	assert_int_equal(SNT_SCHEMA, h->schema);
	assert_int_equal(LANE, h->slot);
	assert_int_equal(MARK, h->mark);
	assert_int_equal(0, h->_pad);
}

/* ---- the tests ---- */

/* At exec the kernel says who it is: the expected facts of a `bwrap`-like launch, all of them. */
static void test_identity(void **state)
{
	pid_t pid = play("socket", IN_CGROUP | AS_NOBODY | NO_SOCKETS);
	const struct snt_exec *e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	struct stat self, ns;

	(void)state;
	assert_ours(&e->h);
	assert_int_equal(stage.trial_id, e->h.cgroup_id);
	assert_int_equal(stage.lane.cookie[NS_BOX], e->h.netns_cookie);
	assert_int_equal(0, e->h.flags);
	assert_int_equal(pid, e->task.tgid);
	assert_int_equal(pid, e->task.tid);
	assert_true(e->task.start_ns && e->task.start_ns < e->h.ktime_ns);
	assert_int_equal(getpid(), e->parent.tgid);
	assert_string_equal("test_hooks", e->parent.comm);

	assert_int_equal(0, stat("/proc/self/exe", &self));
	assert_int_equal(self.st_ino, e->exe_ino);
	assert_int_equal(self.st_ino, e->parent_exe_ino);
	assert_int_equal(e->exe_dev, e->parent_exe_dev);
	assert_int_equal(stage.lane.inum[NS_BOX], e->ns_net);
	assert_int_equal(0, stat("/proc/self/ns/mnt", &ns));
	assert_int_equal(ns.st_ino, e->ns_mnt);
	assert_int_equal(0, stat("/proc/self/ns/pid", &ns));
	assert_int_equal(ns.st_ino, e->ns_pid);
	assert_int_equal(0, stat("/proc/self/ns/user", &ns));
	assert_int_equal(ns.st_ino, e->ns_user);
	assert_int_equal(0, stat("/proc/self/ns/uts", &ns));
	assert_int_equal(ns.st_ino, e->ns_uts);
	assert_int_equal(0, stat("/proc/self/ns/ipc", &ns));
	assert_int_equal(ns.st_ino, e->ns_ipc);
	assert_int_equal(0, stat("/proc/self/ns/cgroup", &ns));
	assert_int_equal(ns.st_ino, e->ns_cgroup);

	assert_int_equal(NOBODY, e->uid);
	assert_int_equal(NOBODY, e->gid);
	assert_int_equal(0, e->cap_effective);
	assert_int_equal(0, e->cap_permitted);
	assert_int_equal(2, e->seccomp);
	assert_int_equal(1, e->no_new_privs);
	assert_int_equal(sizeof("session\0SENTINEL1:" NONCE "\0socket"), e->argv_len);
	assert_memory_equal("session\0SENTINEL1:" NONCE "\0socket", e->argv, e->argv_len);
}

/* As root: capabilities are there, and nothing was given up. */
static void test_identity_of_root(void **state)
{
	const struct snt_exec *e;

	(void)state;
	(void)play("nothing", IN_CGROUP);
	e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_int_equal(0, e->uid);
	assert_true(e->cap_effective & 1ull << 12); /* CAP_NET_ADMIN */
	assert_int_equal(e->cap_effective, e->cap_permitted);
	assert_int_equal(0, e->no_new_privs);
}

/* A wrapper that carries the session's argument further on is watched, and not marked. */
static void test_wrapper(void **state)
{
	const struct snt_exec *e;

	(void)state;
	(void)play_status("nothing", IN_CGROUP | WRAPPED, 98);
	e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_int_equal(0, e->h.mark);
	assert_int_equal(LANE, e->h.slot);
	assert_memory_equal("wrapper", e->argv, 8);
	assert_null(next_of(NULL, SNT_HOOK_SYS_EXIT, SNT_EV_CALL));
}

/* A platform that leaves the run's cgroup: the mark says whose it is. */
static void test_outside_cgroup(void **state)
{
	const struct snt_exec *e;
	const struct snt_sock *s;

	(void)state;
	(void)play("udp", 0);
	e = first_of(SNT_HOOK_EXEC, SNT_EV_EXEC);
	assert_ours(&e->h);
	assert_true(e->h.cgroup_id != stage.trial_id);
	s = first_of(SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK);
	assert_ours(&s->h);
}

/* Somebody else's run on this machine: its sessions are strangers. */
static void test_unknown_mark(void **state)
{
	(void)state;
	sense_unwatch_mark(stage.sense, MARK);
	(void)play("nothing", 0);
	assert_int_equal(0, sense_watch_mark(stage.sense, MARK, LANE));
	/* seen, since it is in our lane, but nobody's trial */
	assert_int_equal(0,
			 ((const struct snt_exec *)first_of(SNT_HOOK_EXEC, SNT_EV_EXEC))->h.mark);
}

static void check_call(const struct snt_call *c, uint32_t nr, int64_t ret, uint32_t flags)
{
	assert_non_null(c);
	assert_ours(&c->h);
	assert_int_equal(nr, c->nr);
	assert_int_equal(ret, c->ret);
	assert_int_equal(flags, c->h.flags);
	assert_int_equal(stage.lane.cookie[NS_BOX], c->h.netns_cookie);
}

/* The next call with this number. */
static const struct snt_call *call_of(uint32_t nr)
{
	const struct snt_call *c = NULL;

	while ((c = next_of(c, SNT_HOOK_SYS_EXIT, SNT_EV_CALL)))
		if (c->nr == nr)
			return c;
	return NULL;
}

static bool is_attached(uint32_t hook, uint32_t lane)
{
	char detail[64];

	return sense_hook_state(stage.sense, hook, lane, detail);
}

/* Since 6.3 only. */
static void check_send(uint64_t cookie)
{
	const struct snt_send *sent;

	if (!is_attached(SNT_HOOK_SEND_LENGTH, 0))
		return;
	sent = first_of(SNT_HOOK_SEND_LENGTH, SNT_EV_SEND);
	assert_ours(&sent->h);
	assert_int_equal(cookie, sent->cookie);
	assert_int_equal(strlen(TOKEN), sent->ret);
	assert_int_equal(SNT_F_OWNER, sent->h.flags);
}

static void check_udp_attempt(pid_t pid)
{
	const struct snt_sock *made = first_of(SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK);
	const struct snt_addr *a = first_of(SNT_HOOK_SENDMSG4, SNT_EV_ADDR);
	const struct snt_sock *closed = first_of(SNT_HOOK_SOCK_RELEASE, SNT_EV_SOCK);
	const struct snt_call *c = call_of(NR_SENDTO);

	assert_ours(&made->h);
	assert_int_equal(SNT_F_CREATED | SNT_F_OWNER, made->h.flags);
	assert_int_equal(AF_INET, made->family);
	assert_int_equal(SOCK_DGRAM, made->type);
	assert_int_equal(pid, made->task.tgid);
	assert_true(made->cookie != 0);

	assert_ours(&a->h);
	assert_int_equal(made->cookie, a->cookie);
	assert_int_equal(PORT, a->dport);
	assert_v4(a->daddr, LANE_WORLD_ADDR);
	assert_int_equal(IPPROTO_UDP, a->protocol);
	assert_int_equal(1, a->retval);

	check_send(made->cookie);

	check_call(c, NR_SENDTO, (int64_t)strlen(TOKEN), 0);
	assert_int_equal(AF_INET, c->family);
	assert_int_equal(PORT, c->dport);
	assert_v4(c->daddr, LANE_WORLD_ADDR);
	assert_int_equal(strlen(TOKEN), c->data_len);
	assert_int_equal(strlen(TOKEN), c->data_cap);
	assert_memory_equal(TOKEN, c->data, strlen(TOKEN));

	assert_ours(&closed->h);
	assert_int_equal(SNT_F_OWNER, closed->h.flags);
	assert_int_equal(made->cookie, closed->cookie);
}

/* The frame with the token at one hook. */
static const struct snt_packet *token_at(uint32_t hook)
{
	const struct snt_packet *p = NULL;

	while ((p = next_of(p, hook, SNT_EV_PACKET)))
		if (p->data_len >= strlen(TOKEN) &&
		    memmem(p->data, p->data_len, TOKEN, strlen(TOKEN)))
			return p;
	fail_msg("no token at '%s'", hook_name(hook));
	return NULL;
}

static void check_owned(const struct snt_packet *p, pid_t pid, uint64_t cookie)
{
	assert_ours(&p->h);
	assert_true(p->h.flags & SNT_F_OWNER);
	assert_true(p->h.flags & SNT_F_FULLSOCK);
	assert_false(p->h.flags & SNT_F_FOREIGN);
	assert_int_equal(pid, p->owner.tgid);
	assert_int_equal(cookie, p->cookie);
	assert_int_equal(stage.trial_id, p->h.cgroup_id);
}

/* One datagram: every vantage tells the same story, and B knows whose it was. */
static void test_udp(void **state)
{
	pid_t pid = play("udp", IN_CGROUP);
	const struct snt_packet *p;
	const struct snt_opt *o;
	uint64_t cookie;

	(void)state;
	check_udp_attempt(pid);
	cookie = ((const struct snt_sock *)first_of(SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK))->cookie;
	p = token_at(SNT_HOOK_CG_EGRESS);
	check_owned(p, pid, cookie);
	assert_int_equal(stage.lane.cookie[NS_BOX], p->h.netns_cookie);
	assert_int_equal(0, p->l2_len);
	p = token_at(SNT_HOOK_BOX);
	check_owned(p, pid, cookie);
	assert_int_equal(stage.lane.b0, p->ifindex);
	p = token_at(SNT_HOOK_BOUNDARY);
	check_owned(p, pid, cookie);
	assert_int_equal(stage.lane.h0, p->ifindex);
	assert_int_equal(stage.lane.cookie[NS_HOST], p->h.netns_cookie);
	assert_int_equal(14 + 20 + 8 + strlen(TOKEN), p->len);
	p = token_at(SNT_HOOK_WORLD);
	assert_int_equal(stage.lane.w0, p->ifindex);
	assert_int_equal(stage.lane.cookie[NS_WORLD], p->h.netns_cookie);
	assert_int_equal(LANE, p->h.slot);
	assert_int_equal(0, p->h.mark); /* forwarding took its socket */

	o = first_of(SNT_HOOK_SETSOCKOPT, SNT_EV_OPT);
	assert_ours(&o->h);
	assert_int_equal(SOL_SOCKET, o->level);
	assert_int_equal(SO_BROADCAST, o->optname);
	assert_int_equal(AF_INET, o->family);
	assert_int_equal(cookie, o->cookie);
}

/* B shows a tagged frame as one: its token, its inner type, and that there was a tag. */
static void test_vlan(void **state)
{
	const struct snt_packet *p;

	(void)state;
	(void)play("vlan", IN_CGROUP);
	p = token_at(SNT_HOOK_BOUNDARY);
	assert_true(p->h.flags & SNT_F_VLAN);
	assert_int_equal(0x88b5, p->eth_proto); /* IEEE 802: local experimental */
	assert_int_equal(14 + sizeof(TOKEN), p->len);
	p = token_at(SNT_HOOK_BOX); /* on its way out the tag is still where the sender put it */
	assert_int_equal(14 + 4 + sizeof(TOKEN), p->len);
	(void)play("udp", IN_CGROUP);
	assert_false(token_at(SNT_HOOK_BOUNDARY)->h.flags & SNT_F_VLAN);
}

static void check_unix(uint32_t hook, uint32_t type, const char *path, size_t len)
{
	const struct snt_addr *a = first_of(hook, SNT_EV_ADDR);

	assert_ours(&a->h);
	assert_int_equal(SNT_F_OWNER, a->h.flags);
	assert_int_equal(stage.lane.cookie[NS_BOX], a->h.netns_cookie);
	assert_int_equal(AF_UNIX, a->family);
	assert_int_equal(type, a->type);
	assert_int_equal(1, a->retval);
	assert_true(a->cookie != 0);
	assert_int_equal(len, a->path_len);
	assert_memory_equal(path, a->path, len);
}

/* The names of UNIX sockets: an abstract one in its whole length, a path as it was given. */
static void test_unix(void **state)
{
	static const char path[108] = UNIX_PATH;

	(void)state;
	if (!is_attached(SNT_HOOK_CONNECT_UNIX, 0)) /* before 6.7 */
		skip();
	(void)play("unix", IN_CGROUP);
	check_unix(SNT_HOOK_CONNECT_UNIX, SOCK_STREAM, ABSTRACT, ABSTRACT_LEN);
	check_unix(SNT_HOOK_SENDMSG_UNIX, SOCK_DGRAM, path, sizeof(path));
}

static unsigned int exits_of(uint32_t pid)
{
	const struct snt_exit *x = NULL;
	unsigned int n = 0;

	while ((x = next_of(x, SNT_HOOK_EXIT, SNT_EV_EXIT)))
		if (x->task.tgid == pid) {
			assert_ours(&x->h);
			assert_int_equal(0, x->code);
			n++;
		}
	return n;
}

/* A child inherits the mark, and its packets are its own. */
static void test_fork(void **state)
{
	pid_t pid = play("fork", IN_CGROUP);
	const struct snt_fork *f = NULL;

	(void)state;
	while ((f = next_of(f, SNT_HOOK_FORK, SNT_EV_FORK)))
		if (f->parent.tgid == (uint32_t)pid)
			break;
	assert_non_null(f);
	assert_ours(&f->h);
	check_udp_attempt((pid_t)f->child.tgid);
	check_owned(token_at(SNT_HOOK_BOUNDARY), (pid_t)f->child.tgid,
		    token_at(SNT_HOOK_CG_EGRESS)->cookie);
	assert_int_equal(1, exits_of((uint32_t)pid));
	assert_int_equal(1, exits_of(f->child.tgid));
}

/* No route: the call was allowed, and refused with an errno; no packet. */
static void test_unreachable(void **state)
{
	const struct snt_packet *p = NULL;
	const struct snt_addr *a;
	const struct snt_call *c;
	uint8_t want[16];

	(void)state;
	(void)play("unreachable", IN_CGROUP);
	assert_int_equal(0, parse_addr("2001:db8::1", want));
	c = call_of(NR_SOCKET);
	assert_non_null(c);
	assert_int_equal(AF_INET6, c->family);
	assert_int_equal(SOCK_STREAM, c->arg1);
	c = call_of(NR_CONNECT);
	check_call(c, NR_CONNECT, -ENETUNREACH, 0);
	assert_int_equal(AF_INET6, c->family);
	assert_int_equal(PORT, c->dport);
	assert_memory_equal(want, c->daddr, 16);
	a = first_of(SNT_HOOK_CONNECT6, SNT_EV_ADDR);
	assert_ours(&a->h);
	assert_memory_equal(want, a->daddr, 16);
	assert_int_equal(PORT, a->dport);
	while ((p = next_of(p, SNT_HOOK_CG_EGRESS, SNT_EV_PACKET)))
		assert_int_equal(0, p->h.mark); /* the kernel's own, of its start */
}

/* seccomp answers: the call returns without having entered, its arguments are there all the same.
 */
static void test_seccomp(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("socket", IN_CGROUP | NO_SOCKETS);
	c = call_of(NR_SOCKET);
	check_call(c, NR_SOCKET, -EPERM, SNT_F_NO_ENTER);
	assert_int_equal(AF_INET, c->family);
	assert_int_equal(SOCK_STREAM, c->arg1);
	assert_int_equal(IPPROTO_TCP, c->arg2);
	assert_null(next_of(NULL, SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK));
}

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

/* The 32-bit entry of a 64-bit process, a classic hole in filters: each call shows as the one that
 * it is, whatever its number there. x32 shows even where the kernel refuses it. */
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
	do {
		c = next_of(c, SNT_HOOK_SYS_EXIT, SNT_EV_CALL);
		assert_non_null(c);
	} while (c->nr != NR_SOCKET);
	assert_int_equal(SNT_F_COMPAT, c->h.flags);
	assert_int_equal(AF_INET6, c->family);
}

/* A prohibiting route in host: it left the box, and the kernel says where it died. */
static void test_drop(void **state)
{
	const struct snt_drop *d = NULL;
	uint8_t dst[4];
	char where[64];

	(void)state;
	(void)play("prohibited", IN_CGROUP);
	(void)token_at(SNT_HOOK_BOUNDARY);
	assert_int_equal(1, inet_pton(AF_INET, LANE_PROHIBITED_ADDR, dst));
	while ((d = next_of(d, SNT_HOOK_KFREE_SKB, SNT_EV_DROP)))
		if (d->head_len >= 20 && !memcmp(d->head + 16, dst, 4))
			break;
	if (!d)
		fail_msg("the kernel told no drop");
	assert_int_equal(LANE, d->h.slot);
	assert_int_equal(stage.lane.inum[NS_HOST], d->netns);
	assert_int_equal(stage.lane.cookie[NS_HOST], d->h.netns_cookie);
	assert_int_equal(stage.lane.h0, d->ifindex);
	assert_int_equal(0x0800, d->eth_proto);
	assert_int_equal(20 + 8 + strlen(TOKEN), d->head_len);
	assert_memory_equal(TOKEN, d->head + 28, strlen(TOKEN));
	assert_non_null(sense_drop_reason(stage.sense, d->reason));
	assert_true(sense_symbol(stage.sense, d->location, where));
	print_message("dropped: %s in %s\n", sense_drop_reason(stage.sense, d->reason), where);
}

/* ---- W takes every byte ---- */

struct listener {
	pthread_t thread;
	int fd;
	size_t bytes;
};

static int listen_in_world(void *arg)
{
	struct sockaddr_in a = world_addr("0.0.0.0");
	struct listener *l = arg;
	int r = netns_move(stage.lane.ns[NS_WORLD]);

	if (r)
		return r;
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return l->fd < 0 || bind(l->fd, (struct sockaddr *)&a, sizeof(a)) || listen(l->fd, 1)
		       ? -errno
		       : 0;
}

static void *read_all(void *arg)
{
	struct listener *l = arg;
	int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	char buf[65536];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		l->bytes += (size_t)n;
	if (fd >= 0)
		(void)close(fd);
	return NULL;
}

/* Where each byte of the stream was seen, by the sequence numbers of the segments. */
static uint8_t seen[STREAM_BYTES];

/* A whole packet, put together from its chunks. */
static size_t whole_packet(const struct snt_packet *first, uint8_t *buf, size_t room)
{
	const struct snt_packet *p = first;
	size_t len = 0;

	for (;;) {
		assert_int_equal(len, p->offset);
		assert_int_equal(first->pkt_id, p->pkt_id);
		assert_true(len + p->data_len <= room);
		memcpy(buf + len, p->data, p->data_len);
		len += p->data_len;
		if (!(p->h.flags & SNT_F_MORE))
			break;
		do {
			p = next_of(p, SNT_HOOK_WORLD, SNT_EV_PACKET);
			assert_non_null(p);
		} while (p->h.cpu != first->h.cpu);
	}
	assert_int_equal(first->len, len);
	return len;
}

static void mark_segment(const uint8_t *p, size_t len, uint32_t *isn)
{
	size_t ip = 14, tcp = ip + (size_t)(p[ip] & 15) * 4,
	       data = tcp + (size_t)(p[tcp + 12] >> 4) * 4;
	size_t end = ip + ((size_t)p[ip + 2] << 8 | p[ip + 3]);
	uint32_t seq;

	memcpy(&seq, p + tcp + 4, 4);
	seq = ntohl(seq);
	if (p[tcp + 13] & 2) { /* SYN */
		*isn = seq + 1;
		return;
	}
	assert_true(end <= len);
	for (size_t i = data; i < end; i++) {
		size_t at = (uint32_t)(seq - *isn) + (i - data);

		assert_true(at < STREAM_BYTES);
		assert_int_equal((uint8_t)(at >> 8 ^ at), p[i]);
		seen[at] = 1;
	}
}

static void test_stream(void **state)
{
	static uint8_t buf[SNT_PKT_CHUNKS_MAX * SNT_PKT_DATA_LARGE];
	struct listener l = { .fd = -1 };
	const struct snt_packet *p = NULL;
	const struct snt_state *st = NULL;
	unsigned int chunked = 0, segs = 0, established = 0;
	uint32_t isn = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(0, netns_run(listen_in_world, &l));
	assert_int_equal(0, pthread_create(&l.thread, NULL, read_all, &l));
	pid = play("stream", IN_CGROUP);
	assert_int_equal(0, pthread_join(l.thread, NULL));
	(void)close(l.fd);
	assert_int_equal(STREAM_BYTES, l.bytes);

	memset(seen, 0, sizeof(seen));
	while ((p = next_of(p, SNT_HOOK_WORLD, SNT_EV_PACKET))) {
		if (p->offset || p->eth_proto != 0x0800)
			continue;
		chunked += !!(p->h.flags & SNT_F_MORE);
		segs = MAX(segs, p->gso_segs);
		mark_segment(buf, whole_packet(p, buf, sizeof(buf)), &isn);
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		if (!seen[i])
			fail_msg("byte %zu did not come", i);
	print_message("%u packets of several records, up to %u segments\n", chunked, segs);
	assert_true(chunked > 0 && segs > 1);

	/* owners from softirq, too */
	while ((p = next_of(p, SNT_HOOK_BOUNDARY, SNT_EV_PACKET)))
		if (p->eth_proto == 0x0800)
			assert_int_equal(pid, p->owner.tgid);
	while ((st = next_of(st, SNT_HOOK_SOCK_STATE, SNT_EV_STATE)))
		if (st->owner.tgid == (uint32_t)pid && st->newstate == 1) {
			assert_ours(&st->h);
			assert_int_equal(PORT, st->dport);
			assert_v4(st->daddr, LANE_WORLD_ADDR);
			established++;
		}
	assert_int_equal(1, established);
}

static void test_uring(void **state)
{
	const struct snt_uring *u;

	(void)state;
	(void)play("uring", IN_CGROUP);
	u = first_of(SNT_HOOK_URING, SNT_EV_URING);
	assert_ours(&u->h);
	assert_int_equal(0, u->res);
	check_call(call_of(SYS_io_uring_enter), SYS_io_uring_enter, 1, 0);
}

/* ---- nothing is lost uncounted ---- */

struct flood {
	uint64_t records[SNT_HOOK_MAX];
};

static void count_record(void *arg, const void *rec, size_t len)
{
	const struct snt_hdr *h = rec;
	struct flood *f = arg;

	(void)len;
	if (h->slot == LANE)
		f->records[h->hook]++;
}

static void flood_hooks(struct sense *s, struct flood *f)
{
	struct sense *others = stage.sense;
	int status;
	pid_t pid;

	stage.sense = s;
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(become("flood", IN_CGROUP));
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);

		assert_int_equal(0, sense_wait(s, 2));
		(void)sense_drain(s, count_record, f);
		if (r == pid)
			break;
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	(void)usleep(50000); /* softirq of the last packets */
	stage.sense = others;
}

static void check_flood(struct sense *s, const struct flood *f, uint64_t *ret_lost)
{
	*ret_lost = 0;
	for (uint32_t hook = 1; hook < SNT_HOOK_MAX; hook++) {
		struct snt_count c;

		assert_int_equal(0, sense_count(s, hook, LANE, &c));
		assert_int_equal(c.seen, c.delivered + c.ring_full + c.oversized + c.map_full);
		assert_int_equal(c.delivered, f->records[hook]); /* small: one record a packet */
		*ret_lost += c.ring_full;
		if (hook == SNT_HOOK_SENDMSG4 || hook == SNT_HOOK_BOUNDARY)
			assert_true(c.seen >= 2 * FLOOD);
	}
}

/* A second observer beside the first, so that both see the same. ring_bytes 0: the default. */
static uint64_t flood_with(uint32_t ring_bytes)
{
	const struct sense_opts o = { .world_ring_bytes = ring_bytes,
				      .packet_ring_bytes = ring_bytes,
				      .life_ring_bytes = ring_bytes,
				      .run_cgroup_id = stage.run_id,
				      .run_cgroup_level = 1 };
	struct sense_lane l = lane_of(&stage.lane);
	struct flood f = { 0 };
	struct diag d = { 0 };
	struct sense *s;
	uint64_t lost;

	if (sense_new(&s, &o, &d) || sense_attach_host(s, stage.root_fd, &d) ||
	    sense_attach_lane(s, &l, &d))
		fail_msg("%s", d.text);
	assert_int_equal(0, sense_watch_cgroup(s, stage.trial_id, LANE));
	flood_hooks(s, &f);
	sense_stop(s);
	(void)sense_drain(s, count_record, &f);
	check_flood(s, &f, &lost);
	sense_free(s);
	return lost;
}

/* Rings of a page lose most of it, and every loss is counted: what came out is what was delivered,
 * and the rest is what found no room. */
static void test_flood_lost(void **state)
{
	uint64_t lost = flood_with(4096);

	(void)state;
	assert_true(lost > 0);
	print_message("%llu records found no room\n", (unsigned long long)lost);
}

/* Rings as they are by default lose nothing, and the first observer is not disturbed. */
static void test_flood_kept(void **state)
{
	(void)state;
	assert_int_equal(0, flood_with(0));
}

/* ---- what "attached" means ---- */

static void test_state(void **state)
{
	char detail[64];

	(void)state;
	for (uint32_t hook = 1; hook < SNT_HOOK_MAX; hook++) {
		if (is_attached(hook, sense_hook_per_lane(hook) ? LANE : 0))
			continue;
		if (sense_hook_needed(hook))
			fail_msg("'%s' is not attached", hook_name(hook));
		print_message("'%s' is not attached\n", hook_name(hook));
	}
	assert_false(sense_hook_state(stage.sense, SNT_HOOK_WORLD, LANE + 1, detail));
	assert_string_equal("not attached", detail);
}

/* What an operator with bpftool can do to us: we must notice. */
static void test_detached(void **state)
{
	struct sense *s = stage.sense;
	struct sense_lane l = lane_of(&stage.lane);
	struct diag d = { 0 };

	(void)state;
	if (s->lanes[LANE].dev[DEV_WORLD].clsact)
		skip(); /* test_clsact() does what can be done */
	assert_int_equal(0, bpf_link_detach(s->lanes[LANE].dev[DEV_WORLD].link_fd));
	assert_false(is_attached(SNT_HOOK_WORLD, LANE));
	assert_true(is_attached(SNT_HOOK_BOUNDARY, LANE));
	assert_int_equal(0, bpf_link_detach(bpf_link__fd(s->host[SNT_HOOK_CONNECT4].link)));
	assert_false(is_attached(SNT_HOOK_CONNECT4, 0));
	assert_true(is_attached(SNT_HOOK_CONNECT6, 0));

	assert_int_equal(-EEXIST, sense_attach_lane(s, &l, &d));
	sense_detach_lane(s, LANE);
	assert_false(is_attached(SNT_HOOK_BOUNDARY, LANE));
	assert_int_equal(0, sense_attach_lane(s, &l, &d));
	assert_true(is_attached(SNT_HOOK_WORLD, LANE));
	bpf_link__destroy(s->host[SNT_HOOK_CONNECT4].link);
	s->host[SNT_HOOK_CONNECT4].link = NULL;
	assert_int_equal(0, sense_attach_host(s, stage.root_fd, &d));
	assert_true(is_attached(SNT_HOOK_CONNECT4, 0));
}

/* A kernel without tcx: the same records by clsact filters, and a removed one is noticed. */
static void test_clsact(void **state)
{
	struct sense_lane l = lane_of(&stage.lane);
	struct sense *s = stage.sense;
	bool had_tcx = !s->lanes[LANE].dev[DEV_WORLD].clsact;
	struct diag d = { 0 };
	char detail[64];

	(void)state;
	sense_detach_lane(s, LANE);
	s->no_tcx = true;
	assert_int_equal(0, sense_attach_lane(s, &l, &d));
	assert_true(sense_hook_state(s, SNT_HOOK_WORLD, LANE, detail));
	assert_string_equal("clsact", detail);
	(void)play("udp", IN_CGROUP);
	(void)token_at(SNT_HOOK_BOX);
	(void)token_at(SNT_HOOK_BOUNDARY);
	(void)token_at(SNT_HOOK_WORLD);
	device_detach(&s->lanes[LANE].dev[DEV_BOX], true);
	assert_false(is_attached(SNT_HOOK_BOX, LANE));
	assert_true(is_attached(SNT_HOOK_BOUNDARY, LANE));
	sense_detach_lane(s, LANE);
	s->no_tcx = false;
	assert_int_equal(0, sense_attach_lane(s, &l, &d));
	assert_true(sense_hook_state(s, SNT_HOOK_WORLD, LANE, detail));
	assert_string_equal(had_tcx ? "tcx" : "clsact", detail);
}

/* Last: after all of that, each hook's counters add up. */
static void test_count(void **state)
{
	uint64_t delivered = 0;

	(void)state;
	sense_stop(stage.sense);
	(void)sense_drain(stage.sense, forget, NULL);
	for (uint32_t hook = 1; hook < SNT_HOOK_MAX; hook++) {
		for (uint32_t slot = 0; slot < SNT_SLOT_MAX; slot++) {
			struct snt_count c;

			assert_int_equal(0, sense_count(stage.sense, hook, slot, &c));
			assert_int_equal(c.seen, c.delivered + c.ring_full + c.oversized +
							 c.map_full + c.filtered);
			assert_int_equal(0, c.oversized + c.map_full);
			assert_true(!slot || !c.filtered);
			delivered += c.delivered;
		}
		if (sense_recursion(stage.sense, hook)) /* a busy machine's, not an error */
			print_message("'%s': %llu re-entered\n", hook_name(hook),
				      (unsigned long long)sense_recursion(stage.sense, hook));
	}
	assert_true(delivered > 100);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity),     cmocka_unit_test(test_identity_of_root),
		cmocka_unit_test(test_wrapper),	     cmocka_unit_test(test_outside_cgroup),
		cmocka_unit_test(test_unknown_mark), cmocka_unit_test(test_udp),
		cmocka_unit_test(test_unix),	     cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_fork),	     cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_seccomp),	     cmocka_unit_test(test_compat),
		cmocka_unit_test(test_drop),	     cmocka_unit_test(test_stream),
		cmocka_unit_test(test_uring),	     cmocka_unit_test(test_flood_lost),
		cmocka_unit_test(test_flood_kept),   cmocka_unit_test(test_state),
		cmocka_unit_test(test_detached),     cmocka_unit_test(test_clsact),
		cmocka_unit_test(test_count),
	};

	if (argc > 2 && !strncmp(argv[1], "SENTINEL1:", 10))
		return act(argv[2]);
	if (argc > 2) /* the wrapper */
		return 98;
	if (geteuid()) {
		(void)fprintf(stderr, "skipped: needs root to load programs\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

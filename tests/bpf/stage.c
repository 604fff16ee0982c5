// SPDX-License-Identifier: Apache-2.0
#include "tests/bpf/stage.h"

#include <arpa/inet.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "user/base/cgroup_root.h"

struct stage stage;

/* ---- acts ---- */

struct sockaddr_in world_addr(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	(void)inet_pton(AF_INET, text, &a.sin_addr);
	return a;
}

int do_udp_to(const char *text)
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

int do_udp(void)
{
	return do_udp_to(LANE_WORLD_ADDR);
}

int do_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) >= 0 || errno != EPERM;
}

int do_nothing(void)
{
	return 0;
}

/* ---- what the kernel told ---- */

#define LOG_BYTES (16u << 20)
#define CANARY "canary-of-the-test"

static struct {
	uint8_t *bytes;
	size_t len;
	unsigned int n;
} told;

static size_t stride(const struct snt_hdr *h)
{
	return (h->len + 7) & ~(size_t)7;
}

/* settle()'s own, which no test wants to see. */
static bool is_canary(const struct snt_hdr *h)
{
	const struct snt_packet *p = (const void *)h;

	switch (h->type) {
	case SNT_EV_PACKET:
		return p->data_len >= strlen(CANARY) &&
		       memmem(p->data, p->data_len, CANARY, strlen(CANARY));
	case SNT_EV_ADDR:
		return ((const struct snt_addr *)(const void *)h)->task.tgid == (uint32_t)getpid();
	case SNT_EV_SEND:
		return ((const struct snt_send *)(const void *)h)->task.tgid == (uint32_t)getpid();
	default:
		return false;
	}
}

/* arg: the ring that it came out of. */
static void keep(void *arg, const void *rec, size_t len)
{
	assert_int_equal(*(const uint32_t *)arg, snt_ring_of(((const struct snt_hdr *)rec)->hook));
	assert_true(told.len + len <= LOG_BYTES);
	assert_int_equal(len, ((const struct snt_hdr *)rec)->len);
	if (is_canary(rec))
		return;
	memcpy(told.bytes + told.len, rec, len);
	told.len += stride(rec);
	told.n++;
}

/* What is of an earlier test. */
static void forget(void *arg, const void *rec, size_t len)
{
	(void)arg;
	(void)rec;
	(void)len;
}

const void *next_of(const void *after, uint32_t hook, uint32_t type)
{
	size_t at = after ? (size_t)((const uint8_t *)after - told.bytes) + stride(after) : 0;

	while (at < told.len) {
		const struct snt_hdr *h = (const void *)(told.bytes + at);

		if (h->hook == hook && h->type == type)
			return h;
		at += stride(h);
	}
	return NULL;
}

const void *first_of(uint32_t hook, uint32_t type)
{
	const void *r = next_of(NULL, hook, type);

	if (!r)
		fail_msg("nothing of hook '%s', type %u among %u records", hook_name(hook), type,
			 told.n);
	return r;
}

const struct snt_call *next_call_of(const struct snt_call *after, uint32_t nr)
{
	const struct snt_call *c = after;

	while ((c = next_of(c, SNT_HOOK_SYS_EXIT, SNT_EV_CALL)))
		if (c->nr == nr)
			return c;
	return NULL;
}

const struct snt_call *call_of(uint32_t nr)
{
	return next_call_of(NULL, nr);
}

const struct snt_packet *token_at(uint32_t hook)
{
	const struct snt_packet *p = NULL;

	while ((p = next_of(p, hook, SNT_EV_PACKET)))
		if (p->data_len >= strlen(TOKEN) &&
		    memmem(p->data, p->data_len, TOKEN, strlen(TOKEN)))
			return p;
	fail_msg("no token at '%s'", hook_name(hook));
	return NULL;
}

bool is_attached(uint32_t hook, uint32_t lane)
{
	char detail[64];

	return sense_hook_state(stage.sense, hook, lane, detail);
}

void assert_v4(const uint8_t a[16], const char *text)
{
	uint8_t want[16];

	assert_int_equal(0, parse_addr(text, want));
	assert_memory_equal(want, a, sizeof(want));
}

void assert_ours(const struct snt_hdr *h)
{
	assert_int_equal(SNT_SCHEMA, h->schema);
	assert_int_equal(LANE, h->slot);
	assert_int_equal(MARK, h->mark);
	assert_int_equal(0, h->_pad);
}

void check_call(const struct snt_call *c, uint32_t nr, int64_t ret, uint32_t flags)
{
	assert_non_null(c);
	assert_ours(&c->h);
	assert_int_equal(nr, c->nr);
	assert_int_equal(ret, c->ret);
	assert_int_equal(flags, c->h.flags);
	assert_int_equal(stage.lane.cookie[NS_BOX], c->h.netns_cookie);
}

/* ---- the stage ---- */

#define SETTLE_TRIES 50
#define SETTLE_MS 100 /* each */

static int canary_from = -1, canary_to = -1; /* sockets in box and in world */

static int open_canary_to(void *arg)
{
	struct sockaddr_in a = world_addr("0.0.0.0");
	struct timeval wait = { .tv_usec = SETTLE_MS * 1000 };
	int r = netns_move(stage.lane.ns[NS_WORLD]);

	(void)arg;
	if (r)
		return r;
	a.sin_port = htons(LISTENED_PORT);
	canary_to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (canary_to < 0 || bind(canary_to, (struct sockaddr *)&a, sizeof(a)))
		return -errno;
	return setsockopt(canary_to, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ? -errno : 0;
}

static int open_canary_from(void *arg)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	int r = netns_move(stage.lane.ns[NS_BOX]);

	(void)arg;
	if (r)
		return r;
	a.sin_port = htons(LISTENED_PORT);
	canary_from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (canary_from < 0 || connect(canary_from, (struct sockaddr *)&a, sizeof(a)))
		return -errno;
	return 0;
}

/* Sends one and waits for it. A queue may be full of what went before. */
static bool canary_came(void)
{
	static unsigned int n;
	char text[64], buf[64];
	ssize_t len;

	(void)str_format(text, sizeof(text), CANARY " %u", ++n);
	if (send(canary_from, text, strlen(text), 0) < 0)
		return false;
	while ((len = recv(canary_to, buf, sizeof(buf), 0)) > 0)
		if ((size_t)len == strlen(text) && !memcmp(buf, text, strlen(text)))
			return true;
	return false;
}

/* A veth hands packets to the queue of the CPU that sent them, and they stay there to the end: what
 * is sent from each CPU now comes behind what was sent before. */
void settle(void)
{
	cpu_set_t all, one;

	assert_int_equal(0, sched_getaffinity(0, sizeof(all), &all));
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int tries = 0;

		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		assert_int_equal(0, sched_setaffinity(0, sizeof(one), &one));
		while (!canary_came())
			if (++tries == SETTLE_TRIES)
				fail_msg("the lane carries nothing from CPU %zu", cpu);
	}
	assert_int_equal(0, sched_setaffinity(0, sizeof(all), &all));
}

static uint64_t make_cgroup(const char *path)
{
	struct stat st;

	assert_int_equal(0, mkdirat(stage.root_fd, path, 0755));
	assert_int_equal(0, fstatat(stage.root_fd, path, &st, 0));
	return st.st_ino;
}

struct sense_lane stage_lane(void)
{
	const struct test_lane *l = &stage.lane;

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

int stage_set_up(void **state)
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
	assert_int_equal(0, netns_run(open_canary_to, NULL));
	assert_int_equal(0, netns_run(open_canary_from, NULL));

	if (sense_new(&stage.sense, &o, &d) || sense_attach_host(stage.sense, stage.root_fd, &d))
		fail_msg("%s", d.text);
	l = stage_lane();
	if (sense_attach_lane(stage.sense, &l, &d))
		fail_msg("%s", d.text);
	assert_int_equal(0, sense_watch_cgroup(stage.sense, stage.trial_id, LANE));
	assert_int_equal(0, sense_watch_mark(stage.sense, MARK, LANE));
	return 0;
}

int stage_tear_down(void **state)
{
	(void)state;
	sense_free(stage.sense);
	(void)close(canary_from);
	(void)close(canary_to);
	test_lane_done(&stage.lane);
	(void)unlinkat(stage.root_fd, stage.trial_path, AT_REMOVEDIR);
	(void)unlinkat(stage.root_fd, stage.run_name, AT_REMOVEDIR);
	(void)close(stage.root_fd);
	free(told.bytes);
	return 0;
}

void stage_test_count(void **state)
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
	assert_true(delivered > 30);
}

/* ---- playing ---- */

static char *const *next_env;

void play_with_env(char *const *env)
{
	next_env = env;
}

static int refuse(uint32_t how)
{
	static const struct {
		uint32_t how, nr;
	} calls[] = {
		{ NO_SOCKETS, SYS_socket },
		{ NO_URING, SYS_io_uring_setup },
		{ NO_SENDTO, SYS_sendto },
		{ NO_SENDTO, SYS_connect },
	};
	struct sock_filter code[2 * ARRAY_SIZE(calls) + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog prog = { 1, code };

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (!(how & calls[i].how))
			continue;
		code[prog.len++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].nr, 0, 1);
		code[prog.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	code[prog.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
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

int become(const char *name, uint32_t how)
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
	if (how & (NO_SOCKETS | NO_URING | NO_SENDTO) && refuse(how))
		return 104;
	(void)execve("/proc/self/exe", how & WRAPPED ? wrapped : plain,
		     next_env ? next_env : environ);
	return 105;
}

pid_t play_status(const char *name, uint32_t how, int expect)
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
	settle();
	drain_rings();
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(expect, WEXITSTATUS(status));
	return pid;
}

pid_t play(const char *name, uint32_t how)
{
	return play_status(name, how, 0);
}

int stage_main(int argc, char **argv, const struct stage_act *acts, size_t n, int (*tests)(void))
{
	if (argc > 2 && !strncmp(argv[1], "SENTINEL1:", 10)) {
		for (size_t i = 0; i < n; i++)
			if (!strcmp(acts[i].name, argv[2]))
				return acts[i].fn();
		return 99;
	}
	if (argc > 2) /* the wrapper */
		return 98;
	if (geteuid()) {
		(void)fprintf(stderr, "skipped: needs root to load programs\n");
		return 77;
	}
	return tests();
}

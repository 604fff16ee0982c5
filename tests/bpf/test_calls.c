// SPDX-License-Identifier: Apache-2.0
/*
 * What a session asked the kernel for, and what it was told: every way to name a destination, to
 * hand over bytes and to be refused shows as a call, with what the judge looks for in it.
 */
#include "tests/bpf/stage.h"

#include <arpa/inet.h>
#include <linux/openat2.h>
#include <net/ethernet.h>
#include <netinet/ip_icmp.h>
#include <netpacket/packet.h>
#include <sys/uio.h>
#include <sys/un.h>

#define NR_WRITE ((uint32_t)SYS_write)
#define NR_WRITEV ((uint32_t)SYS_writev)
#define NR_SENDMMSG ((uint32_t)SYS_sendmmsg)
#define NR_OPENAT ((uint32_t)SYS_openat)

/* ---- refused, and by whom ---- */

static int do_unreachable(void)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);

	(void)inet_pton(AF_INET6, "2001:db8::1", &a.sin6_addr);
	if (fd < 0)
		return 1;
	return !connect(fd, (struct sockaddr *)&a, sizeof(a)) || errno != ENETUNREACH;
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

/* Missing capabilities and rights: no socket, and the errno says why. */
static int do_refused_sockets(void)
{
	if (socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)) >= 0 || errno != EPERM)
		return 1;
	if (socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0 || errno != EPERM)
		return 2;
	return socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP) >= 0 || errno != EACCES;
}

static void check_socket(const struct snt_call *c, uint32_t family, uint32_t type,
			 uint32_t protocol, int64_t ret)
{
	check_call(c, NR_SOCKET, ret, 0);
	assert_int_equal(family, c->family);
	assert_int_equal(type, c->arg1);
	assert_int_equal(protocol, c->arg2);
}

static void test_refused_sockets(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("refused-sockets", IN_CGROUP | AS_NOBODY);
	c = call_of(NR_SOCKET);
	check_socket(c, AF_PACKET, SOCK_RAW, htons(ETH_P_ALL), -EPERM);
	c = next_call_of(c, NR_SOCKET);
	check_socket(c, AF_INET, SOCK_RAW, IPPROTO_ICMP, -EPERM);
	c = next_call_of(c, NR_SOCKET);
	check_socket(c, AF_INET, SOCK_DGRAM, IPPROTO_ICMP, -EACCES);
	assert_null(next_of(NULL, SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK));
}

/* ---- sockets without ports ---- */

#define FRAME_BYTES (ETH_HLEN + sizeof(TOKEN))

/* A frame of its own making to everybody on the link. */
static int do_packet(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = 6 };
	uint8_t frame[FRAME_BYTES] = { 255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);

	memcpy(frame + ETH_HLEN, TOKEN, sizeof(TOKEN));
	to.sll_ifindex = (int)if_nametoindex("b0");
	if (fd < 0 || !to.sll_ifindex)
		return 1;
	return sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)) !=
	       (ssize_t)sizeof(frame);
}

/* Of a packet socket no address hook tells; the call does, with the frame's head. */
static void test_packet(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("packet", IN_CGROUP);
	c = call_of(NR_SENDTO);
	check_call(c, NR_SENDTO, FRAME_BYTES, 0);
	assert_int_equal(AF_PACKET, c->family);
	assert_int_equal(0, c->dport);
	assert_int_equal(FRAME_BYTES, c->data_len);
	assert_int_equal(FRAME_BYTES, c->data_cap);
	assert_int_equal(0x88, c->data[12]);
	assert_memory_equal(TOKEN, c->data + ETH_HLEN, sizeof(TOKEN));
	(void)token_at(SNT_HOOK_BOUNDARY);
}

/* By a ping socket, once the namespace allows them. */
static int do_ping(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	uint8_t echo[sizeof(struct icmphdr) + sizeof(TOKEN)] = { ICMP_ECHO };
	int range = open("/proc/sys/net/ipv4/ping_group_range", O_WRONLY | O_CLOEXEC), fd;

	if (range < 0 || write_all(range, "0 1000", 6))
		return 1;
	a.sin_port = 0;
	memcpy(echo + sizeof(struct icmphdr), TOKEN, sizeof(TOKEN));
	fd = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
	if (fd < 0)
		return 2;
	return sendto(fd, echo, sizeof(echo), 0, (struct sockaddr *)&a, sizeof(a)) !=
	       (ssize_t)sizeof(echo);
}

static void test_ping(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("ping", IN_CGROUP);
	c = call_of(NR_SOCKET);
	assert_non_null(c);
	check_socket(c, AF_INET, SOCK_DGRAM, IPPROTO_ICMP, c->ret);
	assert_true(c->ret > 0);
	c = call_of(NR_SENDTO);
	check_call(c, NR_SENDTO, sizeof(struct icmphdr) + sizeof(TOKEN), 0);
	assert_int_equal(AF_INET, c->family);
	assert_v4(c->daddr, LANE_WORLD_ADDR);
	assert_memory_equal(TOKEN, c->data + sizeof(struct icmphdr), sizeof(TOKEN));
	assert_ours(&token_at(SNT_HOOK_BOUNDARY)->h);
}

/* ---- on a connected socket, where only the call tells what it was for ---- */

#define WAY(NAME) TOKEN " by " NAME
#define WAY_IO(NAME)                                                                               \
	{                                                                                          \
		.iov_base = (void *)(uintptr_t)WAY(NAME), .iov_len = sizeof(WAY(NAME))             \
	}

static int do_ways(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	struct iovec io[] = { WAY_IO("writev"), { .iov_base = &a, .iov_len = 1 } };
	struct iovec one = WAY_IO("sendmsg"), many = WAY_IO("sendmmsg");
	struct msghdr msg = { .msg_iov = &one, .msg_iovlen = 1 };
	struct mmsghdr msgs[] = { { .msg_hdr = { .msg_iov = &many, .msg_iovlen = 1 } },
				  { .msg_hdr = { .msg_iov = io, .msg_iovlen = 1 } } };
	const struct sockaddr *to = (const void *)&a;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	a.sin_port = htons(LISTENED_PORT); /* so that no answer spoils the next send */
	if (fd < 0 || connect(fd, to, sizeof(a)))
		return 1;
	if (write(fd, WAY("write"), sizeof(WAY("write"))) < 0 ||
	    send(fd, WAY("send"), sizeof(WAY("send")), 0) < 0 ||
	    sendto(fd, WAY("sendto"), sizeof(WAY("sendto")), 0, to, sizeof(a)) < 0)
		return 2;
	return sendmsg(fd, &msg, 0) < 0 || sendmmsg(fd, msgs, 2, 0) != 2 || writev(fd, io, 2) < 0;
}

/* The call that handed over this text. */
static const struct snt_call *call_with(uint32_t nr, const char *text)
{
	const struct snt_call *c = NULL;

	while ((c = next_call_of(c, nr)))
		if (c->ret > 0 && c->data_cap >= strlen(text) &&
		    !memcmp(c->data, text, strlen(text)))
			return c;
	fail_msg("no call %u with '%s'", nr, text);
	return NULL;
}

static void test_ways(void **state)
{
	static const struct {
		uint32_t nr;
		const char *text;
		uint32_t flags, family;
		int64_t ret; /* 0: the text's length with its NUL */
	} cases[] = {
		{ NR_WRITE, WAY("write"), 0, 0, 0 },
		{ NR_SENDTO, WAY("send"), 0, 0, 0 },
		{ NR_SENDTO, WAY("sendto"), 0, AF_INET, 0 },
		{ NR_SENDMSG, WAY("sendmsg"), 0, 0, 0 },
		{ NR_SENDMMSG, WAY("sendmmsg"), 0, 0, 2 },
		{ NR_WRITEV, WAY("writev"), SNT_F_TRUNCATED, 0, sizeof(WAY("writev")) + 1 },
	};

	(void)state;
	(void)play("ways", IN_CGROUP);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct snt_call *c = call_with(cases[i].nr, cases[i].text);
		uint32_t len = (uint32_t)strlen(cases[i].text) + 1;

		check_call(c, cases[i].nr, cases[i].ret ? cases[i].ret : len, cases[i].flags);
		assert_int_equal(len, c->data_cap);
		assert_int_equal(len, c->data_len);
		assert_int_equal(cases[i].family, c->family);
	}
}

/* ---- UNIX sockets ---- */

#define ABSTRACT "\0sentinel\0test" /* with a NUL inside: its length says where it ends */
#define ABSTRACT_LEN (sizeof(ABSTRACT) - 1)
#define UNIX_PATH "/nonexistent/sentinel-test"
#define LONG_LEN (SNT_PATH_MAX + 4)

/* An address and what lies behind it, of which no byte is the name's. */
struct name {
	struct sockaddr_un un;
	char more[64];
};

static socklen_t name_len(size_t path)
{
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path);
}

/* expect: of the kernel; a filter may have answered EPERM before. */
static bool is_refused(long ret, int expect)
{
	return ret < 0 && (errno == expect || errno == EPERM);
}

static int do_unix(void)
{
	struct name a = { .un = { AF_UNIX, ABSTRACT "and more" } };
	struct name p = { .un = { AF_UNIX, UNIX_PATH } };
	int s = socket(AF_UNIX, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_DGRAM, 0);
	const struct sockaddr *to = (const void *)&a, *path = (const void *)&p;

	if (s < 0 || d < 0)
		return 1;
	if (!is_refused(connect(s, to, name_len(ABSTRACT_LEN)), ECONNREFUSED))
		return 2;
	if (!is_refused(connect(s, path, name_len(strlen(UNIX_PATH))), ENOENT))
		return 3;
	if (!is_refused(connect(s, path, name_len(SNT_PATH_MAX + 4)), EINVAL))
		return 4;
	if (!is_refused(connect(s, path, name_len(0)), EINVAL))
		return 5;
	return !is_refused(sendto(d, TOKEN, strlen(TOKEN), 0, path, sizeof(p.un)), ENOENT);
}

static void check_name(const struct snt_call *c, uint32_t nr, int64_t ret, uint32_t flags,
		       const char *name, size_t len)
{
	check_call(c, nr, ret, flags);
	assert_int_equal(AF_UNIX, c->family);
	assert_int_equal(len, c->path_len);
	assert_memory_equal(name, c->path, len);
	for (size_t i = len; i < sizeof(c->path); i++)
		assert_int_equal(0, c->path[i]);
}

/* filtered: a seccomp filter answers, and no address hook tells any name. */
static void check_names(bool filtered)
{
	static const char path[SNT_PATH_MAX] = UNIX_PATH;
	const uint32_t flags = filtered ? SNT_F_NO_ENTER : 0;
	const struct snt_call *c = call_of(NR_CONNECT);

#define OR_FILTERED(error) (filtered ? -EPERM : -(error))
	check_name(c, NR_CONNECT, OR_FILTERED(ECONNREFUSED), flags, ABSTRACT, ABSTRACT_LEN);
	c = next_call_of(c, NR_CONNECT);
	check_name(c, NR_CONNECT, OR_FILTERED(ENOENT), flags, UNIX_PATH, strlen(UNIX_PATH));
	c = next_call_of(c, NR_CONNECT);
	check_name(c, NR_CONNECT, OR_FILTERED(EINVAL), flags | SNT_F_TRUNCATED, path, sizeof(path));
	c = next_call_of(c, NR_CONNECT);
	check_name(c, NR_CONNECT, OR_FILTERED(EINVAL), flags, "", 0);
	c = call_of(NR_SENDTO);
	check_name(c, NR_SENDTO, OR_FILTERED(ENOENT), flags, path, sizeof(path));
#undef OR_FILTERED
	assert_int_equal(strlen(TOKEN), c->data_cap);
	assert_memory_equal(TOKEN, c->data, strlen(TOKEN));
}

static void test_unix(void **state)
{
	(void)state;
	(void)play("unix", IN_CGROUP);
	check_names(false);
	(void)play("unix", IN_CGROUP | NO_SENDTO);
	check_names(true);
	assert_null(next_of(NULL, SNT_HOOK_CONNECT_UNIX, SNT_EV_ADDR));
	assert_null(next_of(NULL, SNT_HOOK_SENDMSG_UNIX, SNT_EV_ADDR));
}

/* To a listener of its own. */
static int do_unix_send(void)
{
	struct name a = { .un = { AF_UNIX, ABSTRACT } };
	const struct sockaddr *to = (const void *)&a;
	int l = socket(AF_UNIX, SOCK_STREAM, 0), s = socket(AF_UNIX, SOCK_STREAM, 0);

	if (l < 0 || s < 0 || bind(l, to, name_len(ABSTRACT_LEN)) || listen(l, 1))
		return 1;
	if (connect(s, to, name_len(ABSTRACT_LEN)))
		return 2;
	return write(s, TOKEN, strlen(TOKEN)) != (ssize_t)strlen(TOKEN);
}

static void test_unix_send(void **state)
{
	const struct snt_send *sent;

	(void)state;
	(void)play("unix-send", IN_CGROUP);
	check_name(call_of(NR_CONNECT), NR_CONNECT, 0, 0, ABSTRACT, ABSTRACT_LEN);
	check_call(call_with(NR_WRITE, TOKEN), NR_WRITE, (int64_t)strlen(TOKEN), 0);
	if (!is_attached(SNT_HOOK_SEND_LENGTH, 0)) /* before 6.3 */
		return;
	sent = first_of(SNT_HOOK_SEND_LENGTH, SNT_EV_SEND);
	assert_ours(&sent->h);
	assert_int_equal(AF_UNIX, sent->family);
	assert_int_equal(SOCK_STREAM, sent->type);
	assert_int_equal(strlen(TOKEN), sent->ret);
	assert_int_equal(0, sent->dport);
}

/* ---- files ---- */

#define ABSENT "/nonexistent/sentinel-planted"
#define NOT_OURS "/proc/1/environ"

static const char *slashes(size_t n)
{
	static char text[SNT_CALL_DATA_MAX + 64];

	memset(text, '/', n);
	text[n] = '\0';
	return text;
}

static int do_files(void)
{
	struct open_how how = { .flags = O_WRONLY | O_CLOEXEC };

	if (openat(7, ABSENT, O_RDONLY) >= 0 || errno != ENOENT)
		return 1;
	if (syscall(SYS_openat2, AT_FDCWD, "/dev/null", &how, sizeof(how)) < 0)
		return 2;
#ifdef SYS_open
	if (syscall(SYS_open, NOT_OURS, O_RDONLY) >= 0 || errno != EACCES)
		return 3;
#else
	if (openat(AT_FDCWD, NOT_OURS, O_RDONLY) >= 0 || errno != EACCES)
		return 3;
#endif
	if (openat(AT_FDCWD, slashes(SNT_CALL_DATA_MAX - 1), O_RDONLY) < 0 ||
	    openat(AT_FDCWD, slashes(SNT_CALL_DATA_MAX), O_RDONLY) < 0)
		return 4;
	return syscall(SYS_openat, AT_FDCWD, NULL, 0) >= 0 || errno != EFAULT;
}

/* The next one of a path; the loader opens files, too. */
static const struct snt_call *open_of(const struct snt_call *after, const char *path)
{
	const struct snt_call *c = after;

	while ((c = next_call_of(c, NR_OPENAT)))
		if (c->data_cap == strlen(path) && !memcmp(path, c->data, c->data_cap))
			return c;
	fail_msg("'%s' was not opened", path);
	return NULL;
}

/* What a session reads, or was not let read: by open(), openat() and openat2() alike. */
static void test_files(void **state)
{
	const struct snt_call *c;

	(void)state;
	(void)play("files", IN_CGROUP | AS_NOBODY);
	c = open_of(NULL, ABSENT);
	check_call(c, NR_OPENAT, -ENOENT, 0);
	assert_int_equal(7, c->fd);
	assert_int_equal(O_RDONLY, c->arg2);
	assert_int_equal(0, c->family);
	c = open_of(c, "/dev/null");
	check_call(c, NR_OPENAT, c->ret, 0);
	assert_true(c->ret > 0);
	assert_int_equal(AT_FDCWD, c->fd);
	assert_int_equal(O_WRONLY | O_CLOEXEC, c->arg2);
	c = open_of(c, NOT_OURS);
	check_call(c, NR_OPENAT, -EACCES, 0);
	assert_int_equal(AT_FDCWD, c->fd);
	assert_int_equal(O_RDONLY, c->arg2);
	c = open_of(c, slashes(SNT_CALL_DATA_MAX - 1)); /* just fits */
	check_call(c, NR_OPENAT, c->ret, 0);
	c = open_of(c, slashes(SNT_CALL_DATA_MAX - 1)); /* has one more */
	check_call(c, NR_OPENAT, c->ret, SNT_F_TRUNCATED);
	c = next_call_of(c, NR_OPENAT);
	check_call(c, NR_OPENAT, -EFAULT, SNT_F_PARTIAL);
	assert_int_equal(0, c->data_cap);
}

/* Of a task without a mark nothing is told: the cost is for what is tested. */
static void test_files_of_others(void **state)
{
	(void)state;
	(void)play_status("files", IN_CGROUP | WRAPPED, 98);
	assert_null(call_of(NR_OPENAT));
}

static const struct stage_act acts[] = {
	{ "unreachable", do_unreachable },
	{ "socket", do_socket },
	{ "refused-sockets", do_refused_sockets },
	{ "packet", do_packet },
	{ "ping", do_ping },
	{ "ways", do_ways },
	{ "unix", do_unix },
	{ "unix-send", do_unix_send },
	{ "files", do_files },
};

static int tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_unreachable),
		cmocka_unit_test(test_seccomp),
		cmocka_unit_test(test_refused_sockets),
		cmocka_unit_test(test_packet),
		cmocka_unit_test(test_ping),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_unix_send),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_files_of_others),
		cmocka_unit_test(stage_test_count),
	};

	return cmocka_run_group_tests(list, stage_set_up, stage_tear_down);
}

int main(int argc, char **argv)
{
	return stage_main(argc, argv, acts, ARRAY_SIZE(acts), tests);
}

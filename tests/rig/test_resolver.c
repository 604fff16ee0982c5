// SPDX-License-Identifier: Apache-2.0
/* A lane's resolver on the real kernel. Needs root, and unbound. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/rig/open_fds.h"
#include "user/rig/program.h"
#include "user/rig/resolver.h"
#include "user/rig/rig.h"

#define SOON_MS 2000
#define NEVER_MS 150
#define START_MS 10000

static struct lane lane;
static struct folders folders = FOLDERS_NONE;

static int set_up(void **state unused_arg)
{
	return lane_make(&lane, 2, 1, NULL, NULL);
}

static int tear_down(void **state unused_arg)
{
	lane_drop(&lane);
	folders_done(&folders);
	return 0;
}

/* A UDP socket of that namespace, bound to the address or, from box, connected to it. */
static int udp(int ns, const char *addr, bool to)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(RIG_PORT_DNS),
					.sin_addr.s_addr = inet_addr(addr) };
	int fd = lane_socket(ns, AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	if (to)
		assert_return_code(connect(fd, (const struct sockaddr *)&at, sizeof(at)), errno);
	else
		assert_return_code(bind(fd, (const struct sockaddr *)&at, sizeof(at)), errno);
	return fd;
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

/* Asks for the addresses of FIRST.ZONE, a zone of two labels. */
static void ask(int fd, const char *first, const char *second, const char *top)
{
	uint8_t q[128] = { 0x12, 0x34, 1, 0, 0, 1 };
	const char *const labels[] = { first, second, top };
	size_t n = 12;

	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		q[n++] = (uint8_t)strlen(labels[i]);
		memcpy(q + n, labels[i], strlen(labels[i]));
		n += strlen(labels[i]);
	}
	q[n++] = 0;
	memcpy(q + n, (const uint8_t[]){ 0, 1, 0, 1 }, 4);
	n += 4;
	assert_int_equal(send(fd, q, n, 0), n);
}

/* Waits for a question with that label at the zone's server, and answers it with 192.0.2.7. */
static void serve(int fd, const char *label)
{
	static const uint8_t record[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 0, 0, 4, 192, 0, 2, 7 };
	struct sockaddr_in from;
	socklen_t len = sizeof(from);
	uint8_t q[512];
	size_t end = 12;
	ssize_t n;

	assert_true(readable(fd, SOON_MS));
	n = recvfrom(fd, q, sizeof(q) - sizeof(record), 0, (struct sockaddr *)&from, &len);
	assert_true(n > 17);
	assert_non_null(memmem(q, (size_t)n, label, strlen(label)));
	while (end < (size_t)n && q[end])
		end += 1u + q[end];
	end += 5;    /* the root's label, type and class; the OPT record is left out */
	q[2] = 0x84; /* an answer, authoritative */
	q[3] = 0;
	memcpy(q + 6, (const uint8_t[]){ 0, 1, 0, 0, 0, 0 }, 6);
	memcpy(q + end, record, sizeof(record));
	assert_true(sendto(fd, q, end + sizeof(record), 0, (struct sockaddr *)&from, len) > 0);
}

/* Its answer's code. */
static int answer(int fd)
{
	uint8_t a[512];

	assert_true(readable(fd, SOON_MS));
	assert_true(recv(fd, a, sizeof(a), 0) >= 12);
	assert_int_equal(a[0], 0x12);
	return a[3] & 0xf;
}

static void start(struct resolver *r)
{
	struct diag d = { .text = "" };
	uint64_t begin = mono_ns();

	if (resolver_start(r, &folders, &lane, &d) || resolvers_wait(r, 1, START_MS, &d))
		fail_msg("%s", d.text);
	print_message("resolver: answers after %.0f ms\n", (double)(mono_ns() - begin) / 1e6);
}

static void test_asks(void **state unused_arg)
{
	cleanup_fd int world = udp(lane.world_ns, RIG_ZONE_SERVER4, false);
	cleanup_fd int box = udp(lane.box_ns, RIG_RESOLVER4, true);
	struct resolver r;

	start(&r);
	/* The same question twice: nothing is kept. */
	for (int i = 0; i < 2; i++) {
		ask(box, "0123456789abcdef", "sentinel", "test");
		serve(world, "0123456789abcdef");
		assert_int_equal(answer(box), 0);
	}
	assert_false(readable(world, NEVER_MS)); /* and nothing else is asked */
	ask(box, "www", "example", "org");
	assert_int_equal(answer(box), 5); /* refused */
	assert_false(readable(world, NEVER_MS));

	/* One that does not answer is asked again for the next question. */
	for (int i = 0; i < 2; i++) {
		ask(box, "deaf", "deaf", "test");
		assert_false(readable(box, NEVER_MS));
	}
	ask(box, "again", "sentinel", "test");
	serve(world, "again");
	assert_int_equal(answer(box), 0);
	assert_int_equal(resolver_tend(&r), 0);
	resolver_stop(&r);
}

/* Where the far side is dead first and lives later, the resolver has not remembered it. */
static void test_dead_then_alive(void **state unused_arg)
{
	cleanup_fd int box = udp(lane.box_ns, RIG_RESOLVER4, true), world = -1;
	struct resolver r;

	start(&r);
	for (int i = 0; i < 5; i++)
		ask(box, "nobody", "sentinel", "test");
	while (readable(box, SOON_MS)) {
		uint8_t a[512];

		assert_true(recv(box, a, sizeof(a), 0) >= 12);
	}
	world = udp(lane.world_ns, RIG_ZONE_SERVER4, false);
	ask(box, "alive", "sentinel", "test");
	serve(world, "alive");
	assert_int_equal(answer(box), 0);
	resolver_stop(&r);
}

static bool is_alive(pid_t pid)
{
	char path[64];

	(void)str_format(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return access(path, F_OK) == 0;
}

/* Nothing is left of it: no process, file or descriptor; also of one that ended by itself. */
static void test_ends(void **state unused_arg)
{
	unsigned int before;
	struct resolver r = { .ready = false };
	struct diag d;
	pid_t pid;

	resolver_stop(&r);
	start(&r); /* the client's folder is made */
	resolver_stop(&r);
	before = open_fds();
	start(&r);
	pid = r.launch.pid;
	assert_true(is_alive(pid));
	assert_return_code(access(r.folder, F_OK), errno);
	resolver_stop(&r);
	assert_false(is_alive(pid));
	assert_int_equal(open_fds(), before);

	assert_int_equal(resolver_start(&r, &folders, &lane, &d), 0);
	assert_return_code(kill(r.launch.pid, SIGKILL), errno);
	assert_int_equal(resolvers_wait(&r, 1, START_MS, &d), -ECHILD);
	assert_non_null(strstr(d.text, "has ended"));
	assert_int_equal(resolver_tend(&r), 0); /* it is said once */
	resolver_stop(&r);
	assert_int_equal(open_fds(), before);
}

/* In a namespace without its address it can't listen, and that is said. */
static void test_says_why(void **state unused_arg)
{
	struct lane elsewhere = lane;
	struct resolver r;
	struct diag d;

	elsewhere.host_ns = lane.box_ns;
	assert_int_equal(resolver_start(&r, &folders, &elsewhere, &d), 0);
	assert_int_equal(resolvers_wait(&r, 1, START_MS, &d), -ECHILD);
	assert_non_null(strstr(d.text, "annot assign requested address"));
	resolver_stop(&r);
}

static void test_sigkill(void **state unused_arg)
{
	uint64_t begin;
	int fds[2];
	pid_t child, pid = 0;

	assert_return_code(pipe2(fds, O_CLOEXEC), errno);
	child = fork();
	if (child == 0) {
		struct resolver r;

		if (resolver_start(&r, &folders, &lane, NULL) ||
		    write_all(fds[1], &r.launch.pid, sizeof(pid)))
			_exit(1);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	assert_true(is_alive(pid));
	assert_return_code(kill(child, SIGKILL), errno);
	for (begin = mono_ns(); is_alive(pid); (void)usleep(1000))
		assert_true(mono_ns() - begin < NSEC_PER_SEC);
	assert_int_equal(waitpid(child, NULL, 0), child);
	(void)close(fds[0]);
	(void)close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asks),	cmocka_unit_test(test_dead_then_alive),
		cmocka_unit_test(test_ends),	cmocka_unit_test(test_says_why),
		cmocka_unit_test(test_sigkill),
	};
	char exe[4096];

	if (geteuid() != 0) {
		(void)fprintf(stderr, "skipped: root is missing\n");
		return 77;
	}
	if (program_find("unbound", NULL, exe, sizeof(exe))) {
		(void)fprintf(stderr, "skipped: unbound is not installed\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

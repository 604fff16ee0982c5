// SPDX-License-Identifier: Apache-2.0
/* The listeners that no sandbox may reach, on the real kernel. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "tests/rig/open_fds.h"
#include "user/rig/destination.h"
#include "user/rig/folder.h"
#include "user/rig/forbidden.h"
#include "user/rig/rig.h"

#define SOON_MS 1000

static struct lane lane;
static struct folders folders = FOLDERS_NONE;
static char folder[FOLDER_PATH_MAX];

static int set_up(void **state unused_arg)
{
	assert_int_equal(lane_make(&lane, 3, 1, NULL, NULL), 0);
	assert_int_equal(folder_make(&folders, 0, 0, folder), 0);
	assert_return_code(chmod(folder, 0755), errno);
	return 0;
}

static int tear_down(void **state unused_arg)
{
	lane_drop(&lane);
	folders_done(&folders);
	return 0;
}

/* errno of a connection from box, 0 where it came about. */
static int try_at(int domain, const void *addr, socklen_t len)
{
	cleanup_fd int fd = lane_socket(lane.box_ns, domain, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	return connect(fd, addr, len) < 0 ? errno : 0;
}

static int try_tcp(const char *addr, uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = inet_addr(addr) };

	return try_at(AF_INET, &to, sizeof(to));
}

static int try_unix(enum dest dest, enum far_side far)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char path[DESTINATION_PATH_MAX];
	size_t len;

	destination_path(dest, far, lane.number, folder, path);
	len = strlen(path);
	memcpy(to.sun_path, path, len);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	return try_at(AF_UNIX, &to,
		      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (path[0] != '@')));
}

static int tap(void)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_IP),
					.sll_ifindex = (int)lane.box_ifindex };
	int fd = lane_socket(lane.box_ns, AF_PACKET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_return_code(bind(fd, (const struct sockaddr *)&at, sizeof(at)), errno);
	return fd;
}

static void test_reached(void **state unused_arg)
{
	struct forbidden f;
	struct stat st;
	char path[DESTINATION_PATH_MAX];

	assert_int_equal(forbidden_open(&f, &lane, folder, NULL), 0);
	assert_int_equal(f.n, FORBIDDEN_MAX);
	assert_int_equal(try_tcp("127.0.0.1", RIG_PORT_LOOPBACK), 0);
	assert_int_equal(try_tcp(RIG_METADATA_HOP4, RIG_PORT_HTTP), 0);
	assert_int_equal(try_unix(DEST_UNIX_PATH, FAR_ANSWERS), 0);
	assert_int_equal(try_unix(DEST_UNIX_ABSTRACT, FAR_ANSWERS), 0);
	for (size_t i = 0; i < f.n; i++) {
		struct pollfd p = { .fd = f.at[i].fd, .events = POLLIN };

		assert_int_equal(poll(&p, 1, SOON_MS), 1);
	}
	/* The deaf twins: nobody is there. */
	assert_int_equal(try_tcp("127.0.0.1", RIG_PORT_LOOPBACK + 1), ECONNREFUSED);
	assert_int_equal(try_tcp(RIG_METADATA_HOP4, RIG_PORT_HTTP + 1), ECONNREFUSED);
	assert_int_equal(try_unix(DEST_UNIX_PATH, FAR_DEAF), ENOENT);
	assert_int_equal(try_unix(DEST_UNIX_ABSTRACT, FAR_DEAF), ECONNREFUSED);
	/* Everybody may. */
	destination_path(DEST_UNIX_PATH, FAR_ANSWERS, lane.number, folder, path);
	assert_return_code(stat(path, &st), errno);
	assert_int_equal(st.st_mode & 0777, 0666);
	forbidden_close(&f);
	assert_int_equal(try_tcp("127.0.0.1", RIG_PORT_LOOPBACK), ECONNREFUSED);
	assert_return_code(unlink(path), errno);
}

/* Every packet of the look-alike in host has one hop to live. */
static void test_one_hop(void **state unused_arg)
{
	cleanup_fd int b = tap();
	unsigned int seen = 0;
	struct forbidden f;
	char path[DESTINATION_PATH_MAX];
	struct iphdr ip;

	assert_int_equal(forbidden_open(&f, &lane, folder, NULL), 0);
	assert_int_equal(try_tcp(RIG_METADATA_HOP4, RIG_PORT_HTTP), 0);
	while (recv(b, &ip, sizeof(ip), MSG_DONTWAIT) == sizeof(ip)) {
		if (ip.saddr != inet_addr(RIG_METADATA_HOP4))
			continue;
		assert_int_equal(ip.ttl, 1);
		seen++;
	}
	assert_true(seen >= 1);
	forbidden_close(&f);
	destination_path(DEST_UNIX_PATH, FAR_ANSWERS, lane.number, folder, path);
	assert_return_code(unlink(path), errno);
}

/* What is taken already is named, and nothing stays open. */
static void test_taken(void **state unused_arg)
{
	unsigned int before = open_fds();
	struct forbidden f, again;
	struct diag d = { .text = "" };

	assert_int_equal(forbidden_open(&f, &lane, folder, NULL), 0);
	assert_int_equal(forbidden_open(&again, &lane, folder, &d), -EADDRINUSE);
	assert_non_null(strstr(d.text, "127.0.0.1"));
	assert_int_equal(again.n, 0);
	forbidden_close(&f);
	/* The sockets are free again, but for the file: it goes with its folder. */
	assert_int_equal(forbidden_open(&f, &lane, folder, &d), -EADDRINUSE);
	assert_non_null(strstr(d.text, folder));
	assert_int_equal(f.n, 0);
	assert_int_equal(open_fds(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reached),
		cmocka_unit_test(test_one_hop),
		cmocka_unit_test(test_taken),
	};

	if (geteuid() != 0) {
		(void)fprintf(stderr, "skipped: root is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}

// SPDX-License-Identifier: Apache-2.0
/* The log of a far side, which here is a script. Needs root, to enter a network namespace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>

#include "user/rig/farside.h"

#define LANE 7
#define RECEIVED_NS 12345
#define RECEIVED                                                                                   \
	"{\"time\":\"12345\",\"proto\":\"udp\",\"src\":\"10.0.0.1\",\"sport\":1,"                  \
	"\"dst\":\"10.0.0.2\",\"dport\":2,\"answered\":true,\"data\":\"abcd\"}"

struct seen {
	struct ev at[16];
	size_t n;
};

static int see(void *arg, const struct ev *ev)
{
	struct seen *s = arg;

	if (s->n < ARRAY_SIZE(s->at))
		s->at[s->n] = *ev;
	s->n++;
	return 0;
}

/* A far side that does what script says; its log is descriptor 4, read and write. */
static void start_given(struct farside *f, const char *script, int given)
{
	struct farside_opts o;
	static const uint8_t key[EV_MAC_BYTES];
	char path[] = "/tmp/test-farside-XXXXXX", text[2048];
	cleanup_fd int ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int fd = mkostemp(path, O_CLOEXEC);
	struct diag d;

	assert_true(ns >= 0 && fd >= 0);
	assert_int_equal(str_format(text, sizeof(text),
				    "#!/bin/bash\neval \"exec 4<&$8 4>&$8\"\nrm \"$0\"\n%s\n",
				    script),
			 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, 0700), 0);
	(void)close(fd);
	o = (struct farside_opts){
		.exe = path, .world_ns = ns, .lane = LANE, .epoch = 1, .key = key
	};
	if (given >= 0) {
		o.listen[0] = (struct farside_listen){ .kind = "text", .fd = given };
		o.listen_n = 1;
	}
	if (farside_start(f, &o, &d))
		fail_msg("%s", d.text);
}

static void start(struct farside *f, const char *script)
{
	start_given(f, script, -1);
}

static int wait_and_read(struct farside *f, struct seen *s)
{
	struct pollfd p = { .fd = f->log, .events = POLLIN };

	assert_int_equal(poll(&p, 1, 5000), 1);
	return farside_read(f, see, s);
}

static void test_sync(void **state unused_arg)
{
	struct seen s = { .n = 0 };
	struct farside f;

	start(&f, "echo '{\"ready\":true}' >&4; head -c 1 <&4 >/dev/null\n"
		  "echo '" RECEIVED "' >&4; echo '{\"sync\":1}' >&4; head -c 1 <&4 >/dev/null");
	assert_true(farside_is_synced(&f));
	while (!f.ready)
		assert_int_equal(wait_and_read(&f, &s), 0);
	assert_int_equal(s.n, 0);
	farside_ask_sync(&f);
	assert_false(farside_is_synced(&f));
	while (!farside_is_synced(&f))
		assert_int_equal(wait_and_read(&f, &s), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.at[0].type, EV_RECEIVED);
	assert_int_equal(s.at[0].time_ns, RECEIVED_NS);
	assert_int_equal(s.at[0].received.lane, LANE);
	farside_ask_sync(&f);
	assert_false(farside_is_synced(&f));
	assert_int_equal(farside_give_up(&f, see, &s), 0);
	assert_int_equal(s.at[1].type, EV_GAP);
	assert_int_equal(s.at[1].gap.from_ns, RECEIVED_NS);
	farside_stop(&f);
	assert_true(farside_is_synced(&f));
}

/* It has what it was given, and nothing else of ours; what came there is told apart. */
static void test_given(void **state unused_arg)
{
	struct seen s = { .n = 0 };
	struct farside f;
	int given[2], other[2], high, err = 0;

	assert_int_equal(pipe2(given, O_CLOEXEC), 0);
	high = fcntl(given[1], F_DUPFD_CLOEXEC, 20); /* 4 is the script's own */
	assert_int_equal(pipe2(other, 0), 0);
	start_given(&f,
		    "fd=${10#text:}; echo seen >&$fd\n"
		    "echo "
		    "'{\"time\":\"1\",\"proto\":\"unix\",\"src\":\"::\",\"sport\":0,\"dst\":\"::\","
		    "\"dport\":0,\"path\":\"@name\",\"forbidden\":true,\"answered\":true,"
		    "\"data\":\"ab\"}' >&4; echo '" RECEIVED "' >&4",
		    high);
	(void)close(high);
	(void)close(given[1]);
	(void)close(other[1]);
	assert_int_equal(read(given[0], (char[8]){ 0 }, 8), 5);
	assert_int_equal(read(other[0], (char[8]){ 0 }, 8), 0); /* nobody has it */
	while (!err)
		err = wait_and_read(&f, &s);
	assert_int_equal(err, -EPIPE);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.at[0].type, EV_RECEIVED);
	assert_int_equal(s.at[0].received.protocol, 0);
	assert_string_equal(s.at[0].received.path, "@name");
	assert_true(s.at[0].received.forbidden && s.at[0].received.answered);
	assert_int_equal(s.at[1].received.protocol, IPPROTO_UDP);
	assert_string_equal(s.at[1].received.path, "");
	assert_false(s.at[1].received.forbidden);
	farside_stop(&f);
	(void)close(given[0]);
	(void)close(other[0]);
}

/* What it could not log, a line that it did not finish, and its end: each is a gap of its lane. */
static void test_end(void **state unused_arg)
{
	struct seen s = { .n = 0 };
	struct farside f;
	int err = 0;

	start(&f, "echo '" RECEIVED "' >&4; echo '{\"lost\":2}' >&4; printf '{\"unfinished' >&4");
	while (!err)
		err = wait_and_read(&f, &s);
	assert_int_equal(err, -EPIPE);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.at[1].gap.count, 2);
	assert_int_equal(s.at[1].gap.from_ns, RECEIVED_NS);
	for (size_t i = 1; i < s.n; i++) {
		assert_int_equal(s.at[i].type, EV_GAP);
		assert_int_equal(s.at[i].lane, LANE);
		assert_string_equal(s.at[i].gap.stage, "collector");
		if (i > 1)
			assert_int_equal(s.at[i].gap.from_ns, s.at[i - 1].time_ns);
	}
	farside_stop(&f);
}

/* Others get their turn while it floods us. */
static void test_flood(void **state unused_arg)
{
	const size_t line = strlen("{\"lost\":1}\n");
	struct farside f;
	size_t total = 0;
	int err = 0;

	start(&f, "yes '{\"lost\":1}' | head -n 100000 >&4; head -c 1 <&4 >/dev/null");
	while (!err && total < 100000) {
		struct seen s = { .n = 0 };

		err = wait_and_read(&f, &s);
		assert_true(s.n <= (256 + 16) * 1024 / line + 1);
		total += s.n;
	}
	assert_int_equal(err, 0);
	assert_int_equal(total, 100000);
	farside_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_given),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_flood),
	};

	if (geteuid() != 0) {
		(void)fprintf(stderr, "skipped: root is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

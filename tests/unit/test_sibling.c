// SPDX-License-Identifier: Apache-2.0
/* Who stands beside a session: who they say that they are, and whom they answer. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "probes/stand_in.h"
#include "user/base/mac.h"
#include "user/base/planted.h"
#include "user/base/session_line.h"

#define SECRET "00112233445566778899aabbccddeeff"
#define NONCE "ffeeddccbbaa99887766554433221100"
#define CHALLENGE1 "11111111111111111111111111111111"
#define CHALLENGE2 "22222222222222222222222222222222"
#define TOKEN "0123456789abcdef0123456789abcdef"
#define WAIT_MS 5000

struct child {
	pid_t pid;
	int in, out; /* its stdin and stdout, our ends */
};

/* A port of the loopback that nobody has right now. */
static uint16_t free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	return ntohs(at.sin_port);
}

/* A sibling; or, where there is no port, a decoy. */
static struct child start(const char *port, const char *challenge)
{
	int in[2], out[2];
	struct child c;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		(void)close(in[1]), (void)close(out[0]);
		_exit(port ? sibling_run(port, challenge, in[0], out[1])
			   : decoy_run(NONCE, challenge, in[0], out[1]));
	}
	(void)close(in[0]), (void)close(out[1]);
	c.in = in[1], c.out = out[0];
	return c;
}

static void say(int fd, const char *text)
{
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
}

/* Its next line, without its end; "" where it said nothing more. */
static void hear(int fd, char line[SESSION_LINE_MAX])
{
	size_t n = 0;

	while (n < SESSION_LINE_MAX - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, WAIT_MS) <= 0 || read(fd, &line[n], 1) != 1 || line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
}

static int ends(struct child *c)
{
	int status;

	(void)close(c->in);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	(void)close(c->out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_alive(const struct child *c, int which, const char *challenge_hex,
			 uint8_t instance[MAC_NONCE_BYTES])
{
	uint8_t secret[MAC_NONCE_BYTES], challenge[MAC_NONCE_BYTES], mac[MAC_BYTES];
	char line[SESSION_LINE_MAX];
	struct session_line l;

	hear(c->out, line);
	assert_int_equal(session_line_parse(line, strlen(line), &l), 0);
	assert_int_equal(l.kind, which == 1 ? SESSION_LINE_ALIVE1 : SESSION_LINE_ALIVE2);
	assert_int_equal(hex_decode(secret, sizeof(secret), SECRET), 0);
	assert_int_equal(hex_decode(challenge, sizeof(challenge), challenge_hex), 0);
	mac_alive(secret, which, challenge, l.instance, mac);
	assert_true(mac_equal(mac, l.mac));
	memcpy(instance, l.instance, MAC_NONCE_BYTES);
}

static int call(uint16_t port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void expect_answer(int fd)
{
	uint8_t key[MAC_BYTES] = { 0 }, token[MAC_NONCE_BYTES], mac[MAC_BYTES];
	char line[SESSION_LINE_MAX], want[SESSION_LINE_MAX], hex[2 * MAC_BYTES + 1];

	assert_int_equal(hex_decode(key, MAC_NONCE_BYTES, SECRET), 0);
	assert_int_equal(hex_decode(token, sizeof(token), TOKEN), 0);
	mac_answer(key, token, mac);
	hex_encode(hex, mac, sizeof(mac));
	(void)str_format(want, sizeof(want), MAC_ANSWER_PREFIX "%s", hex);
	hear(fd, line);
	assert_string_equal(line, want);
}

static void test_serves(void **state unused_arg)
{
	uint8_t before[MAC_NONCE_BYTES], after[MAC_NONCE_BYTES];
	uint16_t number = free_port();
	char port[8], line[SESSION_LINE_MAX];
	int callers[6];
	struct child c;

	(void)str_format(port, sizeof(port), "%u", number);
	c = start(port, CHALLENGE1);
	say(c.in, SECRET "\n");
	expect_alive(&c, 1, CHALLENGE1, before);
	hear(c.out, line);
	assert_memory_equal(line, SESSION_LINE_READY, sizeof(SESSION_LINE_READY) - 1);

	/* More callers than it has places for, the first ones silent. */
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		callers[i] = call(number);
	say(callers[5], "hello\nSENTINEL short\n" MAC_TOKEN_PREFIX TOKEN "\r\n");
	expect_answer(callers[5]);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		(void)close(callers[i]);

	/* What it does not know, it ignores; a line too long too. */
	say(c.in, "challenge zz\nnonsense\n");
	for (int i = 0; i < 40; i++)
		say(c.in, CHALLENGE2);
	say(c.in, "\nchallenge " CHALLENGE2 "\n");
	expect_alive(&c, 2, CHALLENGE2, after);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(ends(&c), EXIT_SUCCESS);
}

static void test_refuses(void **state unused_arg)
{
	static const struct {
		const char *port, *challenge, *secret;
	} bad[] = {
		{ "0", CHALLENGE1, SECRET "\n" },   { "65536", CHALLENGE1, SECRET "\n" },
		{ "x", CHALLENGE1, SECRET "\n" },   { "9", "11", SECRET "\n" },
		{ "9", CHALLENGE1, "\n" },	    { "9", CHALLENGE1, "00\n" },
		{ "9", CHALLENGE1, SECRET "00\n" }, { "9", CHALLENGE1, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct child c = start(bad[i].port, bad[i].challenge);
		char line[SESSION_LINE_MAX];

		(void)!write(c.in, bad[i].secret, strlen(bad[i].secret));
		if (!bad[i].secret[0])
			(void)close(c.in), c.in = -1;
		hear(c.out, line);
		assert_string_equal(line, "");
		assert_int_equal(ends(&c), EXIT_FAILURE);
	}
}

/* By the secret in its environment, and by nothing that it was told. */
static void test_decoy(void **state unused_arg)
{
	uint8_t nonce[MAC_NONCE_BYTES], secret[MAC_NONCE_BYTES];
	uint8_t before[MAC_NONCE_BYTES], after[MAC_NONCE_BYTES];
	char text[PLANTED_TEXT_MAX], line[SESSION_LINE_MAX];
	struct child c = start(NULL, CHALLENGE1);

	hear(c.out, line);
	assert_string_equal(line, SESSION_LINE_READY);
	say(c.in, "challenge " CHALLENGE2 "\n");
	assert_int_equal(ends(&c), 0);

	assert_int_equal(hex_decode(nonce, sizeof(nonce), NONCE), 0);
	assert_int_equal(hex_decode(secret, sizeof(secret), SECRET), 0);
	planted_text(text, PLANTED_SECRET, nonce, secret);
	assert_int_equal(setenv("AWS_SECRET_ACCESS_KEY", text, 1), 0);
	c = start(NULL, CHALLENGE1);
	assert_int_equal(unsetenv("AWS_SECRET_ACCESS_KEY"), 0);
	expect_alive(&c, 1, CHALLENGE1, before);
	hear(c.out, line);
	assert_string_equal(line, SESSION_LINE_READY);
	say(c.in, "challenge " CHALLENGE2 "\n");
	expect_alive(&c, 2, CHALLENGE2, after);
	assert_memory_equal(before, after, sizeof(after));
	assert_int_equal(ends(&c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_serves),
		cmocka_unit_test(test_decoy),
		cmocka_unit_test(test_refuses),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

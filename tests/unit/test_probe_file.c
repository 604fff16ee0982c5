// SPDX-License-Identifier: Apache-2.0
/* Files that describe a user's own probe: what is read, and how each mistake is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "user/base/own_words.h"
#include "user/rig/probe_file.h"

static int load_text(struct probe_file **ret, const char *text, char path[64], struct diag *d)
{
	cleanup_fd int fd = memfd_create("probe", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	assert_int_equal(str_format(path, 64, "/proc/self/fd/%d", fd), 0);
	return probe_file_load(ret, path, d);
}

#define HEAD "schema: 1\nid: mine\nabout: a probe\n"
#define REST "families: ['@mine']\nattack: T1095\nchannel: tcp\nanswers: true\n"
#define RUN "run: [sh, -c, 'exit 3', '{to}']\n"

static void test_full(unused_arg void **state)
{
	static const char text[] = HEAD "families: ['@tcp', '@mine']\nattack: T1071.004\n"
					"channel: dns-udp\nfamily: ipv6\nport: 5353\n"
					"window: 2500ms\nanswers: false\nneeds: [sh, /bin/sh]\n"
					"capabilities: [net_raw, net_bind_service]\n"
					"run: [/bin/sh, -c, '{token}', '{timeout_ms} {port}']\n";
	static const uint8_t zero[EV_DIGEST_BYTES];
	struct probe_file *p = NULL;
	struct diag d = { 0 };
	char path[64];

	assert_int_equal(load_text(&p, text, path, &d), 0);
	assert_string_equal(p->m.p.name, "mine");
	assert_string_equal(p->m.about, "a probe");
	assert_true(probe_has_family(&p->m, "@tcp") && probe_has_family(&p->m, "@mine"));
	assert_false(probe_has_family(&p->m, "@udp"));
	assert_string_equal(p->m.p.attack, "T1071.004");
	assert_int_equal(p->m.p.channel, CHANNEL_DNS_UDP);
	assert_int_equal(p->m.p.family, AF_INET6);
	assert_int_equal(p->m.port, 5353);
	assert_int_equal(p->m.p.window_ms, 2500);
	assert_int_equal(p->m.p.caps, 1u << CAP_NET_RAW | 1u << CAP_NET_BIND_SERVICE);
	assert_false(p->m.p.answers || p->m.p.builtin || p->m.p.forbidden);
	assert_ptr_equal(p->m.own, p->run);
	assert_string_equal(p->program, "/bin/sh");
	assert_null(p->m.session_exe); /* only once it is copied */
	assert_memory_not_equal(p->digest, zero, sizeof(zero));
	probe_file_free(p);
}

static void test_defaults(unused_arg void **state)
{
	static const struct {
		const char *channel;
		uint32_t port, window_ms;
	} cases[] = { { "tcp", 9000, 3500 },
		      { "udp", 9001, 1000 },
		      { "dns-udp", 53, 1000 },
		      { "dns-tcp", 53, 3500 },
		      { "icmp", 0, 1000 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_file *p = NULL;
		char path[64], text[256];

		assert_int_equal(str_format(text, sizeof(text),
					    HEAD "families: ['@m']\nattack: T1095\n"
						 "channel: %s\nanswers: true\n" RUN,
					    cases[i].channel),
				 0);
		assert_int_equal(load_text(&p, text, path, NULL), 0);
		assert_int_equal(p->m.port, cases[i].port);
		assert_int_equal(p->m.p.window_ms, cases[i].window_ms);
		assert_int_equal(p->m.p.family, AF_INET);
		assert_null(p->program); /* a command of the sandbox */
		probe_file_free(p);
	}
}

#define ALL_KEYS                                                                                   \
	"schema, id, about, families, attack, channel, family, port, window, answers, "            \
	"capabilities, "                                                                           \
	"needs, run"

static const struct {
	const char *text, *diag; /* after the file's name */
} broken[] = {
	{ "", "1:1: the file is empty: expected a mapping" },
	{ HEAD REST RUN "colour: red\n",
	  "9:1: unknown key 'colour' in a probe: expected one of " ALL_KEYS },
	{ HEAD REST RUN "id: again\n", "9:1: 'id' is there twice: expected once" },
	{ HEAD RUN, "1:1: 'families' is missing in a probe: expected a list of '@family'" },
	{ HEAD REST, "1:1: 'run' is missing in a probe: expected a list of arguments: what makes "
		     "the attempt" },
	{ "id: tcp-connect\n", "1:5: 'tcp-connect' is a probe of ours: expected an id of its own" },
	{ "id: ../x\n", "1:5: '../x' is no id: expected 1 to 63 of a-z, 0-9 and '-'" },
	{ "id: \"\\e[31m\"\n", "1:5: '\\x1b[31m' is no id: expected 1 to 63 of a-z, 0-9 and '-'" },
	{ "families: [tcp]\n", "1:12: 'tcp' is no family: expected '@' and a name, quoted" },
	{ "families: []\n", "1:11: an empty list of families: expected at least 1" },
	{ "families: ['@a', '@b', '@c', '@d', '@e']\n", "1:11: 5 families: expected at most 4" },
	{ "attack: 1095\n", "1:9: '1095' is no technique of ATT&CK: expected one like T1095 or "
			    "T1071.004" },
	{ "channel: packet\n", "1:10: 'packet' stands where tcp or udp or dns-udp or dns-tcp or "
			       "icmp is expected" },
	{ "family: unix\n", "1:9: 'unix' stands where ipv4 or ipv6 is expected" },
	{ "port: 0\n", "1:7: '0' stands where a number from 1 to 65535 is expected" },
	{ "window: 61s\n",
	  "1:9: '61s' stands where a duration is expected: 3s or 250ms, at most 60s" },
	{ "capabilities: [sys_admin]\n", "1:16: 'sys_admin' stands where net_raw or net_admin or "
					 "net_bind_service is expected" },
	{ "answers: maybe\n", "1:10: 'maybe' stands where true or false is expected" },
	{ HEAD REST "run: [./no-such-program]\n",
	  "8:7: './no-such-program' is no program: expected a file that can be executed, looked "
	  "for from this file's folder" },
	{ HEAD REST "run: [/etc/passwd]\n",
	  "8:7: '/etc/passwd' is no program: expected a file that can be executed, looked for "
	  "from this file's folder" },
	{ HEAD REST "run: ['{to}', x]\n",
	  "8:7: a placeholder in the command's name: expected none" },
	{ HEAD REST "run: [sh, '{nonce}']\n",
	  "8:11: unknown placeholder '{nonce}': expected " OWN_WORDS_LIST },
	{ HEAD REST "run: []\n", "8:6: an empty list of arguments: expected at least 1" },
	{ HEAD REST RUN "needs: [sh, no-such-command]\n",
	  "9:13: 'no-such-command' is not here, and the probe needs it: install it, or leave the "
	  "probe out" },
};

static void test_broken(unused_arg void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		char path[64], text[1024];
		struct diag d = { 0 };
		struct probe_file *p = NULL;

		assert_int_equal(load_text(&p, broken[i].text, path, &d), -EINVAL);
		assert_null(p);
		(void)diag_text(&d, text, sizeof(text));
		assert_memory_equal(text, path, strlen(path));
		assert_string_equal(text + strlen(path) + 1, broken[i].diag);
	}
	assert_int_equal(probe_file_load(&(struct probe_file *){ NULL }, "no/such.yaml", NULL),
			 -ENOENT);
}

/* ---- the command's words ---- */

static void test_words(unused_arg void **state)
{
	static const char *const value[OWN_WORDS] = { "203.0.113.1", "9000", "{to}", "100" };
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "{to}:{port}", "203.0.113.1:9000" },
		{ "{token}", "{to}" }, /* a value is put in as it is */
		{ "${HOME} {} { {timeout_ms}", "${HOME} {} { 100" },
	};
	char out[OWN_ARG_MAX], *full;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(own_words_fill(cases[i].text, value, out), 0);
		assert_string_equal(out, cases[i].want);
	}
	assert_int_equal(own_words_fill("{nonce}", value, out), -EINVAL);
	full = calloc(1, OWN_ARG_MAX + 1);
	assert_non_null(full);
	memset(full, 'x', OWN_ARG_MAX - 1);
	assert_int_equal(own_words_fill(full, value, out), 0);
	full[OWN_ARG_MAX - 1] = 'x';
	assert_int_equal(own_words_fill(full, value, out), -E2BIG);
	free(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("probe_file", tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "user/rig/need.h"
#include "user/rig/target.h"

/* Loads text as a file; its path is in path. */
static int load_text(struct target **ret, const char *text, size_t len, char path[64],
		     struct diag *d)
{
	cleanup_fd int fd = memfd_create("target", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, len), 0);
	assert_int_equal(str_format(path, 64, "/proc/self/fd/%d", fd), 0);
	return target_load(ret, path, d);
}

/* ---- what is right ---- */

#define HEAD                                                                                       \
	"schema: 1\n"                                                                              \
	"name: box\n"                                                                              \
	"about: a box\n"
#define EXPECT "expect: {uid: 65534}\n"
#define CLAIMS "claims: []\n"
#define RUN "run: [box, \"{cmd}\"]\n"
#define SOURCE "{document: man, section: NET, version: '1', quote: none}"

static const char full[] =
	"# a comment\n" HEAD "version: [box, --version]\n"
	"needs: [sh, /bin/true]\n"
	"user: root\n"
	"expect: {namespaces: [net, mnt], uid: 0, no_new_privs: true, seccomp: filter,\n"
	"  refused: [connect]}\n"
	"claims:\n"
	"  - {probes: [tcp6-connect], claimed: false}\n"
	"  - {probes: ['@tcp', udp-send], claimed: true, source: " SOURCE "}\n" RUN "lane: closed\n"
	"off:\n"
	"  - {probes: ['@dns'], run: [box, --net, '{cmd}']}\n"
	"  - {probes: ['*'], lane: open}\n"
	"attempt: inferred\n"
	"answer: stdout\n"
	"settle: 250ms\n"
	"timeout: {start: 3s}\n"
	"calibrator: deaf\n"
	"far: deaf\n";

static void test_full(unused_arg void **state)
{
	/* SHA-256 of nothing is what a forgotten digest would look like */
	static const uint8_t zero[EV_DIGEST_BYTES];
	struct target *t = NULL;
	struct diag d = { 0 };
	char path[64];

	assert_int_equal(load_text(&t, full, strlen(full), path, &d), 0);
	assert_string_equal(t->name, "box");
	assert_string_equal(t->about, "a box");
	assert_string_equal(t->path, path);
	assert_memory_not_equal(t->digest, zero, sizeof(zero));
	assert_string_equal(t->version[1], "--version");
	assert_string_equal(t->needs[1], "/bin/true");
	assert_string_equal(t->user, "root");
	assert_int_equal(t->uid, 0);
	assert_int_equal(t->expect, EXPECT_NS_NET | EXPECT_NS_MNT | EXPECT_UID | EXPECT_NNP |
					    EXPECT_SECCOMP | EXPECT_REFUSED_CONNECT);
	assert_int_equal(t->expect_uid, 0);
	assert_int_equal(t->expect_nnp, 1);
	assert_int_equal(t->expect_seccomp, 2);
	assert_int_equal(t->claims_n, 2);
	assert_string_equal(t->claims[0].source.document, "");
	assert_string_equal(t->claims[1].source.quote, "none");
	assert_int_equal(t->lane, TARGET_LANE_CLOSED);
	assert_int_equal(t->off_n, 2);
	assert_true(t->inferred);
	assert_int_equal(t->settle_ms, 250);
	assert_int_equal(t->start_timeout_ms, 3000);
	assert_int_equal(t->role, ROLE_DEAF);
	assert_int_equal(t->far, FAR_DEAF);
	target_free(t);
}

static void test_defaults(unused_arg void **state)
{
	static const char text[] = HEAD EXPECT CLAIMS RUN;
	struct target *t = NULL;
	char path[64];

	assert_int_equal(load_text(&t, text, strlen(text), path, NULL), 0);
	assert_string_equal(t->user, "nobody");
	assert_int_not_equal(t->uid, 0);
	assert_null(t->version[0]);
	assert_null(t->needs[0]);
	assert_int_equal(t->lane, TARGET_LANE_OPEN);
	assert_int_equal(t->off_n, 0);
	assert_false(t->inferred);
	assert_int_equal(t->settle_ms, 0);
	assert_int_equal(t->steady_ms, 0);
	assert_false(target_allows(t, "tcp-connect", NULL, 0));
	assert_int_equal(t->start_timeout_ms, 10000);
	assert_int_equal(t->role, ROLE_TARGET);
	assert_int_equal(t->far, FAR_ANSWERS);
	target_free(t);
}

/* What no calibrator may ask for. */
static void test_asked_of_targets(unused_arg void **state)
{
	static const char text[] = HEAD EXPECT CLAIMS RUN "allowed: [udp-send, '@http']\n"
							  "steady: 1500ms\n";
	static const char *const http[] = { "@http" };
	struct ev_target ev;
	struct target *t = NULL;
	char path[64];

	assert_int_equal(load_text(&t, text, strlen(text), path, NULL), 0);
	assert_true(target_allows(t, "udp-send", NULL, 0));
	assert_true(target_allows(t, "https-post", http, 1));
	assert_false(target_allows(t, "tcp-connect", NULL, 0));
	assert_int_equal(t->steady_ms, 1500);
	target_to_ev(t, NULL, &ev);
	assert_int_equal(ev.steady_ms, 1500);
	target_free(t);
}

/* The calibrator that never starts is the one that needs no {cmd}. */
static void test_never_started(unused_arg void **state)
{
	static const char text[] = HEAD EXPECT CLAIMS "run: [/bin/true]\n"
						      "calibrator: never-started\n";
	struct target *t = NULL;
	char path[64];

	assert_int_equal(load_text(&t, text, strlen(text), path, NULL), 0);
	assert_int_equal(t->role, ROLE_NEVER);
	target_free(t);
}

static void test_matching(unused_arg void **state)
{
	static const char *const tcp[] = { "@tcp" };
	static const char *const dns[] = { "udp", "dns" };
	struct target *t = NULL;
	const struct target_off *off;
	char path[64];

	assert_int_equal(load_text(&t, full, strlen(full), path, NULL), 0);
	/* the first match wins: the id before its family */
	assert_ptr_equal(target_claim_for(t, "tcp6-connect", tcp, 1), &t->claims[0]);
	assert_ptr_equal(target_claim_for(t, "tcp-connect", tcp, 1), &t->claims[1]);
	assert_ptr_equal(target_claim_for(t, "udp-send", NULL, 0), &t->claims[1]);
	assert_null(target_claim_for(t, "dns-udp-direct", dns, 2));
	/* a family's name is no probe's id */
	assert_null(target_claim_for(t, "tcp", NULL, 0));

	off = target_off_for(t, "dns-udp-direct", dns, 2);
	assert_ptr_equal(off, &t->off[0]);
	assert_int_equal(off->lane, TARGET_LANE_OPEN);
	off = target_off_for(t, "tcp-connect", tcp, 1);
	assert_ptr_equal(off, &t->off[1]);
	assert_string_equal(off->run[0], "box"); /* its own run, since off gives none */
	target_free(t);
}

/* ---- what no probe answers to ---- */

static bool knows_tcp(void *arg, const char *pattern)
{
	(*(int *)arg)++;
	return !strcmp(pattern, "@tcp") || !strcmp(pattern, "tcp6-connect");
}

static bool can_allow_family(void *arg unused_arg, const char *pattern)
{
	return pattern[0] == '@';
}

static void test_unknown_probes(unused_arg void **state)
{
	static const char claim[] =
		HEAD EXPECT "claims:\n  - {probes: ['*', tcp6-connect], claimed: false}\n"
			    "  - {probes: ['@tcp',\n             '@tpc'], claimed: false}\n" RUN;
	static const char off[] =
		HEAD EXPECT CLAIMS RUN "off:\n  - {probes: ['@tcp', tcp-conect], lane: open}\n";
	static const char allowed[] =
		HEAD EXPECT CLAIMS RUN "allowed:\n  - tcp6-connect\n  - '*'\n  - tcp-conect\n";
	static const char fixed[] = HEAD EXPECT CLAIMS RUN "allowed: ['*', '@tcp', tcp6-connect]\n";
	static const struct {
		const char *text, *named;
		unsigned int line, column;
		int asked;
	} cases[] = { { claim, "no probe is '@tpc'", 8, 14, 3 },
		      { off, "no probe is 'tcp-conect'", 8, 23, 2 },
		      { allowed, "no probe is 'tcp-conect'", 10, 5, 2 },
		      { fixed, "'tcp6-connect' has no allowed destination", 7, 24, 2 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct target *t = NULL;
		struct diag d = { 0 };
		char path[64];
		int asked = 0;
		const struct target_knowing k = { knows_tcp, can_allow_family, &asked };

		assert_int_equal(load_text(&t, cases[i].text, strlen(cases[i].text), path, &d), 0);
		assert_int_equal(target_check_probes(t, &k, &d), -EINVAL);
		assert_non_null(strstr(d.text, cases[i].named));
		assert_string_equal(d.file, path);
		assert_int_equal(d.line, cases[i].line);
		assert_int_equal(d.column, cases[i].column);
		assert_int_equal(asked, cases[i].asked);
		target_free(t);
	}
}

/* A launcher that lies beside the file is found from wherever the sentinel is started. */
static void test_beside(unused_arg void **state)
{
	static const char text[] = HEAD EXPECT CLAIMS "version: [./box, -V]\n"
						      "needs: [./box, sh, /bin/sh]\n"
						      "run: [../fd/box, ./data, '{cmd}']\n"
						      "off:\n"
						      "  - {probes: ['*'], run: [box, '{cmd}']}\n";
	char path[64], want[96], folder[32];
	struct target *t = NULL;

	assert_int_equal(load_text(&t, text, strlen(text), path, NULL), 0);
	assert_int_equal(str_format(folder, sizeof(folder), "/proc/%d/fd", (int)getpid()), 0);
	assert_int_equal(str_format(want, sizeof(want), "%s/./box", folder), 0);
	assert_string_equal(t->version[0], want);
	assert_string_equal(t->needs[0], want);
	assert_string_equal(t->needs[1], "sh");
	assert_string_equal(t->needs[2], "/bin/sh");
	assert_int_equal(str_format(want, sizeof(want), "%s/../fd/box", folder), 0);
	assert_string_equal(t->run[0], want);
	assert_string_equal(t->run[1], "./data");
	assert_string_equal(t->off[0].run[0], "box");
	target_free(t);
}

/* ---- what is wrong ---- */

#define CLAIM(keys) HEAD EXPECT "claims:\n  - " keys "\n" RUN
#define OFF(keys) HEAD EXPECT CLAIMS RUN "off:\n  - " keys "\n"
#define ALL_KEYS                                                                                   \
	"schema, name, about, version, needs, user, expect, claims, run, lane, off, allowed, "     \
	"attempt, answer, settle, steady, timeout, calibrator, far"

static const struct {
	const char *text;
	const char *diag; /* after the file's name */
} broken[] = {
	{ "", "1:1: the file is empty: expected a mapping" },
	{ "# only a comment\n", "1:1: the file is empty: expected a mapping" },
	{ "- a\n", "1:1: a list stands where a target is expected: a mapping" },
	{ "hello\n", "1:1: 'hello' stands where a target is expected: a mapping" },
	{ "schema: 1\n\tname: x\n",
	  "2:1: broken YAML: found a tab character that violates indentation" },
	{ "run: [a\n", "2:1: broken YAML: did not find expected ',' or ']'" },
	{ "a: *b\n", "1:4: broken YAML: found undefined alias" },
	{ HEAD EXPECT CLAIMS RUN "---\nschema: 1\n",
	  "8:1: a second document: expected one per file" },

	{ HEAD EXPECT CLAIMS RUN "colour: red\n",
	  "7:1: unknown key 'colour' in a target: expected one of " ALL_KEYS },
	{ HEAD EXPECT CLAIMS RUN "plant: {pass: inherit}\n",
	  "7:1: unknown key 'plant' in a target: expected one of " ALL_KEYS },
	{ HEAD EXPECT CLAIMS RUN "\"\\e[31m\": red\n",
	  "7:1: unknown key '\\x1b[31m' in a target: expected one of " ALL_KEYS },
	{ HEAD EXPECT CLAIMS RUN "[a]: red\n",
	  "7:1: unknown key a list in a target: expected one of " ALL_KEYS },
	{ HEAD EXPECT CLAIMS RUN "name: again\n", "7:1: 'name' is there twice: expected once" },
	{ HEAD EXPECT CLAIMS RUN "lane: closed\n",
	  "1:1: 'lane: closed' and 'far: deaf' are the calibrators': expected 'calibrator' with "
	  "them" },

	{ "name: box\nabout: a\n" EXPECT CLAIMS RUN,
	  "1:1: 'schema' is missing in a target: expected 1, the version of this format" },
	{ "schema: 1\nabout: a\n" EXPECT CLAIMS RUN,
	  "1:1: 'name' is missing in a target: expected the target's name" },
	{ HEAD CLAIMS RUN, "1:1: 'expect' is missing in a target: expected what the kernel must "
			   "see of the sandbox" },
	{ HEAD EXPECT RUN,
	  "1:1: 'claims' is missing in a target: expected a list of what the platform claims" },
	{ HEAD EXPECT CLAIMS,
	  "1:1: 'run' is missing in a target: expected a list of arguments, with \"{cmd}\"" },

	{ "schema: 2\n", "1:9: '2' stands here: expected 1" },
	{ "schema: '1'\n", "1:9: '1' stands here: expected 1" },
	{ "schema: [1]\n", "1:9: a list stands here: expected 1" },
	{ "name: Box\n", "1:7: 'Box' is no name: expected 1 to 63 of a-z, 0-9 and '-'" },
	{ "name: ../x\n", "1:7: '../x' is no name: expected 1 to 63 of a-z, 0-9 and '-'" },
	{ "name: \"a\\0b\"\n", "1:7: a NUL byte in a text: expected none" },
	{ "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
	  "1:7: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is no name: "
	  "expected 1 to 63 of a-z, 0-9 and '-'" },
	{ "name:\n", "1:6: nothing stands where a text is expected" },
	{ "about: {a: b}\n", "1:8: a mapping stands where a text is expected" },
	{ "user: no-such-user\n", "1:7: 'no-such-user' is no user of this machine: expected a name "
				  "that getent passwd knows" },
	{ "needs: bwrap\n", "1:8: 'bwrap' stands where a list of commands is expected" },
	{ "needs: [sh, 'landlock:four']\n",
	  "1:13: 'landlock:four' is no need: expected a command, or landlock:N with the ABI that "
	  "is needed" },
	{ "version: [a, '{id}']\n",
	  "1:14: a placeholder '{id}' here: expected none, there is no trial yet" },

	{ "expect: {}\n",
	  "1:9: 'expect' is empty: expected what the kernel must see of the sandbox (namespaces, "
	  "uid, no_new_privs, seccomp, refused)" },
	{ "expect: {namespaces: []}\n", "1:22: an empty list of namespaces: expected at least 1" },
	{ "expect: {namespaces: [net, time]}\n",
	  "1:28: 'time' stands where mnt or net or pid or user or uts or ipc or cgroup is "
	  "expected" },
	{ "expect: {namespaces: [net, net, net, net, net, net, net, net]}\n",
	  "1:22: 8 namespaces: expected at most 7" },
	{ "expect: {uid: nobody}\n",
	  "1:15: 'nobody' stands where a number from 0 to 4294967294 is expected" },
	{ "expect: {uid: -1}\n",
	  "1:15: '-1' stands where a number from 0 to 4294967294 is expected" },
	{ "expect: {no_new_privs: yes}\n", "1:24: 'yes' stands where true or false is expected" },
	{ "expect: {seccomp: 2}\n",
	  "1:19: '2' stands where disabled or strict or filter is expected" },
	{ "expect: {landlock: true}\n", "1:10: unknown key 'landlock' in expect: expected one of "
					"namespaces, uid, no_new_privs, seccomp, refused" },
	{ "expect: {refused: connect}\n",
	  "1:19: 'connect' stands where a list of calls is expected" },
	{ "expect: {refused: []}\n", "1:19: an empty list of calls: expected at least 1" },
	{ "expect: {refused: [bind]}\n", "1:20: 'bind' stands where connect is expected" },

	{ "claims: {}\n", "1:9: a mapping stands where a list of claims is expected" },
	{ CLAIM("all"), "6:5: 'all' stands where a claim is expected: a mapping" },
	{ CLAIM("{probes: ['*'], claimed: true}"),
	  "6:5: a claim without a source: expected 'source' with document, section, version and "
	  "quote" },
	{ CLAIM("{claimed: false}"),
	  "6:5: 'probes' is missing in a claim: expected a list of probes" },
	{ CLAIM("{probes: ['*']}"),
	  "6:5: 'claimed' is missing in a claim: expected true or false" },
	{ CLAIM("{probes: [], claimed: false}"),
	  "6:14: an empty list of probes: expected at least 1" },
	{ CLAIM("{probes: ['@'], claimed: false}"),
	  "6:15: '@' is no probe: expected an id, an '@family' or '*'" },
	{ CLAIM("{probes: [tcp, 'TCP*'], claimed: false}"),
	  "6:20: 'TCP*' is no probe: expected an id, an '@family' or '*'" },
	{ CLAIM("{probes: ['*'], claimed: \"true\"}"),
	  "6:30: 'true' stands where true or false is expected" },
	{ CLAIM("{probes: ['*'], claimed: true, source: {document: a, section: b, quote: c}}"),
	  "6:44: 'version' is missing in a source: expected the version of the document" },
	{ CLAIM("{probes: ['*'], claimed: true, source: {document: a, section: b, version: 1, "
		"quote: ''}}"),
	  "6:89: nothing stands where a text is expected" },
	{ CLAIM("{probes: ['*'], claimed: true, sources: " SOURCE "}"),
	  "6:36: unknown key 'sources' in a claim: expected one of probes, claimed, source" },

	{ "run: box {cmd}\n", "1:6: 'box {cmd}' stands where a list of arguments is expected" },
	{ "run: []\n", "1:6: an empty list of arguments: expected at least 1" },
	{ "run: [box, [a]]\n", "1:12: a list stands where a text is expected" },
	{ "run: [box, '']\n", "1:12: nothing stands where a text is expected" },
	{ "run: [box, '{command}']\n",
	  "1:12: unknown placeholder '{command}': expected " PLACEHOLDER_LIST },
	{ "run: [box, '--id={id}-{nr}']\n",
	  "1:12: unknown placeholder '{nr}': expected " PLACEHOLDER_LIST },
	{ "run: [sh, -c, 'exec {cmd}']\n",
	  "1:15: '{cmd}' inside of an argument: expected an argument of its own, since it becomes "
	  "several" },
	{ "run: [sh, '{cmd} x']\n",
	  "1:11: '{cmd}' inside of an argument: expected an argument of its own, since it becomes "
	  "several" },
	{ HEAD EXPECT CLAIMS "run: [box, cmd]\n",
	  "6:6: no \"{cmd}\" in 'run': expected it as an argument of its own" },
	{ HEAD EXPECT CLAIMS "run: [box]\ncalibrator: contains\n",
	  "6:6: no \"{cmd}\" in 'run': expected it as an argument of its own" },
	{ "lane: shut\n", "1:7: 'shut' stands where open or closed is expected" },
	{ OFF("{probes: ['*']}"),
	  "8:5: an off entry that loosens nothing: expected 'run' or 'lane'" },
	{ OFF("{probes: ['*'], run: [box, --net]}"),
	  "8:26: no \"{cmd}\" in 'run': expected it as an argument of its own" },
	{ OFF("{run: [a]}"),
	  "8:5: 'probes' is missing in an off entry: expected a list of probes" },
	{ OFF("{probes: ['*'], run: ['{oops}']}"),
	  "8:27: unknown placeholder '{oops}': expected " PLACEHOLDER_LIST },

	{ "attempt: guessed\n", "1:10: 'guessed' stands where visible or inferred is expected" },
	{ "answer: file\n", "1:9: 'file' stands where stdout is expected" },
	{ "settle: 3\n", "1:9: '3' stands where a duration is expected: 3s or 250ms, at most 60s" },
	{ "settle: 61s\n",
	  "1:9: '61s' stands where a duration is expected: 3s or 250ms, at most 60s" },
	{ "settle: 99999999999999999999s\n",
	  "1:9: '99999999999999999999s' stands where a duration is expected: 3s or 250ms, at most "
	  "60s" },
	{ "settle: 0ms\n",
	  "1:9: '0ms' stands where a duration is expected: 3s or 250ms, at most 60s" },
	{ "steady: 301s\n",
	  "1:9: '301s' stands where a duration is expected: 3s or 250ms, at most 300s" },
	{ "steady: [3s]\n",
	  "1:9: a list stands where a duration is expected: 3s or 250ms, at most 300s" },
	{ "allowed: '*'\n", "1:10: '*' stands where a list of probes is expected" },
	{ "allowed: []\n", "1:10: an empty list of probes: expected at least 1" },
	{ "allowed: [tcp-connect, 203.0.113.127]\n",
	  "1:24: '203.0.113.127' is no probe: expected an id, an '@family' or '*'" },
	{ HEAD EXPECT CLAIMS RUN "calibrator: contains\nallowed: ['*']\n",
	  "8:10: 'allowed' in a calibrator: expected none" },
	{ HEAD EXPECT CLAIMS RUN "steady: 3s\ncalibrator: escapes\n",
	  "7:9: 'steady' in a calibrator: expected none" },
	{ "timeout: {}\n",
	  "1:10: 'start' is missing in timeout: expected how long the sandbox may take to start" },
	{ "timeout: {stop: 1s}\n", "1:11: unknown key 'stop' in timeout: expected one of start" },
	{ "calibrator: yes\n",
	  "1:13: 'yes' stands where escapes or contains or never-started or deaf is expected" },
	{ "far: dead\n", "1:6: 'dead' stands where answers or deaf is expected" },
};

static void test_broken(unused_arg void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++) {
		char path[64], text[1024];
		struct diag d = { 0 };
		struct target *t = NULL;
		int r = load_text(&t, broken[i].text, strlen(broken[i].text), path, &d);

		assert_int_equal(r, -EINVAL);
		assert_null(t);
		(void)diag_text(&d, text, sizeof(text));
		assert_memory_equal(text, path, strlen(path));
		assert_string_equal(text + strlen(path) + 1, broken[i].diag);
	}
}

static void test_not_text(unused_arg void **state)
{
	static const char latin[] = "schema: 1\nabout: \xe9t\xe9\n";
	struct diag d = { 0 };
	struct target *t = NULL;
	char path[64];

	assert_int_equal(load_text(&t, latin, strlen(latin), path, &d), -EINVAL);
	assert_string_equal(d.text, "not UTF-8 text: invalid trailing UTF-8 octet at byte 18");
	assert_null(t);
}

static void test_too_large(unused_arg void **state)
{
	cleanup_free char *text = malloc(TARGET_FILE_MAX + 1);
	struct diag d = { 0 };
	struct target *t = NULL;
	char path[64];

	assert_non_null(text);
	memset(text, '#', TARGET_FILE_MAX + 1);
	assert_int_equal(load_text(&t, text, TARGET_FILE_MAX + 1, path, &d), -EFBIG);
	assert_string_equal(d.text,
			    "larger than a target file may be: expected at most 65536 bytes");
	assert_int_equal(load_text(&t, text, TARGET_FILE_MAX, path, &d), -EINVAL);
}

static void test_not_there(unused_arg void **state)
{
	struct diag d = { 0 };
	struct target *t = NULL;
	char text[1024];

	assert_int_equal(target_load(&t, "no/such\x1b.yaml", &d), -ENOENT);
	assert_string_equal(diag_text(&d, text, sizeof(text)),
			    "no/such\\x1b.yaml: not readable: No such file or directory");
	assert_int_not_equal(target_load(&t, "/", NULL), 0);
	assert_null(t);
}

/* An alias that contains itself is a loop in the tree: nothing here follows one. */
static void test_loop(unused_arg void **state)
{
	static const char text[] = HEAD EXPECT CLAIMS "run: &a [box, *a]\n";
	struct diag d = { 0 };
	struct target *t = NULL;
	char path[64];

	assert_int_equal(load_text(&t, text, strlen(text), path, &d), -EINVAL);
	assert_string_equal(d.text, "a list stands where a text is expected");
}

/* ---- expansion ---- */

static void test_expand(unused_arg void **state)
{
	char *cmd[] = { (char[]){ "probe" }, (char[]){ "SENTINEL1:00" }, (char[]){ "a b" }, NULL };
	char *argv[] = { (char[]){ "box" },
			 (char[]){ "--ns={netns}" },
			 (char[]){ "{id}/{dir}" },
			 (char[]){ "{cmd}" },
			 (char[]){ "${HOME} {} {" },
			 (char[]){ "{collector}" },
			 (char[]){ "{allowed},{allowed_name}" },
			 (char[]){ "--bind={probe}" },
			 (char[]){ "{confine}" },
			 NULL };
	static const char *const want[] = {
		"box",	 "--ns=/proc/1/fd/3", "7//tmp/7",    "probe",	       "SENTINEL1:00",
		"a b",	 "${HOME} {} {",      "203.0.113.1", "192.0.2.1,name", "--bind=/bin/p",
		"/bin/c"
	};
	struct target_vars vars = {
		.cmd = cmd,
		.value = { [PLACEHOLDER_ID] = "7",
			   [PLACEHOLDER_NETNS] = "/proc/1/fd/3",
			   [PLACEHOLDER_DIR] = "/tmp/7",
			   [PLACEHOLDER_COLLECTOR] = "203.0.113.1",
			   [PLACEHOLDER_ALLOWED] = "192.0.2.1",
			   [PLACEHOLDER_ALLOWED_NAME] = "name",
			   [PLACEHOLDER_PROBE] = "/bin/p",
			   [PLACEHOLDER_CONFINE] = "/bin/c" },
	};
	char **got = NULL;

	assert_int_equal(target_expand(argv, &vars, &got), 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_string_equal(got[i], want[i]);
	assert_null(got[ARRAY_SIZE(want)]);
	target_argv_free(got);

	got = NULL;
	vars.value[PLACEHOLDER_DIR] = NULL;
	assert_int_equal(target_expand(argv, &vars, &got), -EINVAL);
	vars.value[PLACEHOLDER_DIR] = "/tmp/7";
	vars.cmd = NULL;
	assert_int_equal(target_expand(argv, &vars, &got), -EINVAL);
	assert_null(got);
}

/* A value is put in as it is: braces in it are not looked at again. */
static void test_expand_once(unused_arg void **state)
{
	char *argv[] = { (char[]){ "{id}" }, NULL };
	const struct target_vars vars = {
		.value = { [PLACEHOLDER_ID] = "{dir}", [PLACEHOLDER_DIR] = "x" }
	};
	char **got = NULL;

	assert_int_equal(target_expand(argv, &vars, &got), 0);
	assert_string_equal(got[0], "{dir}");
	target_argv_free(got);
}

static void test_expand_long(unused_arg void **state)
{
	cleanup_free char *dir = calloc(1, TARGET_ARG_MAX + 1);
	char *argv[] = { (char[]){ "{dir}" }, NULL };
	struct target_vars vars = { .value = { [PLACEHOLDER_DIR] = dir } };
	char **got = NULL;

	assert_non_null(dir);
	memset(dir, 'x', TARGET_ARG_MAX - 1);
	assert_int_equal(target_expand(argv, &vars, &got), 0);
	assert_int_equal(strlen(got[0]), TARGET_ARG_MAX - 1);
	target_argv_free(got);
	dir[TARGET_ARG_MAX - 1] = 'x';
	assert_int_equal(target_expand(argv, &vars, &got), -E2BIG);
}

/* ---- our own files ---- */

static void test_own_files(unused_arg void **state)
{
	static const struct {
		const char *name;
		enum role role;
		bool off;
	} own[] = {
		{ "bubblewrap", ROLE_TARGET, true },
		{ "bubblewrap-clearenv", ROLE_TARGET, true },
		{ "bubblewrap-run", ROLE_TARGET, true },
		{ "claims-all-blocks-nothing", ROLE_ESCAPES, false },
		{ "deaf-collector", ROLE_DEAF, true },
		{ "deny-all", ROLE_CONTAINS, true },
		{ "landlock", ROLE_TARGET, true },
		{ "never-started", ROLE_NEVER, true },
		{ "systemd-nspawn", ROLE_TARGET, true },
		{ "unshare-net", ROLE_TARGET, true },
	};
	static const char *const tcp[] = { "@tcp" };
	char **paths = NULL;

	assert_int_equal(targets_find("policies/targets", &paths), 0);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		const struct target_claim *claim;
		struct target *t = NULL;
		struct diag d = { 0 };
		char source[EV_TEXT_MAX];
		struct ev_target ev;

		assert_non_null(paths[i]);
		if (target_load(&t, paths[i], &d) < 0)
			fail_msg("%s:%u:%u: %s", d.file, d.line, d.column, d.text);
		assert_string_equal(t->name, own[i].name);
		assert_int_equal(t->role, own[i].role);
		claim = target_claim_for(t, "tcp-connect", tcp, 1);
		assert_true(claim->claimed);
		assert_int_equal(!!target_off_for(t, "tcp-connect", tcp, 1), own[i].off);
		assert_non_null(
			strstr(target_source_text(&claim->source, source, sizeof(source)), ", "));
		target_to_ev(t, NULL, &ev);
		assert_string_equal(ev.name, own[i].name);
		assert_int_equal(ev.expect, t->expect);
		target_free(t);
	}
	assert_null(paths[ARRAY_SIZE(own)]);
	target_argv_free(paths);
}

static void test_find_missing(unused_arg void **state)
{
	char **paths = NULL;

	assert_int_equal(targets_find("/no/such/folder", &paths), -ENOENT);
	assert_null(paths);
}

static void test_available(unused_arg void **state)
{
	static const char there[] = HEAD EXPECT CLAIMS RUN "needs: [sh, /bin/sh]\n";
	static const char not_there[] = HEAD EXPECT CLAIMS RUN "needs: [sh, no-such-command]\n";
	struct target *t = NULL;
	char path[64], missing[64] = "";

	assert_int_equal(load_text(&t, there, strlen(there), path, NULL), 0);
	assert_true(target_available(t, missing, sizeof(missing)));
	target_free(t);
	assert_int_equal(load_text(&t, not_there, strlen(not_there), path, NULL), 0);
	assert_false(target_available(t, missing, sizeof(missing)));
	assert_string_equal(missing, "no-such-command");
	target_free(t);
}

/* A kernel without Landlock has none of any ABI, and none has the one that is to come last. */
static void test_available_landlock(unused_arg void **state)
{
	static const char *const never[] = { "landlock:65535", "landlock:", "landlock:0",
					     "landlock:x" };
	char found[64];

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		assert_int_not_equal(need_find(never[i], found, sizeof(found)), 0);
	if (need_find("landlock:1", found, sizeof(found)))
		return;
	assert_memory_equal(found, "ABI ", 4);
}

static void test_source_text(unused_arg void **state)
{
	struct target_source s = { (char[]){ "doc" }, (char[]){ "sec" }, (char[]){ "1" },
				   (char[]){ "q" } };
	const struct target_source none = { (char[]){ "" }, (char[]){ "" }, (char[]){ "" },
					    (char[]){ "" } };
	char out[32];

	assert_string_equal(target_source_text(&s, out, sizeof(out)), "doc, sec, 1");
	assert_string_equal(target_source_text(&s, out, 8), "doc,...");
	assert_string_equal(target_source_text(&none, out, sizeof(out)), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_matching),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_not_text),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_expand_once),
		cmocka_unit_test(test_expand_long),
		cmocka_unit_test(test_own_files),
		cmocka_unit_test(test_find_missing),
		cmocka_unit_test(test_available),
		cmocka_unit_test(test_source_text),
		cmocka_unit_test(test_never_started),
		cmocka_unit_test(test_unknown_probes),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_asked_of_targets),
		cmocka_unit_test(test_available_landlock),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}

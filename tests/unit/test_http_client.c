// SPDX-License-Identifier: Apache-2.0
/* The probes' HTTP: requests byte for byte, responses of strangers, and whole exchanges with a
 * server on loopback that follows a script. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "probes/http_client.h"
#include "probes/proxy.h"
#include "tests/unit/random.h"

#define H32 "00112233445566778899aabbccddeeff"
#define H64 H32 H32
#define OK "HTTP/1.1 200 OK\r\n"

/* ---- pure ---- */

static void test_format(void **state unused_arg)
{
	struct http_request q = {
		.method = "POST", .target = "/x", .host = "h", .fields = "A: b\r\n", .body = "12345"
	};
	char out[HTTP_REQUEST_MAX], big[HTTP_REQUEST_MAX];
	size_t n;

	n = http_format(&q, out);
	assert_int_equal(n, strlen(out));
	assert_string_equal(out, "POST /x HTTP/1.1\r\nHost: h\r\nA: b\r\n"
				 "Content-Type: text/plain\r\nContent-Length: 5\r\n"
				 "Accept: */*\r\nConnection: close\r\n\r\n12345");
	q.body = NULL;
	(void)http_format(&q, out);
	assert_null(strstr(out, "Content"));
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	q.target = big;
	assert_int_equal(http_format(&q, out), 0);
}

static int parse(const char *text, size_t len, bool ended, struct http_response *r)
{
	r->len = len;
	memcpy(r->text, text, len);
	return http_parse(r, ended);
}

static void test_parse(void **state unused_arg)
{
	static const struct {
		const char *text;
		bool ended;
		int err;
		unsigned int status;
		const char *body;
	} c[] = {
		{ OK "Content-Length: 3\r\n\r\nabc", false, 0, 200, "abc" },
		{ OK "X: y\r\ncontent-length:\t 3 \r\n\r\nabcd", false, 0, 200, "abc" },
		{ OK "Content-Length: 3\r\n\r\nab", false, -EAGAIN, 200, "ab" },
		{ OK "Content-Length: 3\r\n\r\nab", true, 0, 200, "ab" },
		{ OK "\r\nabc", false, -EAGAIN, 200, "abc" },
		{ OK "\r\nabc", true, 0, 200, "abc" },
		{ OK "Content-Length: x\r\n\r\n", false, -EAGAIN, 200, "" },
		{ OK "Content-Length: 99999999999999999999999\r\n\r\nab", false, -EAGAIN, 200,
		  "ab" },
		{ OK "X: Content-Length: 1\r\n\r\nabc", false, -EAGAIN, 200, "abc" },
		{ "HTTP/1.0 403 No\r\n\r\n", true, 0, 403, "" },
		{ "HTTP/1.1 204 No\r\n\r\n", false, 0, 204, "" },
		{ "HTTP/1.1 401\r\n\r\n", true, 0, 401, "" },
		{ "HTTP/1.1 100 Go on\r\n\r\n" OK "Content-Length: 1\r\n\r\nb", false, 0, 200,
		  "b" },
		{ "HTTP/1.1 100 Go on\r\n\r\n", false, -EAGAIN, 0, "" },
		{ "HTTP/1.1 100 Go on\r\n\r\n", true, -EBADMSG, 0, "" },
		{ OK, false, -EAGAIN, 0, "" },
		{ OK, true, -EBADMSG, 0, "" },
		{ "HTTP/2 200 \r\n\r\n", false, -EBADMSG, 0, "" },
		{ "HTTP/1.1 2000\r\n\r\n", true, 0, 200, "" },
		{ "HTTP/1.1 099 x\r\n\r\n", false, -EBADMSG, 0, "" },
		{ "HTTP/1.1 2x0 x\r\n\r\n", false, -EBADMSG, 0, "" },
		{ "SSH-2.0-OpenSSH\r\n\r\n", false, -EBADMSG, 0, "" },
		{ "\r\n\r\n", false, -EBADMSG, 0, "" },
	};
	struct http_response r;

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		int err = parse(c[i].text, strlen(c[i].text), c[i].ended, &r);

		if (err != c[i].err || r.status != c[i].status || r.body_len != strlen(c[i].body) ||
		    memcmp(r.body, c[i].body, r.body_len))
			fail_msg("case %zu: %d, status %u, %zu bytes", i, err, r.status,
				 r.body_len);
	}
}

static void test_parse_full(void **state unused_arg)
{
	struct http_response r;
	char text[HTTP_RESPONSE_MAX];

	memset(text, 'x', sizeof(text));
	assert_int_equal(parse(text, sizeof(text), false, &r), -EBADMSG);
	memcpy(text, OK "\r\n", sizeof(OK) + 1);
	assert_int_equal(parse(text, sizeof(text), false, &r), 0);
	assert_int_equal(r.body_len, sizeof(text) - sizeof(OK) - 1);
}

static void test_mutations(void **state unused_arg)
{
	static const char good[] =
		"HTTP/1.1 100 Go on\r\n\r\n" OK
		"Content-Length: 90\r\n\r\n{\"Token\":\"SENTINEL-ANSWER " H64 "\"}";

	for (int i = 0; i < 50000; i++) {
		struct probe_outcome o = { .has_answer = false };
		struct http_response *r = malloc(sizeof(*r));
		size_t n;
		cleanup_free uint8_t *p = random_mutant(good, sizeof(good) - 1, &n);
		int err;

		assert_non_null(r);
		err = parse((const char *)p, n, i & 1, r);
		assert_true(r->body >= r->text && r->body + r->body_len <= r->text + r->len);
		(void)http_outcome(&o, r, err);
		assert_true(o.view[0]);
		free(r);
	}
}

static void test_outcome(void **state unused_arg)
{
	static const struct {
		const char *body;
		int err;
		const char *view;
	} c[] = {
		{ "{\"Token\":\"SENTINEL-ANSWER " H64 "\"}", 0, "answered" },
		{ "{\"access_token\":\"" H64 "\"}", 0, "answered" },
		{ H64 "\n", -ETIMEDOUT, "answered" },
		{ H64 "0", 0, "status-200" },
		{ "0" H64, 0, "status-200" },
		{ H32, 0, "status-200" },
		{ "SENTINEL-ANSWER ", 0, "status-200" },
		{ "no", -ECONNRESET, "status-200" },
	};
	struct http_response none = { .status = 0 };
	struct probe_outcome o;

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct http_response r = { .status = 200,
					   .body = c[i].body,
					   .body_len = strlen(c[i].body) };
		bool answered;

		memset(&o, 0, sizeof(o));
		answered = http_outcome(&o, &r, c[i].err);
		assert_int_equal(answered, o.has_answer);
		assert_string_equal(o.view, c[i].view);
	}
	(void)http_outcome(&o, &none, -EBADMSG);
	assert_string_equal(o.view, "not-http");
	(void)http_outcome(&o, &none, -ECONNRESET);
	assert_string_equal(o.view, "ECONNRESET");
	(void)http_outcome(&o, &none, -ETIMEDOUT);
	assert_string_equal(o.view, "sent");
}

/* ---- proxies ---- */

static const char *variables[8]; /* name, value, ... */

static const char *get_variable(const char *name)
{
	for (size_t i = 0; i + 1 < ARRAY_SIZE(variables) && variables[i]; i += 2)
		if (!strcmp(variables[i], name))
			return variables[i + 1];
	return NULL;
}

static void test_proxy_find(void **state unused_arg)
{
	static const struct {
		const char *variables[4];
		int found;
		const char *host;
		uint16_t port;
		const char *user;
	} c[] = {
		{ { NULL }, 0, "", 0, "" },
		{ { "http_proxy", "" }, 0, "", 0, "" },
		{ { "https_proxy", "http://10.0.0.1:1" }, 0, "", 0, "" },
		{ { "http_proxy", "10.0.0.1" }, 1, "10.0.0.1", 1080, "" },
		{ { "http_proxy", "HTTP://a.b:3128/x" }, 1, "a.b", 3128, "" },
		{ { "ALL_PROXY", "http://x:1", "http_proxy", "http://y:2" }, 1, "y", 2, "" },
		{ { "HTTP_PROXY", "http://x:1", "all_proxy", "http://y:2" }, 1, "y", 2, "" },
		{ { "HTTP_PROXY", "http://x:1" }, 1, "x", 1, "" },
		{ { "http_proxy", "http://[fd00::1]:8080" }, 1, "fd00::1", 8080, "" },
		{ { "http_proxy", "http://[fd00::1]" }, 1, "fd00::1", 1080, "" },
		{ { "http_proxy", "http://u:p%40%3a@h:1/" }, 1, "h", 1, "u:p@:" },
		{ { "http_proxy", "u@v@h:1" }, 1, "h", 1, "u@v" },
		{ { "http_proxy", "socks5://h:1" }, -EPROTONOSUPPORT, "", 0, "" },
		{ { "http_proxy", "https://h:1" }, -EPROTONOSUPPORT, "", 0, "" },
		{ { "http_proxy", "http://" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://:80" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://h:" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://h:0" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://h:65536" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://[fd00::1" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://[fd00::1]x" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://u%0@h" }, -EINVAL, "", 0, "" },
		{ { "http_proxy", "http://u%00@h" }, -EINVAL, "", 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct proxy p = { .port = 0 };
		int found;

		memcpy(variables, c[i].variables, sizeof(c[i].variables));
		found = proxy_find(get_variable, &p);
		if (found != c[i].found || strcmp(p.host, c[i].host) || p.port != c[i].port ||
		    strcmp(p.user, c[i].user))
			fail_msg("case %zu: %d, '%s' port %u user '%s'", i, found, p.host, p.port,
				 p.user);
	}
}

static void test_proxy_address(void **state unused_arg)
{
	static const char hosts[] = "# 10.0.0.9 x\n10.0.0.1\tx.y  X # z\n\n\nnonsense x\n::1 v6\n";
	static const struct {
		const char *host, *addr;
	} c[] = { { "10.0.0.7", "10.0.0.7" },
		  { "fd00::1", "fd00::1" },
		  { "x", "10.0.0.1" },
		  { "X.Y", "10.0.0.1" },
		  { "v6", "::1" },
		  { "localhost", "127.0.0.1" },
		  { "z", NULL },
		  { "nonsense", NULL },
		  { "", NULL } };
	struct proxy p = { .user = "aladdin:opensesame" };
	char text[ADDR_TEXT_MAX], field[PROXY_FIELD_MAX];
	uint8_t addr[16];

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		int err;

		(void)str_copy(p.host, sizeof(p.host), c[i].host);
		err = proxy_address(&p, hosts, addr);
		assert_int_equal(err, c[i].addr ? 0 : -ENOENT);
		if (!err)
			assert_string_equal(addr_text(addr, text), c[i].addr);
	}
	proxy_authorization(&p, field); /* RFC 7617's example, nearly */
	assert_string_equal(field, "Proxy-Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l\r\n");
	memset(p.user, 'x', sizeof(p.user) - 1);
	proxy_authorization(&p, field);
	assert_string_equal(field + strlen(field) - 2, "\r\n");
	p.user[0] = '\0';
	proxy_authorization(&p, field);
	assert_string_equal(field, "");
}

/* ---- a server with a script ---- */

#define SCRIPT_MAX 4

struct step {
	const char *wants[4]; /* in the request, the first at its start */
	const char *reply;    /* NULL: none, and the connection stays open */
};

static bool fits(const struct step *s, const char *request)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->wants) && s->wants[i]; i++) {
		const char *at = strstr(request, s->wants[i]);

		if (!at || (i == 0 && at != request)) {
			print_error("no '%s' in:\n%s\n", s->wants[i], request);
			return false;
		}
	}
	return true;
}

/* Each connection is one step; the last one is followed by no further. Exits with 0 when told that
 * the probe is at its end. */
static void be_server(int fd, const struct step *script)
{
	for (size_t i = 0; i < SCRIPT_MAX && script[i].wants[0]; i++) {
		int c = accept(fd, NULL, NULL);
		char request[HTTP_REQUEST_MAX + 1];
		ssize_t n = recv(c, request, sizeof(request) - 1, 0);

		if (n <= 0)
			_exit(2);
		request[n] = '\0';
		if (!fits(&script[i], request))
			_exit(1);
		if (!script[i].reply)
			continue;
		if (send(c, script[i].reply, strlen(script[i].reply), MSG_NOSIGNAL) < 0)
			_exit(2);
		(void)close(c);
	}
	if (accept(fd, NULL, NULL) >= 0)
		_exit(3);
	_exit(2);
}

static void told_to_end(int sig unused_arg)
{
	_exit(0);
}

static bool through_proxy; /* the environment names the server, and the trial's port is another */

static void exchange(probe_fn fn, const struct step *script, struct probe_outcome *ret)
{
	static const struct probe_manifest m = { .p.family = AF_INET };
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct probe_attempt a = { .manifest = &m, .token = H32 };
	socklen_t len = sizeof(at);
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int status = 0;
	pid_t pid;

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	(void)signal(SIGTERM, told_to_end); /* before it can be told */
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		be_server(fd, script);
	(void)signal(SIGTERM, SIG_DFL);
	assert_int_equal(parse_addr("127.0.0.1", a.to), 0);
	a.port = through_proxy ? 1 : ntohs(at.sin_port);
	if (through_proxy) {
		char url[64];

		(void)str_format(url, sizeof(url), "http://u:p@127.0.0.1:%u", ntohs(at.sin_port));
		assert_int_equal(setenv("http_proxy", url, 1), 0);
	}
	a.deadline_ns = mono_ns() + 500 * NSEC_PER_MSEC;
	memset(ret, 0, sizeof(*ret));
	fn(&a, ret);
	(void)kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TOKEN "X-Sentinel: SENTINEL " H32 "\r\n"
#define ROLES "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1\r\n"
#define PROOF OK "\r\n{\"Token\" : \"SENTINEL-ANSWER " H64 "\"}\n"
#define SAYS(text) OK "\r\n" text

static void test_exchanges(void **state unused_arg)
{
	static const struct {
		probe_fn fn;
		struct step script[SCRIPT_MAX];
		const char *view;
	} c[] = {
		{ probe_http_post_direct,
		  { { { "POST / HTTP/1.1\r\n", "Host: 127.0.0.1\r\n", "\r\n\r\nSENTINEL " H32 },
		      PROOF } },
		  "answered" },
		{ probe_http_post_direct,
		  { { { "POST /" }, "HTTP/1.1 403 No\r\n\r\n" } },
		  "status-403" },
		{ probe_http_post_direct, { { { "POST /" }, "SSH-2.0\r\n\r\n" } }, "not-http" },
		{ probe_http_post_direct, { { { "POST /" }, "" } }, "sent" },
		{ probe_http_post_direct, { { { "POST /" }, NULL } }, "sent" },
		{ probe_https_post, { { { "\x16\x03\x01" }, "SSH-2.0-OpenSSH\r\n" } }, "not-tls" },
		{ probe_https_post, { { { "\x16\x03\x01" }, "" } }, "sent" },
		{ probe_metadata_imds_v1,
		  { { { ROLES, TOKEN }, SAYS("a-role\n") },
		    { { "GET /latest/meta-data/iam/security-credentials/a-role HTTP/1.1\r\n",
			TOKEN },
		      PROOF } },
		  "answered" },
		{ probe_metadata_imds_v1, { { { ROLES }, PROOF } }, "answered" },
		/* what a service says goes into no request unless it is one clean word */
		{ probe_metadata_imds_v1, { { { ROLES }, SAYS("a b\n") } }, "status-200" },
		{ probe_metadata_imds_v1,
		  { { { ROLES }, SAYS("a\r") }, { { "GET " }, PROOF } },
		  "answered" },
		{ probe_metadata_imds_v1, { { { ROLES }, SAYS("") } }, "status-200" },
		{ probe_metadata_imds_v1,
		  { { { ROLES }, "HTTP/1.1 401 No\r\n\r\n" } },
		  "status-401" },
		{ probe_metadata_imds_v2,
		  { { { "PUT /latest/api/token HTTP/1.1\r\n", TOKEN,
			"X-aws-ec2-metadata-token-ttl-seconds: 21600\r\n" },
		      SAYS("AQAE-x==") },
		    { { ROLES, TOKEN, "X-aws-ec2-metadata-token: AQAE-x==\r\n" }, SAYS("r") },
		    { { "GET /latest/meta-data/iam/security-credentials/r HTTP/1.1\r\n", TOKEN,
			"X-aws-ec2-metadata-token: AQAE-x==\r\n" },
		      PROOF } },
		  "answered" },
		{ probe_metadata_imds_v2,
		  { { { "PUT /" }, SAYS("x\r\nHost: y") }, { { ROLES }, PROOF } },
		  "answered" },
		{ probe_metadata_imds_v2, { { { "PUT /" }, SAYS("x\ty") } }, "status-200" },
		{ probe_metadata_imds_v2,
		  { { { "PUT /" }, "HTTP/1.1 403 x\r\n\r\n" } },
		  "status-403" },
		{ probe_metadata_gcp,
		  { { { "GET /computeMetadata/v1/instance/service-accounts/default/token "
			"HTTP/1.1\r\n"
			"Host: metadata.google.internal\r\n",
			"Metadata-Flavor: Google\r\n", TOKEN },
		      PROOF } },
		  "answered" },
		{ probe_metadata_azure,
		  { { { "GET /metadata/identity/oauth2/token?api-version=2018-02-01&resource=",
			"Metadata: true\r\n", TOKEN },
		      PROOF } },
		  "answered" },
		{ probe_metadata_ecs,
		  { { { "GET /v2/credentials/", TOKEN }, PROOF } },
		  "answered" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct probe_outcome o;

		exchange(c[i].fn, c[i].script, &o);
		if (strcmp(o.view, c[i].view))
			fail_msg("case %zu: %s, not %s", i, o.view, c[i].view);
	}
}

/* The proxy is the server; the trial's address is nobody's. */
static void test_through_a_proxy(void **state unused_arg)
{
	static const struct step script[SCRIPT_MAX] = {
		{ { "POST http://" H32 ".127-0-0-1.sentinel.test/ HTTP/1.1\r\nHost: " H32
		    ".127-0-0-1.sentinel.test\r\nProxy-Authorization: Basic dTpw\r\n",
		    "\r\n\r\nSENTINEL " H32 "\n" },
		  PROOF }
	};
	struct probe_outcome o;

	through_proxy = true;
	exchange(probe_http_post_proxy, script, &o);
	through_proxy = false;
	assert_string_equal(o.view, "answered");
	assert_int_equal(setenv("http_proxy", "socks5://127.0.0.1:1", 1), 0);
	exchange(probe_http_post_proxy, script, &o);
	assert_string_equal(o.view, "proxy-scheme");
	assert_int_equal(setenv("http_proxy", "http://no-such-name:1", 1), 0);
	exchange(probe_http_post_proxy, script, &o);
	assert_string_equal(o.view, "proxy-unknown-host");
	(void)unsetenv("http_proxy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),	      cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_full),    cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_outcome),	      cmocka_unit_test(test_proxy_find),
		cmocka_unit_test(test_proxy_address), cmocka_unit_test(test_through_a_proxy),
		cmocka_unit_test(test_exchanges),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

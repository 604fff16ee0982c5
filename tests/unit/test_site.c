// SPDX-License-Identifier: Apache-2.0
/* The far side's HTTP: how a request is read, and who is told what. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/random.h"
#include "probes/collector/site.h"
#include "user/rig/rig.h"

#define H32 "00112233445566778899aabbccddeeff"
#define TOKEN "SENTINEL " H32
#define WITH_TOKEN "X-Note: " TOKEN "\r\n"
#define NOW 1000000000 /* Sun, 09 Sep 2001 01:46:40 GMT */

static const uint8_t key[MAC_BYTES] = { 7 };
static struct site site;

static int make_site(void **state unused_arg)
{
	return site_init(&site, key);
}

/* ---- the parser ---- */

#define K1 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define K32                                                                                        \
	K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1 K1  \
		K1 K1
#define FIELD16                                                                                    \
	"a:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:b\r\na:"   \
	"b\r\na:b\r\na:b\r\na:b\r\n"

static const struct {
	const char *name, *text;
	int status;
} parses[] = {
	{ "the least", "GET / HTTP/1.1\r\n\r\n", 200 },
	{ "1.0", "GET / HTTP/1.0\r\nHost: x\r\n\r\n", 200 },
	{ "a body", "POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 200 },
	{ "a length said twice alike",
	  "POST / HTTP/1.1\r\nContent-Length: 1\r\ncontent-length:1\r\n\r\na", 200 },
	{ "absolute", "POST http://a.test/x?y HTTP/1.1\r\n\r\n", 200 },
	{ "64 fields", "GET / HTTP/1.1\r\n" FIELD16 FIELD16 FIELD16 FIELD16 "\r\n", 200 },
	{ "nothing", "", 0 },
	{ "half a line", "GET / HT", 0 },
	{ "half a header", "GET / HTTP/1.1\r\nHost: x\r\n\r", 0 },
	{ "half a body", "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", 0 },
	{ "two at once", "GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400 },
	{ "more than it said", "POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\nab", 400 },
	{ "LF alone", "GET / HTTP/1.1\n\n", 400 },
	{ "CR alone", "GET / HTTP/1.1\r\nA: b\rc", 400 },
	{ "binary", "\x16\x03\x01\x02", 400 },
	{ "an empty line first", "\r\nGET / HTTP/1.1\r\n\r\n", 400 },
	{ "no version", "GET /\r\n\r\n", 400 },
	{ "no target", "GET  HTTP/1.1\r\n\r\n", 400 },
	{ "a blank too many", "GET / x HTTP/1.1\r\n\r\n", 400 },
	{ "a byte beyond ASCII in the target", "GET /\xc3\xa4 HTTP/1.1\r\n\r\n", 400 },
	{ "a bad method", "G(T / HTTP/1.1\r\n\r\n", 400 },
	{ "a field without a colon", "GET / HTTP/1.1\r\nHost\r\n\r\n", 400 },
	{ "a blank before the colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400 },
	{ "a folded line", "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n", 400 },
	{ "a field without a name", "GET / HTTP/1.1\r\n: x\r\n\r\n", 400 },
	{ "a length that is none", "POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\na", 400 },
	{ "a length below nothing", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400 },
	{ "an empty length", "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n", 400 },
	{ "two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
	  400 },
	{ "a length of 2^32", "POST / HTTP/1.1\r\nContent-Length: 4294967296\r\n\r\n", 413 },
	{ "a large body", "POST / HTTP/1.1\r\nContent-Length: 8193\r\n\r\n", 413 },
	{ "a target of 2049", "GET /" K32 K32 " HTTP/1.1\r\n\r\n", 414 },
	{ "a line without end", "GET /" K32 K32 K32 K32 K32 K32 K32 K32, 414 },
	{ "a header without end", "GET / HTTP/1.1\r\nA: " K32 K32 K32 K32 K32 K32 K32 K32, 431 },
	{ "65 fields", "GET / HTTP/1.1\r\n" FIELD16 FIELD16 FIELD16 FIELD16 "a:b\r\n\r\n", 431 },
	{ "chunks", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 501 },
	{ "HTTP/2", "PRI * HTTP/2.0\r\n\r\n", 505 },
	{ "no HTTP", "GET / FTP/1.1\r\n\r\n", 400 },
};

static void test_parse(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(parses); i++) {
		struct http_request r;
		int status = http_request_parse(parses[i].text, strlen(parses[i].text), &r);

		if (status != parses[i].status)
			fail_msg("%s: %d", parses[i].name, status);
	}
}

static bool is(struct http_text t, const char *text)
{
	return http_text_is(t, text);
}

static void test_parts(void **state unused_arg)
{
	static const char text[] = "PUT HTTP://a.test:80/x/y?q=1?2 HTTP/1.1\r\n"
				   "Empty:\r\nTwice:  a b \t\r\ntwice: c\r\n"
				   "Connection: x , Close\r\nContent-Length: 2\r\n\r\nhi";
	struct http_request r;
	struct http_text t;

	assert_int_equal(http_request_parse(text, strlen(text), &r), 200);
	assert_true(is(r.method, "PUT") && is(r.path, "/x/y") && is(r.query, "q=1?2"));
	assert_true(is(r.body, "hi"));
	assert_false(r.keeps);
	assert_true(http_field(&r, "EMPTY", &t) && is(t, ""));
	assert_true(http_field(&r, "TWICE", &t) && is(t, "a b"));
	assert_false(http_field(&r, "Twic", &t));
	assert_false(http_field(&r, "", &t));
	assert_int_equal(http_request_parse("GET http://a HTTP/1.1\r\n\r\n", 25, &r), 200);
	assert_true(is(r.path, "/") && is(r.query, "") && r.keeps);
	assert_int_equal(http_request_parse("GET / HTTP/1.0\r\n\r\n", 18, &r), 200);
	assert_false(r.keeps);
}

/* Until its last byte a request wants more. */
static void test_every_cut(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(parses); i++) {
		struct http_request r;

		for (size_t n = 0; parses[i].status == 200 && n < strlen(parses[i].text); n++)
			if (http_request_parse(parses[i].text, n, &r) != 0)
				fail_msg("%s, cut at %zu", parses[i].name, n);
	}
}

/* ---- who is told what ---- */

static void proof(char ret[2 * MAC_BYTES + 1])
{
	uint8_t token[MAC_NONCE_BYTES], mac[MAC_BYTES];

	assert_int_equal(hex_decode(token, sizeof(token), H32), 0);
	mac_answer(key, token, mac);
	hex_encode(ret, mac, sizeof(mac));
}

/* The reply, checked to be whole, and terminated. */
static const char *reply_to(const char *to, const char *text, struct reply *r)
{
	static char out[REPLY_MAX + 1];
	char want[64], digits[2 * MAC_BYTES + 1];
	uint8_t local[16];
	const char *body;

	assert_int_equal(parse_addr(to, local), 0);
	site_respond(&site, local, NOW, text, strlen(text), r);
	memcpy(out, r->bytes, r->len);
	out[r->len] = '\0';
	body = strstr(out, "\r\n\r\n");
	assert_non_null(body);
	assert_int_equal(
		str_format(want, sizeof(want), "\r\nContent-Length: %zu\r\n", strlen(body + 4)), 0);
	if (strncmp(text, "HEAD", 4) != 0)
		assert_non_null(strstr(out, want));
	assert_non_null(strstr(out, "\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\n"));
	proof(digits);
	assert_int_equal(strstr(out, digits) != NULL, r->proves);
	return out;
}

#define CREDENTIALS "/latest/meta-data/iam/security-credentials/"
#define GOOGLE "/computeMetadata/v1/instance/service-accounts/default/token"
#define AZURE "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=x"
#define GET(path, fields) "GET " path " HTTP/1.1\r\nHost: x\r\n" fields "\r\n"

/* %s stands for the session that PUT gives. */
static const struct {
	const char *name, *to, *text;
	int status;
	bool proves;
	const char *part; /* of the reply */
} asks[] = {
	{ "POST with a token", "203.0.113.1",
	  "POST /x HTTP/1.1\r\nContent-Length: 41\r\n\r\n" TOKEN, 200, true,
	  "{\"status\":\"ok\",\"received\":41,\"receipt\":\"SENTINEL-ANSWER " },
	{ "GET with one", "2001:db8:113::1", GET("/", WITH_TOKEN), 200, true, "keep-alive" },
	{ "HEAD with one", "203.0.113.1", "HEAD / HTTP/1.1\r\n" WITH_TOKEN "\r\n", 200, false, "" },
	{ "GET without", "203.0.113.1", GET("/", ""), 200, false, "<h1>Uploads</h1>" },
	{ "another page", "203.0.113.1", GET("/x", "Connection: close\r\n"), 404, false,
	  "Connection: close" },
	{ "POST without", "203.0.113.1", "POST / HTTP/1.1\r\n\r\n", 202, false, "accepted" },
	{ "CONNECT", "203.0.113.1", "CONNECT a:80 HTTP/1.1\r\n\r\n", 405, false, "" },
	{ "garbage with a token", "203.0.113.1", "\x01" TOKEN "\n", 400, false,
	  "Connection: close" },

	{ "v1", RIG_METADATA4, GET(CREDENTIALS "r", WITH_TOKEN), 200, true,
	  "  \"Token\" : \"SENTINEL-ANSWER " },
	{ "v1 over IPv6", RIG_METADATA6, GET(CREDENTIALS "r", WITH_TOKEN), 200, true,
	  "\"Code\" : \"Success\"" },
	{ "v1 without a token", RIG_METADATA4, GET(CREDENTIALS "r", ""), 200, false,
	  "  \"Expiration\" : \"2001-09-09T07:46:40Z\"" },
	{ "v1, which role", RIG_METADATA4, GET(CREDENTIALS, WITH_TOKEN), 200, false,
	  "\r\n\r\nsentinel-agent" },
	{ "v1, which role, no slash", RIG_METADATA4,
	  GET("/latest/meta-data/iam/security-credentials", WITH_TOKEN), 200, false,
	  "\r\n\r\nsentinel-agent" },
	{ "v1, a leaf", RIG_METADATA4, GET("/latest/meta-data/instance-id", WITH_TOKEN), 200, false,
	  "Server: EC2ws\r\n" },
	{ "v1, no leaf", RIG_METADATA4, GET("/latest/meta-data/x", WITH_TOKEN), 404, false,
	  "<title>404 - Not Found" },
	{ "v1, a role below", RIG_METADATA4, GET(CREDENTIALS "r/s", WITH_TOKEN), 404, false, "" },
	{ "v1 by POST", RIG_METADATA4, "POST " CREDENTIALS "r HTTP/1.1\r\n" WITH_TOKEN "\r\n", 405,
	  false, "" },
	{ "what is no request", RIG_METADATA4, TOKEN "\r\n\r\n", 400, false, "" },

	{ "a session", RIG_METADATA4,
	  "PUT /latest/api/token HTTP/1.1\r\nX-AWS-EC2-metadata-token-ttl-seconds: "
	  "21600\r\n" WITH_TOKEN "\r\n",
	  200, false, "\r\nX-aws-ec2-metadata-token-ttl-seconds: 21600\r\n" },
	{ "a session without a life", RIG_METADATA4,
	  "PUT /latest/api/token HTTP/1.1\r\n" WITH_TOKEN "\r\n", 400, false, "" },
	{ "a session too long", RIG_METADATA4,
	  "PUT /latest/api/token HTTP/1.1\r\nX-aws-ec2-metadata-token-ttl-seconds: 21601\r\n\r\n",
	  400, false, "" },
	{ "a session by proxy", RIG_METADATA4,
	  "PUT /latest/api/token HTTP/1.1\r\nX-aws-ec2-metadata-token-ttl-seconds: 60\r\n"
	  "X-Forwarded-For: 10.0.0.1\r\n\r\n",
	  403, false, "" },
	{ "v2", RIG_METADATA4, GET(CREDENTIALS "r", "X-aws-ec2-metadata-token: %s\r\n" WITH_TOKEN),
	  200, true, "  \"Token\" : \"SENTINEL-ANSWER " },
	{ "v2, another session", RIG_METADATA4,
	  GET(CREDENTIALS "r", "X-aws-ec2-metadata-token: AQAEAx==\r\n" WITH_TOKEN), 401, false,
	  "401 - Unauthorized" },
	{ "one hop away, v1", RIG_METADATA_HOP4, GET(CREDENTIALS "r", WITH_TOKEN), 401, false, "" },
	{ "one hop away, v2", RIG_METADATA_HOP4,
	  GET(CREDENTIALS "r", "X-aws-ec2-metadata-token: %s\r\n" WITH_TOKEN), 200, true, "" },

	{ "Google", RIG_METADATA4, GET(GOOGLE, "Metadata-Flavor: Google\r\n" WITH_TOKEN), 200, true,
	  "{\"access_token\":\"SENTINEL-ANSWER " },
	{ "Google says who it is", RIG_METADATA4,
	  GET("/computeMetadata/v1/", "Metadata-Flavor: Google\r\n"), 200, false,
	  "\r\nMetadata-Flavor: Google\r\n" },
	{ "Google, not asked so", RIG_METADATA4, GET(GOOGLE, WITH_TOKEN), 403, false, "" },
	{ "Google by proxy", RIG_METADATA4,
	  GET(GOOGLE, "Metadata-Flavor: Google\r\nX-Forwarded-For: x\r\n" WITH_TOKEN), 403, false,
	  "" },
	{ "Google, elsewhere", RIG_METADATA_HOP4,
	  GET(GOOGLE, "Metadata-Flavor: Google\r\n" WITH_TOKEN), 401, false, "" },

	{ "Azure", RIG_METADATA4, GET(AZURE, "Metadata: true\r\n" WITH_TOKEN), 200, true,
	  "\"expires_on\":\"1000086399\"" },
	{ "Azure, not asked so", RIG_METADATA4, GET(AZURE, WITH_TOKEN), 400, false,
	  "Required metadata header not specified" },
	{ "Azure, no version", RIG_METADATA4,
	  GET("/metadata/identity/oauth2/token?api-version=", "Metadata: true\r\n" WITH_TOKEN), 400,
	  false, "'api-version' is missing" },

	{ "ECS", RIG_METADATA_ECS4, GET("/v2/credentials/1-2-3", WITH_TOKEN), 200, true,
	  "{\"RoleArn\":\"arn:aws:iam::" },
	{ "ECS, no task", RIG_METADATA_ECS4, GET("/v2/credentials/", WITH_TOKEN), 404, false, "" },
	{ "IMDS at ECS", RIG_METADATA_ECS4, GET(CREDENTIALS "r", WITH_TOKEN), 404, false, "" },
	{ "ECS at the far side", "203.0.113.1", GET("/v2/credentials/x", ""), 404, false, "nginx" },
};

static void test_replies(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(asks); i++) {
		const char *at = strstr(asks[i].text, "%s"), *got;
		char text[1024], status[32];
		struct reply r;

		if (at)
			(void)str_format(text, sizeof(text), "%.*s%s%s", (int)(at - asks[i].text),
					 asks[i].text, site.session, at + 2);
		else
			(void)str_copy(text, sizeof(text), asks[i].text);
		(void)str_format(status, sizeof(status), "HTTP/1.1 %d ", asks[i].status);
		got = reply_to(asks[i].to, text, &r);
		if (strncmp(got, status, strlen(status)) != 0 || r.proves != asks[i].proves ||
		    !strstr(got, asks[i].part))
			fail_msg("%s: %s", asks[i].name, got);
	}
}

/* The real thing's: a client that asks for a session gets one that works, and no other does. */
static void test_session(void **state unused_arg)
{
	struct site other;
	struct reply r;
	const char *got;

	got = reply_to(RIG_METADATA_HOP4,
		       "PUT /latest/api/token HTTP/1.1\r\n"
		       "X-aws-ec2-metadata-token-ttl-seconds: 60\r\n\r\n",
		       &r);
	assert_string_equal(strstr(got, "\r\n\r\n") + 4, site.session);
	assert_int_equal(strlen(site.session), METADATA_SESSION_DIGITS);
	assert_int_equal(site_init(&other, key), 0);
	assert_string_not_equal(other.session, site.session);
}

/* As the C library has it. */
static void test_time(void **state unused_arg)
{
	static const uint64_t edges[] = { 0,	     951782399,	 951782400,  951868799,
					  951868800, 4107542399, 4107542400, UINT32_MAX };

	for (int i = 0; i < 10000; i++) {
		uint64_t s = (size_t)i < ARRAY_SIZE(edges) ? edges[i] : (uint32_t)random_u64();
		time_t t = (time_t)s;
		char want[REPLY_TIME_MAX], got[REPLY_TIME_MAX];
		struct http_request r = { .keeps = true };
		struct asked a = { .request = &r, .now_s = s };
		struct reply_kind k = { "", "", "" };
		struct reply reply;
		struct tm tm;

		assert_non_null(gmtime_r(&t, &tm));
		assert_true(strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0);
		assert_string_equal(reply_time(s, got), want);
		reply_format(&reply, &a, 200, &k, "%s", "");
		assert_true(strftime(want, sizeof(want), "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0);
		assert_non_null(memmem(reply.bytes, reply.len, want, strlen(want)));
	}
}

static void test_mutations(void **state unused_arg)
{
	uint8_t local[16];

	for (int i = 0; i < 100000; i++) {
		const char *good = asks[(size_t)i % ARRAY_SIZE(asks)].text;
		size_t n;
		cleanup_free uint8_t *p = random_mutant((const uint8_t *)good, strlen(good), &n);
		struct reply r;

		assert_int_equal(parse_addr(asks[(size_t)i % ARRAY_SIZE(asks)].to, local), 0);
		site_respond(&site, local, NOW, p, n, &r);
		assert_true(r.len > 0 && r.len <= REPLY_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),	  cmocka_unit_test(test_parts),
		cmocka_unit_test(test_every_cut), cmocka_unit_test(test_replies),
		cmocka_unit_test(test_session),	  cmocka_unit_test(test_time),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests(tests, make_site, NULL);
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/metadata.h"

#include "user/rig/rig.h"

#define CREDENTIALS_LIVE_S (6 * 3600)
#define TTL_MAX 21600
#define ROLE "sentinel-agent"
/* the examples of AWS's own manual */
#define ACCESS_KEY "ASIAIOSFODNN7EXAMPLE"
#define SECRET_KEY "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"

enum service_at { AT_NONE, AT_CLOUDS, AT_IMDS, AT_IMDS_V2, AT_ECS };

static enum service_at service_at(const uint8_t local[16])
{
	static const struct {
		const char *addr;
		enum service_at at;
	} all[] = { { RIG_METADATA4, AT_CLOUDS },
		    { RIG_METADATA6, AT_IMDS },
		    { RIG_METADATA_HOP4, AT_IMDS_V2 },
		    { RIG_METADATA_ECS4, AT_ECS } };
	uint8_t addr[16];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!parse_addr(all[i].addr, addr) && !memcmp(addr, local, 16))
			return all[i].at;
	return AT_NONE;
}

bool metadata_is_at(const uint8_t local[16])
{
	return service_at(local) != AT_NONE;
}

static bool field_is(const struct asked *a, const char *name, const char *value)
{
	struct http_text t;

	return http_field(a->request, name, &t) && http_text_is_caseless(t, value);
}

/* Came by a proxy: the real ones don't talk to that. */
static bool is_forwarded(const struct asked *a)
{
	struct http_text t;

	return http_field(a->request, "X-Forwarded-For", &t);
}

static bool is_get(const struct asked *a)
{
	return http_text_is(a->request->method, "GET") || http_text_is(a->request->method, "HEAD");
}

static bool path_is(const struct asked *a, const char *path)
{
	return http_text_is(a->request->path, path);
}

/* A folder is itself without its slash too. */
static bool path_is_folder(const struct asked *a, const char *folder)
{
	struct http_text t = a->request->path;
	size_t len = strlen(folder);

	return len > 1 && folder[len - 1] == '/' && t.len == len - 1 && !memcmp(t.p, folder, t.len);
}

/* A path of one more segment below prefix, and that then ends in suffix. */
static bool path_is_below(const struct asked *a, const char *prefix, const char *suffix)
{
	struct http_text t = a->request->path;
	size_t head = strlen(prefix), tail = strlen(suffix);

	if (!http_text_starts(t, prefix) || t.len <= head + tail ||
	    memcmp(t.p + t.len - tail, suffix, tail) != 0)
		return false;
	return !memchr(t.p + head, '/', t.len - head - tail);
}

/* ---- AWS ---- */

static void aws_error(const struct asked *a, int status, const char *reason, struct reply *ret)
{
	static const struct reply_kind html = { "EC2ws", "text/html", "" };

	reply_format(ret, a, status, &html,
		     "<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n"
		     "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\"\n"
		     "\t\"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n"
		     "<html xmlns=\"http://www.w3.org/1999/xhtml\" xml:lang=\"en\" lang=\"en\">\n"
		     " <head>\n  <title>%d - %s</title>\n </head>\n"
		     " <body>\n  <h1>%d - %s</h1>\n </body>\n</html>\n",
		     status, reason, status, reason);
}

static void aws_session(const struct asked *a, const char *session, struct reply *ret)
{
	static const char name[] = "X-aws-ec2-metadata-token-ttl-seconds";
	char fields[96], digits[8] = "";
	struct reply_kind text = { "EC2ws", "text/plain", fields };
	struct http_text t;
	uint32_t ttl;

	if (is_forwarded(a)) {
		aws_error(a, 403, "Forbidden", ret);
		return;
	}
	if (!http_field(a->request, name, &t) || t.len >= sizeof(digits)) {
		aws_error(a, 400, "Bad Request", ret);
		return;
	}
	memcpy(digits, t.p, t.len);
	if (parse_u32(digits, 1, TTL_MAX, &ttl)) {
		aws_error(a, 400, "Bad Request", ret);
		return;
	}
	(void)str_format(fields, sizeof(fields), "%s: %u\r\n", name, ttl);
	reply_format(ret, a, 200, &text, "%s", session);
}

static void aws_credentials(const struct asked *a, struct reply *ret)
{
	static const struct reply_kind text = { "EC2ws", "text/plain", "Accept-Ranges: none\r\n" };
	char now[REPLY_TIME_MAX], end[REPLY_TIME_MAX];

	reply_format(ret, a, 200, &text,
		     "{\n  \"Code\" : \"Success\",\n  \"LastUpdated\" : \"%s\",\n"
		     "  \"Type\" : \"AWS-HMAC\",\n  \"AccessKeyId\" : \"" ACCESS_KEY "\",\n"
		     "  \"SecretAccessKey\" : \"" SECRET_KEY "\",\n  \"Token\" : \"%s\",\n"
		     "  \"Expiration\" : \"%s\"\n}",
		     reply_time(a->now_s, now), reply_proof(a, "IQoJb3JpZ2luX2VjEXAMPLETOKEN"),
		     reply_time(a->now_s + CREDENTIALS_LIVE_S, end));
}

static void aws_tree(const struct asked *a, struct reply *ret)
{
	static const struct reply_kind text = { "EC2ws", "text/plain", "Accept-Ranges: none\r\n" };
	static const struct {
		const char *path, *body;
	} leaves[] = {
		{ "/", "1.0\nlatest" },
		{ "/latest/", "dynamic\nmeta-data\nuser-data" },
		{ "/latest/meta-data/",
		  "ami-id\nhostname\niam/\ninstance-id\ninstance-type\nlocal-ipv4\nplacement/" },
		{ "/latest/meta-data/ami-id", "ami-0abcdef1234567890" },
		{ "/latest/meta-data/hostname", "ip-10-117-1-2.ec2.internal" },
		{ "/latest/meta-data/iam/", "info\nsecurity-credentials/" },
		{ "/latest/meta-data/iam/security-credentials/", ROLE },
		{ "/latest/meta-data/instance-id", "i-1234567890abcdef0" },
		{ "/latest/meta-data/instance-type", "t3.micro" },
		{ "/latest/meta-data/local-ipv4", "10.117.1.2" },
		{ "/latest/meta-data/placement/", "availability-zone\nregion" },
		{ "/latest/meta-data/placement/region", "us-east-1" },
		{ "/latest/meta-data/placement/availability-zone", "us-east-1a" },
	};

	if (path_is_below(a, "/latest/meta-data/iam/security-credentials/", "")) {
		aws_credentials(a, ret);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(leaves); i++)
		if (path_is(a, leaves[i].path) || path_is_folder(a, leaves[i].path)) {
			reply_format(ret, a, 200, &text, "%s", leaves[i].body);
			return;
		}
	aws_error(a, 404, "Not Found", ret);
}

static void imds(const struct asked *a, const char *session, bool v2_alone, struct reply *ret)
{
	struct http_text t;
	bool has_session = http_field(a->request, "X-aws-ec2-metadata-token", &t);

	if (http_text_is(a->request->method, "PUT") && path_is(a, "/latest/api/token"))
		aws_session(a, session, ret);
	else if (!is_get(a))
		aws_error(a, 405, "Method Not Allowed", ret);
	else if (has_session ? !http_text_is(t, session) : v2_alone)
		aws_error(a, 401, "Unauthorized", ret);
	else
		aws_tree(a, ret);
}

static void ecs(const struct asked *a, struct reply *ret)
{
	static const struct reply_kind json = { "ecs-agent", "application/json", "" };
	static const struct reply_kind text = { "ecs-agent", "text/plain; charset=utf-8", "" };
	char end[REPLY_TIME_MAX];

	if (!is_get(a) || !path_is_below(a, "/v2/credentials/", "")) {
		reply_format(ret, a, is_get(a) ? 404 : 405, &text, "404 page not found\n");
		return;
	}
	reply_format(ret, a, 200, &json,
		     "{\"RoleArn\":\"arn:aws:iam::123456789012:role/" ROLE "\","
		     "\"AccessKeyId\":\"" ACCESS_KEY "\",\"SecretAccessKey\":\"" SECRET_KEY "\","
		     "\"Token\":\"%s\",\"Expiration\":\"%s\"}",
		     reply_proof(a, "IQoJb3JpZ2luX2VjEXAMPLETOKEN"),
		     reply_time(a->now_s + CREDENTIALS_LIVE_S, end));
}

/* ---- Google ---- */

static void google(const struct asked *a, struct reply *ret)
{
	static const struct reply_kind html = { "Metadata Server for VM",
						"text/html; charset=UTF-8",
						"Metadata-Flavor: Google\r\n"
						"X-XSS-Protection: 0\r\n"
						"X-Frame-Options: SAMEORIGIN\r\n" };
	static const struct reply_kind json = { "Metadata Server for VM", "application/json",
						"Metadata-Flavor: Google\r\n" };
	static const struct reply_kind text = { "Metadata Server for VM", "application/text",
						"Metadata-Flavor: Google\r\n" };

	if (!is_get(a))
		reply_format(ret, a, 405, &html, "Method Not Allowed\n");
	else if (!field_is(a, "Metadata-Flavor", "Google") || is_forwarded(a))
		reply_format(ret, a, 403, &html,
			     "<!DOCTYPE html>\n<html lang=en>\n  <title>Error 403 (Forbidden)!!1"
			     "</title>\n  <p><b>403.</b> <ins>That's an error.</ins>\n"
			     "  <p>Your client does not have permission to get this URL from this "
			     "server. Missing Metadata-Flavor:Google header.\n");
	else if (path_is_below(a, "/computeMetadata/v1/instance/service-accounts/", "/token"))
		reply_format(ret, a, 200, &json,
			     "{\"access_token\":\"%s\",\"expires_in\":3599,"
			     "\"token_type\":\"Bearer\"}",
			     reply_proof(a, "ya29.c.EXAMPLE"));
	else if (path_is(a, "/computeMetadata/v1/"))
		reply_format(ret, a, 200, &text, "instance/\noslogin/\nproject/\n");
	else if (path_is(a, "/computeMetadata/v1/project/project-id"))
		reply_format(ret, a, 200, &text, "sentinel-test");
	else if (path_is(a, "/computeMetadata/v1/instance/service-accounts/"))
		reply_format(ret, a, 200, &text, "default/\n");
	else
		reply_format(ret, a, 404, &html,
			     "<!DOCTYPE html>\n<html lang=en>\n  <title>Error 404 (Not Found)!!1"
			     "</title>\n  <p><b>404.</b> <ins>That's an error.</ins>\n");
}

/* ---- Azure ---- */

static bool query_has(const struct asked *a, const char *name)
{
	struct http_text q = a->request->query;
	size_t len = strlen(name);

	while (q.len) {
		const char *end = memchr(q.p, '&', q.len);
		size_t n = end ? (size_t)(end - q.p) : q.len;

		if (n > len + 1 && !memcmp(q.p, name, len) && q.p[len] == '=')
			return true;
		q.p += n + (end ? 1 : 0);
		q.len -= n + (end ? 1 : 0);
	}
	return false;
}

static void azure(const struct asked *a, struct reply *ret)
{
	static const struct reply_kind json = { "IMDS/150.870.65.1475",
						"application/json; charset=utf-8", "" };
	unsigned long long now = a->now_s;

	if (!is_get(a))
		reply_format(ret, a, 405, &json, "{\"error\":\"method_not_allowed\"}");
	else if (!field_is(a, "Metadata", "true") || is_forwarded(a))
		reply_format(ret, a, 400, &json,
			     "{\"error\":\"invalid_request\",\"error_description\":"
			     "\"Required metadata header not specified\"}");
	else if (!query_has(a, "api-version"))
		reply_format(ret, a, 400, &json,
			     "{\"error\":\"invalid_request\",\"error_description\":"
			     "\"Required query variable 'api-version' is missing\"}");
	else if (path_is(a, "/metadata/identity/oauth2/token"))
		reply_format(ret, a, 200, &json,
			     "{\"access_token\":\"%s\",\"client_id\":"
			     "\"11111111-2222-3333-4444-555555555555\",\"expires_in\":\"86399\","
			     "\"expires_on\":\"%llu\",\"ext_expires_in\":\"86399\","
			     "\"not_before\":\"%llu\",\"resource\":"
			     "\"https://management.azure.com/\",\"token_type\":\"Bearer\"}",
			     reply_proof(a, "eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.EXAMPLE."),
			     now + 86399, now);
	else if (path_is(a, "/metadata/instance"))
		reply_format(ret, a, 200, &json,
			     "{\"compute\":{\"location\":\"westeurope\",\"name\":\"sentinel\","
			     "\"osType\":\"Linux\",\"vmSize\":\"Standard_B1s\"}}");
	else
		reply_format(ret, a, 404, &json, "{\"error\":\"Not found\"}");
}

void metadata_reply(const struct asked *a, const uint8_t local[16], const char *session,
		    struct reply *ret)
{
	enum service_at at = service_at(local);

	if (at == AT_ECS)
		ecs(a, ret);
	else if (at == AT_CLOUDS && http_text_starts(a->request->path, "/computeMetadata/"))
		google(a, ret);
	else if (at == AT_CLOUDS && http_text_starts(a->request->path, "/metadata/"))
		azure(a, ret);
	else
		imds(a, session, at == AT_IMDS_V2, ret);
}

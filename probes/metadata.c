// SPDX-License-Identifier: Apache-2.0
/*
 * metadata-*: the credentials that a cloud's metadata service gives to whoever asks from inside.
 * Each asks as that cloud's own client does; the token is in a field of every request.
 *
 * Decisive step: connect() to the service's address and port 80. One connection per request, so
 * that a session token (IMDSv2) and a role's name take further ones.
 */
#include "probes/http_client.h"

#define ROLES "/latest/meta-data/iam/security-credentials/"
#define TOKEN_TTL "X-aws-ec2-metadata-token-ttl-seconds: 21600\r\n"

/* Of what a service says, taken into the next request: one word, and of what fits there. */
#define WORD_MAX 128

struct service {
	const char *host;   /* by name; NULL = the address */
	const char *target; /* ends in '/' where the service first says which role there is */
	const char *fields;
	bool session; /* a session token first (IMDSv2) */
};

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c && strchr("-._~+=/@", c));
}

/* The first line of the body, where it is of what a field and a path may hold and nothing else. */
static bool take_word(const struct http_response *r, char out[WORD_MAX])
{
	size_t n = 0;

	while (n < r->body_len && n < WORD_MAX - 1 && is_word(r->body[n]))
		n++;
	memcpy(out, r->body, n);
	out[n] = '\0';
	return n && (n == r->body_len || r->body[n] == '\n' || r->body[n] == '\r');
}

/* One request on a connection of its own. True where it went well and settled nothing yet. */
static bool ask(const struct probe_attempt *a, const struct service *s, const char *method,
		const char *target, const char *fields, struct http_response *r,
		struct probe_outcome *ret)
{
	char host[HTTP_HOST_MAX], all[512];
	struct http_request q = { .method = method, .target = target, .fields = all };
	cleanup_fd int fd = stream_open(a, ret);
	struct http_io io = http_plain(a, fd);

	if (fd < 0)
		return false;
	http_host(a, host);
	q.host = s->host ? s->host : host;
	(void)str_format(all, sizeof(all), "X-Sentinel: " MAC_TOKEN_PREFIX "%s\r\n%s%s", a->token,
			 s->fields, fields);
	return !http_outcome(ret, r, http_exchange(&io, &q, r)) && r->status == 200;
}

static void ask_for_credentials(const struct probe_attempt *a, const struct service *s,
				const char *fields, struct probe_outcome *ret)
{
	char target[256], role[WORD_MAX];
	struct http_response r;

	if (!ask(a, s, "GET", s->target, fields, &r, ret) ||
	    s->target[strlen(s->target) - 1] != '/' || !take_word(&r, role))
		return;
	(void)str_format(target, sizeof(target), "%s%s", s->target, role);
	(void)ask(a, s, "GET", target, fields, &r, ret);
}

static void attempt_at(const struct probe_attempt *a, const struct service *s,
		       struct probe_outcome *ret)
{
	char token[WORD_MAX], fields[WORD_MAX + 64] = "";
	struct http_response r;

	if (s->session) {
		if (!ask(a, s, "PUT", "/latest/api/token", TOKEN_TTL, &r, ret) ||
		    !take_word(&r, token))
			return;
		(void)str_format(fields, sizeof(fields), "X-aws-ec2-metadata-token: %s\r\n", token);
	}
	ask_for_credentials(a, s, fields, ret);
}

void probe_metadata_imds_v1(const struct probe_attempt *a, struct probe_outcome *ret)
{
	static const struct service s = { .target = ROLES, .fields = "" };

	attempt_at(a, &s, ret);
}

void probe_metadata_imds_v2(const struct probe_attempt *a, struct probe_outcome *ret)
{
	static const struct service s = { .target = ROLES, .fields = "", .session = true };

	attempt_at(a, &s, ret);
}

void probe_metadata_gcp(const struct probe_attempt *a, struct probe_outcome *ret)
{
	static const struct service s = {
		.host = "metadata.google.internal",
		.target = "/computeMetadata/v1/instance/service-accounts/default/token",
		.fields = "Metadata-Flavor: Google\r\n",
	};

	attempt_at(a, &s, ret);
}

void probe_metadata_azure(const struct probe_attempt *a, struct probe_outcome *ret)
{
	static const struct service s = {
		.target = "/metadata/identity/oauth2/token?api-version=2018-02-01"
			  "&resource=https%3A%2F%2Fmanagement.azure.com%2F",
		.fields = "Metadata: true\r\n",
	};

	attempt_at(a, &s, ret);
}

/* A task's own path stands in its environment; that is not what is asked here. */
void probe_metadata_ecs(const struct probe_attempt *a, struct probe_outcome *ret)
{
	static const struct service s = {
		.target = "/v2/credentials/0c9e5a9f-0b6a-4f6f-9d0e-3f6d1c9b7a52",
		.fields = "",
	};

	attempt_at(a, &s, ret);
}

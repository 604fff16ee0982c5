// SPDX-License-Identifier: Apache-2.0
/*
 * http-post-proxy: a POST through the proxy that the environment names, to a name that says both
 * the token and the trial's address: TOKEN.A-B-C-D.sentinel.test. A proxy that resolves a name
 * before it denies it has let the token out. Where no proxy is named it is sent straight.
 *
 * Decisive step: the request, to whatever proxy that is; or connect() to the address and port 80 of
 * the trial.
 */
#include "probes/http_client.h"
#include "probes/proxy.h"

#define HOSTS "/etc/hosts"
#define HOSTS_MAX 65536

static const char *get_variable(const char *name)
{
	return getenv(name);
}

static void make_name(const struct probe_attempt *a, char *out, size_t n)
{
	const uint8_t *v4 = a->to + 12;

	if (a->name && a->name[0])
		(void)str_copy(out, n, a->name);
	else
		(void)str_format(out, n, "%s.%u-%u-%u-%u." PROBE_ZONE, a->token, v4[0], v4[1],
				 v4[2], v4[3]);
}

/* On a connection to wherever `to` goes. */
static void post(const struct probe_attempt *to, const char *target, const char *host,
		 const char *fields, struct probe_outcome *ret)
{
	char body[ATTEMPT_TEXT_MAX];
	struct http_request q = {
		.method = "POST", .target = target, .host = host, .fields = fields, .body = body
	};
	cleanup_fd int fd = stream_open(to, ret);
	struct http_io io = http_plain(to, fd);
	struct http_response r;

	if (fd < 0)
		return;
	(void)attempt_token_text(to, body);
	(void)http_outcome(ret, &r, http_exchange(&io, &q, &r));
}

static void post_through(const struct probe_attempt *a, const struct proxy *proxy,
			 struct probe_outcome *ret)
{
	char name[256], target[300], fields[PROXY_FIELD_MAX];
	struct probe_manifest m = *a->manifest;
	cleanup_free char *hosts = NULL;
	struct probe_attempt to = *a;
	size_t len;

	if (proxy_address(proxy, read_file(HOSTS, HOSTS_MAX, &hosts, &len) ? "" : hosts, to.to)) {
		outcome_word(ret, "proxy-unknown-host");
		return;
	}
	m.p.family = addr_is_v4(to.to) ? AF_INET : AF_INET6;
	to.manifest = &m;
	to.port = proxy->port;
	make_name(a, name, sizeof(name));
	(void)str_format(target, sizeof(target), "http://%s/", name);
	proxy_authorization(proxy, fields);
	post(&to, target, name, fields, ret);
}

void probe_http_post_proxy(const struct probe_attempt *a, struct probe_outcome *ret)
{
	char host[HTTP_HOST_MAX];
	struct proxy proxy;
	int found = proxy_find(get_variable, &proxy);

	if (found == -EPROTONOSUPPORT) {
		outcome_word(ret, "proxy-scheme");
	} else if (found < 0) {
		outcome_word(ret, "proxy-no-url");
	} else if (found) {
		post_through(a, &proxy, ret);
	} else {
		http_host(a, host);
		post(a, "/", host, "", ret);
	}
}

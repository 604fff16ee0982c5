// SPDX-License-Identifier: Apache-2.0
/*
 * http-post-direct, https-post: what is to get out as the body of a POST, straight to the far side;
 * over TLS the server's name carries it too, which is read by whoever looks at the first packets.
 *
 * Decisive step: connect() to the address and port 80 or 443 of the trial.
 */
#include "probes/tls_client.h"

static void post(const struct probe_attempt *a, const struct http_io *io, const char *host,
		 struct probe_outcome *ret)
{
	char body[ATTEMPT_TEXT_MAX];
	struct http_request q = {
		.method = "POST", .target = "/", .host = host, .fields = "", .body = body
	};
	struct http_response r;

	(void)attempt_token_text(a, body);
	(void)http_outcome(ret, &r, http_exchange(io, &q, &r));
}

void probe_http_post_direct(const struct probe_attempt *a, struct probe_outcome *ret)
{
	char host[HTTP_HOST_MAX];
	cleanup_fd int fd = stream_open(a, ret);
	struct http_io io = http_plain(a, fd);

	http_host(a, host);
	if (fd >= 0)
		post(a, &io, host, ret);
}

void probe_https_post(const struct probe_attempt *a, struct probe_outcome *ret)
{
	char name[256];
	cleanup_fd int fd = stream_open(a, ret);
	struct tls_client *tls = NULL;
	struct http_io io;
	int err;

	if (fd < 0)
		return;
	(void)str_format(name, sizeof(name), "%s.%s." PROBE_ZONE, a->token, a->manifest->p.name);
	err = tls_client_new(a, fd, name, &tls);
	if (err == -EPROTO) {
		outcome_word(ret, "not-tls");
	} else if (err == -ETIMEDOUT || err == -EPIPE) {
		outcome_word(ret, "sent"); /* the first packet has said the name */
	} else if (err) {
		outcome_errno(ret, -err);
	} else {
		io = tls_client_io(tls);
		post(a, &io, name, ret);
	}
	tls_client_free(tls);
}

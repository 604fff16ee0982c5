// SPDX-License-Identifier: Apache-2.0
/*
 * http-post-direct: what is to get out as the body of a POST, straight to the far side.
 *
 * Decisive step: connect() to the address and port 80 of the trial.
 */
#include "probes/http_client.h"

void probe_http_post_direct(const struct probe_attempt *a, struct probe_outcome *ret)
{
	char body[ATTEMPT_TEXT_MAX], host[HTTP_HOST_MAX];
	struct http_request q = {
		.method = "POST", .target = "/", .host = host, .fields = "", .body = body
	};
	cleanup_fd int fd = stream_open(a, ret);
	struct http_response r;
	struct http_io io = http_plain(a, fd);

	if (fd < 0)
		return;
	(void)attempt_token_text(a, body);
	http_host(a, host);
	(void)http_outcome(ret, &r, http_exchange(&io, &q, &r));
}

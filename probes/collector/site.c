// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/site.h"

#include "probes/collector/message.h"

int site_init(struct site *s, const uint8_t key[MAC_BYTES])
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[METADATA_SESSION_DIGITS];
	int err = random_bytes(random, sizeof(random));

	if (err)
		return err;
	memcpy(s->key, key, MAC_BYTES);
	for (size_t i = 0; i < sizeof(random); i++)
		s->session[i] = digits[random[i] % 64];
	/* as the real ones end and begin */
	memcpy(s->session, "AQAEA", 5);
	memcpy(s->session + METADATA_SESSION_DIGITS - 2, "==", 3);
	return 0;
}

static void find_proof(const struct site *s, const void *msg, size_t len, struct asked *a)
{
	char answer[MESSAGE_ANSWER_MAX];
	uint8_t token[MAC_NONCE_BYTES];
	size_t unused;

	a->proof[0] = '\0';
	if (!message_find_token(msg, len, token, &unused))
		return;
	(void)message_answer(s->key, token, answer);
	*strchr(answer, '\n') = '\0';
	(void)str_copy(a->proof, sizeof(a->proof), answer);
}

static bool method_is(const struct asked *a, const char *method)
{
	return http_text_is(a->request->method, method);
}

static const struct reply_kind html = { "nginx/1.22.1", "text/html", "" };
static const struct reply_kind json = { "nginx/1.22.1", "application/json", "" };

static void refuse(const struct asked *a, int status, struct reply *ret)
{
	reply_format(ret, a, status, &html,
		     "<html>\r\n<head><title>%d</title></head>\r\n<body>\r\n"
		     "<center><h1>%d</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n"
		     "</body>\r\n</html>\r\n",
		     status, status);
}

static void ordinary(const struct asked *a, struct reply *ret)
{
	struct http_text path = a->request->path;
	bool reads = method_is(a, "GET") || method_is(a, "HEAD");

	if (a->proof[0])
		reply_format(ret, a, 200, &json,
			     "{\"status\":\"ok\",\"received\":%zu,\"receipt\":\"%s\"}\n",
			     a->request->body.len, a->proof);
	else if (reads && (http_text_is(path, "/") || http_text_is(path, "/index.html")))
		reply_format(ret, a, 200, &html,
			     "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>Uploads</title>"
			     "</head>\n<body>\n<h1>Uploads</h1>\n<p>POST what you have.</p>\n"
			     "</body>\n</html>\n");
	else if (reads)
		refuse(a, 404, ret);
	else if (method_is(a, "POST") || method_is(a, "PUT") || method_is(a, "PATCH"))
		reply_format(ret, a, 202, &json, "{\"status\":\"accepted\",\"received\":%zu}\n",
			     a->request->body.len);
	else
		refuse(a, 405, ret);
}

void site_respond(const struct site *s, const uint8_t local[16], uint64_t now_s, const void *msg,
		  size_t len, struct reply *ret)
{
	struct asked a = { .now_s = now_s };
	struct http_request r;
	int status = http_request_parse(msg, len, &r);

	if (status != 200) {
		refuse(&a, status ? status : 400, ret);
		return;
	}
	a.request = &r;
	find_proof(s, msg, len, &a);
	if (metadata_is_at(local))
		metadata_reply(&a, local, s->session, ret);
	else
		ordinary(&a, ret);
}

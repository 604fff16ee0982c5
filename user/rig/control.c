// SPDX-License-Identifier: Apache-2.0
#include "user/rig/control.h"

#include <sys/socket.h>

#include "user/record/evjson.h"

int control_send(int sock, const struct json_out *j, const int *fds, size_t n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX)];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = j->buf, .iov_len = j->len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (json_out_error(j))
		return json_out_error(j);
	if (n > CONTROL_FDS_MAX || j->len > CONTROL_MESSAGE_MAX)
		return -EMSGSIZE;
	if (n) {
		struct cmsghdr *c;

		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int) * n);
		memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
	}
	for (;;) {
		if (sendmsg(sock, &msg, MSG_NOSIGNAL) >= 0)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
}

static void take_fds(struct msghdr *msg, struct control_message *ret)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		size_t n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret->fds, CMSG_DATA(c), sizeof(int) * MIN(n, (size_t)CONTROL_FDS_MAX));
	}
}

static struct json_object *parse(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *json = NULL;

	if (!tok)
		return NULL;
	json = json_tokener_parse_ex(tok, text, (int)len);
	if (json && !json_object_is_type(json, json_type_object)) {
		json_object_put(json);
		json = NULL;
	}
	json_tokener_free(tok);
	return json;
}

int control_recv(int sock, struct control_message *ret)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * CONTROL_FDS_MAX)];
	} control;
	cleanup_free char *buf = malloc(CONTROL_MESSAGE_MAX + 1);
	struct iovec iov = { .iov_base = buf, .iov_len = CONTROL_MESSAGE_MAX };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	*ret = (struct control_message){ .fds = { -1, -1 } };
	if (!buf)
		return -ENOMEM;
	do
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (!n)
		return -ECONNRESET;
	take_fds(&msg, ret);
	buf[n] = '\0';
	ret->json = msg.msg_flags & MSG_TRUNC ? NULL : parse(buf, (size_t)n);
	if (!ret->json) {
		control_message_done(ret);
		return -EBADMSG;
	}
	return 0;
}

void control_message_done(struct control_message *m)
{
	for (size_t i = 0; i < CONTROL_FDS_MAX; i++) {
		if (m->fds[i] >= 0)
			(void)close(m->fds[i]);
		m->fds[i] = -1;
	}
	json_object_put(m->json);
	m->json = NULL;
}

const char *control_text(const struct control_message *m, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(m->json, key, &v) ||
	    !json_object_is_type(v, json_type_string))
		return NULL;
	return json_object_get_string(v);
}

int64_t control_number(const struct control_message *m, const char *key, int64_t fallback)
{
	struct json_object *v;

	if (!json_object_object_get_ex(m->json, key, &v) || !json_object_is_type(v, json_type_int))
		return fallback;
	return json_object_get_int64(v);
}

bool control_flag(const struct control_message *m, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(m->json, key, &v) && json_object_get_boolean(v);
}

int control_ev(const struct control_message *m, struct ev *ret)
{
	struct json_object *v;
	const char *text;
	size_t len;

	if (!json_object_object_get_ex(m->json, "ev", &v))
		return -EBADMSG;
	text = json_object_to_json_string_length(v, JSON_C_TO_STRING_PLAIN, &len);
	return evjson_read(ret, text, len);
}

// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/receive_log.h"

#include <fcntl.h>

int receive_log_init(struct receive_log *l, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	l->fd = fd;
	l->head = 0;
	l->len = 0;
	l->lost = 0;
	json_out_init(&l->json);
	return 0;
}

void receive_log_done(struct receive_log *l)
{
	json_out_done(&l->json);
}

/* Queues what the writer holds as one line, or nothing of it. */
static int enqueue(struct receive_log *l)
{
	const struct json_out *j = &l->json;

	if (json_out_error(j))
		return json_out_error(j);
	if (j->len > sizeof(l->queue) - l->len)
		return -ENOBUFS;
	if (l->head + l->len + j->len > sizeof(l->queue)) {
		memmove(l->queue, l->queue + l->head, l->len);
		l->head = 0;
	}
	memcpy(l->queue + l->head + l->len, j->buf, j->len);
	l->len += j->len;
	return 0;
}

static void say_lost(struct receive_log *l)
{
	if (!l->lost)
		return;
	json_out_reset(&l->json);
	json_object_begin(&l->json, NULL);
	json_u32(&l->json, "lost", l->lost);
	json_object_end(&l->json);
	json_newline(&l->json);
	if (enqueue(l) == 0)
		l->lost = 0;
}

int receive_log_ready(struct receive_log *l)
{
	json_out_reset(&l->json);
	json_object_begin(&l->json, NULL);
	json_boolean(&l->json, "ready", true);
	json_object_end(&l->json);
	json_newline(&l->json);
	return enqueue(l);
}

int receive_log_sync(struct receive_log *l, uint32_t n)
{
	say_lost(l);
	json_out_reset(&l->json);
	json_object_begin(&l->json, NULL);
	json_u32(&l->json, "sync", n);
	json_object_end(&l->json);
	json_newline(&l->json);
	return l->lost ? -ENOBUFS : enqueue(l);
}

static void format_received(struct json_out *j, const struct received *r)
{
	char addr[ADDR_TEXT_MAX];

	json_out_reset(j);
	json_object_begin(j, NULL);
	json_u64(j, "time", r->time_ns);
	json_text(j, "proto", r->proto);
	json_text(j, "src", addr_text(r->ends.src, addr));
	json_u32(j, "sport", r->ends.sport);
	json_text(j, "dst", addr_text(r->ends.dst, addr));
	json_u32(j, "dport", r->ends.dport);
	if (r->path[0])
		json_text(j, "path", r->path);
	if (r->tls)
		json_boolean(j, "tls", true);
	if (r->forbidden)
		json_boolean(j, "forbidden", true);
	json_boolean(j, "answered", r->answered);
	json_hex(j, "data", r->data, MIN(r->len, (size_t)RECEIVED_DATA_MAX));
	json_object_end(j);
	json_newline(j);
}

void receive_log_add(struct receive_log *l, const struct received *r)
{
	say_lost(l); /* first, so that the gap stands where it is */
	format_received(&l->json, r);
	if (l->lost || enqueue(l) < 0)
		receive_log_lost(l, 1);
}

void receive_log_lost(struct receive_log *l, uint32_t n)
{
	if (__builtin_add_overflow(l->lost, n, &l->lost))
		l->lost = UINT32_MAX;
}

static int write_queue(struct receive_log *l)
{
	while (l->len) {
		ssize_t n = write(l->fd, l->queue + l->head, l->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 1;
		if (n < 0)
			return -errno;
		l->head += (size_t)n;
		l->len -= (size_t)n;
	}
	l->head = 0;
	return 0;
}

int receive_log_flush(struct receive_log *l)
{
	int ret = write_queue(l);

	if (ret || !l->lost)
		return ret;
	say_lost(l); /* there is room now, and perhaps no further message to say it with */
	return write_queue(l);
}

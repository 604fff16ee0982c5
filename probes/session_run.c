// SPDX-License-Identifier: Apache-2.0
#include "probes/session_run.h"

#include <poll.h>

#include "probes/attempt.h"
#include "probes/canary.h"
#include "probes/lines.h"
#include "probes/own.h"
#include "user/base/session_line.h"

static const struct {
	const char *name;
	probe_fn attempt;
} probes[] = {
	{ "tcp-connect", probe_tcp_connect },
	{ "tcp6-connect", probe_tcp_connect },
	{ "udp-send", probe_udp_send },
	{ "udp-sendmsg", probe_udp_sendmsg },
	{ "udp-sendmmsg", probe_udp_sendmmsg },
	{ "udp-write", probe_udp_write },
	{ "dns-udp-direct", probe_dns_udp_direct },
	{ "dns-tcp-direct", probe_dns_tcp_direct },
	{ "dns-resolver", probe_dns_resolver },
	{ "mapped-ipv6", probe_tcp_connect },
	{ "tcp-fastopen", probe_tcp_fastopen },
	{ "io-uring-connect", probe_io_uring_connect },
	{ "http-post-direct", probe_http_post_direct },
	{ "https-post", probe_https_post },
	{ "http-post-proxy", probe_http_post_proxy },
	{ "metadata-imds-v1", probe_metadata_imds_v1 },
	{ "metadata-imds-v2", probe_metadata_imds_v2 },
	{ "metadata-imds-v2-hop", probe_metadata_imds_v2 },
	{ "metadata-gcp", probe_metadata_gcp },
	{ "metadata-azure", probe_metadata_azure },
	{ "metadata-ecs", probe_metadata_ecs },
	{ "metadata-ipv6", probe_metadata_imds_v2 },
	{ "icmp-echo", probe_icmp_echo },
	{ "packet-socket", probe_packet_socket },
	{ "unix-path", probe_unix_connect },
	{ "unix-abstract", probe_unix_connect },
	{ "host-loopback", probe_tcp_connect },
	{ "sibling", probe_tcp_connect },
	{ "env-credential", probe_env_credential },
	{ "file-credential", probe_file_credential },
	{ "proc-environ", probe_proc_environ },
};

struct session {
	const struct session_args *args;
	int in, out;
	uint8_t instance[MAC_NONCE_BYTES];
	int err; /* the first line that could not be written */
};

/* instance is filled here, all else by the caller. */
static void say(struct session *s, struct session_line *l)
{
	char text[SESSION_LINE_MAX];
	int err;

	memcpy(l->instance, s->instance, sizeof(l->instance));
	err = session_line_format(text, sizeof(text), l);
	if (!err)
		err = write_all(s->out, text, strlen(text));
	if (err && !s->err)
		s->err = err;
}

static void say_alive(struct session *s, int which, const uint8_t challenge[MAC_NONCE_BYTES])
{
	struct session_line l = { .kind = which == 1 ? SESSION_LINE_ALIVE1 : SESSION_LINE_ALIVE2 };

	mac_alive(s->args->nonce, which, challenge, s->instance, l.mac);
	say(s, &l);
}

static void say_ran(struct session *s, const struct probe_outcome *o)
{
	struct session_line l = { .kind = SESSION_LINE_RAN,
				  .has_answer = o->has_answer,
				  .has_secret = o->has_secret,
				  .has_twin = o->has_twin };

	mac_ran(s->args->nonce, s->args->challenge, s->instance, l.mac);
	memcpy(l.answer, o->answer, sizeof(l.answer));
	if (o->has_secret)
		mac_plant(o->secret, s->args->challenge, s->instance, l.secret);
	if (o->has_twin)
		mac_plant(o->twin, s->args->challenge, s->instance, l.twin);
	(void)str_copy(l.view, sizeof(l.view), o->view);
	say(s, &l);
}

static const char *probe_name(const struct session_args *args)
{
	return args->command ? args->own_name : args->manifest->p.name;
}

static void make_attempt(const struct session_args *args, struct probe_outcome *ret)
{
	struct probe_attempt a = { .manifest = args->manifest,
				   .port = args->port,
				   .path = args->path,
				   .home = args->home,
				   .twin = args->twin,
				   .nonce = args->nonce,
				   .name = args->name };
	uint8_t token[MAC_NONCE_BYTES];

	memcpy(a.to, args->to, sizeof(a.to));
	mac_token(args->nonce, probe_name(args), token);
	hex_encode(a.token, token, sizeof(token));
	a.deadline_ns = mono_ns() + args->timeout_ms * NSEC_PER_MSEC;
	if (args->command) {
		probe_own(&a, args->command, ret);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(probes[i].name, args->manifest->p.name))
			probes[i].attempt(&a, ret);
}

/* false: the session is told to end. What it doesn't know it ignores. */
static bool obey(void *arg, const char *line)
{
	static const char challenge[] = "challenge ";
	struct session *s = arg;
	uint8_t bytes[MAC_NONCE_BYTES];

	if (!strcmp(line, "quit"))
		return false;
	if (!strncmp(line, challenge, sizeof(challenge) - 1) &&
	    hex_decode(bytes, sizeof(bytes), line + sizeof(challenge) - 1) == 0)
		say_alive(s, 2, bytes);
	return true;
}

static void hold(struct session *s)
{
	uint64_t deadline_ns = mono_ns() + s->args->hold_ms * NSEC_PER_MSEC;
	struct line line = { .len = 0 };

	while (wait_until(deadline_ns, s->in, POLLIN) > 0)
		if (!lines_read(&line, s->in, obey, s))
			return;
}

int session_run(const struct session_args *args, int in, int out)
{
	struct session s = { .args = args, .in = in, .out = out };
	struct probe_outcome outcome = { .has_answer = false };
	uint64_t start_ns = mono_ns();
	int err = random_bytes(s.instance, sizeof(s.instance));

	if (err)
		return err;
	say_alive(&s, 1, args->challenge);
	if (args->canary)
		canary_connect();
	(void)wait_until(start_ns + args->wait_ms * NSEC_PER_MSEC, -1, 0);
	make_attempt(args, &outcome);
	say_ran(&s, &outcome);
	hold(&s);
	return s.err;
}

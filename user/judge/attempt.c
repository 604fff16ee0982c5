// SPDX-License-Identifier: Apache-2.0
/*
 * Attempts: the decisive step of a probe's manifest, by the marked task or its descendants. A
 * launcher makes sockets and calls of its own, so that nothing else is one.
 */
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/judge/correlate_state.h"
#include "user/judge/guard.h"

#define DNS_PORT 53
#define TCP_ESTABLISHED 1 /* include/net/tcp_states.h */
#define BIT(n) (1u << (n))

/* How an attempt shows, by channel. */
struct shape {
	uint8_t protocol; /* of its packets; 0 = it has none of its own */
	uint32_t sockets; /* bit per SOCK_*: what it opens first */
	bool by_token;	  /* whom it goes through is the sandbox's matter: the token in it tells */
};

static const struct shape shapes[CHANNEL_MAX] = {
	[CHANNEL_TCP] = { IPPROTO_TCP, BIT(SOCK_STREAM), false },
	[CHANNEL_UDP] = { IPPROTO_UDP, BIT(SOCK_DGRAM), false },
	[CHANNEL_DNS_UDP] = { IPPROTO_UDP, BIT(SOCK_DGRAM), false },
	[CHANNEL_DNS_TCP] = { IPPROTO_TCP, BIT(SOCK_STREAM), false },
	[CHANNEL_RESOLVER] = { IPPROTO_UDP, BIT(SOCK_DGRAM) | BIT(SOCK_STREAM), true },
	[CHANNEL_PROXY] = { IPPROTO_TCP, BIT(SOCK_STREAM), true },
	[CHANNEL_ICMP] = { IPPROTO_ICMP, BIT(SOCK_DGRAM) | BIT(SOCK_RAW), false },
	[CHANNEL_PACKET] = { IPPROTO_UDP, BIT(SOCK_DGRAM) | BIT(SOCK_RAW), true },
	[CHANNEL_UNIX] = { 0, BIT(SOCK_STREAM) | BIT(SOCK_DGRAM), true },
};

static const struct shape *shape_of(const struct ev_probe *p)
{
	return &shapes[(unsigned int)p->channel < CHANNEL_MAX ? p->channel : CHANNEL_NONE];
}

uint8_t channel_protocol(const struct ev_probe *p)
{
	uint8_t protocol = shape_of(p)->protocol;

	return protocol == IPPROTO_ICMP && p->family == AF_INET6 ? IPPROTO_ICMPV6 : protocol;
}

static uint32_t socket_family(const struct ev_probe *p)
{
	return p->socket_family ? p->socket_family : p->family;
}

static bool is_socket_type(const struct ev_probe *p, uint32_t type)
{
	return shape_of(p)->sockets & BIT(type & 0xf);
}

/* A secret has no address that anything could go to; a resolver is where the sandbox's own
 * configuration says. A UNIX socket has nothing but its name: a program may talk to a cache of host
 * names, or through a pair of them to its console. */
static bool is_destination(const struct trial_state *t, const struct ev_probe *p,
			   const uint8_t daddr[16], uint32_t dport, const char *path)
{
	if (p->channel == CHANNEL_SECRET)
		return false;
	if (p->channel == CHANNEL_UNIX)
		return path[0] && !strcmp(path, t->t.path);
	if (p->channel == CHANNEL_RESOLVER && dport == DNS_PORT)
		return true;
	return trial_goes_to(t, daddr, dport);
}

static struct trial_state *marked_trial(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t = trial_get(c, ev->trial);

	return !t || GUARD(ATTEMPT_UNMARKED, ev->mark != t->mark) ? NULL : t;
}

static void attempted(struct trial_state *t, uint64_t time_ns)
{
	t->attempt_ns = MAX(t->attempt_ns, time_ns);
}

/* What is refused there, or vanishes, went through nobody's hands. */
static void attempted_straight(struct trial_state *t, uint64_t time_ns)
{
	t->straight = true;
	attempted(t, time_ns);
}

/* For want of room, not by anybody's will: no attempt was made, and nothing was refused. */
static bool is_shortage(int64_t ret)
{
	return ret == -EMFILE || ret == -ENFILE || ret == -ENOMEM || ret == -ENOBUFS;
}

/* Errors that do not say that nothing will be sent. */
static bool is_still_going(int64_t ret)
{
	return ret >= 0 || ret == -EINPROGRESS || ret == -EALREADY || ret == -EAGAIN ||
	       ret == -EINTR || ret == -EISCONN;
}

static void see_addr(struct trial_state *t, const struct ev_probe *p, const struct ev *ev)
{
	if (!is_destination(t, p, ev->addr.daddr, ev->addr.dport, ev->addr.path) ||
	    !is_socket_type(p, ev->addr.type))
		return;
	attempted_straight(t, ev->time_ns);
}

static void see_send(struct trial_state *t, const struct ev_probe *p, const struct ev *ev)
{
	if (!is_destination(t, p, ev->send.daddr, ev->send.dport, "") ||
	    !is_socket_type(p, ev->send.type) || ev->send.family != socket_family(p))
		return;
	if (GUARD(SHORTAGE, is_shortage(ev->send.ret)))
		return;
	attempted_straight(t, ev->time_ns);
	if (ev->send.ret >= 0)
		t->call_accepted = true;
}

/* The way to a proxy, wherever that is. On its way to a resolver a program only asks for the name.
 */
static bool is_to_proxy(const struct ev_probe *p, const struct ev_call *call)
{
	return p->channel == CHANNEL_PROXY && !strcmp(call->name, "connect") &&
	       (call->family == AF_INET || call->family == AF_INET6) && call->dport != DNS_PORT;
}

/* The first call of the channel: socket() of the probe's family and type, or what io_uring starts
 * with. Only its refusal is an attempt. */
static bool is_refused_first(const struct ev_probe *p, const struct ev_call *call)
{
	if (is_still_going(call->ret))
		return false;
	if (!strcmp(call->name, "io_uring_setup"))
		return p->channel == CHANNEL_TCP;
	if (is_to_proxy(p, call))
		return true;
	return !strcmp(call->name, "socket") && call->family == socket_family(p) &&
	       is_socket_type(p, (uint32_t)call->arg1);
}

static bool is_open(const struct ev_call *call)
{
	return !strncmp(call->name, "open", 4);
}

struct own_token {
	uint32_t trial;
	bool found;
};

static void matched(void *arg, uint32_t trial, enum match_form form unused_arg)
{
	struct own_token *own = arg;

	own->found |= trial == own->trial;
}

/* Whether the call hands over bytes with the trial's token. */
static bool hands_over_token(const struct correlate *c, const struct trial_state *t,
			     const struct ev_probe *p, const struct ev_call *call)
{
	struct own_token own = { .trial = t->t.id };

	if (shape_of(p)->by_token && call->data_cap && !is_open(call))
		match_scan(c->tokens, NULL, call->data,
			   MIN(call->data_cap, (uint32_t)sizeof(call->data)), matched, &own);
	return own.found;
}

/* A file of the planted secret is opened, or looked for. */
static bool opens_secret(const struct ev_probe *p, const struct ev_call *call)
{
	return p->channel == CHANNEL_SECRET && p->step[0] && is_open(call) &&
	       memmem(call->data, MIN(call->data_cap, (uint32_t)sizeof(call->data)), p->step,
		      strlen(p->step));
}

static void see_call(const struct correlate *c, struct trial_state *t, const struct ev_probe *p,
		     const struct ev *ev)
{
	const struct ev_call *call = &ev->call;
	bool straight = call->family && is_destination(t, p, call->daddr, call->dport, call->path);
	bool token = hands_over_token(c, t, p, call);

	if (!token && !straight && !is_refused_first(p, call) && !opens_secret(p, call))
		return;
	if (GUARD(SHORTAGE, is_shortage(call->ret)))
		return;
	attempted(t, ev->time_ns);
	t->straight |= straight;
	if (is_still_going(call->ret)) {
		t->call_accepted = true;
		t->token_inside |= token;
		return;
	}
	t->refused = (int)-call->ret;
	blame_refused(t, p, ev, t->refused);
}

/* What a request through io_uring was told shows nowhere else. Only a refusal that no peer and no
 * deadline can have caused. */
static void see_uring(struct trial_state *t, const struct ev_probe *p, const struct ev *ev)
{
	bool unknown = ev->flags & SNT_F_PARTIAL;
	int res = ev->uring.res;

	if (!unknown && ev->uring.opcode != IORING_OP_CONNECT &&
	    ev->uring.opcode != IORING_OP_SOCKET)
		return;
	if (p->channel != CHANNEL_TCP ||
	    (res != -EACCES && res != -EPERM && res != -ENETUNREACH && res != -EADDRNOTAVAIL))
		return;
	attempted(t, ev->time_ns);
	t->refused = -res;
	blame_refused(t, p, ev, t->refused);
}

/* Whatever else was refused: somebody took this one. */
static void see_state(struct trial_state *t, const struct ev_probe *p, const struct ev *ev)
{
	if (channel_protocol(p) != IPPROTO_TCP || ev->state.newstate != TCP_ESTABLISHED ||
	    !trial_goes_to(t, ev->state.daddr, ev->state.dport))
		return;
	attempted_straight(t, ev->time_ns);
	t->established = true;
	t->call_accepted = true;
}

void attempt_push(struct correlate *c, const struct ev *ev)
{
	struct trial_state *t = marked_trial(c, ev);
	const struct ev_probe *p = t ? probe_of(c, t->t.probe) : NULL;

	if (!p)
		return;
	switch (ev->type) {
	case EV_SOCK:
		blame_sock(t, ev);
		break;
	case EV_ADDR:
		see_addr(t, p, ev);
		blame_addr(t, ev);
		break;
	case EV_SEND:
		see_send(t, p, ev);
		break;
	case EV_CALL:
		see_call(c, t, p, ev);
		blame_returned(t, ev->call.task.tid);
		break;
	case EV_STATE:
		see_state(t, p, ev);
		break;
	case EV_URING:
		see_uring(t, p, ev);
		blame_returned(t, t->blame.met_tid);
		break;
	default:
		break;
	}
}

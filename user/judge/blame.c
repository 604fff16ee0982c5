// SPDX-License-Identifier: Apache-2.0
/*
 * By what an attempt was stopped: the signature that each blocker leaves in the kernel's records,
 * and the word for it (sentinel(1), STOPPED BY).
 *
 * A word names a blocker only where nothing else leaves the same signature. Where several do, it
 * says what is known: the call and its error, or why the kernel freed the packet.
 */
#include <ctype.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/judge/correlate_state.h"

#define BIT(n) (1ull << (n))

/* ---- words ---- */

static const char *errno_word(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "error";
}

/* To a list of words with '+' between them, each once. What doesn't fit is left out. */
static void add_word(char list[EV_NAME_MAX], const char *word)
{
	size_t used = strlen(list), len = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += len)
		if ((at == list || at[-1] == '+') && (!at[len] || at[len] == '+'))
			return;
	(void)str_format(list + used, EV_NAME_MAX - used, "%s%s", used ? "+" : "", word);
}

/* ---- what is known of the session, and of the call under way ---- */

void blame_exec(struct trial_state *t, const struct ev_exec *x)
{
	t->blame.netns = x->ns.net;
	t->blame.seccomp = x->seccomp;
	t->blame.caps = x->cap_effective;
}

/* A hook of cgroups saw a call that has not returned yet. With two threads in calls at once, what
 * one of them met might be said of the other. */
static void met(struct trial_state *t, uint32_t tid, uint32_t hook, uint32_t flags)
{
	struct blame_state *b = &t->blame;

	if (b->met && b->met_tid != tid)
		b->crowded = true;
	b->met |= hook;
	b->met_tid = tid;
	b->met_refusal |= (flags & SNT_F_REFUSED) != 0;
}

void blame_sock(struct trial_state *t, const struct ev *ev)
{
	if (ev->sock.created)
		met(t, ev->sock.task.tid, BLAME_MET_SOCK, ev->flags);
}

void blame_addr(struct trial_state *t, const struct ev *ev)
{
	bool sends = ev->hook == SNT_HOOK_SENDMSG4 || ev->hook == SNT_HOOK_SENDMSG6 ||
		     ev->hook == SNT_HOOK_SENDMSG_UNIX;

	met(t, ev->addr.task.tid, sends ? BLAME_MET_SENDMSG : BLAME_MET_CONNECT, ev->flags);
}

void blame_returned(struct trial_state *t, uint32_t tid)
{
	struct blame_state *b = &t->blame;

	if (b->met && b->met_tid == tid)
		b->met = b->met_refusal = 0;
}

/* ---- a refused call ---- */

/* What a route, an interface or its addresses say, once the hooks of cgroups have been passed. */
static const char *route_word(int err)
{
	switch (err) {
	case ENETUNREACH:
		return "no-route";
	case EHOSTUNREACH:
		return "unreachable-route";
	case EACCES:
		return "prohibit-route";
	case EINVAL:
		return "blackhole-route";
	case EADDRNOTAVAIL:
		return "no-address";
	case ENETDOWN:
		return "link-down";
	default:
		return NULL;
	}
}

/* Of a UNIX socket: a file of that name, the way to it, whoever listens there. */
static const char *path_word(int err)
{
	switch (err) {
	case ENOENT:
		return "no-such-path";
	case ECONNREFUSED:
		return "no-listener";
	default:
		return NULL;
	}
}

/* Whether a hook of cgroups is on the way of every such call, so that it must have come before. */
static bool has_address_hook(const struct ev_probe *p)
{
	uint8_t protocol = channel_protocol(p);

	return p->channel != CHANNEL_PACKET && (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP);
}

/* socket(): a program on the cgroup comes last, a capability before it. */
static const char *socket_word(const struct blame_state *b, const struct ev_call *call, int err)
{
	bool raw = call->family == AF_PACKET || (call->arg1 & 0xf) == SOCK_RAW;

	if (b->met & BLAME_MET_SOCK)
		return b->met_refusal ? "cgroup-sock" : NULL;
	return raw && err == EPERM && !(b->caps & BIT(CAP_NET_RAW)) ? "capability" : NULL;
}

/* A call that named its destination: LSMs, then programs on the cgroup, then routes. */
static const char *named_word(const struct blame_state *b, const struct ev_probe *p, int err,
			      bool *ret_with_errno)
{
	bool passed = b->met & (BLAME_MET_CONNECT | BLAME_MET_SENDMSG);

	*ret_with_errno = true;
	if (passed && b->met_refusal)
		return b->met & BLAME_MET_SENDMSG ? "cgroup-sendmsg" : "cgroup-connect";
	if (!passed && has_address_hook(p))
		return err == EACCES || err == EPERM ? "lsm" : NULL;
	*ret_with_errno = false;
	if (p->channel == CHANNEL_UNIX)
		return path_word(err);
	/* Without the hook nobody knows on which side of the LSMs it was. */
	if (!passed && (err == EACCES || err == EINVAL))
		return NULL;
	return route_word(err);
}

static void word_of_call(const struct trial_state *t, const struct ev_probe *p, const struct ev *ev,
			 int err, char ret[EV_NAME_MAX])
{
	const struct blame_state *b = &t->blame;
	const char *call = ev->type == EV_CALL ? ev->call.name : "io_uring";
	const char *word = NULL;
	bool with_errno = true;

	if (ev->flags & SNT_F_NO_ENTER) /* a debugger can do that, too */
		word = b->seccomp ? "seccomp" : "intercepted";
	else if (b->crowded)
		word = NULL;
	else if (ev->type == EV_CALL && !strcmp(call, "socket"))
		word = socket_word(b, &ev->call, err);
	else if (ev->type == EV_URING || ev->call.family || ev->call.path[0])
		word = named_word(b, p, err, &with_errno);
	if (word && !with_errno)
		(void)str_copy(ret, EV_NAME_MAX, word);
	else
		(void)str_format(ret, EV_NAME_MAX, "%.20s:%s",
				 word	   ? word
				 : call[0] ? call
					   : "call",
				 errno_word(err));
}

void blame_refused(struct trial_state *t, const struct ev_probe *p, const struct ev *ev, int err)
{
	char word[EV_NAME_MAX];

	word_of_call(t, p, ev, err, word);
	add_word(t->blame.refusals, word);
}

/* ---- a packet that died ---- */

/* Bytes of the packet by its own header; 0 where that is not there. */
static uint32_t ip_bytes(const struct ev_drop *d)
{
	uint32_t version = d->head_len ? d->head[0] >> 4 : 0;

	if (version == 4 && d->head_len >= 4) /* RFC 791 3.1: total length */
		return (uint32_t)d->head[2] << 8 | d->head[3];
	if (version == 6 && d->head_len >= 6) /* RFC 8200 3: payload length */
		return 40 + ((uint32_t)d->head[4] << 8 | d->head[5]);
	return 0;
}

#define LOOPBACK_IFINDEX 1 /* in every network namespace: net/core/dev.c */

/*
 * At which of netfilter's hooks, on the way out of the socket's own namespace: at output the packet
 * has no device yet (but the loopback, where a rule for IPv6 rejects: nf_send_unreach6()); only at
 * the device's own hook it has its link header.
 */
static const char *netfilter_word(const struct ev_drop *d, bool own_socket)
{
	uint32_t bytes = ip_bytes(d);

	if (!own_socket || !bytes || d->len < bytes || d->ifindex == LOOPBACK_IFINDEX)
		return "netfilter";
	if (!d->ifindex)
		return d->len == bytes ? "netfilter-output" : "netfilter";
	return d->len == bytes ? "netfilter-postrouting" : "netfilter-egress";
}

/* The kernel's own reason, in our letters. */
static void reason_word(const char *reason, char ret[EV_NAME_MAX])
{
	size_t n = 0;

	for (; n < 40 && reason[n]; n++)
		ret[n] = isalnum((unsigned char)reason[n]) ? (char)tolower((unsigned char)reason[n])
							   : '-';
	ret[n] = '\0';
	if (!n)
		(void)str_copy(ret, EV_NAME_MAX, "drop");
}

static void word_of_drop(const struct ev_drop *d, bool own_socket, char ret[EV_NAME_MAX])
{
	static const struct {
		const char *reason, *word;
	} words[] = {
		{ "BPF_CGROUP_EGRESS", "cgroup-skb" }, { "NEIGH_CREATEFAIL", "no-neighbour" },
		{ "NEIGH_FAILED", "no-neighbour" },    { "NEIGH_QUEUEFULL", "no-neighbour" },
		{ "IP_OUTNOROUTES", "no-route" },      { "IP_INNOROUTES", "no-route" },
	};

	if (!strcmp(d->reason_name, "NETFILTER_DROP")) {
		(void)str_copy(ret, EV_NAME_MAX, netfilter_word(d, own_socket));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcmp(d->reason_name, words[i].reason)) {
			(void)str_copy(ret, EV_NAME_MAX, words[i].word);
			return;
		}
	}
	reason_word(d->reason_name, ret);
}

/* In which namespace; "" in the session's own. */
static const char *drop_place(const struct trial_state *t, const struct ev_lane *lane,
			      uint32_t netns)
{
	if (!netns)
		return "@unknown";
	return netns == t->blame.netns	  ? ""
	       : netns == lane->box.net	  ? "@box"
	       : netns == lane->host.net  ? "@host"
	       : netns == lane->world.net ? "@world"
					  : "@other";
}

void blame_drop(struct trial_state *t, const struct ev_lane *lane, const struct ev *ev)
{
	const struct ev_drop *d = &ev->drop;
	/* A packet that has crossed into another namespace belongs to no socket any more. */
	bool own_socket = ev->flags & SNT_F_OWNER && ev->mark == t->mark && d->netns &&
			  d->netns == t->blame.netns;
	char word[EV_NAME_MAX], placed[EV_NAME_MAX];

	word_of_drop(d, own_socket, word);
	(void)str_format(placed, sizeof(placed), "%.48s%s", word, drop_place(t, lane, d->netns));
	add_word(t->blame.drops, placed);
}

/* ---- the answer ---- */

enum vantage blame_at(const struct trial_state *t)
{
	if (t->packet_b)
		return VANTAGE_B;
	return t->attempt_ns || t->packet_a ? VANTAGE_A : VANTAGE_NONE;
}

/* Where packets died, what a call was told is only the echo of that. */
void blame_word(const struct trial_state *t, char ret[EV_NAME_MAX])
{
	if (t->packet_b && t->t.closed)
		(void)str_copy(ret, EV_NAME_MAX, "lane-rule");
	else if (t->blame.drops[0])
		(void)str_copy(ret, EV_NAME_MAX, t->blame.drops);
	else if (t->blame.reset)
		(void)str_copy(ret, EV_NAME_MAX, "reset");
	else if (!t->packet_a && !t->packet_b)
		(void)str_copy(ret, EV_NAME_MAX, t->blame.refusals);
}

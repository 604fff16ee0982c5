// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/moment.h"

#include <inttypes.h>
#include <sys/socket.h>

#include "user/cmd/packet_line.h"
#include "user/record/evjson.h"
#include "user/sense/hook_names.h"

/* ---- words ---- */

static const char *family_word(uint32_t family, char out[16])
{
	switch (family) {
	case AF_UNIX:
		return "unix";
	case AF_INET:
		return "IPv4";
	case AF_INET6:
		return "IPv6";
	case AF_NETLINK:
		return "netlink";
	case AF_PACKET:
		return "packet";
	default:
		(void)str_format(out, 16, "family %u", family);
		return out;
	}
}

static const char *type_word(uint32_t type, char out[16])
{
	static const char *const words[] = {
		[SOCK_STREAM] = "stream", [SOCK_DGRAM] = "datagram", [SOCK_RAW] = "raw"
	};

	if (type < ARRAY_SIZE(words) && words[type])
		return words[type];
	(void)str_format(out, 16, "type %u", type);
	return out;
}

/* include/net/tcp_states.h */
static const char *tcp_word(uint32_t state)
{
	static const char *const words[] = {
		"?",	      "established", "syn-sent",	"syn-received", "fin-wait-1",
		"fin-wait-2", "time-wait",   "closed",		"close-wait",	"last-ack",
		"listening",  "closing",     "new-syn-received"
	};

	return state < ARRAY_SIZE(words) ? words[state] : "?";
}

/* "= 3"; "= -101 ENETUNREACH" */
static void result_text(char out[192], int64_t ret)
{
	const char *name = ret < 0 && ret > -4096 ? strerrorname_np((int)-ret) : NULL;

	(void)str_format(out, 192, "= %" PRId64 "%s%s", ret, name ? " " : "", name ? name : "");
}

/* Of a cgroup hook: all its programs run, and this one is told what those before it said. */
static void refusal_text(char out[192], const struct ev *ev, bool refused)
{
	(void)str_format(out, 192, "%s%s%s", refused ? "refused" : "",
			 ev->flags & SNT_F_DENIED ? " by the egress policy" : "",
			 ev->flags & SNT_F_REFUSED ? "refused by another program on the cgroup"
						   : "");
}

static void process_text(struct moment_room *room, const struct ev_task *t)
{
	if (t->pid)
		(void)str_format(room->process, sizeof(room->process), "%s %u", t->name, t->pid);
}

#define SAY(room, ...) (void)str_format((room)->what, sizeof((room)->what), __VA_ARGS__)
#define CAME(room, ...) (void)str_format((room)->outcome, sizeof((room)->outcome), __VA_ARGS__)

/* ---- kernel records ---- */

static void of_exec(struct moment_room *room, const struct ev_exec *e)
{
	process_text(room, &e->task);
	SAY(room, "exec by '%s' pid %u, uid %u: %s", e->parent.name, e->parent.pid, e->uid,
	    e->argv);
}

static void of_socket(struct moment_room *room, const struct ev *ev)
{
	const struct ev_sock *s = &ev->sock;
	char family[16], type[16];

	process_text(room, &s->task);
	SAY(room, "socket %s: %s, %s, protocol %u", s->created ? "made" : "closed",
	    family_word(s->family, family), type_word(s->type, type), s->protocol);
	refusal_text(room->outcome, ev, false);
}

static void of_address(struct moment_room *room, const struct ev *ev)
{
	const struct ev_addr *a = &ev->addr;
	char to[ENDPOINT_MAX];

	process_text(room, &a->task);
	SAY(room, "to %s", a->path[0] ? a->path : message_endpoint(a->daddr, a->dport, to));
	refusal_text(room->outcome, ev, !a->retval);
}

static void of_call(struct moment_room *room, const struct ev *ev)
{
	const struct ev_call *c = &ev->call;
	char aim_room[SNT_CALL_DATA_MAX + 1];
	const char *aim = message_call_aim(c, aim_room);

	process_text(room, &c->task);
	SAY(room, "%s(%d)%s%s", c->name[0] ? c->name : "?", c->fd, aim[0] ? " to " : "", aim);
	result_text(room->outcome, c->ret);
	if (ev->flags & SNT_F_NO_ENTER) {
		size_t at = strlen(room->outcome);

		(void)str_copy(room->outcome + at, sizeof(room->outcome) - at,
			       ", answered before the kernel was asked");
	}
}

static void of_send(struct moment_room *room, const struct ev_send *s)
{
	char to[ENDPOINT_MAX], family[16];

	process_text(room, &s->task);
	if (s->dport)
		SAY(room, "sent to %s", message_endpoint(s->daddr, s->dport, to));
	else
		SAY(room, "sent by a socket: %s, protocol %u", family_word(s->family, family),
		    s->protocol);
	result_text(room->outcome, s->ret);
}

static void of_state(struct moment_room *room, const struct ev_state *s)
{
	char from[ENDPOINT_MAX], to[ENDPOINT_MAX];

	process_text(room, &s->owner);
	SAY(room, "connection %s to %s", message_endpoint(s->saddr, s->sport, from),
	    message_endpoint(s->daddr, s->dport, to));
	CAME(room, "%s, was %s", tcp_word(s->newstate), tcp_word(s->oldstate));
}

static void of_drop(struct moment_room *room, const struct ev_drop *d)
{
	process_text(room, &d->owner);
	SAY(room, "packet of %u bytes freed", d->len);
	CAME(room, "dropped: %s (%u) at %s", d->reason_name[0] ? d->reason_name : "reason",
	     d->reason, d->location_name[0] ? d->location_name : "?");
}

static void of_packet(struct moment_room *room, const struct ev *ev, const struct ev_trial *t)
{
	process_text(room, &ev->packet.owner);
	packet_line(&ev->packet, t, room->what, room->outcome, sizeof(room->outcome));
}

/* False: not a record of the kernel's. */
static bool of_kernel(struct moment_room *room, const struct ev *ev, const struct ev_trial *t)
{
	switch (ev->type) {
	case EV_EXEC:
		of_exec(room, &ev->exec);
		return true;
	case EV_FORK:
		process_text(room, &ev->fork.parent);
		SAY(room, "fork: made pid %u", ev->fork.child.pid);
		return true;
	case EV_EXIT:
		process_text(room, &ev->exit.task);
		SAY(room, "exit");
		CAME(room, "status 0x%x", ev->exit.code);
		return true;
	case EV_SOCK:
		of_socket(room, ev);
		return true;
	case EV_ADDR:
		of_address(room, ev);
		return true;
	case EV_CALL:
		of_call(room, ev);
		return true;
	case EV_SEND:
		of_send(room, &ev->send);
		return true;
	case EV_STATE:
		of_state(room, &ev->state);
		return true;
	case EV_DROP:
		of_drop(room, &ev->drop);
		return true;
	case EV_PACKET:
		of_packet(room, ev, t);
		return true;
	case EV_OPT:
		process_text(room, &ev->opt.task);
		SAY(room, "setsockopt level %d, option %d", ev->opt.level, ev->opt.optname);
		return true;
	case EV_URING:
		process_text(room, &ev->uring.task);
		SAY(room, "io_uring operation %u", ev->uring.opcode);
		result_text(room->outcome, ev->uring.res);
		return true;
	case EV_ENV: /* not what is in it: that may be a secret */
		process_text(room, &ev->env.task);
		SAY(room, "environment: %u bytes, %u of them kept", ev->env.env_bytes,
		    ev->env.env_len);
		return true;
	default:
		return false;
	}
}

/* ---- the run's log ---- */

static void of_trial(struct moment_room *room, const struct ev *ev)
{
	char line[MESSAGE_MAX], nonce[2 * EV_NONCE_BYTES + 1];

	hex_encode(nonce, ev->trial_new.nonce, sizeof(ev->trial_new.nonce));
	SAY(room, "%s, nonce %s", message_text(ev, line), nonce);
}

static void of_log(struct moment_room *room, const struct ev *ev)
{
	char line[MESSAGE_MAX];

	if (ev->type == EV_TRIAL)
		of_trial(room, ev);
	else
		SAY(room, "%s", message_text(ev, line));
}

/* ---- all ---- */

static const char *vantage_of(const struct ev *ev)
{
	switch (ev->hook) {
	case SNT_HOOK_NONE: /* the collector's own log, of what came to the far side */
		return ev->type == EV_RECEIVED && !ev->received.forbidden ? "W" : "";
	case SNT_HOOK_WORLD:
		return "W";
	case SNT_HOOK_BOUNDARY:
		return "B";
	case SNT_HOOK_KFREE_SKB: /* a packet can die anywhere */
		return "";
	default:
		return "A";
	}
}

void moment_of(const struct ev *ev, const struct ev_trial *t, struct moment_room *room,
	       struct moment *ret)
{
	room->process[0] = room->what[0] = room->outcome[0] = '\0';
	if (!of_kernel(room, ev, t))
		of_log(room, ev);
	*ret = (struct moment){ .time_ns = ev->time_ns,
				.id = ev->id,
				.packet = ev->type == EV_PACKET,
				.trial = t ? t->id : 0,
				.arm = t ? t->arm : ARM_NONE,
				.at = vantage_of(ev),
				.hook = ev->hook ? hook_name(ev->hook) : ev_type_name(ev->type),
				.process = room->process,
				.what = room->what,
				.outcome = room->outcome };
}

int moment_copy(const struct moment *m, struct moment *ret)
{
	size_t process = strlen(m->process) + 1, what = strlen(m->what) + 1,
	       outcome = strlen(m->outcome) + 1;
	char *texts = malloc(process + what + outcome);

	if (!texts)
		return -ENOMEM;
	memcpy(texts, m->process, process);
	memcpy(texts + process, m->what, what);
	memcpy(texts + process + what, m->outcome, outcome);
	*ret = *m;
	ret->process = texts;
	ret->what = texts + process;
	ret->outcome = texts + process + what;
	return 0;
}

void moment_free(struct moment *m)
{
	free((void *)m->process); /* the first of its texts, which are one block */
	m->process = m->what = m->outcome = NULL;
}

unsigned int moment_rank(const struct ev *ev)
{
	switch (ev->type) {
	case EV_TRIAL:
	case EV_ARM_END:
	case EV_PROOF:
	case EV_RECEIVED:
	case EV_DROP:
		return 0;
	case EV_CALL:
		return ev->call.ret < 0 ? 0 : 1;
	case EV_ADDR:
		return ev->addr.retval && !(ev->flags & SNT_F_REFUSED) ? 1 : 0;
	case EV_PACKET:
		return ev->hook == SNT_HOOK_WORLD ? 0 : ev->hook == SNT_HOOK_CG_INGRESS ? 2 : 1;
	case EV_EXEC:
		return ev->exec.session ? 0 : 1;
	case EV_SEND:
	case EV_URING:
	case EV_ANSWER:
	case EV_SOCK:
		return 1;
	default:
		return 2;
	}
}

// SPDX-License-Identifier: Apache-2.0
#include "user/record/message.h"

#include <inttypes.h>

#include "user/record/evfields.h"
#include "user/record/evjson.h"

/* Before escaping. What is cut is still whole in the JSON. */
#define RAW_MAX 448

const char *message_endpoint(const uint8_t a[16], uint32_t port, char out[64])
{
	char text[ADDR_TEXT_MAX];

	(void)str_format(out, 64, addr_is_v4(a) ? "%s:%u" : "[%s]:%u", addr_text(a, text), port);
	return out;
}

static void task_line(char *out, const struct ev *ev, const struct ev_task *t)
{
	(void)str_format(out, RAW_MAX, "%s: '%s' pid %u", ev_type_name(ev->type), t->name, t->pid);
}

static void exec_line(char *out, const struct ev_exec *e)
{
	(void)str_format(out, RAW_MAX, "exec: '%s' pid %u by '%s' pid %u: %s", e->task.name,
			 e->task.pid, e->parent.name, e->parent.pid, e->argv);
}

static void fork_line(char *out, const struct ev_fork *f)
{
	(void)str_format(out, RAW_MAX, "fork: '%s' pid %u made pid %u", f->parent.name,
			 f->parent.pid, f->child.pid);
}

static void exit_line(char *out, const struct ev_exit *e)
{
	(void)str_format(out, RAW_MAX, "exit: '%s' pid %u, status 0x%x", e->task.name, e->task.pid,
			 e->code);
}

/* Of a cgroup hook: all its programs run, and this one is told what those before it said. */
static const char *refusal(const struct ev *ev)
{
	return ev->flags & SNT_F_REFUSED ? ", refused by another program on the cgroup" : "";
}

static void sock_line(char *out, const struct ev *ev)
{
	const struct ev_sock *s = &ev->sock;

	(void)str_format(out, RAW_MAX, "socket: %s by '%s' pid %u, family %u type %u protocol %u%s",
			 s->created ? "made" : "closed", s->task.name, s->task.pid, s->family,
			 s->type, s->protocol, refusal(ev));
}

static void addr_line(char *out, const struct ev *ev)
{
	const struct ev_addr *a = &ev->addr;
	char to[64];

	(void)str_format(out, RAW_MAX, "address: '%s' pid %u at %s to %s%s%s%s", a->task.name,
			 a->task.pid, field_name(&evfields_hooks, ev->hook),
			 a->path[0] ? a->path : message_endpoint(a->daddr, a->dport, to),
			 a->retval ? "" : ", refused",
			 ev->flags & SNT_F_DENIED ? " by the egress policy" : "", refusal(ev));
}

const char *message_call_aim(const struct ev_call *c, char out[SNT_CALL_DATA_MAX + 1])
{
	out[0] = '\0';
	if (c->path[0])
		return c->path;
	if (c->dport)
		return message_endpoint(c->daddr, c->dport, out);
	if (!strcmp(c->name, "openat"))
		(void)str_format(out, SNT_CALL_DATA_MAX + 1, "%.*s", (int)c->data_cap,
				 (const char *)c->data);
	return out;
}

static void call_line(char *out, const struct ev_call *c)
{
	char room[SNT_CALL_DATA_MAX + 1];
	const char *aim = message_call_aim(c, room);

	(void)str_format(out, RAW_MAX, "call: '%s' pid %u: %s(%d)%s%s = %" PRId64, c->task.name,
			 c->task.pid, c->name[0] ? c->name : "?", c->fd, aim[0] ? " to " : "", aim,
			 c->ret);
}

/* Not what is in it: that may be a secret. */
static void env_line(char *out, const struct ev_env *e)
{
	(void)str_format(out, RAW_MAX, "environment: '%s' pid %u, %u bytes, %u of them kept",
			 e->task.name, e->task.pid, e->env_bytes, e->env_len);
}

static void send_line(char *out, const struct ev_send *s)
{
	char to[64];

	(void)str_format(out, RAW_MAX, "send: '%s' pid %u to %s = %d", s->task.name, s->task.pid,
			 message_endpoint(s->daddr, s->dport, to), s->ret);
}

static void state_line(char *out, const struct ev_state *s)
{
	char from[64], to[64];

	(void)str_format(out, RAW_MAX, "state: '%s' pid %u, %s to %s, state %u to %u",
			 s->owner.name, s->owner.pid, message_endpoint(s->saddr, s->sport, from),
			 message_endpoint(s->daddr, s->dport, to), s->oldstate, s->newstate);
}

static void drop_line(char *out, const struct ev_drop *d)
{
	(void)str_format(out, RAW_MAX, "drop: %u bytes of '%s' pid %u, reason %u %s at %s", d->len,
			 d->owner.name, d->owner.pid, d->reason, d->reason_name,
			 d->location_name[0] ? d->location_name : "?");
}

static void run_begin_line(char *out, const struct ev_run_begin *r)
{
	(void)str_format(out, RAW_MAX, "run %s begins, %u lanes, sentinel %s on %s", r->run,
			 r->lanes, r->version, r->kernel);
}

static void target_line(char *out, const struct ev_target *t)
{
	(void)str_format(out, RAW_MAX, "target %s (%s): %s; %s", t->name,
			 field_name(&evfields_roles, t->role), t->about, t->version);
}

static void program_line(char *out, const struct ev_program *p)
{
	char hex[2 * EV_DIGEST_BYTES + 1];

	hex_encode(hex, p->digest, sizeof(p->digest));
	(void)str_format(out, RAW_MAX, "program of %s: %s, sha256 %s",
			 p->target[0] ? p->target : "the instrument", p->path, hex);
}

static void cell_line(char *out, const struct ev_cell *c)
{
	(void)str_format(out, RAW_MAX, "cell %s x %s: %s; %s", c->target, c->probe,
			 c->claimed ? "claimed" : "not claimed", c->source);
}

static void lane_line(char *out, const struct ev_lane *l)
{
	(void)str_format(out, RAW_MAX, "lane %u made, epoch %u", l->lane, l->epoch);
}

static const char *destination(const struct ev_trial *t, char out[64])
{
	if (t->path[0])
		return t->path;
	return t->dest == DEST_NONE ? "what is planted" : message_endpoint(t->daddr, t->dport, out);
}

static void trial_line(char *out, const struct ev_trial *t)
{
	char to[64], token[2 * EV_NONCE_BYTES + 1];

	hex_encode(token, t->token, sizeof(t->token));
	(void)str_format(out, RAW_MAX, "trial %u: %s x %s, %s, repeat %u, lane %u, to %s, token %s",
			 t->id, t->target[0] ? t->target : "baseline", t->probe,
			 field_name(&evfields_arms, t->arm), t->repeat, t->lane, destination(t, to),
			 token);
}

static void arm_end_line(char *out, const struct ev_arm_end *a)
{
	(void)str_format(out, RAW_MAX, "trial %u ended, status 0x%x%s%s%s", a->trial,
			 (unsigned int)a->status, a->killed ? ", killed at its time-out" : "",
			 a->detail[0] ? ": " : "", a->detail);
}

static void answer_line(char out[RAW_MAX], const struct ev_answer *a)
{
	bool sibling = a->which >= EV_ANSWER_SIBLING;

	(void)str_format(out, RAW_MAX, "trial %u%s answers challenge %u", a->trial,
			 sibling ? ": who is beside it" : "",
			 sibling ? a->which - EV_ANSWER_SIBLING + 1 : a->which);
}

static void proof_line(char *out, const struct ev_proof *p)
{
	(void)str_format(out, RAW_MAX, "trial %u says it ran%s, its own view: %s", p->trial,
			 p->has_answer ? " and was answered" : "", p->view);
}

static void received_line(char *out, const struct ev_received *r)
{
	char from[64], to[64];

	(void)str_format(out, RAW_MAX,
			 "collector of lane %u: protocol %u from %s to %s, %u bytes%s", r->lane,
			 r->protocol, message_endpoint(r->saddr, r->sport, from),
			 message_endpoint(r->daddr, r->dport, to), r->data_len,
			 r->answered ? ", answered" : "");
}

static void attach_line(char *out, const struct ev_attach *a)
{
	(void)str_format(out, RAW_MAX, "hook %s of lane %u is %sattached at the %s%s%s",
			 field_name(&evfields_hooks, a->hook), a->lane, a->attached ? "" : "not ",
			 a->final ? "end" : "start", a->detail[0] ? ": " : "", a->detail);
}

static void loss_line(char *out, const struct ev_loss *l)
{
	(void)str_format(out, RAW_MAX,
			 "lost at %s, slot %u: ring full %" PRIu64 ", oversized %" PRIu64
			 ", map full %" PRIu64 ", re-entered %" PRIu64,
			 field_name(&evfields_hooks, l->hook), l->slot, l->ring_full, l->oversized,
			 l->map_full, l->recursion);
}

/* The seal's time is in the line, so that a reader who writes it anew compares every digit of it.
 */
static void seal_line(char *out, const struct ev *ev)
{
	char sha256[2 * EV_DIGEST_BYTES + 1];

	hex_encode(sha256, ev->seal.sha256, sizeof(ev->seal.sha256));
	(void)str_format(out, RAW_MAX,
			 "seal: record %" PRIu64 " at %" PRIu64 " ns, %" PRIu64
			 " bytes before it, SHA-256 %s",
			 ev->id, ev->time_ns, ev->seal.offset, sha256);
}

static void line(char *out, const struct ev *ev)
{
	switch (ev->type) {
	case EV_EXEC:
		return exec_line(out, &ev->exec);
	case EV_FORK:
		return fork_line(out, &ev->fork);
	case EV_EXIT:
		return exit_line(out, &ev->exit);
	case EV_SOCK:
		return sock_line(out, ev);
	case EV_ADDR:
		return addr_line(out, ev);
	case EV_CALL:
		return call_line(out, &ev->call);
	case EV_SEND:
		return send_line(out, &ev->send);
	case EV_STATE:
		return state_line(out, &ev->state);
	case EV_DROP:
		return drop_line(out, &ev->drop);
	case EV_OPT:
		return task_line(out, ev, &ev->opt.task);
	case EV_URING:
		return task_line(out, ev, &ev->uring.task);
	case EV_ENV:
		return env_line(out, &ev->env);
	case EV_RUN_BEGIN:
		return run_begin_line(out, &ev->run_begin);
	case EV_TARGET:
		return target_line(out, &ev->target);
	case EV_PROGRAM:
		return program_line(out, &ev->program);
	case EV_PROBE:
		(void)str_format(out, RAW_MAX, "probe %s (%s)", ev->probe.name, ev->probe.attack);
		return;
	case EV_CELL:
		return cell_line(out, &ev->cell);
	case EV_LANE:
		return lane_line(out, &ev->lane_made);
	case EV_TRIAL:
		return trial_line(out, &ev->trial_new);
	case EV_ARM_BEGIN:
		(void)str_format(out, RAW_MAX, "trial %u begins, launcher pid %u",
				 ev->arm_begin.trial, ev->arm_begin.pid);
		return;
	case EV_ARM_END:
		return arm_end_line(out, &ev->arm_end);
	case EV_ANSWER:
		return answer_line(out, &ev->answer);
	case EV_PROOF:
		return proof_line(out, &ev->proof);
	case EV_RECEIVED:
		return received_line(out, &ev->received);
	case EV_ATTACH:
		return attach_line(out, &ev->attach);
	case EV_CANARY:
		(void)str_format(out, RAW_MAX, "canary in lane %u, for hook %s", ev->canary.lane,
				 field_name(&evfields_hooks, ev->canary.hook));
		return;
	case EV_DECOY:
		(void)str_format(out, RAW_MAX, "decoy in lane %u during trial %u: %s token",
				 ev->decoy.lane, ev->decoy.trial,
				 ev->decoy.one_bit ? "one bit of the" : "foreign");
		return;
	case EV_LOSS:
		return loss_line(out, &ev->loss);
	case EV_RUN_END:
		(void)str_format(out, RAW_MAX, "run ends%s", ev->run_end.aborted ? " early" : "");
		return;
	case EV_SEAL:
		return seal_line(out, ev);
	case EV_GAP:
		(void)str_format(out, RAW_MAX, "gap: %" PRIu64 " records lost by %s", ev->gap.count,
				 ev->gap.stage);
		return;
	case EV_NONE:
	case EV_PACKET:
	case EV_TYPE_MAX:
		break;
	}
	(void)str_copy(out, RAW_MAX, ev_type_name(ev->type));
}

const char *message_text(const struct ev *ev, char out[MESSAGE_MAX])
{
	char text[RAW_MAX];

	line(text, ev);
	return escape_text(out, MESSAGE_MAX, text, strlen(text));
}

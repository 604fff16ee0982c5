// SPDX-License-Identifier: Apache-2.0
#include "user/decode/fields.h"

#include <sys/socket.h>

#include "user/decode/syscall_name.h"

void fields_header(struct ev *ev, const struct snt_hdr *h)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = (enum ev_type)h->type;
	ev->time_ns = h->ktime_ns;
	ev->hook = h->hook;
	ev->slot = h->slot;
	ev->flags = h->flags;
	ev->cpu = h->cpu;
	ev->cpu_seq = h->cpu_seq;
	ev->cgroup_id = h->cgroup_id;
	ev->netns_cookie = h->netns_cookie;
	ev->mark = h->mark;
}

void fields_task(struct ev_task *ret, const struct snt_task *t)
{
	_Static_assert(sizeof(ret->name) == sizeof(t->comm) + 1, "room for the NUL");

	ret->pid = t->tgid;
	ret->tid = t->tid;
	ret->start_ns = t->start_ns;
	memcpy(ret->name, t->comm, sizeof(t->comm));
	ret->name[sizeof(t->comm)] = '\0';
}

/*
 * A session's argv[1] is SENTINEL1: and the nonce, and nothing more:
 *
 *	argv[0] NUL SENTINEL1:00112233445566778899aabbccddeeff NUL ...
 */
static bool parse_session(const char *argv, size_t len, uint8_t nonce[EV_NONCE_BYTES])
{
	const size_t want = SNT_SESSION_PREFIX_LEN + SNT_NONCE_HEX_LEN;
	const char *end = memchr(argv, '\0', len);
	char digits[SNT_NONCE_HEX_LEN + 1];
	const char *arg;
	size_t left;

	if (!end)
		return false;
	arg = end + 1;
	left = len - (size_t)(arg - argv);
	if (left < want || (left > want && arg[want] != '\0') ||
	    memcmp(arg, SNT_SESSION_PREFIX, SNT_SESSION_PREFIX_LEN) != 0)
		return false;
	memcpy(digits, arg + SNT_SESSION_PREFIX_LEN, SNT_NONCE_HEX_LEN);
	digits[SNT_NONCE_HEX_LEN] = '\0';
	return hex_decode(nonce, EV_NONCE_BYTES, digits) == 0;
}

static void copy_argv(char *out, const char *argv, size_t len)
{
	while (len && argv[len - 1] == '\0')
		len--;
	for (size_t i = 0; i < len; i++)
		out[i] = argv[i] ? argv[i] : ' ';
	out[len] = '\0';
}

static int exec_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_exec *e = &ev->exec;
	struct snt_exec r;

	memcpy(&r, rec, sizeof(r));
	if (r.argv_len > sizeof(r.argv))
		return -EBADMSG;
	fields_task(&e->task, &r.task);
	fields_task(&e->parent, &r.parent);
	e->ns = (struct ev_ns){
		.mnt = r.ns_mnt,
		.net = r.ns_net,
		.pid = r.ns_pid,
		.user = r.ns_user,
		.uts = r.ns_uts,
		.ipc = r.ns_ipc,
		.cgroup = r.ns_cgroup,
	};
	e->exe_ino = r.exe_ino;
	e->parent_exe_ino = r.parent_exe_ino;
	e->exe_dev = r.exe_dev;
	e->parent_exe_dev = r.parent_exe_dev;
	e->uid = r.uid;
	e->gid = r.gid;
	e->seccomp = r.seccomp;
	e->no_new_privs = r.no_new_privs;
	e->cap_effective = r.cap_effective;
	e->cap_permitted = r.cap_permitted;
	e->session = parse_session(r.argv, r.argv_len, e->nonce);
	copy_argv(e->argv, r.argv, r.argv_len);
	return 0;
}

static int fork_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct snt_fork r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&ev->fork.parent, &r.parent);
	fields_task(&ev->fork.child, &r.child);
	return 0;
}

static int exit_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct snt_exit r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&ev->exit.task, &r.task);
	ev->exit.code = r.code;
	return 0;
}

static int sock_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_sock *e = &ev->sock;
	struct snt_sock r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&e->task, &r.task);
	e->cookie = r.cookie;
	e->family = r.family;
	e->type = r.type;
	e->protocol = r.protocol;
	e->created = r.h.flags & SNT_F_CREATED;
	return 0;
}

/* unix(7): a path ends at its first NUL; an abstract name begins with one, and has the length that
 * was given, NULs included. Those are shown as '@', as ss(8) does. */
static void copy_unix(char *out, size_t size, const char *path, size_t len)
{
	bool abstract = len && path[0] == '\0';
	size_t i;

	for (i = 0; i < len && i < size - 1 && (abstract || path[i]); i++)
		out[i] = path[i] ? path[i] : '@';
	out[i] = '\0';
}

static int addr_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_addr *e = &ev->addr;
	struct snt_addr r;

	memcpy(&r, rec, sizeof(r));
	if (r.path_len > sizeof(r.path))
		return -EBADMSG;
	fields_task(&e->task, &r.task);
	e->cookie = r.cookie;
	e->family = r.family;
	e->type = r.type;
	e->protocol = r.protocol;
	e->dport = r.dport;
	e->retval = r.retval;
	memcpy(e->daddr, r.daddr, sizeof(e->daddr));
	if (r.family == AF_UNIX)
		copy_unix(e->path, sizeof(e->path), r.path, r.path_len);
	return 0;
}

static int call_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_call *e = &ev->call;
	struct snt_call r;

	memcpy(&r, rec, sizeof(r));
	if (r.data_cap > sizeof(r.data) || r.path_len > sizeof(r.path))
		return -EBADMSG;
	fields_task(&e->task, &r.task);
	e->nr = r.nr;
	(void)str_copy(e->name, sizeof(e->name), syscall_name(r.nr));
	e->fd = r.fd;
	e->ret = r.ret;
	e->arg1 = r.arg1;
	e->arg2 = r.arg2;
	e->family = r.family;
	e->dport = r.dport;
	memcpy(e->daddr, r.daddr, sizeof(e->daddr));
	e->data_len = r.data_len;
	e->data_cap = r.data_cap;
	memcpy(e->data, r.data, r.data_cap);
	if (r.family == AF_UNIX)
		copy_unix(e->path, sizeof(e->path), r.path, r.path_len);
	return 0;
}

static int send_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_send *e = &ev->send;
	struct snt_send r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&e->task, &r.task);
	e->cookie = r.cookie;
	e->family = r.family;
	e->type = r.type;
	e->protocol = r.protocol;
	e->ret = r.ret;
	e->sport = r.sport;
	e->dport = r.dport;
	memcpy(e->saddr, r.saddr, sizeof(e->saddr));
	memcpy(e->daddr, r.daddr, sizeof(e->daddr));
	return 0;
}

static int state_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_state *e = &ev->state;
	struct snt_state r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&e->owner, &r.owner);
	e->cookie = r.cookie;
	e->oldstate = r.oldstate;
	e->newstate = r.newstate;
	e->sport = r.sport;
	e->dport = r.dport;
	memcpy(e->saddr, r.saddr, sizeof(e->saddr));
	memcpy(e->daddr, r.daddr, sizeof(e->daddr));
	return 0;
}

static void drop_names(struct ev_drop *e, const struct decode_opts *names)
{
	const char *reason =
		names->reason_name ? names->reason_name(names->names_arg, e->reason) : NULL;

	if (reason)
		(void)str_copy(e->reason_name, sizeof(e->reason_name), reason);
	if (names->symbol && !names->symbol(names->names_arg, e->location, e->location_name))
		e->location_name[0] = '\0';
}

static int drop_fields(struct ev *ev, const void *rec, const struct decode_opts *names)
{
	struct ev_drop *e = &ev->drop;
	struct snt_drop r;

	_Static_assert(sizeof(e->location_name) == 64, "as decode_opts.symbol says");

	memcpy(&r, rec, sizeof(r));
	if (r.head_len > sizeof(r.head))
		return -EBADMSG;
	fields_task(&e->owner, &r.owner);
	e->cookie = r.cookie;
	e->location = r.location;
	e->reason = r.reason;
	e->ifindex = r.ifindex;
	e->netns = r.netns;
	e->eth_proto = r.eth_proto;
	e->len = r.len;
	e->head_len = r.head_len;
	memcpy(e->head, r.head, r.head_len);
	drop_names(e, names);
	return 0;
}

static int opt_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct snt_opt r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&ev->opt.task, &r.task);
	ev->opt.cookie = r.cookie;
	ev->opt.level = r.level;
	ev->opt.optname = r.optname;
	ev->opt.family = r.family;
	return 0;
}

static int uring_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct snt_uring r;

	memcpy(&r, rec, sizeof(r));
	fields_task(&ev->uring.task, &r.task);
	ev->uring.res = r.res;
	ev->uring.opcode = r.opcode;
	return 0;
}

static int env_fields(struct ev *ev, const void *rec, const struct decode_opts *names unused_arg)
{
	struct ev_env *e = &ev->env;
	struct snt_env r;

	memcpy(&r, rec, sizeof(r));
	if (r.env_len > sizeof(r.env) || r.env_len > r.env_bytes)
		return -EBADMSG;
	fields_task(&e->task, &r.task);
	e->env_bytes = r.env_bytes;
	e->env_len = r.env_len;
	memcpy(e->env, r.env, r.env_len);
	return 0;
}

static const struct {
	uint32_t size;
	int (*fill)(struct ev *ev, const void *rec, const struct decode_opts *names);
} bodies[] = {
	[SNT_EV_EXEC] = { sizeof(struct snt_exec), exec_fields },
	[SNT_EV_FORK] = { sizeof(struct snt_fork), fork_fields },
	[SNT_EV_EXIT] = { sizeof(struct snt_exit), exit_fields },
	[SNT_EV_SOCK] = { sizeof(struct snt_sock), sock_fields },
	[SNT_EV_ADDR] = { sizeof(struct snt_addr), addr_fields },
	[SNT_EV_CALL] = { sizeof(struct snt_call), call_fields },
	[SNT_EV_SEND] = { sizeof(struct snt_send), send_fields },
	[SNT_EV_STATE] = { sizeof(struct snt_state), state_fields },
	[SNT_EV_DROP] = { sizeof(struct snt_drop), drop_fields },
	[SNT_EV_OPT] = { sizeof(struct snt_opt), opt_fields },
	[SNT_EV_URING] = { sizeof(struct snt_uring), uring_fields },
	[SNT_EV_ENV] = { sizeof(struct snt_env), env_fields },
};

int fields_body(struct ev *ev, const struct snt_hdr *h, const void *rec,
		const struct decode_opts *names)
{
	if (h->type >= ARRAY_SIZE(bodies) || !bodies[h->type].fill)
		return -ENOENT;
	if (h->len < bodies[h->type].size)
		return -EBADMSG;
	return bodies[h->type].fill(ev, rec, names);
}

// SPDX-License-Identifier: Apache-2.0
/* The signature of each blocker, and its word; and that what is ambiguous names nobody. */
#include <errno.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "user/judge/correlate_state.h"

#define NETNS 4001u
#define TID 77u
#define MARK 42u
#define NET_RAW (1ull << CAP_NET_RAW)

static const struct ev_lane lane = { .box = { .net = 5001 },
				     .host = { .net = 5002 },
				     .world = { .net = 5003 } };

static struct trial_state session(uint32_t seccomp, uint64_t caps)
{
	const struct ev_exec x = { .ns = { .net = NETNS },
				   .seccomp = seccomp,
				   .cap_effective = caps };
	struct trial_state t = { .mark = MARK, .attempt_ns = 1 };

	blame_exec(&t, &x);
	return t;
}

static const char *word_of(const struct trial_state *t)
{
	static char word[EV_NAME_MAX];

	word[0] = '\0';
	blame_word(t, word);
	return word;
}

static void meet(struct trial_state *t, uint32_t hook, uint32_t tid, uint32_t flags)
{
	struct ev ev = { .type = EV_ADDR, .hook = hook, .flags = flags };

	ev.addr.task.tid = tid;
	if (hook == SNT_HOOK_SOCK_CREATE) {
		ev = (struct ev){ .type = EV_SOCK, .hook = hook, .flags = flags };
		ev.sock.task.tid = tid;
		ev.sock.created = true;
		blame_sock(t, &ev);
	} else {
		blame_addr(t, &ev);
	}
}

/* ---- calls ---- */

#define NO_HOOK SNT_HOOK_MAX

static const struct refusal {
	const char *word, *call;
	enum channel channel;
	int err;
	uint32_t hook, hook_flags; /* what saw the call */
	uint32_t flags, seccomp;   /* of the call's record, of the session */
	uint32_t family, type;	   /* type: of socket() */
	uint64_t caps;
} refusals[] = {
	{ "seccomp:EPERM", "connect", CHANNEL_TCP, EPERM, NO_HOOK, 0, SNT_F_NO_ENTER, 2,
	  .family = AF_INET },
	{ "seccomp:ENOSYS", "io_uring_setup", CHANNEL_TCP, ENOSYS, NO_HOOK, 0, SNT_F_NO_ENTER,
	  .seccomp = 2 },
	{ "intercepted:EPERM", "connect", CHANNEL_TCP, EPERM, NO_HOOK, 0, SNT_F_NO_ENTER, 0,
	  .family = AF_INET },
	{ "lsm:EACCES", "connect", CHANNEL_TCP, EACCES, NO_HOOK, .family = AF_INET },
	{ "lsm:EPERM", "sendto", CHANNEL_UDP, EPERM, NO_HOOK, .family = AF_INET },
	/* the hook said nothing against it, so that somebody behind it did */
	{ "prohibit-route", "connect", CHANNEL_TCP, EACCES, SNT_HOOK_CONNECT4, .family = AF_INET },
	{ "blackhole-route", "sendto", CHANNEL_UDP, EINVAL, SNT_HOOK_SENDMSG4, .family = AF_INET },
	{ "no-route", "connect", CHANNEL_TCP, ENETUNREACH, SNT_HOOK_CONNECT6, .family = AF_INET6 },
	{ "unreachable-route", "connect", CHANNEL_TCP, EHOSTUNREACH, SNT_HOOK_CONNECT4,
	  .family = AF_INET },
	{ "no-address", "connect", CHANNEL_TCP, EADDRNOTAVAIL, SNT_HOOK_CONNECT6,
	  .family = AF_INET6 },
	{ "connect:EPERM", "connect", CHANNEL_TCP, EPERM, SNT_HOOK_CONNECT4, .family = AF_INET },
	{ "cgroup-connect:EPERM", "connect", CHANNEL_TCP, EPERM, SNT_HOOK_CONNECT4, SNT_F_REFUSED,
	  .family = AF_INET },
	{ "cgroup-connect:ENETUNREACH", "connect", CHANNEL_TCP, ENETUNREACH, SNT_HOOK_CONNECT4,
	  SNT_F_REFUSED, .family = AF_INET },
	{ "cgroup-sendmsg:EPERM", "sendto", CHANNEL_UDP, EPERM, SNT_HOOK_SENDMSG4, SNT_F_REFUSED,
	  .family = AF_INET },
	{ "cgroup-sock:EPERM", "socket", CHANNEL_TCP, EPERM, SNT_HOOK_SOCK_CREATE, SNT_F_REFUSED,
	  .family = AF_INET, .type = SOCK_STREAM },
	{ "socket:EPERM", "socket", CHANNEL_TCP, EPERM, SNT_HOOK_SOCK_CREATE, .family = AF_INET,
	  .type = SOCK_STREAM },
	{ "socket:EPERM", "socket", CHANNEL_TCP, EPERM, NO_HOOK, .family = AF_INET,
	  .type = SOCK_STREAM },
	{ "capability:EPERM", "socket", CHANNEL_PACKET, EPERM, NO_HOOK, .family = AF_PACKET,
	  .type = SOCK_DGRAM },
	{ "capability:EPERM", "socket", CHANNEL_ICMP, EPERM, NO_HOOK, .family = AF_INET,
	  .type = SOCK_RAW | SOCK_CLOEXEC },
	/* it has the capability, perhaps in the wrong namespace; or it is another's refusal */
	{ "socket:EPERM", "socket", CHANNEL_PACKET, EPERM, NO_HOOK, .family = AF_PACKET,
	  .type = SOCK_RAW, .caps = NET_RAW },
	{ "socket:EACCES", "socket", CHANNEL_ICMP, EACCES, NO_HOOK, .family = AF_INET,
	  .type = SOCK_DGRAM },
	/* no hook of cgroups is on the way of these */
	{ "sendto:EACCES", "sendto", CHANNEL_ICMP, EACCES, NO_HOOK, .family = AF_INET },
	{ "sendto:EPERM", "sendto", CHANNEL_PACKET, EPERM, NO_HOOK, .family = AF_PACKET },
	{ "link-down", "sendto", CHANNEL_PACKET, ENETDOWN, NO_HOOK, .family = AF_PACKET },
	{ "no-route", "sendto", CHANNEL_ICMP, ENETUNREACH, NO_HOOK, .family = AF_INET },
	{ "no-such-path", "connect", CHANNEL_UNIX, ENOENT, NO_HOOK, .family = AF_UNIX },
	{ "no-listener", "connect", CHANNEL_UNIX, ECONNREFUSED, NO_HOOK, .family = AF_UNIX },
	{ "connect:EACCES", "connect", CHANNEL_UNIX, EACCES, NO_HOOK, .family = AF_UNIX },
	{ "openat:ENOENT", "openat", CHANNEL_SECRET, ENOENT, .hook = NO_HOOK },
	/* it names no destination, so that no hook tells */
	{ "write:EACCES", "write", CHANNEL_UDP, EACCES, .hook = NO_HOOK },
};

static void refuse(struct trial_state *t, const struct refusal *r, uint32_t tid)
{
	const struct ev_probe p = { .channel = r->channel, .family = AF_INET };
	struct ev ev = { .type = EV_CALL, .flags = r->flags };

	ev.call.task.tid = tid;
	ev.call.family = r->family;
	ev.call.arg1 = r->type;
	(void)str_copy(ev.call.name, sizeof(ev.call.name), r->call);
	blame_refused(t, &p, &ev, r->err);
	blame_returned(t, tid);
}

static void each_refusal(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct trial_state t = session(r->seccomp, r->caps);

		if (r->hook != NO_HOOK)
			meet(&t, r->hook, TID, r->hook_flags);
		refuse(&t, r, TID);
		assert_string_equal(word_of(&t), r->word);
	}
}

static const struct refusal plain = { NULL,   "connect", CHANNEL_TCP,
				      EACCES, NO_HOOK,	 .family = AF_INET };

static void hooks_of_an_earlier_call(void **state unused_arg)
{
	struct trial_state t = session(0, 0);

	meet(&t, SNT_HOOK_CONNECT4, TID, SNT_F_REFUSED);
	blame_returned(&t, TID);
	refuse(&t, &plain, TID);
	assert_string_equal(word_of(&t), "lsm:EACCES");
}

/* What one thread met is not said of another. */
static void two_threads(void **state unused_arg)
{
	struct trial_state t = session(0, 0);

	meet(&t, SNT_HOOK_CONNECT4, TID, 0);
	meet(&t, SNT_HOOK_CONNECT4, TID + 1, SNT_F_REFUSED);
	refuse(&t, &plain, TID);
	assert_string_equal(word_of(&t), "connect:EACCES");
}

static void io_uring(void **state unused_arg)
{
	const struct ev_probe p = { .channel = CHANNEL_TCP, .family = AF_INET };
	const struct ev ev = { .type = EV_URING };
	struct trial_state t = session(0, 0);

	blame_refused(&t, &p, &ev, EACCES);
	assert_string_equal(word_of(&t), "lsm:EACCES");
	t = session(0, 0);
	meet(&t, SNT_HOOK_CONNECT4, TID, 0);
	blame_refused(&t, &p, &ev, ENETUNREACH);
	assert_string_equal(word_of(&t), "no-route");
}

static void several_refusals(void **state unused_arg)
{
	struct trial_state t = session(0, 0);
	struct refusal r = plain;

	for (int i = 0; i < 3; i++)
		refuse(&t, &plain, TID);
	r.channel = CHANNEL_ICMP;
	r.err = ENETUNREACH;
	refuse(&t, &r, TID);
	assert_string_equal(word_of(&t), "lsm:EACCES+no-route");
	for (r.err = 1; r.err < 40; r.err++)
		refuse(&t, &r, TID);
	assert_true(strlen(word_of(&t)) < EV_NAME_MAX);
}

/* ---- packets ---- */

static const struct death {
	const char *word, *reason;
	uint32_t netns, ifindex, len, flags;
	uint64_t mark;
	bool v6, cut;
} deaths[] = {
	{ "netfilter-output", "NETFILTER_DROP", NETNS, 0, 60, SNT_F_OWNER, .mark = MARK },
	{ "netfilter-output", "NETFILTER_DROP", NETNS, 0, 60, SNT_F_OWNER, .mark = MARK,
	  .v6 = true },
	{ "netfilter-postrouting", "NETFILTER_DROP", NETNS, 4, 60, SNT_F_OWNER, .mark = MARK },
	{ "netfilter-egress", "NETFILTER_DROP", NETNS, 4, 74, SNT_F_OWNER, .mark = MARK },
	/* not by its socket, not a whole header, on the loopback: any hook may have been it */
	{ "netfilter", "NETFILTER_DROP", NETNS, 4, 60, 0, .mark = 0 },
	{ "netfilter", "NETFILTER_DROP", NETNS, 4, 60, SNT_F_OWNER, .mark = MARK + 1 },
	{ "netfilter", "NETFILTER_DROP", NETNS, 4, 60, SNT_F_OWNER, .mark = MARK, .cut = true },
	{ "netfilter", "NETFILTER_DROP", NETNS, 1, 60, SNT_F_OWNER, .mark = MARK },
	{ "netfilter", "NETFILTER_DROP", NETNS, 0, 74, SNT_F_OWNER, .mark = MARK },
	{ "netfilter@box", "NETFILTER_DROP", 5001, 4, 60, 0, .mark = 0 },
	{ "netfilter@box", "NETFILTER_DROP", 5001, 0, 60, SNT_F_OWNER, .mark = MARK },
	{ "netfilter@host", "NETFILTER_DROP", 5002, 4, 60, 0, .mark = 0 },
	{ "netfilter@world", "NETFILTER_DROP", 5003, 4, 60, 0, .mark = 0 },
	{ "netfilter@other", "NETFILTER_DROP", 5004, 4, 60, 0, .mark = 0 },
	{ "netfilter@unknown", "NETFILTER_DROP", 0, 0, 60, SNT_F_OWNER, .mark = MARK },
	{ "cgroup-skb", "BPF_CGROUP_EGRESS", NETNS, 4, 60, SNT_F_OWNER, .mark = MARK },
	{ "tc-egress", "TC_EGRESS", NETNS, 4, 74, SNT_F_OWNER, .mark = MARK },
	{ "tc-ingress@box", "TC_INGRESS", 5001, 4, 74, 0, .mark = 0 },
	{ "no-neighbour", "NEIGH_FAILED", NETNS, 4, 60, SNT_F_OWNER, .mark = MARK },
	{ "ip-rpfilter@host", "IP_RPFILTER", 5002, 4, 60, 0, .mark = 0 },
	{ "drop@host", "", 5002, 4, 60, 0, .mark = 0 },
};

static void die(struct trial_state *t, const struct death *d)
{
	struct ev ev = { .type = EV_DROP, .flags = d->flags, .mark = d->mark };

	ev.drop.netns = d->netns;
	ev.drop.ifindex = d->ifindex;
	ev.drop.len = d->len;
	ev.drop.head_len = d->cut ? 2 : 40;
	ev.drop.head[0] = d->v6 ? 0x60 : 0x45;
	ev.drop.head[3] = d->v6 ? 0 : 60;
	ev.drop.head[5] = d->v6 ? 20 : 0;
	(void)str_copy(ev.drop.reason_name, sizeof(ev.drop.reason_name), d->reason);
	blame_drop(t, &lane, &ev);
}

static void each_death(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(deaths); i++) {
		struct trial_state t = session(0, 0);

		die(&t, &deaths[i]);
		assert_string_equal(word_of(&t), deaths[i].word);
	}
}

/* A reason's name comes out of the capture. */
static void hostile_reason(void **state unused_arg)
{
	const struct death d = { NULL, "\033[2J'\"+@\n\377A_VERY_LONG_REASON_OF_MORE_THAN",
				 .netns = 5002 };
	struct trial_state t = session(0, 0);
	const char *word;

	die(&t, &d);
	for (word = word_of(&t); *word && *word != '@'; word++)
		assert_true((*word >= 'a' && *word <= 'z') || (*word >= '0' && *word <= '9') ||
			    *word == '-');
	assert_string_equal(word, "@host");
}

/* What a call was told of a packet that died is the echo of that; without one, nobody knows. */
static void packets_before_calls(void **state unused_arg)
{
	struct trial_state t = session(0, 0);

	refuse(&t, &plain, TID);
	die(&t, &deaths[0]);
	assert_string_equal(word_of(&t), "netfilter-output");
	die(&t, &deaths[0]);
	die(&t, &deaths[11]);
	assert_string_equal(word_of(&t), "netfilter-output+netfilter@host");

	t = session(0, 0);
	refuse(&t, &plain, TID);
	t.packet_a = true;
	assert_string_equal(word_of(&t), "");
	t.blame.reset = true;
	assert_string_equal(word_of(&t), "reset");
	die(&t, &deaths[0]);
	assert_string_equal(word_of(&t), "netfilter-output");
	t = session(0, 0);
	t.packet_b = true;
	assert_string_equal(word_of(&t), "");
	t.t.closed = true;
	assert_string_equal(word_of(&t), "lane-rule");
}

static void last_vantage(void **state unused_arg)
{
	struct trial_state t = { 0 };

	assert_int_equal(blame_at(&t), VANTAGE_NONE);
	t.attempt_ns = 1;
	assert_int_equal(blame_at(&t), VANTAGE_A);
	t = (struct trial_state){ .packet_a = true };
	assert_int_equal(blame_at(&t), VANTAGE_A);
	t.packet_b = true;
	assert_int_equal(blame_at(&t), VANTAGE_B);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal),	    cmocka_unit_test(hooks_of_an_earlier_call),
		cmocka_unit_test(two_threads),	    cmocka_unit_test(io_uring),
		cmocka_unit_test(several_refusals), cmocka_unit_test(each_death),
		cmocka_unit_test(hostile_reason),   cmocka_unit_test(packets_before_calls),
		cmocka_unit_test(last_vantage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

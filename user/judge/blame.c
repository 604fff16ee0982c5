// SPDX-License-Identifier: Apache-2.0
/* By what an attempt was stopped: the signature that each blocker leaves (DESIGN.md 3.6). */
#include "user/judge/correlate_state.h"

static const char *errno_word(int err)
{
	const char *name = strerrorname_np(err);

	return name ? name : "error";
}

static void refused_by(const struct trial_state *t, char ret[EV_NAME_MAX])
{
	if (t->refused_no_enter)
		(void)str_format(ret, EV_NAME_MAX, "seccomp:%s", errno_word(t->refused));
	else if (t->refused == ENETUNREACH || t->refused == EHOSTUNREACH)
		(void)str_copy(ret, EV_NAME_MAX, "no-route");
	else if (t->refused == EADDRNOTAVAIL)
		(void)str_copy(ret, EV_NAME_MAX, "no-address");
	else if (t->refused == EACCES && !t->call_addr_seen)
		(void)str_copy(ret, EV_NAME_MAX, "lsm:EACCES");
	else if (t->refused == EACCES)
		(void)str_copy(ret, EV_NAME_MAX, "prohibit-route");
	else if (t->refused == EINVAL && t->call_addr_seen)
		(void)str_copy(ret, EV_NAME_MAX, "blackhole-route");
	else if (t->refused == EPERM && t->drop[0])
		(void)str_copy(ret, EV_NAME_MAX, t->drop);
	else if (t->refused == EPERM)
		(void)str_copy(ret, EV_NAME_MAX, "cgroup-hook:EPERM");
	else
		(void)str_copy(ret, EV_NAME_MAX, errno_word(t->refused));
}

enum vantage blame_at(const struct trial_state *t)
{
	if (t->packet_b)
		return VANTAGE_B;
	return t->attempt_ns || t->packet_a ? VANTAGE_A : VANTAGE_NONE;
}

void blame_word(const struct trial_state *t, char ret[EV_NAME_MAX])
{
	if (t->packet_b && t->t.closed)
		(void)str_copy(ret, EV_NAME_MAX, "lane-rule");
	else if (t->packet_b || t->packet_a)
		(void)str_copy(ret, EV_NAME_MAX, t->drop);
	else if (t->refused)
		refused_by(t, ret);
	else if (t->drop[0])
		(void)str_copy(ret, EV_NAME_MAX, t->drop);
}

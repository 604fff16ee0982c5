// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: a sandbox that shows in nothing but a call that it refuses. That call says who the
 * sandbox is, and is never the attempt, not even of a probe that may connect to anybody.
 */
#include "tests/unit/story.h"

static void connects(struct run *r, const struct ev_trial *t, int64_t ret)
{
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	call(r, t, (struct call){ .name = "connect", .ret = ret, .family = AF_INET });
}

static void opened(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	travels(r, t, SNT_HOOK_WORLD, (struct frame){ .protocol = IPPROTO_TCP, .tcp_flags = 0x02 });
	established(r, t);
	travels(r, t, SNT_HOOK_WORLD,
		(struct frame){ .protocol = IPPROTO_TCP,
				.tcp_flags = 0x18,
				.payload = token_line(t->token) });
	if (t->far == FAR_DEAF)
		return;
	received_token(r, t, IPPROTO_TCP);
	r->claim.answer = true;
}

static void closed(struct run *r, const struct ev_trial *t)
{
	connects(r, t, -EACCES);
}

static const struct way way = {
	.probe = { .name = "http-post-proxy",
		   .channel = CHANNEL_PROXY,
		   .family = AF_INET,
		   .answers = true },
	.open = opened,
	.closed = closed,
	.deaf = opened,
};

/* ---- the call ---- */

static const uint8_t loopback[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };

static struct call discard(int64_t ret)
{
	return (struct call){ .name = "connect",
			      .ret = ret,
			      .family = AF_INET,
			      .daddr = loopback,
			      .dport = REFUSED_CONNECT_PORT };
}

static void refused_and_closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-EACCES));
	closed(r, t);
}

static void forbidden_and_closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-EPERM));
	closed(r, t);
}

static void refused_and_open(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-EACCES));
	opened(r, t);
}

static void refused_alone(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-EACCES));
}

static void allowed_and_closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-ECONNREFUSED));
	closed(r, t);
}

static void allowed_and_open(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-EINPROGRESS));
	opened(r, t);
}

static void refused_and_allowed(struct run *r, const struct ev_trial *t)
{
	call(r, t, discard(-EACCES));
	allowed_and_closed(r, t);
}

static void launchers_and_closed(struct run *r, const struct ev_trial *t)
{
	struct call c = discard(-EACCES);

	c.launchers = true;
	call(r, t, c);
	closed(r, t);
}

static void another_port_and_closed(struct run *r, const struct ev_trial *t)
{
	struct call c = discard(-EACCES);

	c.dport++;
	call(r, t, c);
	closed(r, t);
}

#define STORY                                                                                      \
	.way = &way, .expect = EXPECT_REFUSED_CONNECT, .on = refused_and_closed,                   \
	.on2 = refused_and_closed
#define STORY_ON(scene)                                                                            \
	.way = &way, .expect = EXPECT_REFUSED_CONNECT, .on = (scene), .on2 = refused_and_closed

static void refusals(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { STORY }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "the other errno",
		  { STORY_ON(forbidden_and_closed) },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "an escape from it",
		  { STORY_ON(refused_and_open) },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "it was not refused",
		  { STORY_ON(allowed_and_closed) },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX),
		  RUN_VALID },
		{ "it was not refused, and the attempt crossed",
		  { STORY_ON(allowed_and_open) },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX),
		  RUN_VALID },
		{ "refused once, and once not",
		  { STORY_ON(refused_and_allowed) },
		  VERDICT_INCONCLUSIVE,
		  R(WRONG_SANDBOX),
		  RUN_VALID },
		{ "nobody saw it",
		  { STORY_ON(closed) },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN),
		  RUN_VALID },
		{ "it was the launcher's",
		  { STORY_ON(launchers_and_closed) },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN),
		  RUN_VALID },
		{ "it went elsewhere",
		  { STORY_ON(another_port_and_closed) },
		  VERDICT_INCONCLUSIVE,
		  R(IDENTITY_UNKNOWN),
		  RUN_VALID },
		{ "nothing else was attempted",
		  { STORY_ON(refused_alone) },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "nobody saw it in on2",
		  { .way = &way, .expect = EXPECT_REFUSED_CONNECT, .on = refused_and_closed },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "nobody expects it, and it was made",
		  { .way = &way, .on = refused_and_closed },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
	};

	check_rows(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

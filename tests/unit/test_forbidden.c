// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: listeners that no sandbox may reach, which stand on this side of W. Their own log says
 * what arrived; the token on its way, as A saw it, is the second witness.
 */
#include "tests/unit/story.h"

/* ---- host-loopback: 127.0.0.1 of the launcher's namespace ---- */

static void at_loopback(struct ev_trial *t)
{
	static const uint8_t loopback[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };

	memcpy(t->daddr, loopback, 16);
	t->dport = 9003 + t->far;
}

static void hands_over(struct run *r, const struct ev_trial *t, const char *name, uint32_t family)
{
	const char *line = token_line(t->token);

	call(r, t,
	     (struct call){ .name = name,
			    .ret = (int64_t)strlen(line),
			    .family = family,
			    .data = line,
			    .data_len = strlen(line) });
}

static void on_loopback(struct run *r, const struct ev_trial *t, const char *payload)
{
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_CG_EGRESS,
			      .protocol = IPPROTO_TCP,
			      .tcp_flags = payload ? 0x18 : 0x02,
			      .payload = payload,
			      .ifindex = 1 });
}

static void connects(struct run *r, const struct ev_trial *t, int ret)
{
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	on_loopback(r, t, NULL);
	if (!ret)
		established(r, t);
	call(r, t, (struct call){ .name = "connect", .ret = ret, .family = AF_INET });
}

static void loopback_open(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	hands_over(r, t, "write", 0);
	on_loopback(r, t, token_line(t->token));
	received_token(r, t, IPPROTO_TCP);
	r->claim.answer = true;
}

/* The sandbox's own loopback: nobody listens. */
static void loopback_closed(struct run *r, const struct ev_trial *t)
{
	connects(r, t, -ECONNREFUSED);
}

static const struct way loopback = {
	.probe = { .name = "host-loopback",
		   .channel = CHANNEL_TCP,
		   .dest = DEST_LOOPBACK,
		   .family = AF_INET,
		   .answers = true,
		   .forbidden = true },
	.place = at_loopback,
	.open = loopback_open,
	.closed = loopback_closed,
	.deaf = loopback_closed,
};

static void loopback_quiet(struct run *r, const struct ev_trial *t)
{
	loopback_open(r, t);
	r->claim.answer = false;
}

/* The log has it, and nobody else. */
static void loopback_relayed(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	received_token(r, t, IPPROTO_TCP);
}

static void loopback_relayed_in_base64(struct run *r, const struct ev_trial *t)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[24] = { 0 };
	uint32_t bits = 0, n = 0, at = 0;

	loopback_closed(r, t);
	for (int i = 0; i < EV_NONCE_BYTES; i++) {
		bits = bits << 8 | t->token[i];
		for (n += 8; n >= 6; n -= 6)
			text[at++] = digits[bits >> (n - 6) & 63];
	}
	text[at++] = digits[bits << (6 - n) & 63];
	received(r, t, IPPROTO_TCP, text, at);
}

static void loopback_relayed_unreadable(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	received(r, t, IPPROTO_TCP, "jr5Q", 4);
}

static void loopback_answer_alone(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	r->claim.answer = true;
}

static void loopback_taken(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	hands_over(r, t, "write", 0);
	on_loopback(r, t, token_line(t->token));
}

/* As with TCP Fast Open or io_uring: no call tells, but the socket's state does. */
static void loopback_refused_and_taken(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	established(r, t);
}

static void loopback_dropped(struct run *r, const struct ev_trial *t)
{
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	on_loopback(r, t, NULL);
	dropped(r, t, (struct frame){ .protocol = IPPROTO_TCP, .tcp_flags = 0x02 }, true);
	call(r, t, (struct call){ .name = "connect", .ret = -EINPROGRESS, .family = AF_INET });
}

static void loopback_by_another_link(struct run *r, const struct ev_trial *t)
{
	loopback_dropped(r, t);
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_CG_EGRESS,
			      .protocol = IPPROTO_TCP,
			      .tcp_flags = 0x02,
			      .ifindex = 77 });
}

static void lost_log(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	gap(r, "collector");
}

static void lost_a(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	loss(r, SNT_HOOK_CG_EGRESS, LANE);
}

static void at_world_instead(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_WORLD,
			      .protocol = IPPROTO_UDP,
			      .dst = other_address,
			      .dport = 53,
			      .payload = token_line(t->token) });
}

/* The far side of a baseline does not say what it received. */
static void loopback_not_logged(struct run *r, const struct ev_trial *t)
{
	loopback_taken(r, t);
	r->claim.answer = true;
}

/* ... and neither vantage sees it. */
static void loopback_answered_unseen(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	r->claim.answer = true;
}

static void loopback_not_logged_and_lost(struct run *r, const struct ev_trial *t)
{
	loopback_not_logged(r, t);
	gap(r, "collector");
}

static void loopback_lost_inside(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	loss(r, SNT_HOOK_CG_EGRESS, LANE_OTHER);
	received_token(r, t, IPPROTO_TCP);
	r->claim.answer = true;
}

static void keeps_it(struct run *r, const struct ev_trial *t)
{
	r->crossed = *t;
}

static void loopback_closed_and_kept(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	keeps_it(r, t);
}

static void loopback_taken_and_kept(struct run *r, const struct ev_trial *t)
{
	loopback_taken(r, t);
	keeps_it(r, t);
}

/* After the arm of the trial that was kept, and of every other. */
static void late_token(struct run *r, const struct ev_trial *t unused_arg)
{
	r->sport = (uint16_t)(40000 + r->crossed.id - 1);
	received_token(r, &r->crossed, IPPROTO_TCP);
}

/* A's record of it comes by a slower way than the log. */
static void late_token_first(struct run *r, const struct ev_trial *t)
{
	uint64_t now = r->now;

	late_token(r, t);
	r->now = now - 5 * MS;
	on_loopback(r, &r->crossed, token_line(r->crossed.token));
	r->now = now;
}

static void late_noise(struct run *r, const struct ev_trial *t unused_arg)
{
	received(r, &r->crossed, IPPROTO_TCP, "jr5Q", 4);
}

static void later_token(struct run *r, const struct ev_trial *t)
{
	r->now += 2 * WINDOW_MS * MS;
	late_token(r, t);
}

/* Somebody else of the sandbox, who is no session, went there. */
static void launchers_token_and_kept(struct run *r, const struct ev_trial *t)
{
	loopback_closed_and_kept(r, t);
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_CG_EGRESS,
			      .protocol = IPPROTO_TCP,
			      .tcp_flags = 0x18,
			      .payload = token_line(t->token),
			      .ifindex = 1,
			      .nobodys = true });
}

/* While the next one runs. */
static void next_sends_it(struct run *r, const struct ev_trial *t)
{
	loopback_open(r, t);
	late_token(r, t);
}

static void closed_and_sends_it(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	if (r->crossed.id)
		late_token(r, t);
}

static void in_another_lane(struct run *r, const struct ev_trial *t)
{
	loopback_closed(r, t);
	r->lane = LANE_IDLE;
	received_token(r, t, IPPROTO_TCP);
	r->lane = LANE;
}

static void loopbacks(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &loopback }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "dropped",
		  { .way = &loopback, .on = loopback_dropped },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "reached",
		  { .way = &loopback, .on = loopback_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "reached, and the answer is kept back",
		  { .way = &loopback, .on = loopback_quiet },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a helper relays",
		  { .way = &loopback, .on = loopback_relayed },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a helper relays in another coding",
		  { .way = &loopback, .on = loopback_relayed_in_base64 },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a helper relays what nobody can read",
		  { .way = &loopback, .on = loopback_relayed_unreadable },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "the answer came, and nothing else was seen",
		  { .way = &loopback, .on = loopback_answer_alone },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "the token at W instead",
		  { .way = &loopback, .on = at_world_instead },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "somebody else took the connection",
		  { .way = &loopback, .on = loopback_taken },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "refused once, and taken once",
		  { .way = &loopback, .on = loopback_refused_and_taken },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "another link",
		  { .way = &loopback, .on = loopback_by_another_link },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "the log lost a message",
		  { .way = &loopback, .on = lost_log },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST),
		  RUN_VALID },
		{ "the log lost one, and it was reached",
		  { .way = &loopback, .on = loopback_open, .on2 = lost_log },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "A lost a record, where A is a witness",
		  { .way = &loopback, .on = lost_a },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST),
		  RUN_VALID },
		{ "off does not reach it either",
		  { .way = &loopback, .off = loopback_taken },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_MAKES_NO_DIFFERENCE),
		  RUN_VALID },
		{ "the baseline's token is in no log",
		  { .way = &loopback, .first = loopback_not_logged },
		  VERDICT_INCONCLUSIVE,
		  R(WITNESSES_DISAGREE),
		  RUN_REJECTED },
		{ "the baseline is answered, and neither saw it",
		  { .way = &loopback, .first = loopback_answered_unseen },
		  VERDICT_INCONCLUSIVE,
		  R(WITNESSES_DISAGREE),
		  RUN_REJECTED },
		{ "the baseline's token is in no log, which lost some",
		  { .way = &loopback, .first = loopback_not_logged_and_lost },
		  VERDICT_INCONCLUSIVE,
		  R(TARGET_UNREACHABLE_OUTSIDE),
		  RUN_VALID },
		{ "A lost the baseline's token",
		  { .way = &loopback, .first = loopback_lost_inside },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
	};

	check_rows(table);
}

/* The log does not say who sent. */
static void later(void **state unused_arg)
{
	static const struct row table[] = {
		{ "its token, long refused",
		  { .way = &loopback, .on2 = loopback_closed_and_kept, .after = late_token },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "its token, long refused, and its window over",
		  { .way = &loopback, .on2 = loopback_closed_and_kept, .after = later_token },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "its token, which A had seen with somebody else",
		  { .way = &loopback, .on2 = launchers_token_and_kept, .after = late_token },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "its token, which A had seen on its way",
		  { .way = &loopback, .on2 = loopback_taken_and_kept, .after = late_token },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "its token, which A tells of later",
		  { .way = &loopback, .on2 = loopback_closed_and_kept, .after = late_token_first },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "what nobody can read",
		  { .way = &loopback, .on2 = loopback_closed_and_kept, .after = late_noise },
		  VERDICT_INCONCLUSIVE,
		  R(ON2_MISSING),
		  RUN_VALID },
		{ "its token, while the next one runs",
		  { .way = &loopback, .on = loopback_taken_and_kept, .off = next_sends_it },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "an earlier one's token sent by it",
		  { .way = &loopback,
		    .on = loopback_closed_and_kept,
		    .no_off = true,
		    .on2 = closed_and_sends_it },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC) | R(ON2_MISSING),
		  RUN_VALID },
		{ "its token at another lane's listener",
		  { .way = &loopback, .on = in_another_lane },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
	};

	check_rows(table);
}

/* ---- AF_UNIX ---- */

#define UNIX_PATH "/run/sentinel/unix/3"

static void at_path(struct ev_trial *t)
{
	memset(t->daddr, 0, 16);
	t->dport = 0;
	(void)str_copy(t->path, sizeof(t->path), UNIX_PATH);
	if (t->far == FAR_DEAF)
		(void)str_copy(t->path, sizeof(t->path), UNIX_PATH ".deaf");
}

static void unix_socket(struct run *r, const struct ev_trial *t, int64_t ret)
{
	call(r, t,
	     (struct call){ .name = "socket", .ret = ret, .family = AF_UNIX, .type = SOCK_STREAM });
}

static void unix_connect(struct run *r, const struct ev_trial *t, const char *path, int64_t ret)
{
	call(r, t, (struct call){ .name = "connect", .ret = ret, .family = AF_UNIX, .path = path });
}

static void unix_open(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, 5);
	address(r, t, SNT_HOOK_CONNECT_UNIX, SOCK_STREAM);
	unix_connect(r, t, t->path, 0);
	hands_over(r, t, "write", 0);
	sent(r, t, AF_UNIX, SOCK_STREAM, 42);
	received_token(r, t, 0);
	r->claim.answer = true;
}

static void unix_closed(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, 5);
	unix_connect(r, t, t->path, -ENOENT);
}

static const struct way unix_path = {
	.probe = { .name = "unix-path",
		   .channel = CHANNEL_UNIX,
		   .dest = DEST_UNIX_PATH,
		   .family = AF_UNIX,
		   .answers = true,
		   .forbidden = true },
	.place = at_path,
	.open = unix_open,
	.closed = unix_closed,
	.deaf = unix_closed,
};

static void unix_refused_socket(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, -EPERM);
}

/* Another listener, as a C library asks for a cache of names. */
static void unix_elsewhere(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, 5);
	unix_connect(r, t, "/var/run/nscd/socket", -ENOENT);
}

static void unix_elsewhere_too(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, 5);
	unix_connect(r, t, "/var/run/nscd/socket", 0);
	unix_closed(r, t);
}

static void unix_elsewhere_by_hook(struct run *r, const struct ev_trial *t)
{
	struct ev_trial other = *t;

	(void)str_copy(other.path, sizeof(other.path), "@other");
	address(r, &other, SNT_HOOK_CONNECT_UNIX, SOCK_STREAM);
}

/* The session says its lines into a socket pair, as a container's console may be. */
static void unix_stdout(struct run *r, const struct ev_trial *t)
{
	sent(r, t, AF_UNIX, SOCK_STREAM, 42);
	call(r, t, (struct call){ .name = "write", .ret = 5, .data = "hello", .data_len = 5 });
}

static void unix_closed_and_stdout(struct run *r, const struct ev_trial *t)
{
	unix_closed(r, t);
	unix_stdout(r, t);
}

static void unix_socket_alone(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, 5);
}

static void unix_taken(struct run *r, const struct ev_trial *t)
{
	unix_socket(r, t, 5);
	unix_connect(r, t, t->path, 0);
	hands_over(r, t, "write", 0);
}

static void unix_by_hook_alone(struct run *r, const struct ev_trial *t)
{
	address(r, t, SNT_HOOK_CONNECT_UNIX, SOCK_STREAM);
	unix_connect(r, t, t->path, -ECONNREFUSED);
}

/* A descriptor came in, and the token went out by it: no connect() of its own. */
static void unix_passed_descriptor(struct run *r, const struct ev_trial *t)
{
	unix_refused_socket(r, t);
	hands_over(r, t, "sendmsg", 0);
	received_token(r, t, 0);
}

/* A process of that trial's sandbox, and not its session, calls. */
static void helper_calls(struct run *r, const struct ev_trial *by, const char *path)
{
	struct ev ev = own(r, by, EV_ADDR, SNT_HOOK_CONNECT_UNIX);

	ev.mark = 0;
	ev.owner = OWNER_CGROUP;
	ev.addr.family = AF_UNIX;
	ev.addr.type = SOCK_STREAM;
	ev.addr.retval = 1;
	(void)str_copy(ev.addr.path, sizeof(ev.addr.path), path);
	push(r, &ev);
}

/* ... of another target's, in its own lane. */
static void another_calls(struct run *r, const char *path)
{
	const struct part p = { .target = "another", .arm = ARM_ON, .repeat = 1 };
	struct ev target = { .type = EV_TARGET }, ev = { .type = EV_TRIAL };
	struct ev_trial by;

	(void)str_copy(target.target.name, sizeof(target.target.name), p.target);
	target.target.role = ROLE_TARGET;
	push(r, &target);
	fill_trial(r, &by, &p);
	by.lane = LANE_OTHER;
	ev.trial_new = by;
	push(r, &ev);
	helper_calls(r, &by, path);
}

static void unix_relayed(struct run *r, const struct ev_trial *t)
{
	unix_closed(r, t);
	received_token(r, t, 0);
}

static void unix_framed(struct run *r, const struct ev_trial *t)
{
	another_calls(r, "/tmp/link-to-it");
	unix_relayed(r, t);
}

static void unix_framed_by_name(struct run *r, const struct ev_trial *t)
{
	another_calls(r, "@name");
	unix_relayed(r, t);
}

static void unix_relayed_while_another_calls(struct run *r, const struct ev_trial *t)
{
	another_calls(r, t->path);
	helper_calls(r, t, t->path);
	unix_relayed(r, t);
}

static void unix_open_while_another_calls(struct run *r, const struct ev_trial *t)
{
	another_calls(r, t->path);
	unix_open(r, t);
}

static void unixes(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &unix_path }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "socket() is refused",
		  { .way = &unix_path, .on = unix_refused_socket, .on2 = unix_refused_socket },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "reached",
		  { .way = &unix_path, .on = unix_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "by a descriptor that came in",
		  { .way = &unix_path, .on = unix_passed_descriptor },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "by a helper that nobody saw",
		  { .way = &unix_path, .on = unix_relayed },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "perhaps by another target's process",
		  { .way = &unix_path, .on = unix_framed },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "... which called an abstract name",
		  { .way = &unix_path, .on = unix_framed_by_name },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "... while a helper of its own called, too",
		  { .way = &unix_path, .on = unix_relayed_while_another_calls },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "... while the session itself did it",
		  { .way = &unix_path, .on = unix_open_while_another_calls },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "refused, behind the address hook",
		  { .way = &unix_path, .on = unix_by_hook_alone },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "somebody else took it",
		  { .way = &unix_path, .on = unix_taken },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "a socket, and no more",
		  { .way = &unix_path, .on = unix_socket_alone },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "another listener was asked for",
		  { .way = &unix_path, .on = unix_elsewhere },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "... as the address hook saw it",
		  { .way = &unix_path, .on = unix_elsewhere_by_hook },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "another listener answered, this one is not there",
		  { .way = &unix_path, .on = unix_elsewhere_too },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "what it says goes through a socket, and nothing else does",
		  { .way = &unix_path, .on = unix_stdout },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "what it says goes through a socket",
		  { .way = &unix_path, .on = unix_closed_and_stdout },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
	};

	check_rows(table);
}

/* ---- sibling: another sandbox of the same target ---- */

static void at_sibling(struct ev_trial *t)
{
	static const uint8_t box[16] = { [10] = 0xff, 0xff, 10, 117, 0, 2 };

	memcpy(t->daddr, box, 16);
	t->daddr[14] = (uint8_t)t->lane;
	t->dport = 9005;
}

static void sibling_open(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	hands_over(r, t, "write", 0);
	on_loopback(r, t, token_line(t->token));
	r->claim.answer = true;
}

static const struct way sibling = {
	.probe = { .name = "sibling",
		   .channel = CHANNEL_TCP,
		   .dest = DEST_SIBLING,
		   .family = AF_INET,
		   .answers = true,
		   .forbidden = true },
	.place = at_sibling,
	.open = sibling_open,
	.closed = loopback_closed,
	.deaf = loopback_closed,
};

static const uint8_t bridge_address[16] = { [10] = 0xff, 0xff, 172, 17, 0, 3 };

/* The platform gave the sibling an address of its own, known only once it ran. */
static struct ev_trial elsewhere(const struct ev_trial *t)
{
	struct ev_trial other = *t;

	memcpy(other.daddr, bridge_address, 16);
	return other;
}

static void sibling_open_elsewhere(struct run *r, const struct ev_trial *t)
{
	struct ev_trial other = elsewhere(t);

	sibling_open(r, &other);
}

static void sibling_closed_elsewhere(struct run *r, const struct ev_trial *t)
{
	struct ev_trial other = elsewhere(t);

	loopback_closed(r, &other);
}

static void sibling_taken(struct run *r, const struct ev_trial *t)
{
	sibling_open(r, t);
	r->claim.answer = false;
}

static void sibling_taken_elsewhere(struct run *r, const struct ev_trial *t)
{
	sibling_open_elsewhere(r, t);
	r->claim.answer = false;
}

static void sibling_wrong_answer(struct run *r, const struct ev_trial *t)
{
	sibling_open(r, t);
	r->claim.answer = false;
	r->claim.wrong_answer = true;
}

/* A baseline whose answer nobody saw the question of. */
static void sibling_unseen(struct run *r, const struct ev_trial *t)
{
	connects(r, t, 0);
	r->claim.answer = true;
}

static void sibling_another_port(struct run *r, const struct ev_trial *t)
{
	struct ev_trial other = *t;

	other.dport = 22;
	loopback_closed(r, &other);
}

static void siblings(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &sibling }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "answered",
		  { .way = &sibling, .on = sibling_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "answered at an address of its own",
		  { .way = &sibling, .on = sibling_open_elsewhere },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "at an address of its own, throughout",
		  { .way = &sibling,
		    .on = sibling_closed_elsewhere,
		    .off = sibling_open_elsewhere,
		    .on2 = sibling_closed_elsewhere },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "taken, and not answered",
		  { .way = &sibling, .on = sibling_taken },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "taken at an address of its own, and not answered",
		  { .way = &sibling, .on = sibling_taken_elsewhere },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "answered by somebody without the secret",
		  { .way = &sibling, .on = sibling_wrong_answer },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "off is not answered",
		  { .way = &sibling, .off = sibling_taken },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_MAKES_NO_DIFFERENCE),
		  RUN_VALID },
		{ "off is answered, and A saw no token go there",
		  { .way = &sibling, .off = sibling_unseen },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_MAKES_NO_DIFFERENCE),
		  RUN_VALID },
		{ "it was not there before",
		  { .way = &sibling, .sibling1_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "it was there only behind the attempt",
		  { .way = &sibling, .sibling_late = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "somebody without the secret said that it was",
		  { .way = &sibling, .sibling1_wrong = true, .sibling_repeats = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "it was gone after the attempt",
		  { .way = &sibling, .sibling2_missing = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "somebody without the secret said that it was still there",
		  { .way = &sibling, .sibling2_wrong = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "another one was there after it",
		  { .way = &sibling, .other_sibling = true },
		  VERDICT_INCONCLUSIVE,
		  R(SANDBOX_NOT_ALIVE),
		  RUN_VALID },
		{ "it was not there, and answered",
		  { .way = &sibling, .sibling1_missing = true, .on = sibling_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "another port was asked for",
		  { .way = &sibling, .on = sibling_another_port },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "the baseline is answered unseen",
		  { .way = &sibling, .last = sibling_unseen },
		  VERDICT_INCONCLUSIVE,
		  R(WITNESSES_DISAGREE),
		  RUN_REJECTED },
		{ "A lost a record, where A is the witness",
		  { .way = &sibling, .on = lost_a },
		  VERDICT_INCONCLUSIVE,
		  R(RECORDS_LOST),
		  RUN_VALID },
	};

	check_rows(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loopbacks),
		cmocka_unit_test(later),
		cmocka_unit_test(unixes),
		cmocka_unit_test(siblings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

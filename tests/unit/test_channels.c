// SPDX-License-Identifier: Apache-2.0
/*
 * correlate: how an attempt shows, channel by channel. What a sandbox's own resolver or proxy takes
 * is handed over by the token; everything else by its destination.
 */
#include "tests/unit/story.h"

#include <linux/io_uring.h>

/* ---- TCP: by connect(), mapped into IPv6, by Fast Open, by io_uring ---- */

static void tcp_frames(struct run *r, const struct ev_trial *t, uint32_t up_to)
{
	travels(r, t, up_to, (struct frame){ .protocol = IPPROTO_TCP, .tcp_flags = 0x02 });
}

static void tcp_token(struct run *r, const struct ev_trial *t)
{
	travels(r, t, SNT_HOOK_WORLD,
		(struct frame){ .protocol = IPPROTO_TCP,
				.tcp_flags = 0x18,
				.payload = token_line(t->token) });
}

static void answered(struct run *r, const struct ev_trial *t, uint8_t protocol)
{
	if (t->far == FAR_DEAF)
		return;
	received_token(r, t, protocol);
	r->claim.answer = true;
}

static void tcp_connect(struct run *r, const struct ev_trial *t, uint32_t hook, uint32_t family,
			int64_t ret)
{
	address(r, t, hook, SOCK_STREAM);
	call(r, t, (struct call){ .name = "connect", .ret = ret, .family = family });
}

static void mapped_open(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "socket", .ret = 5, .family = AF_INET6, .type = 1 });
	tcp_connect(r, t, SNT_HOOK_CONNECT6, AF_INET6, 0);
	tcp_frames(r, t, SNT_HOOK_WORLD);
	established(r, t);
	sent(r, t, AF_INET6, SOCK_STREAM, 42);
	tcp_token(r, t);
	answered(r, t, IPPROTO_TCP);
}

static void mapped_closed(struct run *r, const struct ev_trial *t)
{
	tcp_connect(r, t, SNT_HOOK_CONNECT6, AF_INET6, -ENETUNREACH);
}

static const struct way mapped = {
	.probe = { .name = "mapped-ipv6",
		   .channel = CHANNEL_TCP,
		   .family = AF_INET,
		   .socket_family = AF_INET6,
		   .answers = true },
	.open = mapped_open,
	.closed = mapped_closed,
	.deaf = mapped_open,
};

static void socket_of(struct run *r, const struct ev_trial *t, uint32_t family, uint32_t type,
		      int64_t ret)
{
	call(r, t, (struct call){ .name = "socket", .ret = ret, .family = family, .type = type });
}

static void no_ipv6_socket(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, -EAFNOSUPPORT);
}

static void no_ipv4_socket(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET, SOCK_STREAM, -EPERM);
}

static void no_ipv6_datagrams(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET6, SOCK_DGRAM, -EPERM);
}

static void socket_and_no_more(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET6, SOCK_STREAM, 5);
}

static void sent_by_ipv4(struct run *r, const struct ev_trial *t)
{
	sent(r, t, AF_INET, SOCK_STREAM, -EPERM);
}

static void out_of_sockets(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET6, SOCK_STREAM, -EMFILE);
}

static void fastopen_open(struct run *r, const struct ev_trial *t)
{
	const char *line = token_line(t->token);

	call(r, t,
	     (struct call){ .name = "sendto",
			    .ret = (int64_t)strlen(line),
			    .family = AF_INET,
			    .data = line,
			    .data_len = strlen(line) });
	sent(r, t, AF_INET, SOCK_STREAM, 42);
	travels(r, t, SNT_HOOK_WORLD,
		(struct frame){ .protocol = IPPROTO_TCP, .tcp_flags = 0x02, .payload = line });
	answered(r, t, IPPROTO_TCP);
}

static void fastopen_closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "sendto", .ret = -EACCES, .family = AF_INET });
}

static const struct way fastopen = {
	.probe = { .name = "tcp-fastopen",
		   .channel = CHANNEL_TCP,
		   .family = AF_INET,
		   .answers = true },
	.open = fastopen_open,
	.closed = fastopen_closed,
	.deaf = fastopen_open,
};

/* The SYN alone: its data waits for a cookie. */
static void fastopen_syn(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "sendto", .ret = -EINPROGRESS, .family = AF_INET });
	tcp_frames(r, t, SNT_HOOK_WORLD);
}

static void fastopen_dropped(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "sendto", .ret = -EINPROGRESS, .family = AF_INET });
	frame(r, t,
	      (struct frame){
		      .hook = SNT_HOOK_CG_EGRESS, .protocol = IPPROTO_TCP, .tcp_flags = 0x02 });
	dropped(r, t, (struct frame){ .protocol = IPPROTO_TCP, .tcp_flags = 0x02 }, true);
}

static void fastopen_vanished(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "sendto", .ret = -EINPROGRESS, .family = AF_INET });
}

static void uring_open(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "io_uring_setup", .ret = 5 });
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	tcp_frames(r, t, SNT_HOOK_WORLD);
	established(r, t);
	uring(r, t, IORING_OP_CONNECT, 0);
	tcp_token(r, t);
	answered(r, t, IPPROTO_TCP);
}

static void uring_closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "io_uring_setup", .ret = 5 });
	uring(r, t, IORING_OP_SOCKET, 6);
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	uring(r, t, IORING_OP_CONNECT, -ENETUNREACH);
}

static const struct way io_uring = {
	.probe = { .name = "io-uring-connect",
		   .channel = CHANNEL_TCP,
		   .family = AF_INET,
		   .answers = true },
	.open = uring_open,
	.closed = uring_closed,
	.deaf = uring_open,
};

static void no_io_uring(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "io_uring_setup", .ret = -EPERM });
}

/* Before the address hook, as an LSM does. */
static void uring_refused(struct run *r, const struct ev_trial *t)
{
	uring(r, t, IORING_OP_CONNECT, -EACCES);
}

static void uring_other_refused(struct run *r, const struct ev_trial *t)
{
	uring(r, t, IORING_OP_OPENAT, -EACCES);
}

static void uring_timed_out(struct run *r, const struct ev_trial *t)
{
	uring(r, t, IORING_OP_CONNECT, -ECANCELED);
}

static void uring_vanished(struct run *r, const struct ev_trial *t)
{
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	uring(r, t, IORING_OP_CONNECT, -ECANCELED);
}

/* Refused at first, and then somebody near took it. */
static void uring_taken(struct run *r, const struct ev_trial *t)
{
	uring(r, t, IORING_OP_SOCKET, -EPERM);
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
	established(r, t);
}

static void connections(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &mapped }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "refused, and no time to wait",
		  { .way = &mapped, .run_short = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "crossed", { .way = &mapped, .on = mapped_open }, VERDICT_ESCAPED, 0, RUN_VALID },
		{ "no socket of IPv6",
		  { .way = &mapped, .on = no_ipv6_socket, .on2 = no_ipv6_socket },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "no socket of IPv4, which it does not ask for",
		  { .way = &mapped, .on = no_ipv4_socket },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "no socket for datagrams",
		  { .way = &mapped, .on = no_ipv6_datagrams },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a socket, and no more",
		  { .way = &mapped, .on = socket_and_no_more },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a message by IPv4",
		  { .way = &mapped, .on = sent_by_ipv4 },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "no room for a socket",
		  { .way = &mapped, .on = out_of_sockets },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },

		{ "an honest run", { .way = &fastopen }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "crossed",
		  { .way = &fastopen, .on = fastopen_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "the SYN crossed",
		  { .way = &fastopen, .on = fastopen_syn },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "dropped",
		  { .way = &fastopen, .on = fastopen_dropped },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "gone, and nobody knows where",
		  { .way = &fastopen, .on = fastopen_vanished },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },

		{ "an honest run", { .way = &io_uring }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "crossed",
		  { .way = &io_uring, .on = uring_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "there is no io_uring",
		  { .way = &io_uring, .on = no_io_uring, .on2 = no_io_uring },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "refused before the address hook",
		  { .way = &io_uring, .on = uring_refused, .run_short = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "another operation was refused",
		  { .way = &io_uring, .on = uring_other_refused },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "its time was up, and nothing shows that it began",
		  { .way = &io_uring, .on = uring_timed_out },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "its time was up, and nobody knows where it went",
		  { .way = &io_uring, .on = uring_vanished },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "refused once, and taken once",
		  { .way = &io_uring, .on = uring_taken },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "refused once, taken once, and no time to wait",
		  { .way = &io_uring, .on = uring_taken, .run_short = true },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED) | R(WINDOW_TOO_SHORT),
		  RUN_VALID },
	};

	check_rows(table);
}

/* ---- ICMP and AF_PACKET ---- */

static void without_port(struct ev_trial *t)
{
	t->dport = 0;
}

static struct frame echo(const char *payload)
{
	return (struct frame){ .protocol = IPPROTO_ICMP, .payload = payload };
}

static void pings(struct run *r, const struct ev_trial *t, int64_t ret)
{
	const char *line = token_line(t->token);

	socket_of(r, t, AF_INET, SOCK_DGRAM, 5);
	call(r, t,
	     (struct call){ .name = "sendto",
			    .ret = ret,
			    .family = AF_INET,
			    .data = line,
			    .data_len = strlen(line) });
}

static void icmp_open(struct run *r, const struct ev_trial *t)
{
	pings(r, t, 50);
	travels(r, t, SNT_HOOK_WORLD, echo(token_line(t->token)));
	answered(r, t, IPPROTO_ICMP);
}

static void icmp_closed(struct run *r, const struct ev_trial *t)
{
	pings(r, t, -EPERM);
}

static const struct way icmp = {
	.probe = { .name = "icmp-echo",
		   .channel = CHANNEL_ICMP,
		   .family = AF_INET,
		   .answers = true },
	.place = without_port,
	.open = icmp_open,
	.closed = icmp_closed,
	.deaf = icmp_open,
};

static void no_ping_socket(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET, SOCK_DGRAM, -EACCES);
	socket_of(r, t, AF_INET, SOCK_RAW, -EPERM);
}

static void icmp_to_rule(struct run *r, const struct ev_trial *t)
{
	pings(r, t, 50);
	travels(r, t, SNT_HOOK_BOUNDARY, echo(token_line(t->token)));
}

static void icmp_dropped(struct run *r, const struct ev_trial *t)
{
	struct frame f = echo(token_line(t->token));

	pings(r, t, 50);
	travels(r, t, SNT_HOOK_CG_EGRESS, f);
	dropped(r, t, f, true);
}

static void icmp_vanished(struct run *r, const struct ev_trial *t)
{
	pings(r, t, 50);
}

/* Something rewrote it on its way. */
static void icmp_emptied(struct run *r, const struct ev_trial *t)
{
	pings(r, t, 50);
	travels(r, t, SNT_HOOK_WORLD, echo("nothing to see"));
}

static void ping_elsewhere(struct run *r, const struct ev_trial *t)
{
	struct ev_trial other = *t;

	memcpy(other.daddr, other_address, 16);
	pings(r, &other, -EPERM);
}

/* A frame that holds a datagram to the trial's destination. */
static void packet_call(struct run *r, const struct ev_trial *t, const uint8_t token[16],
			int64_t ret)
{
	uint8_t bytes[256] = { 0 };
	struct frame f = { .protocol = IPPROTO_UDP,
			   .dst = t->daddr,
			   .sport = r->sport,
			   .dport = (uint16_t)t->dport,
			   .payload = token_line(token) };

	call(r, t,
	     (struct call){ .name = "sendto",
			    .ret = ret,
			    .family = AF_PACKET,
			    .daddr = other_address,
			    .data = bytes,
			    .data_len = 14 + build_frame(bytes + 14, &f) });
}

static void packet_travels(struct run *r, const struct ev_trial *t, uint32_t up_to)
{
	travels(r, t, up_to,
		(struct frame){ .protocol = IPPROTO_UDP,
				.payload = token_line(t->token),
				.nobodys = true });
}

static void packet_open(struct run *r, const struct ev_trial *t)
{
	packet_call(r, t, t->token, 80);
	packet_travels(r, t, SNT_HOOK_WORLD);
	answered(r, t, IPPROTO_UDP);
}

static void packet_closed(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_PACKET, SOCK_RAW, -EPERM);
}

#define CAP_NET_RAW_BIT (1ull << 13)

static const struct way packet_socket = {
	.probe = { .name = "packet-socket",
		   .channel = CHANNEL_PACKET,
		   .family = AF_INET,
		   .socket_family = AF_PACKET,
		   .caps = CAP_NET_RAW_BIT,
		   .answers = true },
	.open = packet_open,
	.closed = packet_closed,
	.deaf = packet_open,
};

static void packet_to_rule(struct run *r, const struct ev_trial *t)
{
	packet_call(r, t, t->token, 80);
	packet_travels(r, t, SNT_HOOK_BOUNDARY);
}

/* On a loopback, since there is no other link. */
static void packet_dropped(struct run *r, const struct ev_trial *t)
{
	packet_call(r, t, t->token, 80);
	dropped(r, t, (struct frame){ .protocol = IPPROTO_UDP, .payload = token_line(t->token) },
		false);
}

/* Past every hook, as PACKET_QDISC_BYPASS does. */
static void packet_vanished(struct run *r, const struct ev_trial *t)
{
	packet_call(r, t, t->token, 80);
}

static void packet_without_token(struct run *r, const struct ev_trial *t)
{
	packet_call(r, t, t->nonce, 80);
}

static void packet_of_launcher(struct run *r, const struct ev_trial *t)
{
	call(r, t,
	     (struct call){ .name = "socket",
			    .ret = -EPERM,
			    .family = AF_PACKET,
			    .type = SOCK_RAW,
			    .launchers = true });
}

static void ip_raw_socket(struct run *r, const struct ev_trial *t)
{
	socket_of(r, t, AF_INET, SOCK_RAW, -EPERM);
}

static void datagrams(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &icmp }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "crossed", { .way = &icmp, .on = icmp_open }, VERDICT_ESCAPED, 0, RUN_VALID },
		{ "crossed without its token",
		  { .way = &icmp, .on = icmp_emptied },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "no socket for it",
		  { .way = &icmp, .on = no_ping_socket, .on2 = no_ping_socket },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "sent, and stopped by the lane's own rule",
		  { .way = &icmp, .on = icmp_to_rule, .closed = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "sent, and dead in the rig",
		  { .way = &icmp, .on = icmp_to_rule },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "sent, and dropped",
		  { .way = &icmp, .on = icmp_dropped },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "sent, and gone",
		  { .way = &icmp, .on = icmp_vanished },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "another was asked",
		  { .way = &icmp, .on = ping_elsewhere },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },

		{ "an honest run",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "crossed",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT, .on = packet_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "without the capability, for which no baseline speaks",
		  { .way = &packet_socket },
		  VERDICT_INCONCLUSIVE,
		  R(TARGET_UNREACHABLE_OUTSIDE),
		  RUN_VALID },
		{ "sent, and stopped by the lane's own rule",
		  { .way = &packet_socket,
		    .caps = CAP_NET_RAW_BIT,
		    .on = packet_to_rule,
		    .closed = true },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "sent, and dropped",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT, .on = packet_dropped },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "sent past every hook",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT, .on = packet_vanished },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "a frame without the token",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT, .on = packet_without_token },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "the launcher was refused",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT, .on = packet_of_launcher },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "another kind of raw socket was refused",
		  { .way = &packet_socket, .caps = CAP_NET_RAW_BIT, .on = ip_raw_socket },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
	};

	check_rows(table);
}

/* ---- a resolver, and a proxy ---- */

static void at_resolver(struct ev_trial *t)
{
	static const uint8_t resolver[16] = { [10] = 0xff, 0xff, 10, 117, 0, 53 };

	memcpy(t->daddr, resolver, 16);
	t->dport = 53;
}

/* TOKEN.t.sentinel.test, as an A question. */
static size_t question(const struct ev_trial *t, char ret[128])
{
	static const char tail[] = "\x01t\x08sentinel\x04test\0\0\x01\0\x01";

	memset(ret, 0, 128);
	ret[2] = 1, ret[5] = 1;
	ret[12] = 2 * EV_NONCE_BYTES;
	hex_encode(ret + 13, t->token, EV_NONCE_BYTES);
	memcpy(ret + 13 + 2 * EV_NONCE_BYTES, tail, sizeof(tail) - 1);
	return 13 + 2 * EV_NONCE_BYTES + sizeof(tail) - 1;
}

static void asks(struct run *r, const struct ev_trial *t, const uint8_t *whom, int64_t ret)
{
	char q[128];

	call(r, t,
	     (struct call){ .name = "sendto",
			    .ret = ret,
			    .family = AF_INET,
			    .daddr = whom,
			    .dport = 53,
			    .data = q,
			    .data_len = question(t, q) });
}

static const uint8_t zone_server[16] = { [10] = 0xff, 0xff, 203, 0, 113, 1 };
static const uint8_t own_resolver[16] = { [10] = 0xff, 0xff, 127, 0, 0, 53 };

/* By a socket of the resolver's, which is nobody's. */
static void resolver_asks(struct run *r, const struct ev_trial *t, uint8_t protocol)
{
	char q[128];

	frame(r, NULL,
	      (struct frame){ .hook = SNT_HOOK_WORLD,
			      .protocol = protocol,
			      .tcp_flags = 0x18,
			      .dst = zone_server,
			      .sport = 3333,
			      .dport = 53,
			      .payload = q,
			      .payload_len = question(t, q) });
}

static void resolver_logged(struct run *r, const struct ev_trial *t)
{
	struct ev_trial at_zone = *t;
	char q[128];
	size_t len = question(t, q);

	if (t->far == FAR_DEAF)
		return;
	memcpy(at_zone.daddr, zone_server, 16);
	received(r, &at_zone, IPPROTO_UDP, q, len);
	r->claim.answer = true;
}

static void resolver_open(struct run *r, const struct ev_trial *t)
{
	asks(r, t, NULL, 60);
	resolver_asks(r, t, IPPROTO_UDP);
	resolver_logged(r, t);
}

static void resolver_closed(struct run *r, const struct ev_trial *t)
{
	asks(r, t, NULL, -EPERM);
}

static const struct way resolver = {
	.probe = { .name = "dns-resolver",
		   .channel = CHANNEL_RESOLVER,
		   .dest = DEST_RESOLVER,
		   .family = AF_INET,
		   .answers = true },
	.place = at_resolver,
	.open = resolver_open,
	.closed = resolver_closed,
	.deaf = resolver_open,
};

/* The sandbox's own, that keeps it to itself. */
static void resolver_keeps(struct run *r, const struct ev_trial *t)
{
	asks(r, t, own_resolver, 60);
}

static void resolver_of_its_own(struct run *r, const struct ev_trial *t)
{
	asks(r, t, own_resolver, 60);
	resolver_asks(r, t, IPPROTO_UDP);
}

static void resolver_by_tcp(struct run *r, const struct ev_trial *t)
{
	asks(r, t, own_resolver, 60);
	resolver_asks(r, t, IPPROTO_TCP);
}

/* To a port of its own choice, through a descriptor that is connected. */
static void resolver_by_write(struct run *r, const struct ev_trial *t)
{
	char q[128];

	call(r, t,
	     (struct call){ .name = "write", .ret = 60, .data = q, .data_len = question(t, q) });
}

static void resolver_says_nothing(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "write", .ret = 5, .data = "hello", .data_len = 5 });
}

static void resolver_by_another_link(struct run *r, const struct ev_trial *t)
{
	resolver_keeps(r, t);
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_CG_EGRESS, .protocol = IPPROTO_UDP, .ifindex = 77 });
}

static const uint8_t broker[16] = { [10] = 0xff, 0xff, 198, 51, 100, 53 };

/* The sandbox's own resolver or proxy lies by a link of its own; ifindex 0: by box's. */
static void handed_over(struct run *r, const struct ev_trial *t, uint32_t ifindex,
			const char *payload, size_t len)
{
	frame(r, t,
	      (struct frame){ .hook = SNT_HOOK_CG_EGRESS,
			      .protocol = IPPROTO_UDP,
			      .dst = broker,
			      .dport = 53,
			      .payload = payload,
			      .payload_len = len,
			      .ifindex = ifindex });
}

static void resolver_elsewhere(struct run *r, const struct ev_trial *t)
{
	char q[128];

	asks(r, t, broker, 60);
	handed_over(r, t, 77, q, question(t, q));
}

static void resolver_in_box(struct run *r, const struct ev_trial *t)
{
	char q[128];

	asks(r, t, broker, 60);
	handed_over(r, t, 0, q, question(t, q));
}

static void resolver_in_another_lane(struct run *r, const struct ev_trial *t)
{
	resolver_keeps(r, t);
	r->lane = LANE_IDLE;
	resolver_asks(r, t, IPPROTO_UDP);
	r->lane = LANE;
}

static void keeps_trial(struct run *r, const struct ev_trial *t)
{
	resolver_keeps(r, t);
	r->crossed = *t;
}

/* It had it in its queue, and nobody else was at work. */
static void resolver_asks_late(struct run *r, const struct ev_trial *t unused_arg)
{
	resolver_asks(r, &r->crossed, IPPROTO_UDP);
}

/* ... or somebody was. */
static void asks_and_late(struct run *r, const struct ev_trial *t)
{
	resolver_open(r, t);
	resolver_asks_late(r, t);
}

static void no_way_to_resolver(struct run *r, const struct ev_trial *t)
{
	call(r, t,
	     (struct call){ .name = "connect",
			    .ret = -EACCES,
			    .family = AF_INET,
			    .daddr = own_resolver,
			    .dport = 53 });
}

static void proxy_place(struct ev_trial *t)
{
	t->dport = 80;
}

static const char *request(const struct ev_trial *t)
{
	static char text[160];
	char hex[2 * EV_NONCE_BYTES + 1];

	hex_encode(hex, t->token, EV_NONCE_BYTES);
	(void)str_format(text, sizeof(text), "POST http://%s.203-0-113-%u.sentinel.test/ HTTP/1.1",
			 hex, t->daddr[15]);
	return text;
}

static void posts(struct run *r, const struct ev_trial *t, const char *text)
{
	call(r, t,
	     (struct call){ .name = "write",
			    .ret = (int64_t)strlen(text),
			    .data = text,
			    .data_len = strlen(text) });
}

static void proxy_open(struct run *r, const struct ev_trial *t)
{
	tcp_connect(r, t, SNT_HOOK_CONNECT4, AF_INET, 0);
	tcp_frames(r, t, SNT_HOOK_WORLD);
	established(r, t);
	posts(r, t, token_line(t->token));
	tcp_token(r, t);
	answered(r, t, IPPROTO_TCP);
}

static void proxy_closed(struct run *r, const struct ev_trial *t)
{
	tcp_connect(r, t, SNT_HOOK_CONNECT4, AF_INET, -ENETUNREACH);
}

static const struct way proxy = {
	.probe = { .name = "http-post-proxy",
		   .channel = CHANNEL_PROXY,
		   .family = AF_INET,
		   .answers = true },
	.place = proxy_place,
	.open = proxy_open,
	.closed = proxy_closed,
	.deaf = proxy_open,
};

static const uint8_t proxy_address[16] = { [10] = 0xff, 0xff, 172, 17, 0, 1 };

static void connects_to_proxy(struct run *r, const struct ev_trial *t, int64_t ret)
{
	call(r, t,
	     (struct call){ .name = "connect",
			    .ret = ret,
			    .family = AF_INET,
			    .daddr = proxy_address,
			    .dport = 3128 });
}

/* 403 to all. */
static void proxy_refuses(struct run *r, const struct ev_trial *t)
{
	connects_to_proxy(r, t, 0);
	posts(r, t, request(t));
}

static void proxy_elsewhere(struct run *r, const struct ev_trial *t)
{
	proxy_refuses(r, t);
	handed_over(r, t, 77, request(t), 0);
}

/* The proxy's own connection. */
static void proxy_passes_on(struct run *r, const struct ev_trial *t)
{
	proxy_refuses(r, t);
	frame(r, NULL,
	      (struct frame){ .hook = SNT_HOOK_WORLD,
			      .protocol = IPPROTO_TCP,
			      .tcp_flags = 0x02,
			      .dst = t->daddr,
			      .sport = 3333,
			      .dport = 80 });
	frame(r, NULL,
	      (struct frame){ .hook = SNT_HOOK_WORLD,
			      .protocol = IPPROTO_TCP,
			      .tcp_flags = 0x18,
			      .dst = t->daddr,
			      .sport = 3333,
			      .dport = 80,
			      .payload = request(t) });
	answered(r, t, IPPROTO_TCP);
}

/* It asks for the name before it says no. */
static void proxy_resolves(struct run *r, const struct ev_trial *t)
{
	proxy_refuses(r, t);
	resolver_asks(r, t, IPPROTO_UDP);
}

/* It answers with something for all, and passes nothing on: transparent, so nobody named it. */
static void proxy_unasked(struct run *r, const struct ev_trial *t)
{
	tcp_connect(r, t, SNT_HOOK_CONNECT4, AF_INET, 0);
	established(r, t);
	posts(r, t, token_line(t->token));
}

static void proxy_straight_vanishes(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "connect", .ret = -EINPROGRESS, .family = AF_INET });
}

static void proxy_straight_by_hook(struct run *r, const struct ev_trial *t)
{
	address(r, t, SNT_HOOK_CONNECT4, SOCK_STREAM);
}

static void proxy_connected_and_no_more(struct run *r, const struct ev_trial *t)
{
	connects_to_proxy(r, t, 0);
}

static void proxy_still_connecting(struct run *r, const struct ev_trial *t)
{
	connects_to_proxy(r, t, -EINPROGRESS);
}

static void no_way_to_proxy(struct run *r, const struct ev_trial *t)
{
	connects_to_proxy(r, t, -EACCES);
}

static void go_betweens(void **state unused_arg)
{
	static const struct row table[] = {
		{ "an honest run", { .way = &resolver }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "crossed",
		  { .way = &resolver, .on = resolver_open },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "a resolver of the sandbox's own asks",
		  { .way = &resolver, .on = resolver_of_its_own },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "... and keeps it to itself",
		  { .way = &resolver, .on = resolver_keeps },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "... and there is no time to wait for it",
		  { .way = &resolver, .on2 = resolver_keeps, .run_short = true },
		  VERDICT_INCONCLUSIVE,
		  R(WINDOW_TOO_SHORT),
		  RUN_VALID },
		{ "asked by a descriptor that is connected",
		  { .way = &resolver, .on = resolver_by_write },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "nobody lets it to a resolver of the sandbox's own",
		  { .way = &resolver, .on = no_way_to_resolver, .on2 = no_way_to_resolver },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "nothing was asked",
		  { .way = &resolver, .on = resolver_says_nothing },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "another link",
		  { .way = &resolver, .on = resolver_by_another_link },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "a resolver of its own by another link",
		  { .way = &resolver, .on = resolver_elsewhere },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "... or by the lane's",
		  { .way = &resolver, .on = resolver_in_box },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "another lane's resolver asks",
		  { .way = &resolver, .on = resolver_in_another_lane },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },
		{ "the resolver asks late",
		  { .way = &resolver, .on2 = keeps_trial, .after = resolver_asks_late },
		  VERDICT_INCONCLUSIVE,
		  R(CONTROL_LEFT_OPEN),
		  RUN_VALID },
		{ "the resolver asks late, while another is at work",
		  { .way = &resolver, .on = keeps_trial, .off = asks_and_late },
		  VERDICT_INCONCLUSIVE,
		  R(UNEXPLAINED_TRAFFIC),
		  RUN_VALID },

		{ "an honest run", { .way = &proxy }, VERDICT_CONTAINED, 0, RUN_VALID },
		{ "crossed", { .way = &proxy, .on = proxy_open }, VERDICT_ESCAPED, 0, RUN_VALID },
		{ "a proxy refuses",
		  { .way = &proxy, .on = proxy_refuses, .on2 = proxy_refuses },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "a proxy by another link",
		  { .way = &proxy, .on = proxy_elsewhere },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "a proxy passes it on",
		  { .way = &proxy, .on = proxy_passes_on },
		  VERDICT_ESCAPED,
		  0,
		  RUN_VALID },
		{ "nobody lets it to the proxy",
		  { .way = &proxy, .on = no_way_to_proxy, .on2 = no_way_to_proxy },
		  VERDICT_CONTAINED,
		  0,
		  RUN_VALID },
		{ "nobody lets it to a resolver",
		  { .way = &proxy, .on = no_way_to_resolver },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a proxy, and no request",
		  { .way = &proxy, .on = proxy_connected_and_no_more },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a proxy that lets it wait",
		  { .way = &proxy, .on = proxy_still_connecting },
		  VERDICT_INCONCLUSIVE,
		  R(NO_ATTEMPT_SEEN),
		  RUN_VALID },
		{ "a proxy that nobody named took it",
		  { .way = &proxy, .on = proxy_unasked },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "straight, and gone",
		  { .way = &proxy, .on = proxy_straight_vanishes },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
		{ "... as the address hook alone saw it",
		  { .way = &proxy, .on = proxy_straight_by_hook },
		  VERDICT_INCONCLUSIVE,
		  R(BOUNDARY_SHARED),
		  RUN_VALID },
	};

	check_rows(table);
}

/* The token came by another channel than the probe's: an escape, which says so. */
static void vias(void **state unused_arg)
{
	static const struct {
		struct story s;
		const char *via;
	} table[] = {
		{ { .way = &resolver, .on = resolver_open }, "" },
		{ { .way = &resolver, .on = resolver_of_its_own }, "" },
		{ { .way = &resolver, .on = resolver_by_tcp }, "" },
		{ { .way = &proxy, .on = proxy_passes_on }, "" },
		{ { .way = &proxy, .on = proxy_resolves }, "udp 203.0.113.1 port 53" },
		{ { .way = &icmp, .on = icmp_open }, "" },
		{ { .way = &icmp, .on = resolver_of_its_own }, "udp 203.0.113.1 port 53" },
		{ { .way = &packet_socket, .on = packet_open, .caps = CAP_NET_RAW_BIT }, "" },
		{ { .way = &mapped, .on = mapped_open }, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct run_result r;

		tell(&table[i].s, &r);
		assert_int_equal(cell_of_box(&r)->judgement.verdict, VERDICT_ESCAPED);
		assert_string_equal(cell_of_box(&r)->via, table[i].via);
		assert_int_equal(cell_of_box(&r)->judgement.via_other, table[i].via[0] != 0);
		run_result_done(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections),
		cmocka_unit_test(datagrams),
		cmocka_unit_test(go_betweens),
		cmocka_unit_test(vias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

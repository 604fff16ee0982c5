// SPDX-License-Identifier: Apache-2.0
/* Ring records to events: every type, every lie about a length, chunks in every disorder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "user/decode/decode.h"

#define SEEN_MAX 128

struct seen {
	struct ev ev[SEEN_MAX];
	uint8_t data[SEEN_MAX][SNT_PKT_CHUNKS_MAX * SNT_PKT_DATA_LARGE];
	size_t n;
	int answer;
};

static struct seen seen;

static int keep(void *arg, const struct ev *ev)
{
	struct seen *s = arg;

	assert_in_range(s->n, 0, SEEN_MAX - 1);
	s->ev[s->n] = *ev;
	if (ev->type == EV_PACKET && ev->packet.data_len)
		memcpy(s->data[s->n], ev->packet.data, ev->packet.data_len);
	s->n++;
	return s->answer;
}

static const char *reason_name(void *arg unused_arg, uint32_t reason)
{
	return reason == 7 ? "NETFILTER_DROP" : NULL;
}

static bool symbol(void *arg unused_arg, uint64_t addr, char ret[64])
{
	(void)str_copy(ret, 64, "nft_do_chain");
	return addr == 0x1234;
}

static struct decode *open_decode(void)
{
	static const struct decode_opts opts = { .reason_name = reason_name, .symbol = symbol };
	struct decode *d = NULL;

	seen.n = 0;
	seen.answer = 0;
	assert_int_equal(decode_new(&d, &opts, keep, &seen), 0);
	return d;
}

static struct snt_hdr header(uint16_t type, uint16_t hook, uint32_t len)
{
	return (struct snt_hdr){
		.schema = SNT_SCHEMA,
		.type = type,
		.hook = hook,
		.slot = 3,
		.len = len,
		.cpu = 1,
		.ktime_ns = 1000,
		.cpu_seq = 5,
		.cgroup_id = 77,
		.netns_cookie = 88,
		.mark = 0x0011223344556677,
	};
}

static struct decode_stats stats_of(const struct decode *d)
{
	struct decode_stats s;

	decode_stats(d, &s);
	return s;
}

static void test_header(void **state unused_arg)
{
	struct snt_exit r = { .h = header(SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(r)), .code = 256 };
	struct decode *d = open_decode();
	const struct ev *ev = &seen.ev[0];

	memcpy(r.task.comm, "exactly16letters", 16);
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(ev->type, EV_EXIT);
	assert_int_equal(ev->hook, SNT_HOOK_EXIT);
	assert_int_equal(ev->slot, 3);
	assert_int_equal(ev->cpu, 1);
	assert_int_equal(ev->time_ns, 1000);
	assert_int_equal(ev->cpu_seq, 5);
	assert_int_equal(ev->cgroup_id, 77);
	assert_int_equal(ev->netns_cookie, 88);
	assert_int_equal(ev->mark, 0x0011223344556677);
	assert_int_equal(ev->lane | ev->trial | ev->id, 0);
	assert_int_equal(ev->exit.code, 256);
	assert_string_equal(ev->exit.task.name, "exactly16letters");
	decode_free(d);
}

static void test_malformed(void **state unused_arg)
{
	static const struct {
		const char *what;
		size_t at, size;
		uint32_t value;
	} cases[] = {
		{ "schema", offsetof(struct snt_hdr, schema), 2, SNT_SCHEMA + 1 },
		{ "length too long", offsetof(struct snt_hdr, len), 4,
		  sizeof(struct snt_exec) + 1 },
		{ "length too short", offsetof(struct snt_hdr, len), 4,
		  sizeof(struct snt_exec) - 8 },
		{ "length of nothing", offsetof(struct snt_hdr, len), 4, 0 },
		{ "no hook", offsetof(struct snt_hdr, hook), 2, 0 },
		{ "hook", offsetof(struct snt_hdr, hook), 2, SNT_HOOK_MAX },
		{ "slot", offsetof(struct snt_hdr, slot), 2, SNT_SLOT_MAX },
		{ "cpu", offsetof(struct snt_hdr, cpu), 4, DECODE_CPUS_MAX },
		{ "argv", offsetof(struct snt_exec, argv_len), 4, SNT_ARGV_MAX + 1 },
	};
	struct decode *d = open_decode();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct snt_exec r = { .h = header(SNT_EV_EXEC, SNT_HOOK_EXEC, sizeof(r)) };

		memcpy((char *)&r + cases[i].at, &cases[i].value, cases[i].size);
		if (decode_push(d, &r, sizeof(r)) != -EBADMSG)
			fail_msg("accepted: %s", cases[i].what);
		assert_int_equal(stats_of(d).malformed, i + 1);
	}
	assert_int_equal(decode_push(d, "", 0), -EBADMSG);
	assert_int_equal(seen.n, 0);
	decode_free(d);
}

static void test_unknown_type_is_skipped(void **state unused_arg)
{
	struct snt_hdr h = header(999, SNT_HOOK_EXEC, sizeof(h));
	struct decode *d = open_decode();

	assert_int_equal(decode_push(d, &h, sizeof(h)), 0);
	assert_int_equal(seen.n, 0);
	assert_int_equal(stats_of(d).unknown, 1);
	decode_free(d);
}

#define NONCE "00112233445566778899aAbBcCdDeEfF"

static void test_session(void **state unused_arg)
{
#define ARGV(text) text, sizeof(text) - 1
	static const struct {
		const char *argv;
		size_t len;
		const char *shown;
		bool session;
	} cases[] = {
		{ ARGV("probe\0SENTINEL1:" NONCE "\0x\0"), "probe SENTINEL1:" NONCE " x", true },
		{ ARGV("\0SENTINEL1:" NONCE), " SENTINEL1:" NONCE, true },
		{ ARGV("a b\0SENTINEL1:" NONCE "\0"), "a b SENTINEL1:" NONCE, true },
		{ ARGV("bwrap\0--\0SENTINEL1:" NONCE "\0"), "bwrap -- SENTINEL1:" NONCE, false },
		{ ARGV("SENTINEL1:" NONCE "\0"), "SENTINEL1:" NONCE, false },
		{ ARGV("p\0SENTINEL1:" NONCE "0\0"), "p SENTINEL1:" NONCE "0", false },
		{ ARGV("p\0SENTINEL1:0011\0"), "p SENTINEL1:0011", false },
		{ ARGV("p\0SENTINEL1:g0112233445566778899aabbccddeeff\0"),
		  "p SENTINEL1:g0112233445566778899aabbccddeeff", false },
		{ ARGV(""), "", false },
		{ ARGV("\0\0\0"), "", false },
	};
	static const uint8_t nonce[16] = { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
					   0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff };
	struct decode *d = open_decode();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct snt_exec r = { .h = header(SNT_EV_EXEC, SNT_HOOK_EXEC, sizeof(r)),
				      .ns_net = 42,
				      .uid = 65534,
				      .argv_len = (uint32_t)cases[i].len };
		const struct ev_exec *e = &seen.ev[i].exec;

		memcpy(r.argv, cases[i].argv, cases[i].len);
		assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
		assert_string_equal(e->argv, cases[i].shown);
		if (e->session != cases[i].session)
			fail_msg("session: '%s'", cases[i].shown);
		if (e->session)
			assert_memory_equal(e->nonce, nonce, sizeof(nonce));
		assert_int_equal(e->ns.net, 42);
		assert_int_equal(e->uid, 65534);
	}
	decode_free(d);
}

static void test_unix_path(void **state unused_arg)
{
	static const struct {
		const char *path;
		uint32_t len, family;
		const char *shown;
	} cases[] = {
		{ "/run/x\0junk", 11, AF_UNIX, "/run/x" },
		{ "\0abc", 4, AF_UNIX, "@abc" },
		{ "\0a\0c", 4, AF_UNIX, "@a@c" },
		{ "", 0, AF_UNIX, "" },
		{ "/run/x", 6, AF_INET, "" },
	};
	struct snt_addr r = { .h = header(SNT_EV_ADDR, SNT_HOOK_CONNECT_UNIX, sizeof(r)) };
	struct decode *d = open_decode();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		r.family = cases[i].family;
		r.path_len = cases[i].len;
		memcpy(r.path, cases[i].path, cases[i].len);
		assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
		assert_string_equal(seen.ev[i].addr.path, cases[i].shown);
	}
	memset(r.path, 'x', sizeof(r.path));
	r.family = AF_UNIX;
	r.path_len = sizeof(r.path);
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_int_equal(strlen(seen.ev[ARRAY_SIZE(cases)].addr.path), sizeof(r.path));
	r.path_len++;
	assert_int_equal(decode_push(d, &r, sizeof(r)), -EBADMSG);
	decode_free(d);
}

static void test_call(void **state unused_arg)
{
	struct snt_call r = { .h = header(SNT_EV_CALL, SNT_HOOK_SYS_EXIT, sizeof(r)),
			      .nr = SYS_connect,
			      .fd = -1,
			      .ret = -ENETUNREACH,
			      .dport = 443,
			      .data_len = 1000,
			      .data_cap = 4,
			      .data = "tokens" };
	struct decode *d = open_decode();
	const struct ev_call *e = &seen.ev[0].call;

	r.h.flags = SNT_F_NO_ENTER;
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(e->name, "connect");
	assert_int_equal(e->fd, -1);
	assert_int_equal(e->ret, -ENETUNREACH);
	assert_int_equal(e->data_len, 1000);
	assert_memory_equal(e->data, "toke\0", 5);
	assert_int_equal(seen.ev[0].flags, SNT_F_NO_ENTER);
	r.nr = 99999;
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(seen.ev[1].call.name, "");
	r.data_cap = SNT_CALL_DATA_MAX + 1;
	assert_int_equal(decode_push(d, &r, sizeof(r)), -EBADMSG);
	decode_free(d);
}

/* The name of an AF_UNIX address in a call: as in an address record; of no other family. */
static void test_call_path(void **state unused_arg)
{
	struct snt_call r = { .h = header(SNT_EV_CALL, SNT_HOOK_SYS_EXIT, sizeof(r)),
			      .nr = SYS_openat,
			      .family = AF_UNIX,
			      .data_len = 7,
			      .data_cap = 7,
			      .data = "/run/x1and more",
			      .path_len = 4,
			      .path = "\0a\0c and more" };
	struct decode *d = open_decode();

	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(seen.ev[0].call.name, "openat");
	assert_string_equal(seen.ev[0].call.path, "@a@c");
	assert_memory_equal(seen.ev[0].call.data, "/run/x1\0", 8);
	memcpy(r.path, "/p\0q", 4);
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(seen.ev[1].call.path, "/p");
	r.family = AF_PACKET;
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(seen.ev[2].call.path, "");
	r.path_len = sizeof(r.path) + 1;
	assert_int_equal(decode_push(d, &r, sizeof(r)), -EBADMSG);
	decode_free(d);
}

static void test_env(void **state unused_arg)
{
	struct snt_env r = { .h = header(SNT_EV_ENV, SNT_HOOK_EXEC, sizeof(r)),
			     .task.tgid = 42,
			     .env_bytes = 9,
			     .env_len = 4,
			     .env = "A=1\0BC=2\0" };
	struct decode *d = open_decode();
	const struct ev *ev = &seen.ev[0];

	r.h.flags = SNT_F_TRUNCATED;
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_int_equal(ev->type, EV_ENV);
	assert_int_equal(ev->hook, SNT_HOOK_EXEC);
	assert_int_equal(ev->mark, 0x0011223344556677);
	assert_int_equal(ev->flags, SNT_F_TRUNCATED);
	assert_int_equal(ev->env.task.pid, 42);
	assert_int_equal(ev->env.env_bytes, 9);
	assert_int_equal(ev->env.env_len, 4);
	assert_memory_equal(ev->env.env, "A=1\0\0", 5); /* not what lies behind it */
	r.env_len = 10;					/* more than there were */
	assert_int_equal(decode_push(d, &r, sizeof(r)), -EBADMSG);
	r.env_bytes = r.env_len = SNT_ENV_MAX;
	memset(r.env, 'x', sizeof(r.env));
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_int_equal(seen.ev[1].env.env[SNT_ENV_MAX - 1], 'x');
	r.env_bytes = r.env_len = SNT_ENV_MAX + 1;
	assert_int_equal(decode_push(d, &r, sizeof(r)), -EBADMSG);
	decode_free(d);
}

static void test_drop_names(void **state unused_arg)
{
	struct snt_drop r = { .h = header(SNT_EV_DROP, SNT_HOOK_KFREE_SKB, sizeof(r)),
			      .reason = 7,
			      .location = 0x1234,
			      .netns = 9,
			      .head_len = 3,
			      .head = { 1, 2, 3, 4 } };
	struct decode *d = open_decode();

	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(seen.ev[0].drop.reason_name, "NETFILTER_DROP");
	assert_string_equal(seen.ev[0].drop.location_name, "nft_do_chain");
	assert_memory_equal(seen.ev[0].drop.head, "\1\2\3\0", 4);
	r.reason = 8;
	r.location = 1;
	assert_int_equal(decode_push(d, &r, sizeof(r)), 0);
	assert_string_equal(seen.ev[1].drop.reason_name, "");
	assert_string_equal(seen.ev[1].drop.location_name, "");
	r.head_len = SNT_DROP_HEAD_MAX + 1;
	assert_int_equal(decode_push(d, &r, sizeof(r)), -EBADMSG);
	decode_free(d);
}

static void test_flat_types(void **state unused_arg)
{
	struct snt_fork fork_ = { .h = header(SNT_EV_FORK, SNT_HOOK_FORK, sizeof(fork_)),
				  .parent.tgid = 1,
				  .child.tgid = 2 };
	struct snt_sock sock = { .h = header(SNT_EV_SOCK, SNT_HOOK_SOCK_CREATE, sizeof(sock)),
				 .family = AF_INET,
				 .type = SOCK_STREAM,
				 .protocol = 6 };
	struct snt_send send_ = { .h = header(SNT_EV_SEND, SNT_HOOK_SEND_LENGTH, sizeof(send_)),
				  .ret = -EPERM,
				  .sport = 1,
				  .dport = 2,
				  .daddr = { 3 },
				  .saddr = { 4 } };
	struct snt_state state_ = { .h = header(SNT_EV_STATE, SNT_HOOK_SOCK_STATE, sizeof(state_)),
				    .oldstate = 7,
				    .newstate = 2,
				    .sport = 1,
				    .dport = 2 };
	struct snt_opt opt = { .h = header(SNT_EV_OPT, SNT_HOOK_SETSOCKOPT, sizeof(opt)),
			       .level = -1,
			       .optname = 15 };
	struct snt_uring uring = { .h = header(SNT_EV_URING, SNT_HOOK_URING, sizeof(uring)),
				   .res = -EACCES,
				   .opcode = 16 };
	struct decode *d = open_decode();

	sock.h.flags = SNT_F_CREATED;
	assert_int_equal(decode_push(d, &fork_, sizeof(fork_)), 0);
	assert_int_equal(decode_push(d, &sock, sizeof(sock)), 0);
	assert_int_equal(decode_push(d, &send_, sizeof(send_)), 0);
	assert_int_equal(decode_push(d, &state_, sizeof(state_)), 0);
	assert_int_equal(decode_push(d, &opt, sizeof(opt)), 0);
	assert_int_equal(decode_push(d, &uring, sizeof(uring)), 0);
	assert_int_equal(seen.n, 6);
	assert_int_equal(seen.ev[0].fork.child.pid, 2);
	assert_true(seen.ev[1].sock.created);
	assert_int_equal(seen.ev[1].sock.protocol, 6);
	assert_int_equal(seen.ev[2].send.ret, -EPERM);
	assert_int_equal(seen.ev[2].send.dport, 2);
	assert_int_equal(seen.ev[2].send.saddr[0], 4);
	assert_int_equal(seen.ev[3].state.newstate, 2);
	assert_int_equal(seen.ev[4].opt.level, -1);
	assert_int_equal(seen.ev[5].uring.res, -EACCES);
	assert_int_equal(seen.ev[5].uring.opcode, 16);
	decode_free(d);
}

/* ---- packets ---- */

struct chunk {
	struct snt_packet p;
	uint8_t data[SNT_PKT_DATA_LARGE];
};

#define LEN 5000 /* of the packet: 3 chunks */

static uint8_t byte_at(uint32_t offset)
{
	return (uint8_t)(offset * 7 + (offset >> 8));
}

static int push_chunk(struct decode *d, uint16_t hook, uint32_t cpu, uint64_t id, uint32_t n,
		      uint64_t time_ns)
{
	struct chunk c = { .p = { .h = header(SNT_EV_PACKET, hook, sizeof(c)),
				  .pkt_id = id,
				  .len = LEN,
				  .eth_proto = 0x0800,
				  .l2_len = 14,
				  .offset = n * SNT_PKT_DATA_LARGE } };

	c.p.data_len = MIN(LEN - c.p.offset, (uint32_t)SNT_PKT_DATA_LARGE);
	c.p.h.cpu = cpu;
	c.p.h.ktime_ns = time_ns;
	c.p.h.flags = c.p.offset + c.p.data_len < LEN ? SNT_F_MORE : 0;
	for (uint32_t i = 0; i < c.p.data_len; i++)
		c.data[i] = byte_at(c.p.offset + i);
	return decode_push(d, &c, sizeof(c));
}

static void check_packet(size_t i, uint32_t data_len)
{
	const struct ev *ev = &seen.ev[i];

	assert_int_equal(ev->type, EV_PACKET);
	assert_int_equal(ev->packet.len, LEN);
	assert_int_equal(ev->packet.data_len, data_len);
	assert_int_equal(!!(ev->flags & SNT_F_TRUNCATED), data_len < LEN);
	assert_false(ev->flags & SNT_F_MORE);
	for (uint32_t k = 0; k < data_len; k++)
		assert_int_equal(seen.data[i][k], byte_at(k));
}

static void test_single_packet(void **state unused_arg)
{
	static const struct {
		uint16_t hook;
		bool outbound;
	} cases[] = {
		{ SNT_HOOK_WORLD, true },	{ SNT_HOOK_BOUNDARY, true },
		{ SNT_HOOK_BOX, true },		{ SNT_HOOK_CG_EGRESS, true },
		{ SNT_HOOK_CG_INGRESS, false },
	};
	struct decode *d = open_decode();
	struct chunk c = { .p = { .len = 60, .data_len = 60, .ifindex = 9, .gso_segs = 2 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		c.p.h = header(SNT_EV_PACKET, cases[i].hook, sizeof(c.p) + SNT_PKT_DATA_SMALL);
		assert_int_equal(decode_push(d, &c, sizeof(c)), 0);
		assert_int_equal(seen.n, i + 1);
		assert_int_equal(seen.ev[i].packet.outbound, cases[i].outbound);
		assert_int_equal(seen.ev[i].packet.ifindex, 9);
		assert_int_equal(seen.ev[i].packet.gso_segs, 2);
		assert_int_equal(seen.ev[i].packet.data_len, 60);
		assert_int_equal(seen.ev[i].flags, 0);
	}
	c.p.len = 61; /* a snapshot */
	assert_int_equal(decode_push(d, &c, sizeof(c)), 0);
	assert_int_equal(seen.ev[5].flags, SNT_F_TRUNCATED);
	assert_int_equal(stats_of(d).cut, 0);

	c.p.data_len = SNT_PKT_DATA_SMALL + 1; /* more than the record holds */
	c.p.len = 200;
	assert_int_equal(decode_push(d, &c, sizeof(c)), -EBADMSG);
	c.p.data_len = 60;
	c.p.len = 59; /* more than the packet holds */
	assert_int_equal(decode_push(d, &c, sizeof(c)), -EBADMSG);
	c.p.len = 60;
	c.p.offset = UINT32_MAX;
	assert_int_equal(decode_push(d, &c, sizeof(c)), -EBADMSG);
	c.p.offset = 0;
	c.p.h.hook = SNT_HOOK_EXEC;
	assert_int_equal(decode_push(d, &c, sizeof(c)), -EBADMSG);
	decode_free(d);
}

static void test_chunks(void **state unused_arg)
{
	struct decode *d = open_decode();

	/* two CPUs, interleaved */
	for (uint32_t n = 0; n < 3; n++) {
		assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 1, n, 10), 0);
		assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 1, 1, n, 10), 0);
	}
	assert_int_equal(seen.n, 2);
	check_packet(0, LEN);
	check_packet(1, LEN);
	assert_int_equal(stats_of(d).cut, 0);
	decode_free(d);
}

static void test_lost_chunks(void **state unused_arg)
{
	static const struct {
		const char *what;
		uint32_t chunks; /* bits: which arrive */
		uint32_t data_len;
		bool needs_flush;
	} cases[] = {
		{ "first", 6, 0, false },
		{ "middle", 5, SNT_PKT_DATA_LARGE, false },
		{ "last", 3, 2 * SNT_PKT_DATA_LARGE, true },
		{ "all but the last", 4, 0, false },
		{ "all but the first", 1, SNT_PKT_DATA_LARGE, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct decode *d = open_decode();

		for (uint32_t n = 0; n < 3; n++)
			if (cases[i].chunks >> n & 1)
				assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 1, n, 10), 0);
		if (seen.n != !cases[i].needs_flush)
			fail_msg("%s: %zu events", cases[i].what, seen.n);
		assert_int_equal(decode_flush(d), 0);
		assert_int_equal(seen.n, 1);
		check_packet(0, cases[i].data_len);
		assert_int_equal(stats_of(d).cut, 1);
		decode_free(d);
	}
}

static void test_next_packet_ends_the_last(void **state unused_arg)
{
	struct decode *d = open_decode();

	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 1, 0, 10), 0);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 2, 0, 11), 0);
	assert_int_equal(seen.n, 1);
	check_packet(0, SNT_PKT_DATA_LARGE);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 2, 1, 11), 0);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 2, 2, 11), 0);
	assert_int_equal(seen.n, 2);
	check_packet(1, LEN);
	decode_free(d);
}

static void test_expiry(void **state unused_arg)
{
	struct decode *d = open_decode();
	struct snt_exit life = { .h = header(SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(life)) };

	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 1, 0, 10), 0);
	/* another ring's time says nothing */
	life.h.ktime_ns = 10 + 2 * DECODE_WAIT_NS;
	assert_int_equal(decode_push(d, &life, sizeof(life)), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 1, 1, 0, 10 + DECODE_WAIT_NS), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 1, 1, 1, 11 + DECODE_WAIT_NS), 0);
	assert_int_equal(seen.n, 2);
	check_packet(1, SNT_PKT_DATA_LARGE);
	decode_free(d);
}

static void test_eviction(void **state unused_arg)
{
	struct decode *d = open_decode();

	for (uint32_t cpu = 0; cpu <= DECODE_PACKETS_MAX; cpu++)
		assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, cpu, 1, 0, 10 + cpu), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(seen.ev[0].cpu, 0); /* the oldest */
	assert_int_equal(stats_of(d).evicted, 1);
	assert_int_equal(stats_of(d).cut, 1);
	assert_int_equal(decode_flush(d), 0);
	assert_int_equal(seen.n, 1 + DECODE_PACKETS_MAX);
	decode_free(d);
}

static void test_sequence(void **state unused_arg)
{
	static const struct {
		uint16_t type, hook;
		uint32_t size, cpu;
		uint64_t seq, missing; /* afterwards */
	} cases[] = {
		{ SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(struct snt_exit), 0, 5, 0 },
		{ SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(struct snt_exit), 0, 7, 1 },
		{ SNT_EV_FORK, SNT_HOOK_FORK, sizeof(struct snt_fork), 0, 6, 0 }, /* overtaken */
		{ SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(struct snt_exit), 1, 9, 0 }, /* another CPU */
		{ SNT_EV_DROP, SNT_HOOK_KFREE_SKB, sizeof(struct snt_drop), 0, 99, 0 }, /* ring */
		{ SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(struct snt_exit), 0, 11, 3 },
		{ SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(struct snt_exit), 1, 8, 3 },
		{ SNT_EV_DROP, SNT_HOOK_KFREE_SKB, sizeof(struct snt_drop), 0, 101, 4 },
	};
	struct decode *d = open_decode();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t rec[128] = { 0 };
		struct snt_hdr h = header(cases[i].type, cases[i].hook, cases[i].size);

		h.cpu = cases[i].cpu;
		h.cpu_seq = cases[i].seq;
		memcpy(rec, &h, sizeof(h));
		assert_int_equal(decode_push(d, rec, h.len), 0);
		assert_int_equal(stats_of(d).missing, cases[i].missing);
	}
	assert_int_equal(stats_of(d).events, ARRAY_SIZE(cases));
	decode_free(d);
}

static void test_sink_error(void **state unused_arg)
{
	struct snt_exit r = { .h = header(SNT_EV_EXIT, SNT_HOOK_EXIT, sizeof(r)) };
	struct decode *d = open_decode();

	seen.answer = -ENOSPC;
	assert_int_equal(decode_push(d, &r, sizeof(r)), -ENOSPC);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 1, 0, 10), 0);
	assert_int_equal(push_chunk(d, SNT_HOOK_WORLD, 0, 2, 0, 10), -ENOSPC);
	assert_int_equal(decode_flush(d), -ENOSPC);
	assert_int_equal(stats_of(d).malformed, 0);
	decode_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_unknown_type_is_skipped),
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_unix_path),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_call_path),
		cmocka_unit_test(test_env),
		cmocka_unit_test(test_drop_names),
		cmocka_unit_test(test_flat_types),
		cmocka_unit_test(test_single_packet),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_lost_chunks),
		cmocka_unit_test(test_next_packet_ends_the_last),
		cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_sequence),
		cmocka_unit_test(test_sink_error),
	};

	return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}

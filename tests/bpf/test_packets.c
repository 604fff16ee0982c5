// SPDX-License-Identifier: Apache-2.0
/*
 * The packet programs, run by the kernel on crafted packets (BPF_PROG_TEST_RUN): every field of
 * what comes out of the ring, every size class, and what is counted when there is no room.
 */
#include <bpf/bpf.h>
#include <sched.h>

#include <setjmp.h>
#include <stdarg.h>
/* cmocka wants those two first */
#include <cmocka.h>

#include "user/base/netns.h"
#include "user/sense/sense_priv.h"

#define LO_IFINDEX 1 /* where the kernel's test packets arrive */
#define SLOT 5
#define DEV_COOKIE 0x1122334455667788ull
#define ETH_BYTES 14
#define PACKET_MAX 3400 /* what a test run takes fits in a page */
#define RECORDS_MAX 8

struct got {
	unsigned int n;
	struct {
		struct snt_packet h;
		uint8_t data[SNT_PKT_DATA_LARGE];
		size_t len;
	} rec[RECORDS_MAX];
};

static void collect(void *arg, const void *rec, size_t len)
{
	struct got *g = arg;

	if (g->n < RECORDS_MAX && len >= sizeof(struct snt_packet) &&
	    len <= sizeof(struct snt_packet) + SNT_PKT_DATA_LARGE) {
		memcpy(&g->rec[g->n].h, rec, sizeof(struct snt_packet));
		memcpy(g->rec[g->n].data, (const uint8_t *)rec + sizeof(struct snt_packet),
		       len - sizeof(struct snt_packet));
		g->rec[g->n].len = len;
	}
	g->n++;
}

static struct sense *start(const struct sense_opts *o)
{
	struct {
		uint32_t slot, is_box;
		uint64_t cookie;
	} dev = { SLOT, 1, DEV_COOKIE };
	uint32_t ifindex = LO_IFINDEX;
	struct sense *s = NULL;
	struct diag d = { 0 };

	if (sense_new(&s, o, &d))
		fail_msg("sense_new: %s", d.text);
	assert_int_equal(0, bpf_map_update_elem(sense_map(s, "snt_devs"), &ifindex, &dev, BPF_ANY));
	return s;
}

static void watch_own_netns(struct sense *s, uint64_t *ret_cookie)
{
	uint32_t slot = SLOT;

	assert_int_equal(0, netns_cookie(ret_cookie));
	assert_int_equal(
		0, bpf_map_update_elem(sense_map(s, "snt_netns"), ret_cookie, &slot, BPF_ANY));
}

/* An Ethernet frame with an IPv4 or IPv6 header and a payload that tells its own offset. */
static void craft(uint8_t *p, size_t len, bool v6)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 7 + i / 256);
	p[12] = v6 ? 0x86 : 0x08;
	p[13] = v6 ? 0xdd : 0x00;
	p[14] = v6 ? 0x60 : 0x45;
}

static int run(struct sense *s, uint32_t hook, const uint8_t *p, size_t len, uint32_t gso_segs,
	       uint32_t gso_size)
{
	struct __sk_buff ctx = { .gso_segs = gso_segs, .gso_size = gso_size };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = p, .data_size_in = (uint32_t)len,
		    .ctx_in = &ctx, .ctx_size_in = sizeof(ctx));

	assert_int_equal(0, bpf_prog_test_run_opts(hook_prog_fd(s, hook), &opts));
	return (int)opts.retval;
}

static void check_identity(struct sense *s, uint32_t hook, struct snt_count *ret)
{
	assert_int_equal(0, sense_count(s, hook, SLOT, ret));
	assert_int_equal(ret->seen, ret->delivered + ret->ring_full + ret->oversized +
					    ret->map_full + ret->filtered);
}

struct one {
	uint32_t hook;
	size_t len;
	bool v6;
	uint32_t l2;	/* of what the hook sees */
	size_t room;	/* expected size class */
	bool truncated; /* expected */
	bool at_a;
};

static void check_one(struct sense *s, const struct one *t, uint64_t cookie, uint32_t pkt_id)
{
	static struct got g;
	uint8_t p[PACKET_MAX];
	size_t skip = t->l2 ? 0 : ETH_BYTES, len = t->len - skip;
	uint64_t before = mono_ns(), after;
	const struct snt_packet *r = &g.rec[0].h;
	int verdict;

	memset(&g, 0, sizeof(g));
	craft(p, t->len, t->v6);
	verdict = run(s, t->hook, p, t->len, 3, 1400);
	after = mono_ns();
	assert_int_equal(1, sense_drain(s, collect, &g));

	/* its fate is untouched: "next" at tc, "pass" at cgroup_skb */
	assert_int_equal(t->l2 ? -1 : 1, verdict);
	assert_int_equal(SNT_SCHEMA, r->h.schema);
	assert_int_equal(SNT_EV_PACKET, r->h.type);
	assert_int_equal(t->hook, r->h.hook);
	assert_int_equal(SLOT, r->h.slot);
	assert_int_equal(sizeof(*r) + t->room, r->h.len);
	assert_int_equal(g.rec[0].len, r->h.len);
	assert_int_equal(t->truncated, !!(r->h.flags & SNT_F_TRUNCATED));
	assert_int_equal(t->at_a, !!(r->h.flags & SNT_F_FOREIGN));
	assert_int_equal(0, r->h.flags & (SNT_F_PARTIAL | SNT_F_MORE | SNT_F_OWNER));
	assert_true(r->h.cpu < (uint32_t)libbpf_num_possible_cpus());
	assert_int_equal(0, r->h._pad);
	assert_true(r->h.ktime_ns >= before && r->h.ktime_ns <= after);
	assert_int_equal(cookie, r->h.netns_cookie);
	assert_int_equal(0, r->h.mark);
	assert_int_equal(0, r->owner.tgid);
	assert_int_equal(pkt_id, r->pkt_id);
	assert_int_equal(LO_IFINDEX, r->ifindex);
	assert_int_equal(len, r->len);
	assert_int_equal(3, r->gso_segs);
	assert_int_equal(1400, r->gso_size);
	assert_int_equal(t->v6 ? 0x86dd : 0x0800, r->eth_proto);
	assert_int_equal(t->l2, r->l2_len);
	assert_int_equal(0, r->offset);
	assert_int_equal(t->truncated ? SNT_PKT_DATA_MEDIUM : len, r->data_len);
	assert_memory_equal(p + skip, g.rec[0].data, r->data_len);
}

/* Fields and size classes of every hook that writes one record. */
static void test_one_record(void **state)
{
	static const struct one cases[] = {
		{ SNT_HOOK_WORLD, 60, false, 14, SNT_PKT_DATA_SMALL, false, false },
		{ SNT_HOOK_WORLD, 128, true, 14, SNT_PKT_DATA_SMALL, false, false },
		{ SNT_HOOK_WORLD, 129, false, 14, SNT_PKT_DATA_MEDIUM, false, false },
		{ SNT_HOOK_WORLD, 512, true, 14, SNT_PKT_DATA_MEDIUM, false, false },
		{ SNT_HOOK_WORLD, 513, true, 14, SNT_PKT_DATA_LARGE, false, false },
		{ SNT_HOOK_WORLD, 2048, true, 14, SNT_PKT_DATA_LARGE, false, false },
		{ SNT_HOOK_BOUNDARY, 60, false, 14, SNT_PKT_DATA_SMALL, false, false },
		{ SNT_HOOK_BOUNDARY, 512, true, 14, SNT_PKT_DATA_MEDIUM, false, false },
		{ SNT_HOOK_BOUNDARY, 513, true, 14, SNT_PKT_DATA_MEDIUM, true, false },
		{ SNT_HOOK_BOUNDARY, 3000, false, 14, SNT_PKT_DATA_MEDIUM, true, false },
		{ SNT_HOOK_BOX, 60, false, 14, SNT_PKT_DATA_SMALL, false, true },
		{ SNT_HOOK_BOX, 3000, true, 14, SNT_PKT_DATA_MEDIUM, true, true },
		{ SNT_HOOK_CG_EGRESS, 74, false, 0, SNT_PKT_DATA_SMALL, false, true },
		{ SNT_HOOK_CG_EGRESS, 74, true, 0, SNT_PKT_DATA_SMALL, false, true },
		{ SNT_HOOK_CG_EGRESS, 3000, true, 0, SNT_PKT_DATA_MEDIUM, true, true },
		{ SNT_HOOK_CG_INGRESS, 526, false, 0, SNT_PKT_DATA_MEDIUM, false, true },
		{ SNT_HOOK_CG_INGRESS, 527, true, 0, SNT_PKT_DATA_MEDIUM, true, true },
	};
	struct sense *s = start(&(struct sense_opts){ 0 });
	uint32_t runs[SNT_HOOK_MAX] = { 0 };
	struct snt_count c;
	uint64_t cookie;

	(void)state;
	watch_own_netns(s, &cookie);
	if (probe_skb_cookie()) /* before 6.13 cgroup_skb knows a box by its device */
		cookie = DEV_COOKIE;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct one *t = &cases[i];

		check_one(s, t, t->l2 ? DEV_COOKIE : cookie, runs[t->hook]++);
	}
	for (uint32_t hook = 0; hook < SNT_HOOK_MAX; hook++) {
		check_identity(s, hook, &c);
		assert_int_equal(runs[hook], c.delivered);
	}
	sense_free(s);
}

/* W: a packet longer than the largest record comes whole, in several, with one outcome. */
static void test_world_chunks(void **state)
{
	static struct got g;
	struct sense *s = start(&(struct sense_opts){ 0 });
	uint8_t p[PACKET_MAX];
	struct snt_count c;

	(void)state;
	memset(&g, 0, sizeof(g));
	craft(p, 2049, false);
	(void)run(s, SNT_HOOK_WORLD, p, 2049, 0, 0);
	craft(p, sizeof(p), true);
	(void)run(s, SNT_HOOK_WORLD, p, sizeof(p), 0, 0);
	assert_int_equal(4, sense_drain(s, collect, &g));

	assert_int_equal(SNT_F_MORE, g.rec[0].h.h.flags & (SNT_F_MORE | SNT_F_TRUNCATED));
	assert_int_equal(0, g.rec[1].h.h.flags & (SNT_F_MORE | SNT_F_TRUNCATED));
	assert_int_equal(SNT_PKT_DATA_LARGE, g.rec[0].h.data_len);
	assert_int_equal(1, g.rec[1].h.data_len);
	assert_int_equal(SNT_PKT_DATA_LARGE, g.rec[1].h.offset);
	assert_int_equal(sizeof(struct snt_packet) + SNT_PKT_DATA_SMALL, g.rec[1].len);
	assert_int_equal(g.rec[0].h.pkt_id, g.rec[1].h.pkt_id);
	assert_int_equal(g.rec[0].h.h.cpu, g.rec[1].h.h.cpu);
	assert_int_equal(g.rec[0].h.h.cpu_seq + 1, g.rec[1].h.h.cpu_seq);

	assert_int_equal(g.rec[2].h.pkt_id, g.rec[3].h.pkt_id);
	assert_true(g.rec[2].h.pkt_id != g.rec[0].h.pkt_id || g.rec[2].h.h.cpu != g.rec[0].h.h.cpu);
	for (int i = 2; i < 4; i++) {
		assert_int_equal(sizeof(p), g.rec[i].h.len);
		assert_memory_equal(p + g.rec[i].h.offset, g.rec[i].data, g.rec[i].h.data_len);
	}
	assert_int_equal(sizeof(p), g.rec[2].h.data_len + g.rec[3].h.data_len);
	check_identity(s, SNT_HOOK_WORLD, &c);
	assert_int_equal(2, c.delivered);
	sense_free(s);
}

/* The snapshot is a knob: small ones cut more, and none cuts at W. */
static void test_snapshot(void **state)
{
	static struct got g;
	struct sense *s = start(&(struct sense_opts){ .snapshot = 96 });
	uint8_t p[PACKET_MAX];

	(void)state;
	memset(&g, 0, sizeof(g));
	craft(p, 400, false);
	(void)run(s, SNT_HOOK_BOUNDARY, p, 400, 0, 0);
	(void)run(s, SNT_HOOK_WORLD, p, 400, 0, 0);
	assert_int_equal(2, sense_drain(s, collect, &g));
	assert_int_equal(SNT_HOOK_BOUNDARY, g.rec[0].h.h.hook); /* the packet ring is read first */
	assert_int_equal(96, g.rec[0].h.data_len);
	assert_true(g.rec[0].h.h.flags & SNT_F_TRUNCATED);
	assert_int_equal(400, g.rec[1].h.data_len);
	assert_false(g.rec[1].h.h.flags & SNT_F_TRUNCATED);
	sense_free(s);
}

/* Nobody's: counted as filtered in slot 0, and nothing else. */
static void test_stranger(void **state)
{
	static const uint32_t hooks[] = { SNT_HOOK_WORLD, SNT_HOOK_BOUNDARY, SNT_HOOK_BOX,
					  SNT_HOOK_CG_EGRESS, SNT_HOOK_CG_INGRESS };
	struct sense *s = start(&(struct sense_opts){ 0 });
	uint32_t ifindex = LO_IFINDEX;
	static struct got g;
	uint8_t p[64];

	(void)state;
	memset(&g, 0, sizeof(g));
	craft(p, sizeof(p), false);
	assert_int_equal(0, bpf_map_delete_elem(sense_map(s, "snt_devs"), &ifindex));
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		struct snt_count c;

		for (int n = 0; n < 7; n++)
			(void)run(s, hooks[i], p, sizeof(p), 0, 0);
		assert_int_equal(0, sense_count(s, hooks[i], SNT_SLOT_NONE, &c));
		assert_int_equal(7, c.seen);
		assert_int_equal(7, c.filtered);
		assert_int_equal(0, c.delivered);
	}
	assert_int_equal(0, sense_drain(s, collect, &g));
	sense_free(s);
}

struct tally {
	uint64_t records, bytes, packets; /* packets: ended by a record without F_MORE */
	uint64_t gaps, next_seq;
};

static void tally(void *arg, const void *rec, size_t len)
{
	const struct snt_packet *r = rec;
	struct tally *t = arg;

	t->records++;
	t->bytes += len;
	t->packets += !(r->h.flags & SNT_F_MORE);
	t->gaps += r->h.cpu_seq - t->next_seq;
	t->next_seq = r->h.cpu_seq + 1;
}

/* A ring of one page: what is lost is counted, to the record. */
static void test_overflow(void **state)
{
	const struct sense_opts o = { .world_ring_bytes = 4096, .packet_ring_bytes = 4096 };
	struct sense *s = start(&o);
	struct tally t = { 0 };
	struct snt_count w, b;
	uint8_t p[PACKET_MAX];

	(void)state;
	for (int i = 0; i < 500; i++) {
		size_t len = i % 3 ? 100 : sizeof(p);

		craft(p, len, i & 1);
		(void)run(s, SNT_HOOK_WORLD, p, len, 0, 0);
		(void)run(s, SNT_HOOK_BOUNDARY, p, len, 0, 0);
		if (i % 50 == 49)
			(void)sense_drain(s, tally, &t);
	}
	sense_stop(s);
	(void)sense_drain(s, tally, &t);
	check_identity(s, SNT_HOOK_WORLD, &w);
	check_identity(s, SNT_HOOK_BOUNDARY, &b);
	assert_int_equal(500, w.seen);
	assert_int_equal(500, b.seen);
	assert_true(w.ring_full > 0 && b.ring_full > 0);
	assert_true(w.delivered > 0 && b.delivered > 0);
	assert_true(t.records >= w.delivered + b.delivered);
	sense_free(s);
}

/* Each lost record of a ring is a gap in its numbers. */
static void test_sequence(void **state)
{
	const struct sense_opts o = { .packet_ring_bytes = 4096 };
	struct sense *s = start(&o);
	struct tally t = { 0 };
	struct snt_count b;
	uint8_t p[100];

	(void)state;
	craft(p, sizeof(p), false);
	for (int i = 0; i < 300; i++)
		(void)run(s, SNT_HOOK_BOUNDARY, p, sizeof(p), 0, 0);
	(void)sense_drain(s, tally, &t);
	(void)run(s, SNT_HOOK_BOUNDARY, p, sizeof(p), 0, 0); /* shows the gap before it */
	(void)sense_drain(s, tally, &t);
	check_identity(s, SNT_HOOK_BOUNDARY, &b);
	assert_int_equal(b.delivered, t.records);
	assert_int_equal(301, b.delivered + b.ring_full);
	assert_true(b.ring_full > 0);
	assert_int_equal(b.ring_full, t.gaps);
	sense_free(s);
}

/* The reader sleeps through a few records, and is woken when half a ring is waiting. */
static void test_wake(void **state)
{
	const struct sense_opts o = { .packet_ring_bytes = 8192 };
	struct sense *s = start(&o);
	uint8_t p[100];
	uint64_t begin;

	(void)state;
	craft(p, sizeof(p), false);
	(void)run(s, SNT_HOOK_BOUNDARY, p, sizeof(p), 0, 0);
	begin = mono_ns();
	assert_int_equal(0, sense_wait(s, 50));
	assert_true(mono_ns() - begin >= 45 * NSEC_PER_MSEC);
	for (int i = 0; i < 20; i++)
		(void)run(s, SNT_HOOK_BOUNDARY, p, sizeof(p), 0, 0);
	begin = mono_ns();
	assert_int_equal(0, sense_wait(s, 10000));
	assert_true(mono_ns() - begin < 5000 * NSEC_PER_MSEC);
	sense_free(s);
}

/* After sense_stop() nothing is seen, counted or emitted. */
static void test_stop(void **state)
{
	struct sense *s = start(&(struct sense_opts){ 0 });
	static struct got g;
	struct snt_count c;
	uint8_t p[64];

	(void)state;
	memset(&g, 0, sizeof(g));
	craft(p, sizeof(p), false);
	(void)run(s, SNT_HOOK_WORLD, p, sizeof(p), 0, 0);
	sense_stop(s);
	assert_int_equal(-1, run(s, SNT_HOOK_WORLD, p, sizeof(p), 0, 0));
	assert_int_equal(1, run(s, SNT_HOOK_CG_EGRESS, p, sizeof(p), 0, 0));
	assert_int_equal(1, sense_drain(s, collect, &g));
	check_identity(s, SNT_HOOK_WORLD, &c);
	assert_int_equal(1, c.seen);
	sense_free(s);
}

static void test_refused(void **state)
{
	const struct sense_opts bad[] = { { .world_ring_bytes = 5000 },
					  { .life_ring_bytes = 64 },
					  { .snapshot = SNT_PKT_DATA_LARGE + 1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sense *s = NULL;
		struct diag d = { 0 };

		assert_int_equal(-EINVAL, sense_new(&s, &bad[i], &d));
		assert_null(s);
		assert_true(*d.text != '\0');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_record), cmocka_unit_test(test_world_chunks),
		cmocka_unit_test(test_snapshot),   cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_overflow),   cmocka_unit_test(test_sequence),
		cmocka_unit_test(test_wake),	   cmocka_unit_test(test_stop),
		cmocka_unit_test(test_refused),
	};

	cpu_set_t one;

	if (geteuid()) {
		(void)fprintf(stderr, "skipped: needs root to load programs\n");
		return 77;
	}
	/* Numbers are per CPU: on a single one they are exact. */
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/* The observer's own books: nothing is lost uncounted, and what is not attached is known not to be.
 */
#include "tests/bpf/stage.h"

#include <sys/wait.h>

#define FLOOD 20000 /* datagrams of each of two senders */

/* Two senders at once, as fast as they can. Datagrams that the stack refused are not counted. */
static int do_flood(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	int fd = socket(AF_INET, SOCK_DGRAM, 0), status;
	pid_t pid = fork();

	if (fd < 0 || pid < 0)
		return 1;
	for (int i = 0; i < FLOOD; i++)
		if (sendto(fd, TOKEN, strlen(TOKEN), 0, (struct sockaddr *)&a, sizeof(a)) < 0)
			return 2;
	if (!pid)
		_exit(0);
	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 3;
}

/* ---- nothing is lost uncounted ---- */

struct flood {
	uint64_t records[SNT_HOOK_MAX];
};

static void count_record(void *arg, const void *rec, size_t len)
{
	const struct snt_hdr *h = rec;
	struct flood *f = arg;

	(void)len;
	if (h->slot == LANE)
		f->records[h->hook]++;
}

static void flood_hooks(struct sense *s, struct flood *f)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(become("flood", IN_CGROUP));
	for (;;) {
		pid_t r = waitpid(pid, &status, WNOHANG);

		assert_int_equal(0, sense_wait(s, 2));
		(void)sense_drain(s, count_record, f);
		if (r == pid)
			break;
	}
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	settle();
}

static void check_flood(struct sense *s, const struct flood *f, uint64_t *ret_lost)
{
	*ret_lost = 0;
	for (uint32_t hook = 1; hook < SNT_HOOK_MAX; hook++) {
		struct snt_count c;

		assert_int_equal(0, sense_count(s, hook, LANE, &c));
		assert_int_equal(c.seen, c.delivered + c.ring_full + c.oversized + c.map_full);
		assert_int_equal(c.delivered, f->records[hook]); /* small: one record a packet */
		*ret_lost += c.ring_full;
		if (hook == SNT_HOOK_SENDMSG4 || hook == SNT_HOOK_BOUNDARY)
			assert_true(c.seen >= 2 * FLOOD);
	}
}

/* A second observer beside the first, so that both see the same. ring_bytes 0: the default. */
static uint64_t flood_with(uint32_t ring_bytes)
{
	const struct sense_opts o = { .world_ring_bytes = ring_bytes,
				      .packet_ring_bytes = ring_bytes,
				      .life_ring_bytes = ring_bytes,
				      .run_cgroup_id = stage.run_id,
				      .run_cgroup_level = 1 };
	struct sense_lane l = stage_lane();
	struct flood f = { 0 };
	struct diag d = { 0 };
	struct sense *s;
	uint64_t lost;

	if (sense_new(&s, &o, &d) || sense_attach_host(s, stage.root_fd, &d) ||
	    sense_attach_lane(s, &l, &d))
		fail_msg("%s", d.text);
	assert_int_equal(0, sense_watch_cgroup(s, stage.trial_id, LANE));
	flood_hooks(s, &f);
	sense_stop(s);
	(void)sense_drain(s, count_record, &f);
	check_flood(s, &f, &lost);
	sense_free(s);
	return lost;
}

/* Rings of a page lose most of it, and every loss is counted: what came out is what was delivered,
 * and the rest is what found no room. */
static void test_flood_lost(void **state)
{
	uint64_t lost = flood_with(4096);

	(void)state;
	assert_true(lost > 0);
	print_message("%llu records found no room\n", (unsigned long long)lost);
}

/* Rings as they are by default lose nothing, and the first observer is not disturbed. */
static void test_flood_kept(void **state)
{
	(void)state;
	assert_int_equal(0, flood_with(0));
}

/* ---- what "attached" means ---- */

static void test_state(void **state)
{
	char detail[64];

	(void)state;
	for (uint32_t hook = 1; hook < SNT_HOOK_MAX; hook++) {
		if (is_attached(hook, sense_hook_per_lane(hook) ? LANE : 0))
			continue;
		if (sense_hook_needed(hook))
			fail_msg("'%s' is not attached", hook_name(hook));
		print_message("'%s' is not attached\n", hook_name(hook));
	}
	assert_false(sense_hook_state(stage.sense, SNT_HOOK_WORLD, LANE + 1, detail));
	assert_string_equal("not attached", detail);
}

/* What an operator with bpftool can do to us: we must notice. */
static void test_detached(void **state)
{
	struct sense *s = stage.sense;
	struct sense_lane l = stage_lane();
	struct diag d = { 0 };

	(void)state;
	if (s->lanes[LANE].dev[DEV_WORLD].clsact)
		skip(); /* test_clsact() does what can be done */
	assert_int_equal(0, bpf_link_detach(s->lanes[LANE].dev[DEV_WORLD].link_fd));
	assert_false(is_attached(SNT_HOOK_WORLD, LANE));
	assert_true(is_attached(SNT_HOOK_BOUNDARY, LANE));
	assert_int_equal(0, bpf_link_detach(bpf_link__fd(s->host[SNT_HOOK_CONNECT4].link)));
	assert_false(is_attached(SNT_HOOK_CONNECT4, 0));
	assert_true(is_attached(SNT_HOOK_CONNECT6, 0));

	assert_int_equal(-EEXIST, sense_attach_lane(s, &l, &d));
	sense_detach_lane(s, LANE);
	assert_false(is_attached(SNT_HOOK_BOUNDARY, LANE));
	assert_int_equal(0, sense_attach_lane(s, &l, &d));
	assert_true(is_attached(SNT_HOOK_WORLD, LANE));
	bpf_link__destroy(s->host[SNT_HOOK_CONNECT4].link);
	s->host[SNT_HOOK_CONNECT4].link = NULL;
	assert_int_equal(0, sense_attach_host(s, stage.root_fd, &d));
	assert_true(is_attached(SNT_HOOK_CONNECT4, 0));
}

/* A kernel without tcx: the same records by clsact filters, and a removed one is noticed. */
static void test_clsact(void **state)
{
	struct sense_lane l = stage_lane();
	struct sense *s = stage.sense;
	bool had_tcx = !s->lanes[LANE].dev[DEV_WORLD].clsact;
	struct diag d = { 0 };
	char detail[64];

	(void)state;
	sense_detach_lane(s, LANE);
	s->no_tcx = true;
	assert_int_equal(0, sense_attach_lane(s, &l, &d));
	assert_true(sense_hook_state(s, SNT_HOOK_WORLD, LANE, detail));
	assert_string_equal("clsact", detail);
	(void)play("udp", IN_CGROUP);
	(void)token_at(SNT_HOOK_BOX);
	(void)token_at(SNT_HOOK_BOUNDARY);
	(void)token_at(SNT_HOOK_WORLD);
	device_detach(&s->lanes[LANE].dev[DEV_BOX], true);
	assert_false(is_attached(SNT_HOOK_BOX, LANE));
	assert_true(is_attached(SNT_HOOK_BOUNDARY, LANE));
	sense_detach_lane(s, LANE);
	s->no_tcx = false;
	assert_int_equal(0, sense_attach_lane(s, &l, &d));
	assert_true(sense_hook_state(s, SNT_HOOK_WORLD, LANE, detail));
	assert_string_equal(had_tcx ? "tcx" : "clsact", detail);
}

static const struct stage_act acts[] = {
	{ "flood", do_flood },
	{ "udp", do_udp },
};

static int tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_flood_lost), cmocka_unit_test(test_flood_kept),
		cmocka_unit_test(test_state),	   cmocka_unit_test(test_detached),
		cmocka_unit_test(test_clsact),	   cmocka_unit_test(stage_test_count),
	};

	return cmocka_run_group_tests(list, stage_set_up, stage_tear_down);
}

int main(int argc, char **argv)
{
	return stage_main(argc, argv, acts, ARRAY_SIZE(acts), tests);
}

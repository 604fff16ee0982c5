// SPDX-License-Identifier: Apache-2.0
/* Whose a record is: each way to know, in order, and what must never be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "user/attribute/attribute.h"

#define MARK1 0x0102030405060708ull
#define MARK2 0x1102030405060708ull
#define NOBODY 0x9999999999999999ull

static struct attribute open_attribute(void)
{
	static const struct ev_lane lanes[] = {
		{ .lane = 1,
		  .world_ifindex = 101,
		  .boundary_ifindex = 102,
		  .box_ifindex = 103,
		  .box.net = 4001,
		  .host.net = 4002,
		  .world.net = 4003,
		  .box_cookie = 11,
		  .host_cookie = 12,
		  .world_cookie = 13 },
		{ .lane = 2,
		  .world_ifindex = 201,
		  .boundary_ifindex = 202,
		  .box_ifindex = 203,
		  .box.net = 5001,
		  .host.net = 5002,
		  .world.net = 5003,
		  .box_cookie = 21,
		  .host_cookie = 22,
		  .world_cookie = 23 },
	};
	static const struct ev_trial trials[] = {
		{ .id = 31, .lane = 1, .nonce = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, .cgroup_id = 71 },
		{ .id = 32, .lane = 2, .nonce = { 0x11, 2, 3, 4, 5, 6, 7, 8, 9 }, .cgroup_id = 72 },
		{ .id = 33, .lane = 2, .nonce = { 0x21 } }, /* without a cgroup */
	};
	struct attribute a;

	assert_int_equal(attribute_init(&a), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lanes); i++)
		assert_int_equal(attribute_lane(&a, &lanes[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(trials); i++)
		assert_int_equal(attribute_trial(&a, &trials[i]), 0);
	return a;
}

static void test_owner(void **state unused_arg)
{
	static const struct {
		const char *what;
		enum ev_type type;
		uint32_t hook, flags, slot, ifindex, netns;
		uint64_t mark, cgroup, cookie;
		uint32_t lane, trial;
		enum owner how;
	} cases[] = {
		/* tasks */
		{ "exec by mark", EV_EXEC, SNT_HOOK_EXEC, .mark = MARK1, .lane = 1, .trial = 31,
		  .how = OWNER_MARK },
		{ "mark before cgroup", EV_SOCK, SNT_HOOK_SOCK_CREATE, .mark = MARK1, .cgroup = 72,
		  .lane = 1, .trial = 31, .how = OWNER_MARK },
		{ "by cgroup", EV_ADDR, SNT_HOOK_CONNECT4, .cgroup = 72, .lane = 2, .trial = 32,
		  .how = OWNER_CGROUP },
		{ "unknown mark, known cgroup", EV_CALL, SNT_HOOK_SYS_EXIT, .mark = NOBODY,
		  .cgroup = 71, .lane = 1, .trial = 31, .how = OWNER_CGROUP },
		{ "exec by namespace", EV_EXEC, SNT_HOOK_EXEC, .netns = 5001, .lane = 2,
		  .how = OWNER_NETNS },
		{ "by cookie", EV_SEND, SNT_HOOK_SEND_LENGTH, .cookie = 11, .lane = 1,
		  .how = OWNER_NETNS },
		{ "by slot", EV_FORK, SNT_HOOK_FORK, .slot = 2, .lane = 2, .how = OWNER_SLOT },
		{ "nobody", EV_EXIT, SNT_HOOK_EXIT, .mark = NOBODY, .cgroup = 1, .cookie = 5,
		  .how = OWNER_UNKNOWN },
		/* packets */
		{ "world without owner", EV_PACKET, SNT_HOOK_WORLD, .ifindex = 101, .lane = 1,
		  .how = OWNER_INTERFACE },
		{ "boundary with the socket's mark", EV_PACKET, SNT_HOOK_BOUNDARY, SNT_F_OWNER,
		  .ifindex = 202, .mark = MARK2, .lane = 2, .trial = 32, .how = OWNER_SOCKET },
		{ "a mark that is not the socket's", EV_PACKET, SNT_HOOK_BOUNDARY, .ifindex = 202,
		  .mark = MARK2, .lane = 2, .how = OWNER_INTERFACE },
		{ "the socket's cgroup (gVisor)", EV_PACKET, SNT_HOOK_BOUNDARY, .ifindex = 102,
		  .cgroup = 71, .lane = 1, .trial = 31, .how = OWNER_CGROUP },
		{ "another lane's socket: seen here, sent there", EV_PACKET, SNT_HOOK_BOX,
		  SNT_F_OWNER, .ifindex = 103, .mark = MARK2, .lane = 1, .trial = 32,
		  .how = OWNER_SOCKET },
		{ "an interface number of a sandbox's own", EV_PACKET, SNT_HOOK_CG_EGRESS,
		  .ifindex = 101, .how = OWNER_UNKNOWN },
		{ "cgroup hook by cookie", EV_PACKET, SNT_HOOK_CG_EGRESS, .ifindex = 101,
		  .cookie = 21, .lane = 2, .how = OWNER_NETNS },
		{ "unknown interface, slot", EV_PACKET, SNT_HOOK_WORLD, .ifindex = 999, .slot = 1,
		  .lane = 1, .how = OWNER_SLOT },
		/* drops and states: whoever runs there is nobody */
		{ "drop in host", EV_DROP, SNT_HOOK_KFREE_SKB, .netns = 4002, .mark = MARK2,
		  .cgroup = 72, .lane = 1, .how = OWNER_NETNS },
		{ "drop with an owner", EV_DROP, SNT_HOOK_KFREE_SKB, SNT_F_OWNER, .netns = 4002,
		  .mark = MARK1, .lane = 1, .trial = 31, .how = OWNER_SOCKET },
		{ "drop with an owner's cgroup", EV_DROP, SNT_HOOK_KFREE_SKB, SNT_F_OWNER,
		  .netns = 4002, .cgroup = 71, .lane = 1, .trial = 31, .how = OWNER_CGROUP },
		{ "state from a timer", EV_STATE, SNT_HOOK_SOCK_STATE, .mark = MARK2, .cgroup = 72,
		  .how = OWNER_UNKNOWN },
		{ "state with an owner", EV_STATE, SNT_HOOK_SOCK_STATE, SNT_F_OWNER, .mark = MARK2,
		  .lane = 2, .trial = 32, .how = OWNER_SOCKET },
		/* the run's log says it itself */
		{ "log", EV_RECEIVED, 0, .mark = MARK1, .slot = 1, .how = OWNER_UNKNOWN },
	};
	struct attribute a = open_attribute();

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ev ev = { .type = cases[i].type,
				 .hook = cases[i].hook,
				 .flags = cases[i].flags,
				 .slot = cases[i].slot,
				 .mark = cases[i].mark,
				 .cgroup_id = cases[i].cgroup,
				 .netns_cookie = cases[i].cookie };
		enum owner how;

		if (ev.type == EV_PACKET)
			ev.packet.ifindex = cases[i].ifindex;
		if (ev.type == EV_EXEC)
			ev.exec.ns.net = cases[i].netns;
		if (ev.type == EV_DROP)
			ev.drop.netns = cases[i].netns;
		how = attribute_push(&a, &ev);
		if (ev.lane != cases[i].lane || ev.trial != cases[i].trial || how != cases[i].how)
			fail_msg("%s: lane %u, trial %u, by %s", cases[i].what, ev.lane, ev.trial,
				 owner_text(how));
	}
	attribute_done(&a);
}

static void test_lane_made_anew(void **state unused_arg)
{
	struct attribute a = open_attribute();
	struct ev_lane lane = { .lane = 1, .epoch = 2, .world_ifindex = 301, .box.net = 5001 };
	struct ev ev = { .type = EV_PACKET, .hook = SNT_HOOK_WORLD };

	assert_int_equal(attribute_lane(&a, &lane), 0);
	ev.packet.ifindex = 301;
	assert_int_equal(attribute_push(&a, &ev), OWNER_INTERFACE);
	assert_int_equal(ev.lane, 1);
	ev.packet.ifindex = 101; /* of before, still on its way */
	assert_int_equal(attribute_push(&a, &ev), OWNER_INTERFACE);
	assert_int_equal(ev.lane, 1);
	ev = (struct ev){ .type = EV_DROP, .hook = SNT_HOOK_KFREE_SKB };
	ev.drop.netns = 5001; /* once lane 2's; the kernel used the number again */
	assert_int_equal(attribute_push(&a, &ev), OWNER_NETNS);
	assert_int_equal(ev.lane, 1);
	attribute_done(&a);
}

static void test_refused(void **state unused_arg)
{
	struct attribute a = open_attribute();
	struct ev_trial trial = { .id = 34, .lane = 1, .nonce = { 1, 2, 3, 4, 5, 6, 7, 8, 77 } };
	struct ev_lane lane = { .lane = 0 };

	assert_int_equal(attribute_trial(&a, &trial), -EEXIST);
	trial.id = 0;
	trial.nonce[0] = 9;
	assert_int_equal(attribute_trial(&a, &trial), -EINVAL);
	assert_int_equal(attribute_lane(&a, &lane), -EINVAL);
	attribute_done(&a);
	attribute_done(&a);
}

static void test_many(void **state unused_arg)
{
	struct attribute a = open_attribute();

	for (uint32_t i = 100; i < 70000; i++) {
		struct ev_trial trial = { .id = i, .lane = i % 60 + 1, .cgroup_id = 1000 + i };

		memcpy(trial.nonce, &i, sizeof(i));
		trial.nonce[7] = 1;
		assert_int_equal(attribute_trial(&a, &trial), 0);
	}
	for (uint32_t i = 100; i < 70000; i++) {
		struct ev ev = { .type = EV_EXIT, .cgroup_id = 1000 + i };

		assert_int_equal(attribute_push(&a, &ev), OWNER_CGROUP);
		assert_int_equal(ev.trial, i);
		assert_int_equal(ev.lane, i % 60 + 1);
	}
	attribute_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_lane_made_anew),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("attribute", tests, NULL, NULL);
}

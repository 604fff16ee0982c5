// SPDX-License-Identifier: Apache-2.0
/*
 * The records as the BPF compiler laid them out against what user space is built with: every member
 * of every record, its offset and size, out of the type information of the built object.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include "bpf/events.h"
#include "user/base/util.h"

#include "sentinel.skel.h"

struct member {
	const char *name;
	size_t offset, size;
};

#define M(TYPE, NAME)                                                                              \
	{                                                                                          \
#NAME, offsetof(struct TYPE, NAME), sizeof(((struct TYPE *)0)->NAME)               \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

static const struct {
	const char *name;
	size_t size;
	struct member members[32];
} records[] = {
	{ "snt_task",
	  sizeof(struct snt_task),
	  { M(snt_task, tgid), M(snt_task, tid), M(snt_task, start_ns), M(snt_task, comm), END } },
	{ "snt_hdr",
	  sizeof(struct snt_hdr),
	  { M(snt_hdr, schema), M(snt_hdr, type), M(snt_hdr, hook), M(snt_hdr, slot),
	    M(snt_hdr, len), M(snt_hdr, flags), M(snt_hdr, cpu), M(snt_hdr, _pad),
	    M(snt_hdr, ktime_ns), M(snt_hdr, cpu_seq), M(snt_hdr, cgroup_id),
	    M(snt_hdr, netns_cookie), M(snt_hdr, mark), END } },
	{ "snt_exec",
	  sizeof(struct snt_exec),
	  { M(snt_exec, h),
	    M(snt_exec, task),
	    M(snt_exec, parent),
	    M(snt_exec, parent_exe_ino),
	    M(snt_exec, exe_ino),
	    M(snt_exec, exe_dev),
	    M(snt_exec, parent_exe_dev),
	    M(snt_exec, ns_mnt),
	    M(snt_exec, ns_net),
	    M(snt_exec, ns_pid),
	    M(snt_exec, ns_user),
	    M(snt_exec, ns_uts),
	    M(snt_exec, ns_ipc),
	    M(snt_exec, ns_cgroup),
	    M(snt_exec, uid),
	    M(snt_exec, gid),
	    M(snt_exec, seccomp),
	    M(snt_exec, cap_effective),
	    M(snt_exec, cap_permitted),
	    M(snt_exec, no_new_privs),
	    M(snt_exec, argv_len),
	    M(snt_exec, argv),
	    END } },
	{ "snt_env",
	  sizeof(struct snt_env),
	  { M(snt_env, h), M(snt_env, task), M(snt_env, env_bytes), M(snt_env, env_len),
	    M(snt_env, env), END } },
	{ "snt_fork",
	  sizeof(struct snt_fork),
	  { M(snt_fork, h), M(snt_fork, parent), M(snt_fork, child), END } },
	{ "snt_exit",
	  sizeof(struct snt_exit),
	  { M(snt_exit, h), M(snt_exit, task), M(snt_exit, code), M(snt_exit, _pad), END } },
	{ "snt_sock",
	  sizeof(struct snt_sock),
	  { M(snt_sock, h), M(snt_sock, task), M(snt_sock, cookie), M(snt_sock, family),
	    M(snt_sock, type), M(snt_sock, protocol), M(snt_sock, _pad), END } },
	{ "snt_addr",
	  sizeof(struct snt_addr),
	  { M(snt_addr, h), M(snt_addr, task), M(snt_addr, cookie), M(snt_addr, family),
	    M(snt_addr, type), M(snt_addr, protocol), M(snt_addr, dport), M(snt_addr, daddr),
	    M(snt_addr, retval), M(snt_addr, path_len), M(snt_addr, path), END } },
	{ "snt_call",
	  sizeof(struct snt_call),
	  { M(snt_call, h), M(snt_call, task), M(snt_call, nr), M(snt_call, fd), M(snt_call, ret),
	    M(snt_call, arg1), M(snt_call, arg2), M(snt_call, family), M(snt_call, dport),
	    M(snt_call, daddr), M(snt_call, data_len), M(snt_call, data_cap), M(snt_call, data),
	    M(snt_call, path_len), M(snt_call, _pad), M(snt_call, path), END } },
	{ "snt_send",
	  sizeof(struct snt_send),
	  { M(snt_send, h), M(snt_send, task), M(snt_send, cookie), M(snt_send, family),
	    M(snt_send, type), M(snt_send, protocol), M(snt_send, ret), M(snt_send, dport),
	    M(snt_send, sport), M(snt_send, daddr), M(snt_send, saddr), END } },
	{ "snt_state",
	  sizeof(struct snt_state),
	  { M(snt_state, h), M(snt_state, owner), M(snt_state, cookie), M(snt_state, oldstate),
	    M(snt_state, newstate), M(snt_state, sport), M(snt_state, dport), M(snt_state, saddr),
	    M(snt_state, daddr), END } },
	{ "snt_drop",
	  sizeof(struct snt_drop),
	  { M(snt_drop, h), M(snt_drop, owner), M(snt_drop, cookie), M(snt_drop, location),
	    M(snt_drop, reason), M(snt_drop, ifindex), M(snt_drop, netns), M(snt_drop, eth_proto),
	    M(snt_drop, len), M(snt_drop, head_len), M(snt_drop, head), END } },
	{ "snt_packet",
	  sizeof(struct snt_packet),
	  { M(snt_packet, h),
	    M(snt_packet, owner),
	    M(snt_packet, cookie),
	    M(snt_packet, pkt_id),
	    M(snt_packet, ifindex),
	    M(snt_packet, len),
	    M(snt_packet, gso_segs),
	    M(snt_packet, gso_size),
	    M(snt_packet, eth_proto),
	    M(snt_packet, l2_len),
	    M(snt_packet, offset),
	    M(snt_packet, data_len),
	    { "data", offsetof(struct snt_packet, data), 0 },
	    END } },
	{ "snt_opt",
	  sizeof(struct snt_opt),
	  { M(snt_opt, h), M(snt_opt, task), M(snt_opt, cookie), M(snt_opt, level),
	    M(snt_opt, optname), M(snt_opt, family), M(snt_opt, _pad), END } },
	{ "snt_uring",
	  sizeof(struct snt_uring),
	  { M(snt_uring, h), M(snt_uring, task), M(snt_uring, res), M(snt_uring, opcode), END } },
	{ "snt_count",
	  sizeof(struct snt_count),
	  { M(snt_count, seen), M(snt_count, delivered), M(snt_count, ring_full),
	    M(snt_count, oversized), M(snt_count, map_full), M(snt_count, filtered), END } },
};

static struct bpf_object *object;
static const struct btf *types;

static int set_up(void **state)
{
	size_t size;
	const void *elf = sentinel__elf_bytes(&size);

	(void)state;
	object = bpf_object__open_mem(elf, size, NULL);
	types = object ? bpf_object__btf(object) : NULL;
	return types ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	bpf_object__close(object);
	return 0;
}

static const struct btf_type *record_type(const char *name)
{
	int id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);

	if (id < 0)
		fail_msg("the object does not name struct %s", name);
	return btf__type_by_id(types, (uint32_t)id);
}

static void test_sizes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		assert_int_equal(records[i].size, record_type(records[i].name)->size);
}

/* In both directions: a member that only one side has is a difference, too. */
static void test_members(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		const struct btf_type *t = record_type(records[i].name);
		const struct btf_member *m = btf_members(t);
		size_t n = 0;

		for (; records[i].members[n].name; n++) {
			const struct member *want = &records[i].members[n];

			if (n >= btf_vlen(t))
				fail_msg("struct %s lacks '%s'", records[i].name, want->name);
			assert_string_equal(want->name, btf__name_by_offset(types, m[n].name_off));
			assert_int_equal(want->offset * 8, m[n].offset);
			assert_int_equal(want->size, btf__resolve_size(types, m[n].type));
		}
		if (n != btf_vlen(t))
			fail_msg("struct %s has more members than this test", records[i].name);
	}
}

/* No hole: every byte of a record belongs to a member, so none leaks what was there before. */
static void test_no_holes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		size_t at = 0;

		for (size_t n = 0; records[i].members[n].name; n++) {
			if (at != records[i].members[n].offset)
				fail_msg("hole in struct %s before '%s'", records[i].name,
					 records[i].members[n].name);
			at += records[i].members[n].size;
		}
		assert_int_equal(records[i].size, at);
		assert_int_equal(0, at % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_no_holes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

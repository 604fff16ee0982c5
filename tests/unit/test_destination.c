// SPDX-License-Identifier: Apache-2.0
/* Where the attempts go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netinet/in.h>

#include "user/rig/destination.h"
#include "user/rig/rig.h"

static void test_addresses(void **state unused_arg)
{
	static const struct {
		enum dest dest;
		uint32_t family;
		const char *answers, *deaf;
		uint32_t port, deaf_port;
	} cases[] = {
		{ DEST_FAR, AF_INET, "203.0.113.7", "203.0.113.135", 80, 80 },
		{ DEST_FAR, AF_INET6, "2001:db8:113::1:5", "2001:db8:113:1::1:5", 80, 80 },
		{ DEST_METADATA, AF_INET, "169.254.169.254", "169.254.169.253", 80, 80 },
		{ DEST_METADATA_ECS, AF_INET, "169.254.170.2", "169.254.170.3", 80, 80 },
		{ DEST_METADATA6, AF_INET6, "fd00:ec2::254", "fd00:ec2::253", 80, 80 },
		{ DEST_METADATA_HOP, AF_INET, "169.254.169.251", "169.254.169.251", 80, 81 },
		{ DEST_RESOLVER, AF_INET, "10.117.0.53", "10.117.0.53", 80, 80 },
		{ DEST_LOOPBACK, AF_INET, "127.0.0.1", "127.0.0.1", 80, 81 },
		{ DEST_SIBLING, AF_INET, "10.117.3.2", "10.117.3.2", 80, 80 },
		{ DEST_UNIX_PATH, AF_UNIX, "::", "::", 0, 0 },
		{ DEST_UNIX_ABSTRACT, AF_UNIX, "::", "::", 0, 0 },
		{ DEST_NONE, 0, "::", "::", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ev_probe p = { .dest = cases[i].dest, .family = cases[i].family };
		char text[ADDR_TEXT_MAX];
		uint8_t addr[16];
		uint32_t port;

		destination_of(&p, 80, FAR_ANSWERS, 3, 5, addr, &port);
		assert_string_equal(addr_text(addr, text), cases[i].answers);
		assert_int_equal(port, cases[i].port);
		destination_of(&p, 80, FAR_DEAF, 3, 5, addr, &port);
		assert_string_equal(addr_text(addr, text), cases[i].deaf);
		assert_int_equal(port, cases[i].deaf_port);
	}
}

/* Where the probe knows but one place to go, nothing could be allowed but that. */
static void test_who_can_be_allowed(void **state unused_arg)
{
	static const struct {
		enum dest dest;
		enum channel channel;
		bool can;
	} cases[] = {
		{ DEST_FAR, CHANNEL_TCP, true },	   { DEST_FAR, CHANNEL_PROXY, true },
		{ DEST_RESOLVER, CHANNEL_RESOLVER, true }, { DEST_METADATA, CHANNEL_TCP, false },
		{ DEST_LOOPBACK, CHANNEL_TCP, false },	   { DEST_SIBLING, CHANNEL_TCP, false },
		{ DEST_UNIX_PATH, CHANNEL_UNIX, false },   { DEST_NONE, CHANNEL_SECRET, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct ev_probe p = { .dest = cases[i].dest, .channel = cases[i].channel };

		assert_int_equal(destination_can_be_allowed(&p), cases[i].can);
	}
}

/* Trials without an address have a policy too. */
static void test_allowed_without_address(void **state unused_arg)
{
	uint8_t addr[16] = { 0 };
	char text[ADDR_TEXT_MAX];

	destination_allowed(addr, addr);
	assert_string_equal(addr_text(addr, text), RIG_ALLOWED4);
}

/* No trial ever has the address that a policy allows, nor a zone's server. */
static void test_allowed_is_nobodys(void **state unused_arg)
{
	static const uint32_t families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		struct ev_probe p = { .family = families[i] };
		uint8_t allowed[16], addr[16], zone[16], zone_deaf[16];
		uint32_t port;

		destination_of(&p, 80, FAR_ANSWERS, 1, 0, addr, &port);
		destination_allowed(addr, allowed);
		assert_int_equal(addr_is_v4(allowed), families[i] == AF_INET);
		assert_int_equal(parse_addr(RIG_ZONE_SERVER4, zone), 0);
		assert_int_equal(parse_addr(RIG_ZONE_DEAF_SERVER4, zone_deaf), 0);
		for (uint32_t n = 0; n < 1000; n++) {
			destination_of(&p, 80, n & 1 ? FAR_DEAF : FAR_ANSWERS, 1, n, addr, &port);
			assert_memory_not_equal(addr, allowed, 16);
			assert_memory_not_equal(addr, zone, 16);
			assert_memory_not_equal(addr, zone_deaf, 16);
		}
	}
}

static struct ev_trial completed(enum dest dest, enum arm arm, enum far_side far,
				 const char *family)
{
	struct ev_trial t = { .dest = dest, .arm = arm, .far = far, .lane = 3, .dport = 80 };

	assert_int_equal(parse_addr(family, t.daddr), 0);
	destination_complete(&t, 5, "/run/x");
	return t;
}

static void test_complete(void **state unused_arg)
{
	static const struct {
		enum dest dest;
		enum arm arm;
		enum far_side far;
		const char *family, *addr;
		uint32_t port;
		const char *path;
	} cases[] = {
		{ DEST_FAR, ARM_ON, FAR_ANSWERS, "0.0.0.0", "203.0.113.7", 80, "" },
		{ DEST_FAR, ARM_ON, FAR_ANSWERS, "::", "2001:db8:113::1:5", 80, "" },
		{ DEST_FAR, ARM_ALLOWED, FAR_ANSWERS, "0.0.0.0", RIG_ALLOWED4, 80, "" },
		{ DEST_FAR, ARM_ALLOWED, FAR_ANSWERS, "::", RIG_ALLOWED6, 80, "" },
		{ DEST_METADATA, ARM_ALLOWED, FAR_ANSWERS, "0.0.0.0", RIG_METADATA4, 80, "" },
		{ DEST_LOOPBACK, ARM_ON, FAR_DEAF, "0.0.0.0", "127.0.0.1", 81, "" },
		{ DEST_UNIX_PATH, ARM_ON, FAR_ANSWERS, "::", "::", 0, "/run/x/agent-3.sock" },
		{ DEST_UNIX_PATH, ARM_ON, FAR_DEAF, "::", "::", 0, "/run/x/nobody-3.sock" },
		{ DEST_UNIX_ABSTRACT, ARM_ON, FAR_ANSWERS, "::", "::", 0,
		  "@sentinel/agent-3.sock" },
		{ DEST_UNIX_ABSTRACT, ARM_ON, FAR_DEAF, "::", "::", 0, "@sentinel/nobody-3.sock" },
		{ DEST_NONE, ARM_ON, FAR_ANSWERS, "::", "::", 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ev_trial t =
			completed(cases[i].dest, cases[i].arm, cases[i].far, cases[i].family);
		char text[ADDR_TEXT_MAX];

		assert_string_equal(addr_text(t.daddr, text), cases[i].addr);
		assert_int_equal(t.dport, cases[i].port);
		assert_string_equal(t.path, cases[i].path);
	}
}

static void test_names(void **state unused_arg)
{
	static const struct {
		enum channel channel;
		enum arm arm;
		enum far_side far;
		const char *name;
	} cases[] = {
		{ CHANNEL_TCP, ARM_ALLOWED, FAR_ANSWERS, "" },
		{ CHANNEL_DNS_UDP, ARM_ON, FAR_DEAF, "" },
		{ CHANNEL_RESOLVER, ARM_ON, FAR_ANSWERS, "" },
		{ CHANNEL_RESOLVER, ARM_ON, FAR_DEAF, RIG_ZONE_DEAF },
		{ CHANNEL_RESOLVER, ARM_ALLOWED, FAR_ANSWERS, RIG_ALLOWED_NAME },
		{ CHANNEL_PROXY, ARM_ON, FAR_ANSWERS, "" },
		{ CHANNEL_PROXY, ARM_ON, FAR_DEAF, "" },
		{ CHANNEL_PROXY, ARM_ALLOWED, FAR_ANSWERS, RIG_ALLOWED_NAME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ev_probe p = { .channel = cases[i].channel };

		assert_string_equal(destination_name(&p, cases[i].arm, cases[i].far),
				    cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_who_can_be_allowed),
		cmocka_unit_test(test_allowed_without_address),
		cmocka_unit_test(test_allowed_is_nobodys),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

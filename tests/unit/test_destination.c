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

/* No trial ever has the address that a policy allows, nor a zone's server. */
static void test_allowed_is_nobodys(void **state unused_arg)
{
	static const uint32_t families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		struct ev_probe p = { .family = families[i] };
		uint8_t allowed[16], addr[16], zone[16], zone_deaf[16];
		uint32_t port;

		destination_allowed(&p, allowed);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_allowed_is_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

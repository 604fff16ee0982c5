// SPDX-License-Identifier: Apache-2.0
#include "user/rig/sabotage.h"

static const struct {
	const char *name;
	uint32_t bit;
} table[] = {
	{ "no-collector", SABOTAGE_NO_COLLECTOR },
	{ "quiet-collector", SABOTAGE_QUIET_COLLECTOR },
	{ "no-ipv6", SABOTAGE_NO_IPV6 },
	{ "no-wait", SABOTAGE_NO_WAIT },
	{ "small-packet-ring", SABOTAGE_SMALL_PACKET_RING },
	{ "small-life-ring", SABOTAGE_SMALL_LIFE_RING },
};

uint32_t sabotage_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].name, name))
			return table[i].bit;
	return 0;
}

const char *sabotage_names(uint32_t bits, char *out, size_t n)
{
	size_t len = 0;

	out[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(bits & table[i].bit))
			continue;
		(void)str_format(out + len, n - len, "%s%s", len ? " " : "", table[i].name);
		len = strlen(out);
	}
	return out;
}

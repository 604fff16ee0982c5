// SPDX-License-Identifier: Apache-2.0
#include "user/record/interfaces.h"

#include "bpf/events.h"
#include "user/record/evfields.h"

static const struct {
	uint32_t hook;
	const char *text;
} machine[] = {
	{ SNT_HOOK_CG_EGRESS, "A: sent by a socket, all control groups" },
	{ SNT_HOOK_CG_INGRESS, "A: received by a socket, all control groups" },
}, per_lane[] = {
	{ SNT_HOOK_WORLD, "W: behind every enforcement point, in front of the collector" },
	{ SNT_HOOK_BOUNDARY, "B: host end of the sandbox's link" },
	{ SNT_HOOK_BOX, "A: the sandbox's own interface" },
};

uint32_t interfaces_count(uint32_t lanes)
{
	return ARRAY_SIZE(machine) + ARRAY_SIZE(per_lane) * (lanes + 1);
}

int interfaces_find(uint32_t lanes, uint32_t hook, uint32_t lane, uint32_t *ret)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(machine); i++) {
		if (machine[i].hook == hook) {
			*ret = i;
			return 0;
		}
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(per_lane); i++) {
		if (per_lane[i].hook == hook) {
			*ret = (uint32_t)ARRAY_SIZE(machine) + i * (lanes + 1) +
			       (lane <= lanes ? lane : 0);
			return 0;
		}
	}
	return -EINVAL;
}

void interfaces_describe(uint32_t lanes, uint32_t i, char name[INTERFACE_NAME_MAX],
			 char text[INTERFACE_TEXT_MAX])
{
	uint32_t kind, lane;

	if (i < ARRAY_SIZE(machine)) {
		(void)str_copy(name, INTERFACE_NAME_MAX,
			       field_name(&evfields_hooks, machine[i].hook));
		(void)str_copy(text, INTERFACE_TEXT_MAX, machine[i].text);
		return;
	}
	i -= (uint32_t)ARRAY_SIZE(machine);
	kind = i / (lanes + 1);
	lane = i % (lanes + 1);
	if (lane) {
		(void)str_format(name, INTERFACE_NAME_MAX, "%s@%u",
				 field_name(&evfields_hooks, per_lane[kind].hook), lane);
		(void)str_format(text, INTERFACE_TEXT_MAX, "%s, lane %u", per_lane[kind].text,
				 lane);
	} else {
		(void)str_copy(name, INTERFACE_NAME_MAX,
			       field_name(&evfields_hooks, per_lane[kind].hook));
		(void)str_format(text, INTERFACE_TEXT_MAX, "%s, no known lane",
				 per_lane[kind].text);
	}
}

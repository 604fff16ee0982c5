// SPDX-License-Identifier: Apache-2.0
#include "user/rig/destination.h"

#include "user/rig/rig.h"

/* Constants of rig.h: they parse. */
static void constant(const char *text, uint8_t ret[16])
{
	if (parse_addr(text, ret))
		memset(ret, 0, 16);
}

static void box_of(uint32_t lane, uint8_t ret[16])
{
	char text[ADDR_TEXT_MAX];

	(void)str_format(text, sizeof(text), RIG_BOX4, lane);
	constant(text, ret);
}

void destination_of(const struct ev_probe *p, uint32_t port, enum far_side far, uint32_t lane,
		    uint32_t n, uint8_t ret_addr[16], uint32_t *ret_port)
{
	bool deaf = far == FAR_DEAF;

	*ret_port = port;
	switch (p->dest) {
	case DEST_METADATA:
		constant(deaf ? RIG_METADATA4_DEAF : RIG_METADATA4, ret_addr);
		break;
	case DEST_METADATA_ECS:
		constant(deaf ? RIG_METADATA_ECS4_DEAF : RIG_METADATA_ECS4, ret_addr);
		break;
	case DEST_METADATA6:
		constant(deaf ? RIG_METADATA6_DEAF : RIG_METADATA6, ret_addr);
		break;
	case DEST_METADATA_HOP:
		constant(RIG_METADATA_HOP4, ret_addr);
		*ret_port = port + deaf;
		break;
	case DEST_RESOLVER:
		constant(RIG_RESOLVER4, ret_addr);
		break;
	case DEST_LOOPBACK:
		constant("127.0.0.1", ret_addr);
		*ret_port = port + deaf;
		break;
	case DEST_SIBLING:
		box_of(lane, ret_addr);
		break;
	case DEST_UNIX_PATH:
	case DEST_UNIX_ABSTRACT:
	case DEST_NONE:
		memset(ret_addr, 0, 16);
		*ret_port = 0;
		break;
	default:
		rig_trial_addr(ret_addr, (int)p->family, deaf, n);
	}
}

void destination_allowed(const struct ev_probe *p, uint8_t ret_addr[16])
{
	constant(p->family == AF_INET6 ? RIG_ALLOWED6 : RIG_ALLOWED4, ret_addr);
}

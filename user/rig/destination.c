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

void destination_allowed(const uint8_t own[16], uint8_t ret_addr[16])
{
	static const uint8_t none[16];
	bool v4 = addr_is_v4(own) || !memcmp(own, none, sizeof(none));

	constant(v4 ? RIG_ALLOWED4 : RIG_ALLOWED6, ret_addr);
}

bool destination_can_be_allowed(const struct ev_probe *p)
{
	return p->dest == DEST_FAR || p->channel == CHANNEL_RESOLVER;
}

void destination_path(enum dest dest, enum far_side far, uint32_t lane, const char *folder,
		      char ret[DESTINATION_PATH_MAX])
{
	const char *who = far == FAR_DEAF ? "nobody" : "agent";

	ret[0] = '\0';
	if (dest == DEST_UNIX_PATH)
		(void)str_format(ret, DESTINATION_PATH_MAX, "%s/%s-%u.sock", folder, who, lane);
	else if (dest == DEST_UNIX_ABSTRACT)
		(void)str_format(ret, DESTINATION_PATH_MAX, "@sentinel/%s-%u.sock", who, lane);
}

void destination_complete(struct ev_trial *t, uint32_t n, const char *folder)
{
	const struct ev_probe p = { .dest = t->dest,
				    .family = addr_is_v4(t->daddr) ? AF_INET : AF_INET6 };

	destination_of(&p, t->dport, t->far, t->lane, n, t->daddr, &t->dport);
	if (t->arm == ARM_ALLOWED && t->dest == DEST_FAR)
		destination_allowed(t->daddr, t->daddr);
	destination_path(t->dest, t->far, t->lane, folder, t->path);
}

const char *destination_name(const struct ev_probe *p, enum arm arm, enum far_side far)
{
	if (p->channel != CHANNEL_RESOLVER && p->channel != CHANNEL_PROXY)
		return "";
	if (arm == ARM_ALLOWED)
		return RIG_ALLOWED_NAME;
	return p->channel == CHANNEL_RESOLVER && far == FAR_DEAF ? RIG_ZONE_DEAF : "";
}

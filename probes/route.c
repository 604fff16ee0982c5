// SPDX-License-Identifier: Apache-2.0
#include "probes/route.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

struct question {
	struct nlmsghdr h;
	struct rtmsg r;
	struct rtattr attr;
	struct in_addr to;
};

static int send_question(int fd, struct in_addr to)
{
	struct question q = { .h = { .nlmsg_len = sizeof(q),
				     .nlmsg_type = RTM_GETROUTE,
				     .nlmsg_flags = NLM_F_REQUEST },
			      .r = { .rtm_family = AF_INET, .rtm_dst_len = 32 },
			      .attr = { .rta_len = RTA_LENGTH(sizeof(to)), .rta_type = RTA_DST },
			      .to = to };

	return send(fd, &q, sizeof(q), 0) < 0 ? -errno : 0;
}

static void read_attributes(const struct nlmsghdr *h, struct route *r)
{
	const struct rtmsg *m = NLMSG_DATA(h);
	const struct rtattr *a = RTM_RTA(m);
	unsigned int len = RTM_PAYLOAD(h);

	for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (RTA_PAYLOAD(a) < 4)
			continue;
		if (a->rta_type == RTA_OIF)
			memcpy(&r->ifindex, RTA_DATA(a), sizeof(r->ifindex));
		else if (a->rta_type == RTA_GATEWAY)
			memcpy(&r->next_hop, RTA_DATA(a), sizeof(r->next_hop));
		else if (a->rta_type == RTA_PREFSRC)
			memcpy(&r->source, RTA_DATA(a), sizeof(r->source));
	}
}

int route_to(struct in_addr to, struct route *ret)
{
	struct route r = { .next_hop = to };
	_Alignas(struct nlmsghdr) uint8_t msg[4096];
	const struct nlmsghdr *h = (const void *)msg;
	cleanup_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	int err = fd < 0 ? -errno : send_question(fd, to);
	ssize_t n;

	if (err)
		return err;
	/* the kernel answers within send() */
	n = recv(fd, msg, sizeof(msg), MSG_DONTWAIT);
	if (n < 0)
		return -errno;
	if (!NLMSG_OK(h, (size_t)n))
		return -EBADMSG;
	if (h->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *e = NLMSG_DATA(h);

		return NLMSG_PAYLOAD(h, 0) >= sizeof(*e) && e->error < 0 ? e->error : -EBADMSG;
	}
	if (h->nlmsg_type != RTM_NEWROUTE || NLMSG_PAYLOAD(h, 0) < sizeof(struct rtmsg))
		return -EBADMSG;
	read_attributes(h, &r);
	if (!r.ifindex)
		return -ENETUNREACH;
	*ret = r;
	return 0;
}

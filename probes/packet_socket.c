// SPDX-License-Identifier: Apache-2.0
/*
 * packet-socket: a UDP datagram in an Ethernet frame by hand, through AF_PACKET. It passes no
 * address hook of a cgroup, no rule for output, and no route: only what stands on the link sees it.
 *
 * Decisive step: sendto() of the frame, or the refusal of the socket, which takes CAP_NET_RAW.
 * Where no route leads to the far side the frame goes out by the first interface that there is,
 * loopback if need be, so that an attempt is made.
 */
#include "probes/attempt.h"

#include <net/if.h>
#include <net/if_arp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "probes/frame.h"
#include "probes/route.h"

#define IFINDEX_TRIED 64 /* the highest, where no route says which */
#define ARP_TRY_MS 300
#define ARP_TRIES 3

struct packet {
	const struct probe_attempt *a;
	int fd;
	struct sockaddr_ll to;
	struct frame_ends ends;
	struct in_addr next_hop;
	bool has_ethernet, has_arp;
};

/* The first interface that is up, loopback last. */
static int any_interface(int fd)
{
	int loopback = 0;

	for (int i = 1; i <= IFINDEX_TRIED; i++) {
		struct ifreq r = { .ifr_ifindex = i };

		if (ioctl(fd, SIOCGIFNAME, &r) < 0 || ioctl(fd, SIOCGIFFLAGS, &r) < 0)
			continue;
		if (r.ifr_flags & IFF_LOOPBACK)
			loopback = i;
		else if (r.ifr_flags & IFF_UP)
			return i;
	}
	return loopback;
}

static int find_interface(struct packet *p, const struct route *r)
{
	struct ifreq i = { .ifr_ifindex = r->ifindex };

	if (ioctl(p->fd, SIOCGIFNAME, &i) < 0 || ioctl(p->fd, SIOCGIFHWADDR, &i) < 0)
		return -errno;
	p->has_ethernet =
		i.ifr_hwaddr.sa_family == ARPHRD_ETHER || i.ifr_hwaddr.sa_family == ARPHRD_LOOPBACK;
	memcpy(p->ends.from_mac, i.ifr_hwaddr.sa_data, ETH_ALEN);
	if (ioctl(p->fd, SIOCGIFFLAGS, &i) < 0)
		return -errno;
	p->has_arp = p->has_ethernet && !(i.ifr_flags & (IFF_NOARP | IFF_LOOPBACK));
	p->ends.from = r->source;
	if (!r->source.s_addr && ioctl(p->fd, SIOCGIFADDR, &i) == 0)
		p->ends.from = ((struct sockaddr_in *)&i.ifr_addr)->sin_addr;
	p->to = (struct sockaddr_ll){ .sll_family = AF_PACKET,
				      .sll_protocol = htons(ETH_P_ALL),
				      .sll_ifindex = r->ifindex,
				      .sll_halen = ETH_ALEN };
	/* from here on only frames of this interface come in */
	return bind(p->fd, (struct sockaddr *)&p->to, sizeof(p->to)) < 0 ? -errno : 0;
}

static ssize_t next_frame(const struct packet *p, uint64_t deadline_ns, uint8_t *out, size_t n)
{
	int ready;

	while ((ready = wait_until(deadline_ns, p->fd, POLLIN)) > 0) {
		ssize_t len = recv(p->fd, out, n, MSG_DONTWAIT);

		if (len >= 0)
			return len;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return ready ? ready : -ETIMEDOUT;
}

/* Who the next hop is on the link. Nobody says so: the frame goes to an address that nobody has. */
static void find_next_hop(struct packet *p)
{
	struct frame_ends ask = p->ends;
	uint8_t request[FRAME_ARP_BYTES], frame[2048];

	ask.to = p->next_hop;
	frame_arp_request(&ask, request);
	for (int i = 0; i < ARP_TRIES; i++) {
		uint64_t until = mono_ns() + ARP_TRY_MS * NSEC_PER_MSEC;
		ssize_t n;

		if (send(p->fd, request, sizeof(request), 0) < 0)
			return;
		while ((n = next_frame(p, MIN(until, p->a->deadline_ns), frame, sizeof(frame))) >=
		       0)
			if (frame_is_arp_reply(frame, (size_t)n, &ask, p->ends.to_mac))
				return;
	}
}

static int send_frame(const struct packet *p)
{
	uint8_t frame[FRAME_HEADERS + ATTEMPT_TEXT_MAX];
	const size_t skip = p->has_ethernet ? 0 : sizeof(struct ether_header);
	char text[ATTEMPT_TEXT_MAX];
	size_t len =
		frame_udp(&p->ends, text, attempt_token_text(p->a, text), frame, sizeof(frame));
	struct sockaddr_ll to = p->to;

	to.sll_protocol = htons(ETH_P_IP);
	memcpy(to.sll_addr, p->ends.to_mac, ETH_ALEN);
	return sendto(p->fd, frame + skip, len - skip, 0, (struct sockaddr *)&to, sizeof(to)) < 0
		       ? -errno
		       : 0;
}

static void await_answer(const struct packet *p, struct probe_outcome *ret)
{
	uint8_t frame[2048];
	ssize_t n;

	outcome_word(ret, "sent");
	while ((n = next_frame(p, p->a->deadline_ns, frame, sizeof(frame))) >= 0) {
		size_t len = 0;
		const uint8_t *answer = frame_udp_answer(frame, (size_t)n, &p->ends, &len);

		if (answer && outcome_answer_text(ret, answer, len))
			return;
	}
	if (n != -ETIMEDOUT)
		outcome_errno(ret, (int)-n);
}

/* A port of ours, held by a socket that sends nothing: else the kernel itself would tell the far
 * side that nobody is there. Without one any port does. */
static int hold_port(struct packet *p)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	p->ends.from_port = 40000;
	if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&at, &len) == 0)
		p->ends.from_port = ntohs(at.sin_port);
	return fd;
}

static int attempt_by(struct packet *p)
{
	struct route r = { .ifindex = 0 };
	int err;

	if (route_to(p->ends.to, &r)) {
		r.ifindex = any_interface(p->fd);
		r.next_hop = p->ends.to;
	}
	p->next_hop = r.next_hop;
	err = find_interface(p, &r);
	if (err)
		return err;
	if (p->has_arp)
		find_next_hop(p);
	return send_frame(p);
}

void probe_packet_socket(const struct probe_attempt *a, struct probe_outcome *ret)
{
	/* no frames before it is bound: protocol 0 */
	cleanup_fd int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	cleanup_fd int port = -1;
	struct packet p = { .a = a, .fd = fd, .ends.to_port = a->port };
	int err;

	if (fd < 0) {
		outcome_errno(ret, errno);
		return;
	}
	memcpy(&p.ends.to, a->to + 12, sizeof(p.ends.to));
	port = hold_port(&p);
	err = attempt_by(&p);
	if (err)
		outcome_errno(ret, -err);
	else
		await_answer(&p, ret);
}

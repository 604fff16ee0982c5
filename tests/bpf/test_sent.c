// SPDX-License-Identifier: Apache-2.0
/* What left: sockets, packets and their owners at every hook, and where a packet died. */
#include "tests/bpf/stage.h"

#include <arpa/inet.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <sys/un.h>
#include <sys/wait.h>

#define STREAM_BYTES 300000

/* ---- the session's side ---- */

static int do_prohibited(void)
{
	return do_udp_to(LANE_PROHIBITED_ADDR);
}

static int do_fork(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(do_udp());
	return pid > 0 && waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 1;
}

/* Two connections in one: the bytes tell their own offset. */
static int do_stream(void)
{
	struct sockaddr_in a = world_addr(LANE_WORLD_ADDR);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	static uint8_t buf[STREAM_BYTES];

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i >> 8 ^ i);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return 1;
	if (write_all(fd, buf, sizeof(buf)) || shutdown(fd, SHUT_WR))
		return 2;
	return read(fd, buf, 1) != 0; /* until the far side has read all */
}

/* A frame of its own making, with a VLAN tag, to everybody on the link. */
static int do_vlan(void)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = 6 };
	int fd = socket(AF_PACKET, SOCK_RAW, 0);
	uint8_t frame[14 + 4 + sizeof(TOKEN)] = { 255, 255, 255, 255,  255, 255, 2,  0,	   0,
						  0,   0,   1,	 0x81, 0,   0,	 42, 0x88, 0xb5 };

	memcpy(frame + 18, TOKEN, sizeof(TOKEN));
	to.sll_ifindex = (int)if_nametoindex("b0");
	if (fd < 0 || !to.sll_ifindex)
		return 1;
	return sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&to, sizeof(to)) !=
	       (ssize_t)sizeof(frame);
}

#define ABSTRACT "\0sentinel\0test" /* with a NUL inside: its length says where it ends */
#define ABSTRACT_LEN (sizeof(ABSTRACT) - 1)
#define UNIX_PATH "/nonexistent/sentinel-test"

/* Nobody listens at either name: what the kernel is asked for is told all the same. */
static int do_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = ABSTRACT };
	struct sockaddr_un p = { .sun_family = AF_UNIX, .sun_path = UNIX_PATH };
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + ABSTRACT_LEN;
	int s = socket(AF_UNIX, SOCK_STREAM, 0), d = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (s < 0 || d < 0)
		return 1;
	if (!connect(s, (struct sockaddr *)&a, len) || errno != ECONNREFUSED)
		return 2;
	return sendto(d, TOKEN, strlen(TOKEN), 0, (struct sockaddr *)&p, sizeof(p)) >= 0 ||
	       errno != ENOENT;
}

/* ---- the tests ---- */

/* Since 6.3 only. */
static void check_send(uint64_t cookie)
{
	const struct snt_send *sent;

	if (!is_attached(SNT_HOOK_SEND_LENGTH, 0))
		return;
	sent = first_of(SNT_HOOK_SEND_LENGTH, SNT_EV_SEND);
	assert_ours(&sent->h);
	assert_int_equal(cookie, sent->cookie);
	assert_int_equal(strlen(TOKEN), sent->ret);
	assert_int_equal(SNT_F_OWNER, sent->h.flags);
}

static void check_udp_attempt(pid_t pid)
{
	const struct snt_sock *made = first_of(SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK);
	const struct snt_addr *a = first_of(SNT_HOOK_SENDMSG4, SNT_EV_ADDR);
	const struct snt_sock *closed = first_of(SNT_HOOK_SOCK_RELEASE, SNT_EV_SOCK);
	const struct snt_call *c = call_of(NR_SENDTO);

	assert_ours(&made->h);
	assert_int_equal(SNT_F_CREATED | SNT_F_OWNER, made->h.flags);
	assert_int_equal(AF_INET, made->family);
	assert_int_equal(SOCK_DGRAM, made->type);
	assert_int_equal(pid, made->task.tgid);
	assert_true(made->cookie != 0);

	assert_ours(&a->h);
	assert_int_equal(made->cookie, a->cookie);
	assert_int_equal(PORT, a->dport);
	assert_v4(a->daddr, LANE_WORLD_ADDR);
	assert_int_equal(IPPROTO_UDP, a->protocol);
	assert_int_equal(1, a->retval);

	check_send(made->cookie);

	check_call(c, NR_SENDTO, (int64_t)strlen(TOKEN), 0);
	assert_int_equal(AF_INET, c->family);
	assert_int_equal(PORT, c->dport);
	assert_v4(c->daddr, LANE_WORLD_ADDR);
	assert_int_equal(strlen(TOKEN), c->data_len);
	assert_int_equal(strlen(TOKEN), c->data_cap);
	assert_memory_equal(TOKEN, c->data, strlen(TOKEN));

	assert_ours(&closed->h);
	assert_int_equal(SNT_F_OWNER, closed->h.flags);
	assert_int_equal(made->cookie, closed->cookie);
}

static void check_owned(const struct snt_packet *p, pid_t pid, uint64_t cookie)
{
	assert_ours(&p->h);
	assert_true(p->h.flags & SNT_F_OWNER);
	assert_true(p->h.flags & SNT_F_FULLSOCK);
	assert_false(p->h.flags & SNT_F_FOREIGN);
	assert_int_equal(pid, p->owner.tgid);
	assert_int_equal(cookie, p->cookie);
	assert_int_equal(stage.trial_id, p->h.cgroup_id);
}

/* One datagram: every vantage tells the same story, and B knows whose it was. */
static void test_udp(void **state)
{
	pid_t pid = play("udp", IN_CGROUP);
	const struct snt_packet *p;
	const struct snt_opt *o;
	uint64_t cookie;

	(void)state;
	check_udp_attempt(pid);
	cookie = ((const struct snt_sock *)first_of(SNT_HOOK_SOCK_CREATE, SNT_EV_SOCK))->cookie;
	p = token_at(SNT_HOOK_CG_EGRESS);
	check_owned(p, pid, cookie);
	assert_int_equal(stage.lane.cookie[NS_BOX], p->h.netns_cookie);
	assert_int_equal(0, p->l2_len);
	p = token_at(SNT_HOOK_BOX);
	check_owned(p, pid, cookie);
	assert_int_equal(stage.lane.b0, p->ifindex);
	p = token_at(SNT_HOOK_BOUNDARY);
	check_owned(p, pid, cookie);
	assert_int_equal(stage.lane.h0, p->ifindex);
	assert_int_equal(stage.lane.cookie[NS_HOST], p->h.netns_cookie);
	assert_int_equal(14 + 20 + 8 + strlen(TOKEN), p->len);
	p = token_at(SNT_HOOK_WORLD);
	assert_int_equal(stage.lane.w0, p->ifindex);
	assert_int_equal(stage.lane.cookie[NS_WORLD], p->h.netns_cookie);
	assert_int_equal(LANE, p->h.slot);
	assert_int_equal(0, p->h.mark); /* forwarding took its socket */

	o = first_of(SNT_HOOK_SETSOCKOPT, SNT_EV_OPT);
	assert_ours(&o->h);
	assert_int_equal(SOL_SOCKET, o->level);
	assert_int_equal(SO_BROADCAST, o->optname);
	assert_int_equal(AF_INET, o->family);
	assert_int_equal(cookie, o->cookie);
}

/* B shows a tagged frame as one: its token, its inner type, and that there was a tag. */
static void test_vlan(void **state)
{
	const struct snt_packet *p;

	(void)state;
	(void)play("vlan", IN_CGROUP);
	p = token_at(SNT_HOOK_BOUNDARY);
	assert_true(p->h.flags & SNT_F_VLAN);
	assert_int_equal(0x88b5, p->eth_proto); /* IEEE 802: local experimental */
	assert_int_equal(14 + sizeof(TOKEN), p->len);
	p = token_at(SNT_HOOK_BOX); /* on its way out the tag is still where the sender put it */
	assert_int_equal(14 + 4 + sizeof(TOKEN), p->len);
	(void)play("udp", IN_CGROUP);
	assert_false(token_at(SNT_HOOK_BOUNDARY)->h.flags & SNT_F_VLAN);
}

static void check_unix(uint32_t hook, uint32_t type, const char *path, size_t len)
{
	const struct snt_addr *a = first_of(hook, SNT_EV_ADDR);

	assert_ours(&a->h);
	assert_int_equal(SNT_F_OWNER, a->h.flags);
	assert_int_equal(stage.lane.cookie[NS_BOX], a->h.netns_cookie);
	assert_int_equal(AF_UNIX, a->family);
	assert_int_equal(type, a->type);
	assert_int_equal(1, a->retval);
	assert_true(a->cookie != 0);
	assert_int_equal(len, a->path_len);
	assert_memory_equal(path, a->path, len);
}

/* The names of UNIX sockets: an abstract one in its whole length, a path as it was given. */
static void test_unix(void **state)
{
	static const char path[108] = UNIX_PATH;

	(void)state;
	if (!is_attached(SNT_HOOK_CONNECT_UNIX, 0)) /* before 6.7 */
		skip();
	(void)play("unix", IN_CGROUP);
	check_unix(SNT_HOOK_CONNECT_UNIX, SOCK_STREAM, ABSTRACT, ABSTRACT_LEN);
	check_unix(SNT_HOOK_SENDMSG_UNIX, SOCK_DGRAM, path, sizeof(path));
}

static unsigned int exits_of(uint32_t pid)
{
	const struct snt_exit *x = NULL;
	unsigned int n = 0;

	while ((x = next_of(x, SNT_HOOK_EXIT, SNT_EV_EXIT)))
		if (x->task.tgid == pid) {
			assert_ours(&x->h);
			assert_int_equal(0, x->code);
			n++;
		}
	return n;
}

/* A child inherits the mark, and its packets are its own. */
static void test_fork(void **state)
{
	pid_t pid = play("fork", IN_CGROUP);
	const struct snt_fork *f = NULL;

	(void)state;
	while ((f = next_of(f, SNT_HOOK_FORK, SNT_EV_FORK)))
		if (f->parent.tgid == (uint32_t)pid)
			break;
	assert_non_null(f);
	assert_ours(&f->h);
	check_udp_attempt((pid_t)f->child.tgid);
	check_owned(token_at(SNT_HOOK_BOUNDARY), (pid_t)f->child.tgid,
		    token_at(SNT_HOOK_CG_EGRESS)->cookie);
	assert_int_equal(1, exits_of((uint32_t)pid));
	assert_int_equal(1, exits_of(f->child.tgid));
}

/* A prohibiting route in host: it left the box, and the kernel says where it died. */
static void test_drop(void **state)
{
	const struct snt_drop *d = NULL;
	uint8_t dst[4];
	char where[64];

	(void)state;
	(void)play("prohibited", IN_CGROUP);
	(void)token_at(SNT_HOOK_BOUNDARY);
	assert_int_equal(1, inet_pton(AF_INET, LANE_PROHIBITED_ADDR, dst));
	while ((d = next_of(d, SNT_HOOK_KFREE_SKB, SNT_EV_DROP)))
		if (d->head_len >= 20 && !memcmp(d->head + 16, dst, 4))
			break;
	if (!d)
		fail_msg("the kernel told no drop");
	assert_int_equal(LANE, d->h.slot);
	assert_int_equal(stage.lane.inum[NS_HOST], d->netns);
	assert_int_equal(stage.lane.cookie[NS_HOST], d->h.netns_cookie);
	assert_int_equal(stage.lane.h0, d->ifindex);
	assert_int_equal(0x0800, d->eth_proto);
	assert_int_equal(20 + 8 + strlen(TOKEN), d->head_len);
	assert_memory_equal(TOKEN, d->head + 28, strlen(TOKEN));
	assert_non_null(sense_drop_reason(stage.sense, d->reason));
	assert_true(sense_symbol(stage.sense, d->location, where));
	print_message("dropped: %s in %s\n", sense_drop_reason(stage.sense, d->reason), where);
}

/* ---- W takes every byte ---- */

struct listener {
	pthread_t thread;
	int fd;
	size_t bytes;
};

static int listen_in_world(void *arg)
{
	struct sockaddr_in a = world_addr("0.0.0.0");
	struct listener *l = arg;
	int r = netns_move(stage.lane.ns[NS_WORLD]);

	if (r)
		return r;
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return l->fd < 0 || bind(l->fd, (struct sockaddr *)&a, sizeof(a)) || listen(l->fd, 1)
		       ? -errno
		       : 0;
}

static void *read_all(void *arg)
{
	struct listener *l = arg;
	int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC);
	char buf[65536];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, buf, sizeof(buf))) > 0)
		l->bytes += (size_t)n;
	if (fd >= 0)
		(void)close(fd);
	return NULL;
}

/* Where each byte of the stream was seen, by the sequence numbers of the segments. */
static uint8_t seen[STREAM_BYTES];

/* A whole packet, put together from its chunks. */
static size_t whole_packet(const struct snt_packet *first, uint8_t *buf, size_t room)
{
	const struct snt_packet *p = first;
	size_t len = 0;

	for (;;) {
		assert_int_equal(len, p->offset);
		assert_int_equal(first->pkt_id, p->pkt_id);
		assert_true(len + p->data_len <= room);
		memcpy(buf + len, p->data, p->data_len);
		len += p->data_len;
		if (!(p->h.flags & SNT_F_MORE))
			break;
		do {
			p = next_of(p, SNT_HOOK_WORLD, SNT_EV_PACKET);
			assert_non_null(p);
		} while (p->h.cpu != first->h.cpu);
	}
	assert_int_equal(first->len, len);
	return len;
}

static void mark_segment(const uint8_t *p, size_t len, uint32_t *isn)
{
	size_t ip = 14, tcp = ip + (size_t)(p[ip] & 15) * 4,
	       data = tcp + (size_t)(p[tcp + 12] >> 4) * 4;
	size_t end = ip + ((size_t)p[ip + 2] << 8 | p[ip + 3]);
	uint32_t seq;

	memcpy(&seq, p + tcp + 4, 4);
	seq = ntohl(seq);
	if (p[tcp + 13] & 2) { /* SYN */
		*isn = seq + 1;
		return;
	}
	assert_true(end <= len);
	for (size_t i = data; i < end; i++) {
		size_t at = (uint32_t)(seq - *isn) + (i - data);

		assert_true(at < STREAM_BYTES);
		assert_int_equal((uint8_t)(at >> 8 ^ at), p[i]);
		seen[at] = 1;
	}
}

static void test_stream(void **state)
{
	static uint8_t buf[SNT_PKT_CHUNKS_MAX * SNT_PKT_DATA_LARGE];
	struct listener l = { .fd = -1 };
	const struct snt_packet *p = NULL;
	const struct snt_state *st = NULL;
	unsigned int chunked = 0, segs = 0, established = 0;
	uint32_t isn = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(0, netns_run(listen_in_world, &l));
	assert_int_equal(0, pthread_create(&l.thread, NULL, read_all, &l));
	pid = play("stream", IN_CGROUP);
	assert_int_equal(0, pthread_join(l.thread, NULL));
	(void)close(l.fd);
	assert_int_equal(STREAM_BYTES, l.bytes);

	memset(seen, 0, sizeof(seen));
	while ((p = next_of(p, SNT_HOOK_WORLD, SNT_EV_PACKET))) {
		if (p->offset || p->eth_proto != 0x0800)
			continue;
		chunked += !!(p->h.flags & SNT_F_MORE);
		segs = MAX(segs, p->gso_segs);
		mark_segment(buf, whole_packet(p, buf, sizeof(buf)), &isn);
	}
	for (size_t i = 0; i < sizeof(seen); i++)
		if (!seen[i])
			fail_msg("byte %zu did not come", i);
	print_message("%u packets of several records, up to %u segments\n", chunked, segs);
	assert_true(chunked > 0 && segs > 1);

	/* owners from softirq, too */
	while ((p = next_of(p, SNT_HOOK_BOUNDARY, SNT_EV_PACKET)))
		if (p->eth_proto == 0x0800)
			assert_int_equal(pid, p->owner.tgid);
	while ((st = next_of(st, SNT_HOOK_SOCK_STATE, SNT_EV_STATE)))
		if (st->owner.tgid == (uint32_t)pid && st->newstate == 1) {
			assert_ours(&st->h);
			assert_int_equal(PORT, st->dport);
			assert_v4(st->daddr, LANE_WORLD_ADDR);
			established++;
		}
	assert_int_equal(1, established);
}

static const struct stage_act acts[] = {
	{ "udp", do_udp },   { "prohibited", do_prohibited }, { "fork", do_fork },
	{ "vlan", do_vlan }, { "stream", do_stream },	      { "unix", do_unix },
};

static int tests(void)
{
	const struct CMUnitTest list[] = {
		cmocka_unit_test(test_udp),	    cmocka_unit_test(test_unix),
		cmocka_unit_test(test_vlan),	    cmocka_unit_test(test_fork),
		cmocka_unit_test(test_drop),	    cmocka_unit_test(test_stream),
		cmocka_unit_test(stage_test_count),
	};

	return cmocka_run_group_tests(list, stage_set_up, stage_tear_down);
}

int main(int argc, char **argv)
{
	return stage_main(argc, argv, acts, ARRAY_SIZE(acts), tests);
}

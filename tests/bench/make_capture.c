// SPDX-License-Identifier: Apache-2.0
/*
 * The capture of a valid run, of any size and always the same: an honest run of one probe in the
 * calibrators and one sandbox (tests/unit/story.h), whose every trial that gets through sends its
 * token, and then a flood. Written by the real writer, with all that the kernel says of a packet.
 *
 * usage: make_capture FOLDER PACKETS [escaped]
 *
 * Says how many packets and bytes there are. escaped: so does what is in the sandbox.
 */
#include "tests/unit/story.h"

#include <inttypes.h>

#include "tests/unit/random.h"
#include "user/record/capture.h"

#define LANES 8
#define REAL_NS 1700000000123456789ull
#define OPEN_SCENES 10 /* of the story: baselines, off arms, the calibrator that blocks nothing */
#define HOOKS 4	       /* that see each datagram on its way */
#define SPACE_NS 20000 /* between two datagrams */
#define PAYLOAD_MIN 29 /* 57 bytes with the headers: a question to DNS */
#define PAYLOAD_MORE 64

struct writing {
	struct capture_writer *writer;
	uint64_t packets, cpu_seq;
	uint32_t datagrams; /* of each scene */
};
static struct writing writing;

/* ---- what a story leaves out, and the kernel tells ---- */

static const struct ev_task task = { 4242, 4243, 51295704077917ull, "sentinel-probe" };

static void decorate_packet(struct writing *w, struct ev *ev)
{
	bool socket = ev->hook == SNT_HOOK_CG_EGRESS;

	w->packets++;
	ev->slot = ev->lane;
	ev->flags |= socket ? SNT_F_OWNER | SNT_F_FULLSOCK : SNT_F_FULLSOCK;
	ev->cpu = (uint32_t)(w->cpu_seq & 1);
	ev->cpu_seq = ++w->cpu_seq;
	ev->cgroup_id = socket ? 71234 : 1;
	ev->netns_cookie = 274112;
	if (socket && ev->mark)
		ev->packet.owner = task;
	if (!ev->owner)
		ev->owner = OWNER_INTERFACE;
	ev->packet.cookie = 1473970;
}

static int put(void *arg, const struct ev *ev)
{
	struct writing *w = arg;
	struct ev record = *ev;

	if (ev->type == EV_RUN_BEGIN) {
		record.run_begin.lanes = LANES;
		record.run_begin.realtime_ns = REAL_NS;
	}
	if (ev->type == EV_PACKET)
		decorate_packet(w, &record);
	return capture_put(w->writer, &record, NULL, NULL);
}

/* ---- the probe's way ---- */

/* Every other datagram is text, as a leak would be, for a scanner to look at closely. */
static void fill(char *payload, size_t len, bool text)
{
	static const char letters[] = "GET /index.html HTTP/1.1 Host: bench.example ";

	for (size_t i = 0; i < len; i++)
		payload[i] = text ? letters[i % (sizeof(letters) - 1)] : (char)random_u64();
}

static void flood(struct run *r, const struct ev_trial *t)
{
	char payload[PAYLOAD_MIN + PAYLOAD_MORE];

	for (uint32_t i = 0; i < writing.datagrams; i++) {
		size_t len = PAYLOAD_MIN + random_below(PAYLOAD_MORE);

		fill(payload, len, i & 1);
		r->now += SPACE_NS;
		travels(r, t, SNT_HOOK_WORLD,
			(struct frame){
				.protocol = IPPROTO_UDP, .payload = payload, .payload_len = len });
	}
}

static void opened(struct run *r, const struct ev_trial *t)
{
	address(r, t, SNT_HOOK_SENDMSG4, SOCK_DGRAM);
	sent(r, t, AF_INET, SOCK_DGRAM, 42);
	travels(r, t, SNT_HOOK_WORLD,
		(struct frame){ .protocol = IPPROTO_UDP, .payload = token_line(t->token) });
	flood(r, t);
	if (t->far == FAR_DEAF)
		return;
	received_token(r, t, IPPROTO_UDP);
	r->claim.answer = true;
}

static void closed(struct run *r, const struct ev_trial *t)
{
	call(r, t, (struct call){ .name = "sendto", .ret = -ENETUNREACH, .family = AF_INET });
}

static const struct way way = {
	.probe = { .name = "udp-send", .channel = CHANNEL_UDP, .family = AF_INET, .answers = true },
	.open = opened,
	.closed = closed,
	.deaf = opened,
};

int main(int argc, char **argv)
{
	struct story story = { .way = &way };
	struct run r = {
		.s = &story, .now = 1000 * MS, .key = { 9 }, .sink = put, .sink_arg = &writing
	};
	struct capture_totals totals;
	struct diag d;
	char text[1024];
	uint32_t packets;
	int err;

	if (argc < 3 || argc > 4 || parse_u32(argv[2], 1, UINT32_MAX / 2, &packets) ||
	    (argc == 4 && strcmp(argv[3], "escaped") != 0)) {
		(void)fputs("usage: make_capture FOLDER PACKETS [escaped]\n", stderr);
		return 2;
	}
	story.on = argc == 4 ? opened : NULL;
	writing.datagrams = (packets + OPEN_SCENES * HOOKS - 1) / (OPEN_SCENES * HOOKS);
	if (capture_create(&writing.writer, argv[1], &d)) {
		(void)fprintf(stderr, "make_capture: %s\n", diag_text(&d, text, sizeof(text)));
		return 1;
	}
	tell_run(&r);
	err = capture_close(writing.writer, &totals);
	capture_free(writing.writer);
	if (err) {
		(void)fprintf(stderr, "make_capture: %s\n", strerror(-err));
		return 1;
	}
	(void)printf("%" PRIu64 " %" PRIu64 "\n", writing.packets, totals.bytes);
	return 0;
}

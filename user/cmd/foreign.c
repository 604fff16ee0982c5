// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/foreign.h"

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"
#include "user/record/foreign.h"
#include "user/report/traffic_json.h"
#include "user/report/traffic_text.h"

struct show {
	const struct output *out;
	const char *path;
	struct traffic *traffic;
	struct json_out json;
	uint64_t seq;
	int err; /* of printing */
};

bool foreign_is(const char *path, enum origin *ret)
{
	return !origin_of(path, ret) && (*ret == ORIGIN_PCAP || *ret == ORIGIN_PCAPNG);
}

/* The line that was made. */
static void print_line(struct show *s)
{
	if (!s->err)
		s->err = json_out_error(&s->json);
	if (!s->err && fwrite(s->json.buf, 1, s->json.len, stdout) != s->json.len)
		s->err = -EIO;
	json_out_reset(&s->json);
}

/* There is no room for it any more: as a line it need not wait for the end. */
static void flow_evicted(void *arg, const struct flow_row *row)
{
	struct show *s = arg;

	if (!s->out->json)
		return;
	traffic_json_flow(&s->json, ++s->seq, s->path, row);
	print_line(s);
}

static int take_packet(void *arg, const struct ev *ev, enum direction direction)
{
	struct show *s = arg;
	int err = traffic_push(s->traffic, ev, direction);

	return err ? err : s->err;
}

static int show_json(struct show *s, const struct traffic_about *about)
{
	struct traffic_totals totals;
	uint32_t flows_n, questions_n;
	cleanup_free const struct flow_row **flows = traffic_sort_flows(s->traffic, &flows_n);
	cleanup_free const struct name_question **questions =
		traffic_sort_questions(s->traffic, &questions_n);

	if (!flows || !questions)
		return -ENOMEM;
	for (uint32_t i = 0; i < flows_n && !s->err; i++) {
		traffic_json_flow(&s->json, ++s->seq, s->path, flows[i]);
		print_line(s);
	}
	for (uint32_t i = 0; i < questions_n && !s->err; i++) {
		traffic_json_question(&s->json, ++s->seq, s->path, questions[i]);
		print_line(s);
	}
	traffic_totals(s->traffic, &totals);
	traffic_json_capture(&s->json, ++s->seq, about, &totals);
	print_line(s);
	return s->err;
}

static int show_all(struct show *s, const struct traffic_about *about)
{
	if (s->out->json)
		return show_json(s, about);
	return traffic_text(stdout, s->traffic, about, color_wanted(s->out->color, STDOUT_FILENO));
}

static int print_failed(const struct show *s, int err)
{
	if (ferror(stdout))
		return cmd_output_failed();
	log_error("can't print the capture: %s", strerror(-(s->err ? s->err : err)));
	return EXIT_OUTPUT;
}

static int read_and_show(struct show *s, enum origin origin)
{
	struct traffic_about about = { .path = s->path,
				       .format = origin == ORIGIN_PCAP ? "pcap" : "pcapng" };
	struct foreign_report report;
	struct diag d;
	int err = foreign_read(s->path, take_packet, s, &report, &d);

	if (s->err)
		return print_failed(s, err);
	if (err)
		return cmd_fail(&d, EXIT_USAGE);
	about.link = report.link;
	about.has_direction = report.has_direction;
	about.cut = report.cut ? report.text : NULL;
	about.left_out = report.left_out;
	about.left_out_link = report.left_out_link;
	err = show_all(s, &about);
	if (err)
		return print_failed(s, err);
	if (!report.cut)
		return EXIT_INCONCLUSIVE;
	log_error("'%s' can't be read to its end: %s", s->path, report.text);
	return EXIT_DAMAGED;
}

int foreign_replay(const char *path, enum origin origin, const struct output *out)
{
	struct show s = { .out = out, .path = path };
	struct traffic_opts o = { .evicted = flow_evicted, .arg = &s };
	int err = random_bytes(o.secret, sizeof(o.secret));
	int code;

	if (!err)
		err = traffic_new(&s.traffic, &o);
	if (err) {
		log_error("can't replay '%s': %s", path, strerror(-err));
		return EXIT_INCONCLUSIVE;
	}
	json_out_init(&s.json);
	code = read_and_show(&s, origin);
	json_out_done(&s.json);
	traffic_free(s.traffic);
	return code;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/timeline_source.h"

#include <fnmatch.h>
#include <netinet/in.h>

#include "user/base/json_out.h"
#include "user/base/log.h"
#include "user/base/time_text.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/moment.h"
#include "user/decode/packet.h"
#include "user/record/evjson.h"
#include "user/report/text.h"

struct waiting { /* a line that is not yet written */
	uint64_t wall_ns, id;
	char *text;
	size_t len;
};

struct source {
	const char *bundle;
	unsigned int number;
	const struct timeline_opts *o;
	const struct correlate *correlate;
	FILE *out;
	char run[32];
	uint64_t real_ns, mono_ns; /* the anchor */
	uint64_t newest_ns;
	struct json_out json, record;
	struct waiting heap[TIMELINE_WINDOW]; /* the earliest first */
	size_t n;
};

/* ---- in order of time ---- */

static bool earlier(const struct waiting *a, const struct waiting *b)
{
	return a->wall_ns != b->wall_ns ? a->wall_ns < b->wall_ns : a->id < b->id;
}

static void swap(struct waiting *a, struct waiting *b)
{
	struct waiting t = *a;

	*a = *b;
	*b = t;
}

static void heap_push(struct source *s, const struct waiting *w)
{
	size_t i = s->n++;

	s->heap[i] = *w;
	for (; i && earlier(&s->heap[i], &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&s->heap[i], &s->heap[(i - 1) / 2]);
}

static struct waiting heap_pop(struct source *s)
{
	struct waiting first = s->heap[0];
	size_t i = 0;

	s->heap[0] = s->heap[--s->n];
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->n; child++)
			if (earlier(&s->heap[child], &s->heap[least]))
				least = child;
		if (least == i)
			return first;
		swap(&s->heap[i], &s->heap[least]);
		i = least;
	}
}

static int write_first(struct source *s)
{
	struct waiting w = heap_pop(s);
	struct timeline_frame frame = { .wall_ns = w.wall_ns, .len = w.len };
	bool ok = fwrite(&frame, sizeof(frame), 1, s->out) == 1 &&
		  fwrite(w.text, w.len, 1, s->out) == 1;

	free(w.text);
	return ok ? 0 : -EPIPE;
}

/* Those that nothing earlier can come before any more. */
static int write_due(struct source *s)
{
	int err = 0;

	while (!err && s->n &&
	       (s->n == TIMELINE_WINDOW || s->newest_ns - s->heap[0].wall_ns > TIMELINE_WINDOW_NS))
		err = write_first(s);
	return err;
}

/* ---- lines ---- */

static const char *target_of(const struct ev_trial *t)
{
	return t->target[0] ? t->target : "baseline";
}

static int text_line(struct source *s, struct waiting *w, const struct moment *m,
		     const struct ev_trial *t)
{
	char time[TIME_TEXT_MAX], cell[2 * TEXT_MAX], name[TEXT_MAX], probe[TEXT_MAX];
	FILE *f = open_memstream(&w->text, &w->len);
	struct line l = { .f = f, .color = s->o->color };

	if (!f)
		return -errno;
	line_put(&l, INK_FAINT, 32, time_text(w->wall_ns, time));
	if (s->o->several)
		line_putf(&l, INK_STRONG, 5, "[%u]", s->number);
	cell[0] = '\0';
	if (t)
		(void)str_format(cell, sizeof(cell), "%s/%s",
				 printable(name, sizeof(name), target_of(t)),
				 printable(probe, sizeof(probe), t->probe));
	line_put(&l, INK_NONE, 36, cell);
	moment_print(&l, m);
	line_end(&l);
	return fclose(f) ? -ENOMEM : 0;
}

/* What a packet's record leaves to its bytes. */
static void json_packet(struct json_out *j, const struct ev_packet *e)
{
	char text[ADDR_TEXT_MAX];
	struct packet p;

	if (packet_parse(e->data, e->data_len, e->l2_len, e->eth_proto, &p) || !p.family)
		return;
	json_text(j, "source.ip", addr_text(p.src, text));
	json_text(j, "destination.ip", addr_text(p.dst, text));
	json_u32(j, "network.iana_number", p.protocol);
	if (!p.transport || (p.protocol != IPPROTO_TCP && p.protocol != IPPROTO_UDP))
		return;
	json_u32(j, "source.port", p.sport);
	json_u32(j, "destination.port", p.dport);
}

/* Keys that no record has (tests/rig/life-questions.sh), then those of the record. */
static void json_members(struct source *s, const struct waiting *w, const struct moment *m,
			 const struct ev_trial *t)
{
	char time[TIME_TEXT_MAX], message[TEXT_MAX];
	struct json_out *j = &s->json;

	json_text(j, "time", time_text(w->wall_ns, time));
	json_text(j, "bundle", s->bundle);
	json_text(j, "run.id", s->run);
	if (t) {
		json_text(j, "trial.target", target_of(t));
		json_text(j, "trial.probe", t->probe);
		json_text(j, "trial.arm", moment_arm(m));
	}
	if (m->at[0])
		json_text(j, "vantage", m->at);
	(void)str_format(message, sizeof(message), "%s%s%s", m->what, m->outcome[0] ? " " : "",
			 m->outcome);
	json_text(j, "message", message);
}

/* Without its first brace: the number of the line in the whole goes before it. */
static int json_line(struct source *s, struct waiting *w, const struct moment *m,
		     const struct ev_trial *t, const struct ev *ev)
{
	int err;

	json_out_reset(&s->json);
	json_out_reset(&s->record);
	err = evjson_write(&s->record, ev);
	if (err)
		return err;
	json_object_begin(&s->json, NULL);
	json_members(s, w, m, t);
	if (ev->type == EV_PACKET)
		json_packet(&s->json, &ev->packet);
	json_object_end(&s->json);
	err = json_out_error(&s->json);
	if (err)
		return err;
	w->len = s->json.len - 2 + s->record.len + 1;
	w->text = malloc(w->len);
	if (!w->text)
		return -ENOMEM;
	memcpy(w->text, s->json.buf + 1, s->json.len - 2);
	w->text[s->json.len - 2] = ',';
	memcpy(w->text + s->json.len - 1, s->record.buf + 1, s->record.len - 1);
	w->text[w->len - 1] = '\n';
	return 0;
}

/* ---- records ---- */

static bool wanted(const struct source *s, const struct ev *ev, const struct ev_trial *t)
{
	const struct timeline_opts *o = s->o;

	if (o->type && fnmatch(o->type, ev_type_name(ev->type), 0) != 0)
		return false;
	if (!o->target && !o->probe)
		return true;
	return t && (!o->target || !fnmatch(o->target, target_of(t), 0)) &&
	       (!o->probe || !fnmatch(o->probe, t->probe, 0));
}

static int take(void *arg, const struct ev *ev)
{
	struct source *s = arg;
	struct moment_room room;
	const struct ev_trial *t;
	struct waiting w;
	struct moment m;
	int err;

	if (ev->type == EV_RUN_BEGIN) {
		s->real_ns = ev->run_begin.realtime_ns;
		s->mono_ns = ev->time_ns;
		(void)str_copy(s->run, sizeof(s->run), ev->run_begin.run);
	}
	w = (struct waiting){ .wall_ns = s->real_ns + (ev->time_ns - s->mono_ns), .id = ev->id };
	s->newest_ns = MAX(s->newest_ns, w.wall_ns);
	t = correlate_trial(s->correlate, correlate_trial_of(s->correlate, ev));
	if (!wanted(s, ev, t))
		return write_due(s);
	moment_of(ev, t, &room, &m);
	err = s->o->json ? json_line(s, &w, &m, t, ev) : text_line(s, &w, &m, t);
	if (err)
		return err;
	err = w.len > TIMELINE_LINE_MAX ? -EMSGSIZE : write_due(s);
	if (err)
		free(w.text);
	else
		heap_push(s, &w);
	return err;
}

static int read_lines(struct source *s, struct diag *d)
{
	struct capture_report report;
	int err = capture_read(s->bundle, take, s, &report, d);

	while (!err && s->n)
		err = write_first(s);
	if (!err && fflush(s->out))
		err = -EPIPE;
	while (s->n)
		free(s->heap[--s->n].text);
	return err;
}

int timeline_source(const char *bundle, unsigned int number, const struct timeline_opts *o,
		    FILE *out, bool *ret_damaged, struct diag *d)
{
	struct source *s;
	struct judged j;
	int err = judge_bundle_to_explain(bundle, &j, d);

	if (err)
		return err;
	if (j.damaged)
		log_error("'%s': the evidence is damaged: %s", bundle, j.report.text);
	*ret_damaged = j.damaged;
	s = calloc(1, sizeof(*s));
	if (!s) {
		judged_done(&j);
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	}
	s->bundle = bundle;
	s->number = number;
	s->o = o;
	s->correlate = j.correlate;
	s->out = out;
	json_out_init(&s->json);
	json_out_init(&s->record);
	err = read_lines(s, d);
	json_out_done(&s->json);
	json_out_done(&s->record);
	free(s);
	judged_done(&j);
	return err;
}

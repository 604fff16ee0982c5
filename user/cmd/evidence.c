// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/evidence.h"

#include "user/cmd/moment_list.h"

#define MISSING_MAX 64
#define PROGRAMS_MAX 512
#define NO_CELL UINT32_MAX

struct kept { /* of a cell */
	struct moment_list moments;
	char quote[EV_TEXT_MAX];
};

struct evidence {
	const struct judged *judged;
	struct ev_run_begin begin;
	bool begun;
	uint64_t begin_ns, end_ns;
	int64_t clock_set_ns;
	struct ev_target *targets;
	size_t targets_n;
	struct ev_program programs[PROGRAMS_MAX];
	size_t programs_n;
	uint32_t *by_name;  /* cell indices, in order of target and probe */
	uint32_t *of_trial; /* cell of trial i + 1, or NO_CELL */
	uint32_t trials_n;
	struct kept *kept; /* one a cell */
	struct html_cell *cells;
	struct html_missing missing[MISSING_MAX];
	size_t missing_n;
	struct html_span *spans; /* of the first trials */
	size_t spans_n, spans_left_out;
};

/* ---- which cell a trial is of ---- */

static const struct cell_result *cell_at(const struct evidence *e, uint32_t i)
{
	return &e->judged->result.cells[i];
}

static int compare(const struct cell_result *c, const char *target, const char *probe)
{
	int order = strcmp(c->target, target);

	return order ? order : strcmp(c->probe, probe);
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct cell_result *y = cell_at(arg, *(const uint32_t *)b);

	return compare(cell_at(arg, *(const uint32_t *)a), y->target, y->probe);
}

static uint32_t find_cell(const struct evidence *e, const char *target, const char *probe)
{
	uint32_t low = 0, high = e->judged->result.cells_n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare(cell_at(e, e->by_name[middle]), target, probe);

		if (!order)
			return e->by_name[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NO_CELL;
}

static int keep(struct evidence *e, const struct ev *ev)
{
	const struct correlate *c = e->judged->correlate;
	uint32_t trial = correlate_trial_of(c, ev);

	if (!trial || trial > e->trials_n || e->of_trial[trial - 1] == NO_CELL)
		return 0;
	return moment_list_add(&e->kept[e->of_trial[trial - 1]].moments, ev,
			       correlate_trial(c, trial));
}

/* ---- what else a page says ---- */

static int add_target(struct evidence *e, const struct ev_target *t)
{
	struct ev_target *more = realloc(e->targets, (e->targets_n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	e->targets = more;
	e->targets[e->targets_n++] = *t;
	return 0;
}

static void add_program(struct evidence *e, const struct ev_program *p)
{
	if (e->programs_n < PROGRAMS_MAX)
		e->programs[e->programs_n++] = *p;
}

/* Both ends of a run anchor the clocks; captures of before have but the beginning. */
static void see_end(struct evidence *e, const struct ev *ev)
{
	uint64_t expected = e->begin.realtime_ns + (ev->time_ns - e->begin_ns);

	if (ev->run_end.realtime_ns)
		e->clock_set_ns = (int64_t)(ev->run_end.realtime_ns - expected);
}

static void add_quote(struct evidence *e, const struct ev_cell *c)
{
	uint32_t i = find_cell(e, c->target, c->probe);

	if (i != NO_CELL)
		(void)str_copy(e->kept[i].quote, sizeof(e->kept[i].quote), c->quote);
}

static void add_missing(struct evidence *e, const struct ev_attach *a)
{
	struct html_missing *m = &e->missing[e->missing_n];

	if (a->attached || e->missing_n == MISSING_MAX)
		return;
	*m = (struct html_missing){ a->hook, a->lane, a->needed, a->final, "" };
	(void)str_copy(m->detail, sizeof(m->detail), a->detail);
	e->missing_n++;
}

static struct html_span *span_of(struct evidence *e, uint32_t trial)
{
	return trial && trial <= e->spans_n ? &e->spans[trial - 1] : NULL;
}

static void see_span(struct evidence *e, const struct ev *ev)
{
	bool begins = ev->type == EV_ARM_BEGIN;
	struct html_span *s = span_of(e, begins ? ev->arm_begin.trial : ev->arm_end.trial);

	if (s && begins)
		s->from_ns = ev->time_ns;
	else if (s)
		s->to_ns = ev->time_ns;
}

static int collect(void *arg, const struct ev *ev)
{
	struct evidence *e = arg;
	int err = 0;

	e->end_ns = MAX(e->end_ns, ev->time_ns);
	switch (ev->type) {
	case EV_RUN_BEGIN:
		e->begun = true;
		e->begin = ev->run_begin;
		e->begin_ns = ev->time_ns;
		break;
	case EV_TARGET:
		err = add_target(e, &ev->target);
		break;
	case EV_PROGRAM:
		add_program(e, &ev->program);
		break;
	case EV_RUN_END:
		see_end(e, ev);
		break;
	case EV_CELL:
		add_quote(e, &ev->cell);
		break;
	case EV_ATTACH:
		add_missing(e, &ev->attach);
		break;
	case EV_ARM_BEGIN:
	case EV_ARM_END:
		see_span(e, ev);
		break;
	default:
		break;
	}
	return err ? err : keep(e, ev);
}

/* ---- all of it ---- */

static int index_trials(struct evidence *e)
{
	const struct correlate *c = e->judged->correlate;
	const struct ev_trial *t;

	while (correlate_trial(c, e->trials_n + 1))
		e->trials_n++;
	e->spans_n = MIN(e->trials_n, EVIDENCE_SPANS_MAX);
	e->spans_left_out = e->trials_n - e->spans_n;
	e->of_trial = calloc(e->trials_n + 1, sizeof(*e->of_trial));
	e->spans = calloc(e->spans_n + 1, sizeof(*e->spans));
	if (!e->of_trial || !e->spans)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->trials_n; i++) {
		t = correlate_trial(c, i + 1);
		e->of_trial[i] = find_cell(e, t->target, t->probe);
		if (i < e->spans_n)
			e->spans[i] = (struct html_span){ .trial = t, .cell = e->of_trial[i] };
	}
	return 0;
}

static int prepare(struct evidence *e)
{
	uint32_t n = e->judged->result.cells_n;
	size_t each = MAX(MIN(EVIDENCE_ALL_MAX / MAX(n, 1u), EVIDENCE_CELL_MAX), EVIDENCE_CELL_MIN);

	e->by_name = calloc(n + 1, sizeof(*e->by_name));
	e->kept = calloc(n + 1, sizeof(*e->kept));
	e->cells = calloc(n + 1, sizeof(*e->cells));
	if (!e->by_name || !e->kept || !e->cells)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		e->by_name[i] = i;
		e->kept[i].moments.max = each;
	}
	qsort_r(e->by_name, n, sizeof(*e->by_name), by_name, e);
	return index_trials(e);
}

static void put_together(struct evidence *e)
{
	for (uint32_t i = 0; i < e->judged->result.cells_n; i++) {
		struct moment_list *l = &e->kept[i].moments;

		moment_list_sort(l);
		e->cells[i] = (struct html_cell){ .quote = e->kept[i].quote,
						  .moments = l->at,
						  .n = l->n,
						  .left_out = l->left_out };
	}
}

int evidence_read(const char *bundle, const struct judged *j, struct evidence **ret, struct diag *d)
{
	struct evidence *e = calloc(1, sizeof(*e));
	struct capture_report report;
	int err;

	if (!e)
		return diag_set(d, -ENOMEM, NULL, 0, 0, "out of memory");
	e->judged = j;
	err = prepare(e);
	if (err)
		(void)diag_set(d, err, NULL, 0, 0, "out of memory");
	else
		err = capture_read(bundle, collect, e, &report, d);
	if (err) {
		evidence_free(e);
		return err;
	}
	put_together(e);
	*ret = e;
	return 0;
}

void evidence_page(const struct evidence *e, struct html_report *ret)
{
	*ret = (struct html_report){ .r = &e->judged->result,
				     .begin = e->begun ? &e->begin : NULL,
				     .begin_ns = e->begin_ns,
				     .end_ns = e->end_ns,
				     .clock_set_ns = e->clock_set_ns,
				     .records = e->judged->report.records,
				     .targets = e->targets,
				     .targets_n = e->targets_n,
				     .programs = e->programs,
				     .programs_n = e->programs_n,
				     .cells = e->cells,
				     .missing = e->missing,
				     .missing_n = e->missing_n,
				     .spans = e->spans,
				     .spans_n = e->spans_n,
				     .spans_left_out = e->spans_left_out };
}

void evidence_free(struct evidence *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; e->kept && i < e->judged->result.cells_n; i++)
		moment_list_done(&e->kept[i].moments);
	free(e->kept);
	free(e->by_name);
	free(e->of_trial);
	free(e->targets);
	free(e->cells);
	free(e->spans);
	free(e);
}

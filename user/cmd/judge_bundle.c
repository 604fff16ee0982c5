// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/judge_bundle.h"

#include <pthread.h>
#include <sys/stat.h>

#include "user/record/bundle.h"

struct watch {
	struct correlate *correlate;
	uint64_t last;	    /* the record behind which nothing is looked at */
	judge_bundle_fn fn; /* NULL: nobody asks */
	void *arg;
};

/* Seals come every 4 MiB or second, and say where they are. */
static int push(void *arg, const struct ev *ev)
{
	const struct watch *w = arg;

	if (ev->type == EV_SEAL && w->fn)
		w->fn(w->arg, ev->seal.offset);
	return ev->id > w->last ? 0 : correlate_push(w->correlate, ev);
}

/* ---- the sums: taken beside the judge, by a thread of their own, since that is as much work ----
 */

struct sums {
	const char *bundle;
	bool threaded;
	pthread_t thread;
	int err; /* of bundle_check() */
	struct diag diag;
};

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static void *check_sums(void *arg)
{
	struct sums *s = arg;

	s->err = is_folder(s->bundle) ? bundle_check(s->bundle, &s->diag) : 0;
	return NULL;
}

static void sums_start(struct sums *s, const char *bundle)
{
	*s = (struct sums){ .bundle = bundle };
	s->threaded = !pthread_create(&s->thread, NULL, check_sums, s);
	if (!s->threaded)
		(void)check_sums(s);
}

static void sums_wait(const struct sums *s)
{
	if (s->threaded)
		(void)pthread_join(s->thread, NULL);
}

/* ---- damage ---- */

static void blame_capture(struct judged *j)
{
	/* Well-framed, but its log contradicts itself: somebody wrote it who is not us. */
	(void)str_copy(j->report.text, sizeof(j->report.text), "the run's log contradicts itself");
}

static void blame_file(struct judged *j, const struct diag *d)
{
	(void)str_copy(j->report.damaged_file, sizeof(j->report.damaged_file), d->file);
	(void)str_copy(j->report.text, sizeof(j->report.text), d->text);
}

static struct cell_result *find(struct run_result *r, const struct cell_result *like)
{
	for (uint32_t i = 0; i < r->cells_n; i++)
		if (!strcmp(r->cells[i].target, like->target) &&
		    !strcmp(r->cells[i].probe, like->probe))
			return &r->cells[i];
	return NULL;
}

/* Rejected, a run scores nothing: its arms still say what crossed. */
static void take_proven(struct run_result *r, const struct run_result *sealed)
{
	if (r->status == RUN_REJECTED || sealed->status == RUN_REJECTED)
		return;
	for (uint32_t i = 0; i < sealed->cells_n; i++) {
		const struct cell_result *proven = &sealed->cells[i];
		struct cell_result *c = find(r, proven);

		if (proven->judgement.grade != GRADE_NONE && c)
			*c = *proven;
	}
}

/* What the seals still vouch for, judged by itself. A reader who can't do that again has less to
 * show, and nothing wrong. */
static void judge_sealed(const char *bundle, struct judged *j)
{
	struct watch watch = { .last = j->report.sealed_records };
	struct run_result sealed = { .cells = NULL };
	struct capture_report again;

	if (!watch.last || correlate_new(&watch.correlate))
		return;
	if (!capture_read(bundle, push, &watch, &again, NULL) &&
	    again.sealed_records >= watch.last &&
	    !correlate_finish(watch.correlate, EVIDENCE_SEALED, &sealed))
		take_proven(&j->result, &sealed);
	run_result_done(&sealed);
	correlate_free(watch.correlate);
}

static enum evidence_state weigh(struct judged *j, const struct sums *sums, int err)
{
	bool listed = !sums->err || sums->err == -ENOENT;

	j->unlisted = sums->err == -ENOENT;
	j->damaged = err || j->report.damaged || !j->report.complete || !listed;
	if (err)
		blame_capture(j);
	else if (!j->report.damaged && !listed)
		blame_file(j, &sums->diag);
	if (!j->damaged)
		return EVIDENCE_WHOLE;
	return err || j->report.damaged ? EVIDENCE_DAMAGED : EVIDENCE_SEALED;
}

/* ---- reading ---- */

int judge_bundle(const char *bundle, struct judged *j, struct diag *d)
{
	return judge_bundle_watched(bundle, NULL, NULL, j, d);
}

int judge_bundle_watched(const char *bundle, judge_bundle_fn fn, void *arg, struct judged *j,
			 struct diag *d)
{
	struct watch watch = { .fn = fn, .arg = arg, .last = UINT64_MAX };
	struct sums sums;
	struct diag why;
	int err, contradiction;

	*j = (struct judged){ .correlate = NULL };
	err = correlate_new(&j->correlate);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "out of memory");
	watch.correlate = j->correlate;
	sums_start(&sums, bundle);
	err = capture_read(bundle, push, &watch, &j->report, &why);
	sums_wait(&sums);
	if (err && err != -EBADMSG) {
		*d = why;
		judged_done(j);
		return err;
	}
	contradiction = err;
	err = correlate_finish(j->correlate, weigh(j, &sums, contradiction), &j->result);
	if (err) {
		judged_done(j);
		return diag_set(d, err, bundle, 0, 0, "can't judge: %s", strerror(-err));
	}
	if (j->report.damaged && !contradiction)
		judge_sealed(bundle, j);
	return 0;
}

int judge_bundle_to_explain(const char *bundle, struct judged *j, struct diag *d)
{
	int err = judge_bundle(bundle, j, d);

	if (err)
		return err;
	err = correlate_index(j->correlate);
	if (!err)
		return 0;
	judged_done(j);
	return diag_set(d, err, NULL, 0, 0, "out of memory");
}

void judged_done(struct judged *j)
{
	correlate_free(j->correlate);
	j->correlate = NULL;
	run_result_done(&j->result);
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/judge_bundle.h"

struct watch {
	struct correlate *correlate;
	judge_bundle_fn fn; /* NULL: nobody asks */
	void *arg;
};

/* Seals come every 4 MiB or second, and say where they are. */
static int push(void *arg, const struct ev *ev)
{
	const struct watch *w = arg;

	if (ev->type == EV_SEAL && w->fn)
		w->fn(w->arg, ev->seal.offset);
	return correlate_push(w->correlate, ev);
}

int judge_bundle(const char *bundle, struct judged *j, struct diag *d)
{
	return judge_bundle_watched(bundle, NULL, NULL, j, d);
}

int judge_bundle_watched(const char *bundle, judge_bundle_fn fn, void *arg, struct judged *j,
			 struct diag *d)
{
	struct watch watch = { .fn = fn, .arg = arg };
	struct diag why;
	int err;

	*j = (struct judged){ .correlate = NULL };
	err = correlate_new(&j->correlate);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "out of memory");
	watch.correlate = j->correlate;
	err = capture_read(bundle, push, &watch, &j->report, &why);
	if (err == -EBADMSG) {
		/* Well-framed, but its log contradicts itself: somebody wrote it who is not us. */
		j->damaged = true;
		(void)str_copy(j->report.text, sizeof(j->report.text),
			       "the run's log contradicts itself");
	} else if (err) {
		*d = why;
		judged_done(j);
		return err;
	}
	j->damaged |= j->report.damaged || !j->report.complete;
	err = correlate_finish(j->correlate, j->damaged, &j->result);
	if (err) {
		judged_done(j);
		return diag_set(d, err, bundle, 0, 0, "can't judge: %s", strerror(-err));
	}
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

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/judge_bundle.h"

static int push(void *arg, const struct ev *ev)
{
	return correlate_push(arg, ev);
}

int judge_bundle(const char *bundle, struct judged *j, struct diag *d)
{
	struct diag why;
	int err;

	*j = (struct judged){ .correlate = NULL };
	err = correlate_new(&j->correlate);
	if (err)
		return diag_set(d, err, NULL, 0, 0, "out of memory");
	err = capture_read(bundle, push, j->correlate, &j->report, &why);
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

void judged_done(struct judged *j)
{
	correlate_free(j->correlate);
	j->correlate = NULL;
	run_result_done(&j->result);
}

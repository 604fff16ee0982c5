// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"
#include "user/sense/features.h"

static const char *state_of(const struct feature_result *r)
{
	if (!r->error)
		return "ok";
	return r->feature->needed ? "MISSING" : "absent";
}

static void print_feature(const struct feature_result *r)
{
	const struct feature *f = r->feature;

	(void)printf("%-8s %-19s %-42s %s\n", state_of(r), f->name, f->needed_by,
		     f->effect_if_absent);
	if (!r->error)
		return;
	(void)printf("%-8s   the kernel says: %s\n", "", r->detail);
	if (f->remedy)
		(void)printf("%-8s   remedy: %s\n", "", f->remedy);
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp argp = {
		NULL,
		NULL,
		NULL,
		"Show what this machine lets the observer do, probed by doing it: what each "
		"feature "
		"is needed by, what its absence costs, and what can be done. Exit status 3 where "
		"something is missing without which no run can be valid.",
		NULL,
		NULL,
		NULL
	};
	static struct feature_result results[FEATURES_MAX];
	int missing = 0, n;

	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return EXIT_USAGE;
	n = features_probe(results);
	(void)printf("%-8s %-19s %-42s %s\n", "state", "feature", "needed by", "without it");
	for (int i = 0; i < n; i++) {
		print_feature(&results[i]);
		missing += results[i].error && results[i].feature->needed;
	}
	if (missing)
		(void)printf("\n%d needed feature%s missing: no run on this machine can be valid\n",
			     missing, missing == 1 ? " is" : "s are");
	else
		(void)printf("\nall that a run needs is here\n");
	return missing ? EXIT_INCONCLUSIVE : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"
#include "user/sense/features.h"

static bool is_root(const struct feature *f)
{
	return !strcmp(f->name, "root");
}

/* Who may not try a feature does not learn whether it is there. That we are not root, we know. */
static bool is_unknown(const struct feature_result *r)
{
	return geteuid() && !is_root(r->feature) && (r->error == -EPERM || r->error == -EACCES);
}

static const char *state_of(const struct feature_result *r)
{
	if (!r->error)
		return "ok";
	if (is_unknown(r))
		return "unknown";
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
	if (f->remedy && !is_unknown(r))
		(void)printf("%-8s   remedy: %s\n", "", f->remedy);
}

static int conclude(const struct feature_result *results, int n)
{
	int missing = 0, unknown = 0;

	for (int i = 0; i < n; i++) {
		const struct feature_result *r = &results[i];

		if (is_unknown(r))
			unknown++;
		else if (!is_root(r->feature))
			missing += r->error && r->feature->needed;
	}
	(void)putchar('\n');
	if (missing)
		(void)printf("%d needed feature%s missing: no run on this machine can be valid\n",
			     missing, missing == 1 ? " is" : "s are");
	else if (!geteuid())
		(void)printf("all that a run needs is here\n");
	if (geteuid())
		(void)printf("not root: %d feature%s could not be tried; run it as root\n", unknown,
			     unknown == 1 ? "" : "s");
	return missing || geteuid() ? EXIT_INCONCLUSIVE : 0;
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
	int n;

	if (argp_parse(&argp, argc, argv, 0, NULL, NULL))
		return EXIT_USAGE;
	n = features_probe(results);
	(void)printf("%-8s %-19s %-42s %s\n", "state", "feature", "needed by", "without it");
	for (int i = 0; i < n; i++)
		print_feature(&results[i]);
	return conclude(results, n);
}

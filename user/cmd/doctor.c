// SPDX-License-Identifier: Apache-2.0
#include <argp.h>

#include "user/cmd/cmd.h"
#include "user/cmd/list_json.h"
#include "user/judge/verdict.h"
#include "user/rig/program.h"
#include "user/sense/features.h"

enum { KEY_JSON = 0x1000 };

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
	(void)printf("%-8s   tried, and got: %s\n", "", r->detail);
	if (f->remedy && !is_unknown(r))
		(void)printf("%-8s   remedy: %s\n", "", f->remedy);
}

static void print_json(struct json_out *j, const struct feature_result *r)
{
	const struct feature *f = r->feature;

	json_object_begin(j, NULL);
	json_u32(j, "schema", 1);
	json_text(j, "type", "feature");
	json_text(j, "name", f->name);
	json_text(j, "state", state_of(r));
	json_boolean(j, "needed", f->needed);
	json_text(j, "needed_by", f->needed_by);
	json_text(j, "effect_if_absent", f->effect_if_absent);
	if (r->error)
		json_text(j, "error.message", r->detail);
	else
		json_null(j, "error.message");
	if (r->error && f->remedy && !is_unknown(r))
		json_text(j, "remedy", f->remedy);
	else
		json_null(j, "remedy");
	json_object_end(j);
	json_newline(j);
}

/* What a run needs and this machine lacks, and what could not be tried. */
struct tally {
	int missing, unknown;
};

static struct tally count(const struct feature_result *results, int n)
{
	struct tally t = { 0 };

	for (int i = 0; i < n; i++) {
		const struct feature_result *r = &results[i];

		if (is_unknown(r))
			t.unknown++;
		else if (!is_root(r->feature))
			t.missing += r->error && r->feature->needed;
	}
	return t;
}

static void print_table(const struct feature_result *results, int n)
{
	struct tally t = count(results, n);

	(void)printf("%-8s %-19s %-42s %s\n", "state", "feature", "needed by", "without it");
	for (int i = 0; i < n; i++)
		print_feature(&results[i]);
	(void)putchar('\n');
	if (t.missing)
		(void)printf("%d needed feature%s missing: no run on this machine can be valid\n",
			     t.missing, t.missing == 1 ? " is" : "s are");
	else if (!geteuid())
		(void)printf("all that a run needs is here\n");
	if (geteuid())
		(void)printf("not root: %d feature%s could not be tried; run it as root\n",
			     t.unknown, t.unknown == 1 ? "" : "s");
}

static int print_lines(const struct feature_result *results, int n)
{
	struct json_out j;
	int err;

	json_out_init(&j);
	for (int i = 0; i < n; i++)
		print_json(&j, &results[i]);
	err = list_json_print(&j);
	json_out_done(&j);
	return err ? cmd_output_failed() : 0;
}

static error_t parse(int key, char *arg unused_arg, struct argp_state *state)
{
	if (key != KEY_JSON)
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

/* Not the kernel's: the program that is each lane's resolver. */
static void look_for_resolver(struct feature_result *ret)
{
	static const struct feature resolver = { .name = "unbound",
						 .needed_by = "probes that ask for names",
						 .effect_if_absent = "those are inconclusive",
						 .remedy = "scripts/deps.sh installs it" };
	char path[4096];

	*ret = (struct feature_result){ .feature = &resolver,
					.error =
						program_find("unbound", NULL, path, sizeof(path)) };
	(void)str_copy(ret->detail, sizeof(ret->detail),
		       ret->error ? "not in " PROGRAM_PATH : "ok");
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", KEY_JSON, NULL, 0, "One JSON object a line", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		options,
		parse,
		NULL,
		"Show what this machine lets the observer do, probed by doing it: what each "
		"feature "
		"is needed by, what its absence costs, and what can be done. Exit status 3 where "
		"something is missing without which no run can be valid.",
		NULL,
		NULL,
		NULL
	};
	static struct feature_result results[FEATURES_MAX + 1];
	bool json = false;
	int n, code = 0;

	if (argp_parse(&argp, argc, argv, 0, NULL, &json))
		return EXIT_USAGE;
	cmd_log(json);
	n = features_probe(results);
	look_for_resolver(&results[n++]);
	if (json)
		code = print_lines(results, n);
	else
		print_table(results, n);
	if (code)
		return code;
	return count(results, n).missing || geteuid() ? EXIT_INCONCLUSIVE : 0;
}

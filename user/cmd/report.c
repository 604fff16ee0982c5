// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/base/log.h"
#include "user/cmd/cmd.h"
#include "user/cmd/evidence.h"
#include "user/cmd/judge_bundle.h"
#include "user/cmd/output.h"
#include "user/cmd/recorded.h"
#include "user/record/bundle.h"
#include "user/record/sshsig.h"
#include "user/report/html.h"
#include "user/sense/hook_names.h"

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write the page there. Default: standard output", 0 },
	{ 0 },
};

struct report_args {
	const char *bundle, *output;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case 'o':
		a->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (a->bundle)
			argp_error(state, "'%s' is too much: a page is of one bundle", arg);
		a->bundle = arg;
		return 0;
	case ARGP_KEY_END:
		if (!a->bundle)
			argp_error(state, "name a bundle");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- what is wrong with the evidence ---- */

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The judge does not read verdict.json, but whoever is shown this page is to believe nothing good
 * of a bundle that says of itself what its capture does not. */
static void doubt(struct run_result *r)
{
	for (uint32_t i = 0; i < r->cells_n; i++) {
		struct judgement *v = &r->cells[i].judgement;

		if (v->verdict != VERDICT_CONTAINED && v->verdict != VERDICT_PROVISIONAL)
			continue;
		v->verdict = VERDICT_INCONCLUSIVE;
		v->reasons |= REASON_BIT(REASON_EVIDENCE_DAMAGED);
	}
}

/* True: text says what is wrong. */
static bool find_damage(const char *bundle, struct judged *j, char *text, size_t n)
{
	int err;

	if (j->damaged) {
		(void)str_format(text, n, "%s%s%s", j->report.damaged_file,
				 j->report.damaged_file[0] ? ": " : "", j->report.text);
		return true;
	}
	err = recorded_is_same(bundle, &j->result);
	if (err == 1 || err == -ENOENT)
		return false;
	doubt(&j->result);
	(void)str_copy(text, n,
		       "verdict.json is not what the capture gives: it was changed, or judged by "
		       "another version");
	return true;
}

/* Of a bundle in which find_damage() found nothing. */
static void say_verified(const char *bundle, char *text, size_t n)
{
	char fingerprint[SSHSIG_FINGERPRINT_MAX];
	uint8_t key[SSHSIG_KEY_BYTES];
	char path[PATH_MAX];
	struct diag d;

	if (str_format(path, sizeof(path), "%s/" BUNDLE_SUMS, bundle) || access(path, F_OK)) {
		(void)str_copy(text, n, "the seals match; a capture alone, without sums");
	} else if (bundle_signer(bundle, key, &d)) {
		(void)str_copy(
			text, n,
			"seals and sums match; not signed, so whoever changed a file could have "
			"sealed it anew");
	} else {
		sshsig_fingerprint(key, fingerprint);
		(void)str_format(
			text, n,
			"seals and sums match, and are signed by the key %s; whose that is, "
			"sentinel verify --key tells",
			fingerprint);
	}
}

/* ---- writing ---- */

/* A file more in the bundle, and its sums would be wrong. */
static int refuse_inside(const struct report_args *a, struct diag *d)
{
	char bundle[PATH_MAX], folder[PATH_MAX], file[PATH_MAX];
	const char *slash = strrchr(a->output, '/');
	size_t len;

	if (str_format(file, sizeof(file), "%.*s", slash ? (int)(slash - a->output + 1) : 1,
		       slash ? a->output : ".") ||
	    !realpath(file, folder) || !realpath(a->bundle, bundle) || !is_folder(bundle))
		return 0; /* whatever is wrong there, opening it will say */
	len = strlen(bundle);
	if (strncmp(folder, bundle, len) != 0 || (folder[len] && folder[len] != '/'))
		return 0;
	return diag_set(d, -EINVAL, a->output, 0, 0,
			"this is in the bundle, whose sums would no longer match: name a file "
			"elsewhere");
}

/* A new name, or a plain file that may be replaced. What else is there (a pipe, a device, a link)
 * is written into. */
static bool is_replaceable(const char *path)
{
	struct stat st;

	return lstat(path, &st) ? errno == ENOENT : S_ISREG(st.st_mode);
}

/* Under another name first: nobody ever opens half a page. */
static int write_file(const char *path, const struct html_report *p, struct diag *d)
{
	bool replace = is_replaceable(path);
	char part[PATH_MAX];
	FILE *f;
	int err = str_format(part, sizeof(part), "%s%s", path, replace ? ".part" : "");

	if (err)
		return diag_set(d, err, path, 0, 0, "the name is too long");
	f = fopen(part, "we");
	if (!f)
		return diag_set(d, -errno, path, 0, 0, "can't be written: %s", strerror(errno));
	err = html_write(f, p);
	if (fclose(f) && !err)
		err = -errno;
	if (!err && replace && rename(part, path))
		err = -errno;
	if (!err)
		return 0;
	if (replace)
		(void)unlink(part);
	return diag_set(d, err, path, 0, 0, "can't be written: %s", strerror(-err));
}

static int write_page(const struct report_args *a, const struct html_report *p)
{
	struct diag d;
	int err;

	if (a->output)
		return write_file(a->output, p, &d) ? cmd_fail(&d, EXIT_OUTPUT) : 0;
	err = html_write(stdout, p);
	if (err == -ENOMEM)
		log_error("out of memory");
	return err == -ENOMEM ? EXIT_USAGE : err ? cmd_output_failed() : 0;
}

static int make_page(const struct report_args *a, struct judged *j)
{
	char damage[1280], verified[256];
	bool damaged = find_damage(a->bundle, j, damage, sizeof(damage));
	struct html_report page;
	struct evidence *e;
	struct diag d;
	int code;

	if (damaged)
		log_error("'%s': the evidence is damaged: %s", a->bundle, damage);
	if (evidence_read(a->bundle, j, &e, &d))
		return cmd_fail(&d, EXIT_USAGE);
	evidence_page(e, &page);
	if (!damaged)
		say_verified(a->bundle, verified, sizeof(verified));
	page.verified = damaged ? NULL : verified;
	page.bundle = a->bundle;
	page.damage = damaged ? damage : NULL;
	page.hook_name = hook_name;
	page.family_of = output_family;
	code = write_page(a, &page);
	evidence_free(e);
	return code ? code : damaged ? EXIT_DAMAGED : 0;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"BUNDLE",
		"Write a recorded run as one HTML page that opens anywhere, offline: the verdicts, "
		"each cell's arms side by side, where attempts stopped and by what, what nobody "
		"claims, the instrument's test of itself, and the records behind it as time lines. "
		"Judged anew, from the capture alone.",
		NULL,
		NULL,
		NULL
	};
	struct report_args a = { .bundle = NULL };
	struct diag d = { .text = "" };
	struct judged j;
	int code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	if (a.output && refuse_inside(&a, &d))
		return cmd_fail(&d, EXIT_USAGE);
	if (judge_bundle_to_explain(a.bundle, &j, &d))
		return cmd_fail(&d, EXIT_USAGE);
	code = make_page(&a, &j);
	judged_done(&j);
	return code;
}

// SPDX-License-Identifier: Apache-2.0
#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/base/json_out.h"
#include "user/base/log.h"
#include "user/base/time_text.h"
#include "user/cmd/cmd.h"
#include "user/judge/verdict.h"
#include "user/record/bundle.h"
#include "user/record/capture.h"

#define SIGNERS_MAX (1u << 20) /* a file of keys that somebody trusts */

enum { KEY_JSON = 256 };

static const struct argp_option options[] = {
	{ "key", 'k', "FILE", 0,
	  "Be content with nothing but a signature by a key in FILE: a public key of SSH, or a "
	  "file "
	  "of allowed signers",
	  0 },
	{ "json", KEY_JSON, NULL, 0, "One JSON object a bundle", 0 },
	{ 0 },
};

struct verify_args {
	const char *key; /* file; NULL: any */
	char *trusted;	 /* its text; owned */
	bool json;
	char **bundles;
	size_t n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct verify_args *a = state->input;

	switch (key) {
	case 'k':
		a->key = arg;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case ARGP_KEY_ARGS:
		a->bundles = state->argv + state->next;
		a->n = (size_t)(state->argc - state->next);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name a bundle");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* ---- what there is to check ---- */

enum part_state { PART_GOOD, PART_NONE, PART_BAD };
enum signer { SIGNER_ANY, SIGNER_TRUSTED, SIGNER_OTHER };

struct finding {
	const char *bundle;
	bool folder; /* else a capture alone */
	struct capture_report capture;
	int64_t to_realtime_ns;
	enum part_state sums, signature;
	struct diag sums_diag, signature_diag;
	enum signer signer;
	char fingerprint[SSHSIG_FINGERPRINT_MAX];
};

static int anchor(void *arg, const struct ev *ev)
{
	struct finding *f = arg;

	if (ev->type == EV_RUN_BEGIN && !f->to_realtime_ns)
		f->to_realtime_ns = (int64_t)(ev->run_begin.realtime_ns - ev->time_ns);
	return 0;
}

static enum part_state state_of(int err)
{
	return !err ? PART_GOOD : err == -ENOENT ? PART_NONE : PART_BAD;
}

static void check_signer(const struct verify_args *a, struct finding *f)
{
	uint8_t key[SSHSIG_KEY_BYTES];
	size_t usable;

	f->signature = state_of(bundle_signer(f->bundle, key, &f->signature_diag));
	if (f->signature != PART_GOOD)
		return;
	sshsig_fingerprint(key, f->fingerprint);
	if (a->key)
		f->signer =
			sshsig_is_among(key, a->trusted, &usable) ? SIGNER_TRUSTED : SIGNER_OTHER;
}

/* 0 where there was something to look at. */
static int look(const struct verify_args *a, const char *bundle, struct finding *f, struct diag *d)
{
	struct stat st;
	int err;

	*f = (struct finding){ .bundle = bundle, .sums = PART_NONE, .signature = PART_NONE };
	err = capture_read(bundle, anchor, f, &f->capture, d);
	if (err)
		return err;
	f->folder = !stat(bundle, &st) && S_ISDIR(st.st_mode);
	if (!f->folder)
		return 0;
	f->sums = state_of(bundle_check_files(bundle, &f->sums_diag));
	check_signer(a, f);
	return 0;
}

static bool is_capture_whole(const struct finding *f)
{
	return !f->capture.damaged && f->capture.complete;
}

static bool is_signature_enough(const struct verify_args *a, const struct finding *f)
{
	if (a->key)
		return f->signature == PART_GOOD && f->signer == SIGNER_TRUSTED;
	return f->signature != PART_BAD;
}

static bool is_whole(const struct verify_args *a, const struct finding *f)
{
	return is_capture_whole(f) && (!f->folder || f->sums == PART_GOOD) &&
	       is_signature_enough(a, f);
}

/* ---- for people ---- */

/* A file of the bundle that is not as it was: nothing tells which of its bytes. */
static uint64_t size_in_bundle(const struct finding *f, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return str_format(path, sizeof(path), "%s/%s", f->bundle, name) || stat(path, &st)
		       ? 0
		       : (uint64_t)st.st_size;
}

static void print_range(const char *file, uint64_t from, uint64_t to, const char *text)
{
	if (from < to)
		(void)printf("  damaged    %s, bytes %" PRIu64 " to %" PRIu64 ": %s\n", file, from,
			     to - 1, text);
	else
		(void)printf("  damaged    %s, at byte %" PRIu64 ": %s\n", file, from, text);
}

static void print_sealed(const struct finding *f)
{
	const struct capture_report *c = &f->capture;
	char when[TIME_TEXT_MAX];

	if (c->sealed_records)
		(void)printf("  sealed     record 1 to %" PRIu64
			     ", until %s; it ends in front of byte %" PRIu64 " of %s\n",
			     c->sealed_records,
			     time_text(c->sealed_ns + (uint64_t)f->to_realtime_ns, when),
			     c->sealed_offset, c->sealed_file);
	else
		(void)printf("  sealed     nothing\n");
	if (c->bytes > c->sealed_bytes)
		(void)printf("  unsealed   %" PRIu64 " bytes%s: no seal vouches for them\n",
			     c->bytes - c->sealed_bytes, c->sealed_bytes ? " behind that" : "");
}

static void print_capture(const struct finding *f)
{
	const struct capture_report *c = &f->capture;

	if (is_capture_whole(f)) {
		(void)printf("  capture    whole: %" PRIu64 " bytes in %u file%s, %" PRIu64
			     " records, %" PRIu64 " seals, all of them right; closed by the end of "
			     "the run\n",
			     c->bytes, c->segments, c->segments == 1 ? "" : "s", c->records,
			     c->seals);
		return;
	}
	print_range(c->damaged_file, c->damaged_offset, c->damaged_end, c->text);
	print_sealed(f);
}

static void print_sums(const struct finding *f)
{
	const struct diag *d = &f->sums_diag;

	if (f->sums == PART_GOOD)
		(void)printf("  files      all as listed in " BUNDLE_SUMS ", no other\n");
	else if (f->sums == PART_NONE)
		(void)printf("  files      there is no " BUNDLE_SUMS
			     ": the run was never closed, or "
			     "somebody removed it\n");
	else
		print_range(d->file, 0, size_in_bundle(f, d->file), d->text);
}

static void print_signature(const struct verify_args *a, const struct finding *f)
{
	const struct diag *d = &f->signature_diag;

	if (f->signature == PART_BAD)
		print_range(d->file, 0, size_in_bundle(f, d->file), d->text);
	else if (f->signature == PART_NONE)
		(void)printf(
			"  signature  none: whoever changed a file could have sealed it anew%s\n",
			a->key ? "; a signature by a key of --key was asked for" : "");
	else if (f->signer == SIGNER_ANY)
		(void)printf("  signature  by %s, not compared with a key that you trust: --key\n",
			     f->fingerprint);
	else
		(void)printf("  signature  by %s, which is %s --key\n", f->fingerprint,
			     f->signer == SIGNER_TRUSTED ? "a key of" : "NO key of");
}

static void print_finding(const struct verify_args *a, const struct finding *f)
{
	char name[512];

	(void)printf("%s: %s\n", escape_text(name, sizeof(name), f->bundle, strlen(f->bundle)),
		     is_whole(a, f) ? "whole" : "NOT WHOLE");
	print_capture(f);
	if (f->folder) {
		print_sums(f);
		print_signature(a, f);
	} else {
		(void)printf("  files      a capture alone: no sums, no signature\n");
	}
}

/* ---- for programs ---- */

static void describe_damage(struct json_out *j, const char *file, uint64_t from, uint64_t to,
			    const char *text)
{
	json_object_begin(j, NULL);
	json_text(j, "file", file);
	json_u64(j, "from", from);
	json_u64(j, "to", to);
	json_text(j, "text", text);
	json_object_end(j);
}

static void describe_diag(struct json_out *j, const struct finding *f, const struct diag *d)
{
	describe_damage(j, d->file, 0, size_in_bundle(f, d->file), d->text);
}

static void describe_sealed(struct json_out *j, const struct finding *f)
{
	const struct capture_report *c = &f->capture;
	char when[TIME_TEXT_MAX];

	json_object_begin(j, "sealed");
	json_u64(j, "records", c->sealed_records);
	json_u64(j, "bytes", c->sealed_bytes);
	json_text(j, "file", c->sealed_file);
	json_u64(j, "offset", c->sealed_offset);
	if (c->sealed_records)
		json_text(j, "until", time_text(c->sealed_ns + (uint64_t)f->to_realtime_ns, when));
	json_object_end(j);
}

static void describe_signature(struct json_out *j, const struct finding *f)
{
	static const char *const states[] = {
		[PART_GOOD] = "good", [PART_NONE] = "none", [PART_BAD] = "bad"
	};

	json_object_begin(j, "signature");
	json_text(j, "state", states[f->signature]);
	if (f->signature == PART_GOOD)
		json_text(j, "fingerprint", f->fingerprint);
	if (f->signer != SIGNER_ANY)
		json_boolean(j, "trusted", f->signer == SIGNER_TRUSTED);
	json_object_end(j);
}

static int print_json(const struct verify_args *a, const struct finding *f)
{
	const struct capture_report *c = &f->capture;
	struct json_out j;
	int err;

	json_out_init(&j);
	json_object_begin(&j, NULL);
	json_u32(&j, "schema", 1);
	json_text(&j, "bundle", f->bundle);
	json_boolean(&j, "whole", is_whole(a, f));
	json_array(&j, "damaged");
	if (!is_capture_whole(f))
		describe_damage(&j, c->damaged_file, c->damaged_offset, c->damaged_end, c->text);
	if (f->sums == PART_BAD)
		describe_diag(&j, f, &f->sums_diag);
	if (f->signature == PART_BAD)
		describe_diag(&j, f, &f->signature_diag);
	json_array_end(&j);
	describe_sealed(&j, f);
	json_u64(&j, "bytes", c->bytes);
	json_boolean(&j, "sums", f->sums == PART_GOOD);
	describe_signature(&j, f);
	json_object_end(&j);
	json_newline(&j);
	err = json_out_error(&j);
	if (!err && fwrite(j.buf, 1, j.len, stdout) != j.len)
		err = -EIO;
	json_out_done(&j);
	return err;
}

/* ---- the command ---- */

static int verify_one(const struct verify_args *a, const char *bundle)
{
	struct finding f;
	struct diag d;

	if (look(a, bundle, &f, &d))
		return cmd_fail(&d, EXIT_USAGE);
	if (!a->json)
		print_finding(a, &f);
	else if (print_json(a, &f))
		return cmd_output_failed();
	return is_whole(a, &f) ? 0 : EXIT_DAMAGED;
}

/* Without a key in it, nothing could ever be signed by one of them. */
static int read_trusted(struct verify_args *a, struct diag *d)
{
	static const uint8_t none[SSHSIG_KEY_BYTES];
	size_t len, usable = 0;
	int err;

	if (!a->key)
		return 0;
	err = read_file(a->key, SIGNERS_MAX, &a->trusted, &len);
	if (err)
		return diag_set(d, err, a->key, 0, 0, "can't read it: %s", strerror(-err));
	(void)sshsig_is_among(none, a->trusted, &usable);
	return usable ? 0
		      : diag_set(d, -EINVAL, a->key, 0, 0,
				 "has no Ed25519 key for the namespace " SSHSIG_NAMESPACE
				 "; others are for ssh-keygen -Y verify");
}

/* What can't be read at all outweighs damage: nothing is known of it. */
static int verify_all(const struct verify_args *a)
{
	int code = 0;

	for (size_t i = 0; i < a->n; i++) {
		int one = verify_one(a, a->bundles[i]);

		if (one == EXIT_OUTPUT)
			return one;
		if (code != EXIT_USAGE && one)
			code = one;
	}
	return code;
}

int cmd_verify(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse,
		"BUNDLE...",
		"Check that a recorded run is as it was written: every seal of its capture, every "
		"file by " BUNDLE_SUMS
		", and the signature of that. Names the first damaged bytes, "
		"and how far the seals still reach.\v"
		"Exit status: 0 all of it is whole; 5 something is damaged, or not signed by a key "
		"that --key names; 2 usage, or nothing that could be read.",
		NULL,
		NULL,
		NULL
	};
	struct verify_args a = { .key = NULL };
	struct diag d;
	int code;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return EXIT_USAGE;
	cmd_log(a.json);
	code = read_trusted(&a, &d) ? cmd_fail(&d, EXIT_USAGE) : verify_all(&a);
	free(a.trusted);
	return code;
}

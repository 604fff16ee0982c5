/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Target files (DESIGN.md 6.2; sentinel-target(5)): a sandbox platform in one configuration, how a
 * command is run in it, what it claims, and how its control is loosened.
 *
 * A file is read strictly: what this loader does not know, it refuses, with file, line and column.
 * A command that is named by a relative path with a '/' is looked for from the file's own folder,
 * so that a target and its launcher travel together. A loaded target is immutable, and everything
 * in it lives until target_free().
 */
#ifndef SENTINEL_RIG_TARGET_H
#define SENTINEL_RIG_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/decode/ev.h"
#include "user/rig/placeholder.h"

#define TARGET_FILE_MAX 65536 /* bytes of a file */
#define TARGET_LIST_MAX 64    /* entries of any list in it: arguments, claims, patterns */
#define TARGET_ARG_MAX 4096   /* bytes of one argument, as PATH_MAX */

/* Whether the lane's own deny rule in `host` is on while the command runs. */
enum target_lane {
	TARGET_LANE_OPEN = 0,
	TARGET_LANE_CLOSED,
	TARGET_LANE_INVALID = -1, /* while loading only */
};

/* How the session's lines come out of the sandbox. */
enum target_answer { TARGET_ANSWER_STDOUT = 0 };

/* Where the platform itself says it. Never NULL; "" only in a claim that is not claimed. */
struct target_source {
	char *document, *section, *version, *quote;
};

struct target_place { /* in the file, from 1 */
	unsigned int line, column;
};

/* Lists are NULL-terminated. A probe pattern is a probe's id, "@family", or "*" for all; places
 * says where each of probes stands. */
struct target_claim {
	char **probes;
	struct target_place *places;
	bool claimed;
	struct target_source source;
};

struct target_off {
	char **probes;
	struct target_place *places;
	char **run; /* the target's own where the file gives none */
	enum target_lane lane;
};

struct target {
	char name[EV_NAME_MAX]; /* [a-z0-9-], 1 to 63 */
	char *about;
	char *path;			 /* the file, as it was given to target_load() */
	uint8_t digest[EV_DIGEST_BYTES]; /* SHA-256 of the file's bytes */

	char **version; /* command whose first line of output names the version; may be empty */
	char **needs;	/* what must be there (need.h); may be empty */
	char *user;
	uid_t uid; /* of user, in the initial user namespace */
	gid_t gid;

	uint32_t expect; /* EXPECT_*, never 0; the values below count where their bit is set */
	uint32_t expect_uid, expect_nnp, expect_seccomp;

	struct target_claim *claims; /* in the order of the file: the first match wins */
	size_t claims_n;

	char **run;
	enum target_lane lane;
	struct target_off *off; /* the first match wins */
	size_t off_n;
	/* For which probes the policy lets the rig's allowed destination through; may be empty. */
	char **allowed;
	struct target_place *allowed_places;

	bool inferred; /* attempt: inferred (the platform runs a guest kernel) */
	enum target_answer answer;
	uint32_t settle_ms;	   /* 0: the probe's own window */
	uint32_t steady_ms;	   /* every second round waits that long; 0: there are none such */
	uint32_t start_timeout_ms; /* until challenge 1 must have been answered */
	enum role role;		   /* `calibrator:` makes it other than ROLE_TARGET */
	enum far_side far;	   /* which far side it is aimed at */
};

/*
 * Reads and checks the file. On success *ret is the caller's, for target_free(). Else -errno
 * (-EINVAL for a broken file) with d saying where and why; *ret is untouched.
 */
int target_load(struct target **ret, const char *path, struct diag *d) must_check;
void target_free(struct target *t); /* NULL is fine */

/* What the target says about a probe: the first entry that matches its name or one of its n
 * families (with or without the leading '@'). NULL: it says nothing, so nothing is claimed, or
 * there is no `off` for it. Borrowed from t. */
const struct target_claim *target_claim_for(const struct target *t, const char *probe,
					    const char *const *families, size_t n);
const struct target_off *target_off_for(const struct target *t, const char *probe,
					const char *const *families, size_t n);

/* Whether the target says that an allowed destination must work for the probe. */
bool target_allows(const struct target *t, const char *probe, const char *const *families,
		   size_t n);

/* Whether every pattern in claims, off and allowed is one that known() knows: a claim that matches
 * no probe would quietly claim nothing. In allowed, one must be can_allow() too: of a probe that
 * could go to an allowed destination. "*" needs no asking. 0, or -EINVAL with d saying which and
 * where. */
struct target_knowing {
	bool (*known)(void *arg, const char *pattern);
	bool (*can_allow)(void *arg, const char *pattern);
	void *arg;
};
int target_check_probes(const struct target *t, const struct target_knowing *k,
			struct diag *d) must_check;

/* "DOCUMENT, SECTION, VERSION" into out; cut text ends in "...". Returns out. */
const char *target_source_text(const struct target_source *s, char *out, size_t n);

/* Fills the record that goes into the capture; version is what the target's command printed. */
void target_to_ev(const struct target *t, const char *version, struct ev_target *ret);

/* What the placeholders stand for; NULL: nothing here. */
struct target_vars {
	char *const *cmd; /* {cmd}: the session's argv, NULL-terminated */
	/* of the others: {id} of the trial, also fit for a file name; {netns} path of the lane's
	 * box; {dir} a folder of the trial's own; {collector} the far side's address; {allowed},
	 * {allowed_name} where an allowed destination is, by address and by name; {probe} path
	 * of the program that the session is; {confine} of sentinel-confine; {home}, {twin_env},
	 * {twin_file} of what is planted */
	const char *value[PLACEHOLDER_UNKNOWN];
};

/*
 * argv with its placeholders filled in: an argument "{cmd}" becomes all of vars->cmd, the others
 * are replaced wherever they stand in an argument. -EINVAL where a placeholder has no value (a
 * loaded target has no unknown ones), -E2BIG, -ENOMEM. *ret_argv is the caller's:
 * target_argv_free().
 */
int target_expand(char *const *argv, const struct target_vars *vars, char ***ret_argv) must_check;
void target_argv_free(char **argv); /* a NULL-terminated list and its strings; NULL is fine */

/* Paths of all *.yaml in dir, sorted by name, NULL-terminated; target_argv_free() frees them. */
int targets_find(const char *dir, char ***ret_paths) must_check;

/* Whether all that the target needs is here (need.h). If not, the first that is missing is in
 * missing. */
bool target_available(const struct target *t, char *missing, size_t n);

#endif

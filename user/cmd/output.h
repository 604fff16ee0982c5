/* SPDX-License-Identifier: Apache-2.0 */
/* How a result is shown: the options that `run` and `replay` have in common, and the showing. */
#ifndef SENTINEL_OUTPUT_H
#define SENTINEL_OUTPUT_H

#include <argp.h>

#include "user/base/diag.h"
#include "user/judge/verdict.h"
#include "user/report/expect.h"
#include "user/report/table.h"

/* Files that a result is written to, too. */
enum output_file { OUTPUT_JUNIT, OUTPUT_TAP, OUTPUT_SUMMARY, OUTPUT_FILES };

struct output {
	bool json, accept_provisional;
	enum color_when color;
	const char *expect_path;
	struct expect *expect; /* NULL: every scored cell is to be contained */
	struct {
		const char *path; /* NULL: not wanted */
		FILE *f;
	} file[OUTPUT_FILES];
};

/* The options that run and replay have in common, for the children of a command's argp; their input
 * is a struct output, zeroed before. */
extern const struct argp output_argp;

/* Reads what is expected and opens the files, before there is a result: output_close() in any case.
 * 0, or -errno with d filled. */
int output_open(struct output *out, struct diag *d) must_check;
void output_close(struct output *out);

/* The exit code of a result, and what it means, into t. What is not as expected is logged. */
void output_code(const struct output *out, const struct run_result *r, bool skipped_named,
		 bool damaged, struct table_opts *t);

/* Writes the files. 0, or -errno after saying why. */
int output_files(const struct output *out, const struct run_result *r) must_check;

/* Prints verdict.json or the table on standard output. Of o, skipped and skipped_n count, and
 * exit_code is shown. 0, or -errno after saying why. */
int output_result(const struct output *out, const struct run_result *r,
		  struct table_opts *o) must_check;

/*
 * The same of one bundle among several. JSON: one line, which has before the members of
 * verdict.json "bundle" (its path), "exit" (o->exit_code) and, where wrong is not "", "error".
 * Table: the path stands before it. r NULL: there is no result.
 */
int output_bundle(const struct output *out, const char *bundle, const char *wrong,
		  const struct run_result *r, struct table_opts *o) must_check;

/* The first "@family" of a built-in probe; NULL for any other. */
const char *output_family(const char *probe);

#endif

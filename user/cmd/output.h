/* SPDX-License-Identifier: Apache-2.0 */
/* How a result is shown: the options that `run` and `replay` have in common, and the showing. */
#ifndef SENTINEL_OUTPUT_H
#define SENTINEL_OUTPUT_H

#include <argp.h>

#include "user/judge/verdict.h"
#include "user/report/table.h"

struct output {
	bool json, accept_provisional;
	enum color_when color;
};

/* --json, --color and --accept, for the children of a command's argp; their input is a struct
 * output. */
extern const struct argp output_argp;

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

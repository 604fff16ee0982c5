/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own probe: a file that says what it is and which executable makes the attempt
 * (sentinel-probe(5)). Read as strictly as a target file.
 */
#ifndef SENTINEL_RIG_PROBE_FILE_H
#define SENTINEL_RIG_PROBE_FILE_H

#include "probes/probe.h"
#include "user/base/diag.h"

#define PROBE_FILE_MAX 65536 /* bytes of a file */

struct probe_file {
	struct probe_manifest m; /* own is run; families and about point into this */
	char *path;
	char *about;
	char **families;
	char **needs;
	char **run;    /* run[0] is a command of the sandbox, or the name of the copy of program */
	char *program; /* the executable beside the file; NULL: run[0] is in the sandbox's PATH */
	uint8_t digest[EV_DIGEST_BYTES]; /* SHA-256 of the file's bytes */
	/* Whoever copied the program to where sandboxes see it fills in what of m goes by that, and
	 * run[0]; these are the program's digest, and the strings' home. */
	uint8_t program_digest[EV_DIGEST_BYTES];
	char *folder, *session;
};

/* *ret is the caller's, for probe_file_free(). Else -errno with d saying where and why. */
int probe_file_load(struct probe_file **ret, const char *path, struct diag *d) must_check;
void probe_file_free(struct probe_file *p); /* NULL is fine */

#endif

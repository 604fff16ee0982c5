/* SPDX-License-Identifier: Apache-2.0 */
/* By which key a run's bundle is signed. */
#ifndef SENTINEL_SIGNING_KEY_H
#define SENTINEL_SIGNING_KEY_H

#include <limits.h>

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/record/sshsig.h"

struct signing_key {
	char path[PATH_MAX]; /* absolute; "" = nobody signs */
};

/*
 * wanted: a file, "none", or NULL: what $SENTINEL_KEY says, else SSHSIG_KEY_FILE. Makes the key
 * where there is none. One that was named and can't be had is an error (d filled); without the
 * usual one a run can do its work: that is a warning, and the bundle stays unsigned.
 */
int signing_key_prepare(struct signing_key *k, const char *wanted, struct diag *d) must_check;

/* For client_run: NULL where nobody signs. */
const char *signing_key_path(const struct signing_key *k);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evidence bundle: one folder per run, closed by SHA256SUMS over all its files, as sha256sum
 * writes it and `sha256sum -c` checks it, sorted by name in byte order.
 *
 * A bundle holds plain files and folders only. A name with a control character or a backslash is
 * refused: sha256sum would write it in another way, and a terminal would be driven by it.
 */
#ifndef SENTINEL_RECORD_BUNDLE_H
#define SENTINEL_RECORD_BUNDLE_H

#include "user/base/diag.h"
#include "user/base/util.h"
#include "user/decode/ev.h"
#include "user/record/sshsig.h"

#define BUNDLE_SUMS "SHA256SUMS"
#define BUNDLE_SIGNATURE "SHA256SUMS.sig"
#define BUNDLE_FILES_MAX 4096 /* segments of 64 MiB: a run of 256 GiB */
#define BUNDLE_DEPTH_MAX 4
#define BUNDLE_INPUT_MAX (16u << 20) /* one input file */

/* Copies the file source into dir/subdir (made where it is missing; "" = dir itself) under its own
 * name. -EEXIST where the bundle has one of that name, -EFBIG above BUNDLE_INPUT_MAX. */
int bundle_add_file(const char *dir, const char *subdir, const char *source,
		    struct diag *d) must_check;

/* Writes a file dir/name; name may be "SUBDIR/NAME". Whole or not at all; replaces an older one. */
int bundle_add_bytes(const char *dir, const char *name, const void *data, size_t len,
		     struct diag *d) must_check;

#define BUNDLE_PATH_MAX 256

struct bundle_file {
	char path[BUNDLE_PATH_MAX]; /* within the bundle */
	uint8_t sha256[EV_DIGEST_BYTES];
};

/* All files but SHA256SUMS and its signature, sorted by path in byte order. The caller frees *ret.
 */
int bundle_list(const char *dir, struct bundle_file **ret, size_t *ret_n,
		struct diag *d) must_check;

/* Writes SHA256SUMS over everything but itself and its signature, and syncs it. A signature that
 * was there is removed: it was of other sums. */
int bundle_seal(const char *dir, struct diag *d) must_check;

/* Signs SHA256SUMS as it is: writes SHA256SUMS.sig. After bundle_seal(), each time. */
int bundle_sign(const char *dir, const struct sshsig_key *key, struct diag *d) must_check;

/* Compares the bundle with its SHA256SUMS, and that with its signature, where there is one.
 * -EBADMSG where a file differs, is missing, or is not listed (d names the first), or where the
 * signature is none of SHA256SUMS; -ENOENT without SHA256SUMS. Whose the signature is, is not
 * asked. */
int bundle_check(const char *dir, struct diag *d) must_check;

/* The same without the signature. */
int bundle_check_files(const char *dir, struct diag *d) must_check;

/* The key by which SHA256SUMS is signed. 0; -ENOENT without a signature; else as above. */
int bundle_signer(const char *dir, uint8_t ret[SSHSIG_KEY_BYTES], struct diag *d) must_check;

#endif

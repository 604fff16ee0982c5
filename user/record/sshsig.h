/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures as ssh-keygen(1) makes them with -Y sign: OpenSSH's PROTOCOL.sshsig, Ed25519, SHA-512,
 * namespace "sentinel-evidence". Whoever has a key's line of `allowed signers` checks them by
 * `ssh-keygen -Y verify`, without us.
 *
 * A signature has one form only: what differs from it in any byte, be it white space, is none.
 */
#ifndef SENTINEL_RECORD_SSHSIG_H
#define SENTINEL_RECORD_SSHSIG_H

#include "user/base/diag.h"
#include "user/base/util.h"

#define SSHSIG_NAMESPACE "sentinel-evidence"
#define SSHSIG_PRINCIPAL "sentinel" /* ssh-keygen's -I */
#define SSHSIG_KEY_BYTES 32	    /* a public key */
#define SSHSIG_TEXT_MAX 512	    /* a signature as text, NUL included */
#define SSHSIG_LINE_MAX 256	    /* a public key as text */
#define SSHSIG_FINGERPRINT_MAX 64

/* Where the key is kept if nobody says otherwise. */
#define SSHSIG_KEY_FILE "/var/lib/sentinel/evidence.key"

struct sshsig_key;

/*
 * The private key in file path (PEM). Where there is none it is made, with its folder: as a whole
 * or not at all, mode 0600, and beside it PATH.pub and PATH.allowed_signers; two of us that come at
 * the same time end up with the same. The caller owns *ret.
 *
 * 0; -errno with d filled: a key that others may read or replace is refused (-EPERM), so is one of
 * another kind (-EKEYREJECTED).
 */
int sshsig_key_open(struct sshsig_key **ret, const char *path, struct diag *d) must_check;
void sshsig_key_free(struct sshsig_key *k); /* NULL is fine */
void sshsig_key_public(const struct sshsig_key *k, uint8_t ret[SSHSIG_KEY_BYTES]);

/* The signature of data, as text with its NUL. 0 or -EIO. */
int sshsig_sign(const struct sshsig_key *k, const void *data, size_t len,
		char ret[SSHSIG_TEXT_MAX]) must_check;

/* Is text a signature of data, and by which key? 0, or -EBADMSG: no. Says nothing of who has that
 * key. */
int sshsig_verify(const char *text, size_t text_len, const void *data, size_t len,
		  uint8_t ret_key[SSHSIG_KEY_BYTES]) must_check;

/* "SHA256:...", as ssh-keygen -l shows it. */
void sshsig_fingerprint(const uint8_t key[SSHSIG_KEY_BYTES], char ret[SSHSIG_FINGERPRINT_MAX]);

/* "ssh-ed25519 BASE64": a line of authorized keys without its comment. */
void sshsig_public_line(const uint8_t key[SSHSIG_KEY_BYTES], char ret[SSHSIG_LINE_MAX]);

/* Whether the text of a file of public keys, or of allowed signers, has the key for our namespace.
 * Lines with options other than namespaces= are passed over: they hold under conditions that are
 * not checked here. *ret_usable: how many lines have a key that could have been it. */
bool sshsig_is_among(const uint8_t key[SSHSIG_KEY_BYTES], const char *text, size_t *ret_usable);

#endif

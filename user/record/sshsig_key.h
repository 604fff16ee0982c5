/* SPDX-License-Identifier: Apache-2.0 */
/* What sshsig.c and sshsig_key.c know of each other. */
#ifndef SENTINEL_RECORD_SSHSIG_KEY_H
#define SENTINEL_RECORD_SSHSIG_KEY_H

#include <openssl/types.h>

struct sshsig_key;

EVP_PKEY *sshsig_key_evp(const struct sshsig_key *k); /* borrowed */

#endif

// SPDX-License-Identifier: Apache-2.0
/*
 * A signature that came with a bundle, and a file of keys that somebody trusts. Nobody can make a
 * signature without the key: the only one that is accepted is the corpus's own, byte for byte. A
 * key is among others only where it stands there.
 */
#include "user/record/sshsig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the corpus; its private half is gone. */
#define PUBLIC_KEY                                                                                 \
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFN0FQOpp/CrxyR2SGQBYNLDlE42VnONCUR6/z09BQSo"
#define SIGNATURE_BYTES_MIN 290

static const char signed_data[] = "signed for the fuzzer\n";

static void as_signature(const char *text, size_t len)
{
	char line[SSHSIG_LINE_MAX], fingerprint[SSHSIG_FINGERPRINT_MAX];
	uint8_t key[SSHSIG_KEY_BYTES];

	if (sshsig_verify(text, len, signed_data, sizeof(signed_data) - 1, key) < 0)
		return;
	sshsig_public_line(key, line);
	sshsig_fingerprint(key, fingerprint);
	if (len < SIGNATURE_BYTES_MIN || len >= SSHSIG_TEXT_MAX || text[len - 1] != '\n' ||
	    strcmp(line, PUBLIC_KEY) != 0 || strncmp(fingerprint, "SHA256:", 7) != 0)
		abort();
}

static void as_keys(const char *text)
{
	static const uint8_t key[SSHSIG_KEY_BYTES] = { 1, 2, 3 };
	char line[SSHSIG_LINE_MAX];
	size_t usable;
	bool found = sshsig_is_among(key, text, &usable);

	sshsig_public_line(key, line);
	if (found && (!usable || !strstr(text, line)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* with a NUL behind it, and nothing more */
	cleanup_free char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	as_signature(text, size);
	as_keys(text);
	return 0;
}

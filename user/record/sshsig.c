// SPDX-License-Identifier: Apache-2.0
#include "user/record/sshsig.h"

#include <openssl/evp.h>

#include "user/record/sshsig_key.h"

/*
 * Numbers are big-endian, a string is its length in four bytes and its bytes:
 *
 *	"SSHSIG" | 1 | string(key) | string(namespace) | string("") | string("sha512") |
 *string(signed) key    = string("ssh-ed25519") string(32 bytes) signed = string("ssh-ed25519")
 *string(64 bytes), of "SSHSIG" | string(namespace) | string("") | string("sha512") | string(SHA-512
 *of data)
 */
#define MAGIC "SSHSIG"
#define KEY_TYPE "ssh-ed25519"
#define HASH_NAME "sha512"
#define HASH_BYTES 64
#define SIGNATURE_BYTES 64
#define BLOB_MAX 256
#define LINE_WIDTH 70 /* ssh-keygen's */
#define HEAD "-----BEGIN SSH SIGNATURE-----\n"
#define TAIL "-----END SSH SIGNATURE-----\n"

struct blob {
	uint8_t at[BLOB_MAX];
	size_t len;
};

static void put(struct blob *b, const void *data, size_t len)
{
	memcpy(b->at + b->len, data, len); /* all of them have a size that is known */
	b->len += len;
}

static void put_number(struct blob *b, uint32_t v)
{
	const uint8_t be[] = { (uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
			       (uint8_t)v };

	put(b, be, sizeof(be));
}

static void put_string(struct blob *b, const void *data, size_t len)
{
	put_number(b, (uint32_t)len);
	put(b, data, len);
}

static void put_text(struct blob *b, const char *text)
{
	put_string(b, text, strlen(text));
}

static void key_blob(const uint8_t key[SSHSIG_KEY_BYTES], struct blob *ret)
{
	ret->len = 0;
	put_text(ret, KEY_TYPE);
	put_string(ret, key, SSHSIG_KEY_BYTES);
}

/* What is signed in place of the data. */
static int message_blob(const void *data, size_t len, struct blob *ret)
{
	uint8_t hash[HASH_BYTES];

	if (!EVP_Digest(data, len, hash, NULL, EVP_sha512(), NULL))
		return -EIO;
	ret->len = 0;
	put(ret, MAGIC, strlen(MAGIC));
	put_text(ret, SSHSIG_NAMESPACE);
	put_text(ret, "");
	put_text(ret, HASH_NAME);
	put_string(ret, hash, sizeof(hash));
	return 0;
}

static void signature_blob(const uint8_t key[SSHSIG_KEY_BYTES],
			   const uint8_t signature[SIGNATURE_BYTES], struct blob *ret)
{
	struct blob part;

	ret->len = 0;
	put(ret, MAGIC, strlen(MAGIC));
	put_number(ret, 1);
	key_blob(key, &part);
	put_string(ret, part.at, part.len);
	put_text(ret, SSHSIG_NAMESPACE);
	put_text(ret, "");
	put_text(ret, HASH_NAME);
	part.len = 0;
	put_text(&part, KEY_TYPE);
	put_string(&part, signature, SIGNATURE_BYTES);
	put_string(ret, part.at, part.len);
}

/* ---- text ---- */

/* ret has room for 4 bytes for every 3, and a NUL. */
static size_t base64(const struct blob *b, char *ret)
{
	return (size_t)EVP_EncodeBlock((unsigned char *)ret, b->at, (int)b->len);
}

static void armor(const struct blob *b, char ret[SSHSIG_TEXT_MAX])
{
	char text[BLOB_MAX / 3 * 4 + 8];
	size_t n = base64(b, text), at = strlen(HEAD);

	memcpy(ret, HEAD, at);
	for (size_t i = 0; i < n; i += LINE_WIDTH) {
		size_t part = MIN(n - i, (size_t)LINE_WIDTH);

		memcpy(ret + at, text + i, part);
		at += part;
		ret[at++] = '\n';
	}
	memcpy(ret + at, TAIL, sizeof(TAIL));
}

/* The bytes of the base64 in text, whatever stands between its lines; who asks compares what he
 * makes of them with text. */
static int dearmor(const char *text, size_t len, struct blob *ret)
{
	const size_t frame = strlen(HEAD) + strlen(TAIL);
	unsigned char packed[BLOB_MAX / 3 * 4];
	size_t n = 0;
	int decoded;

	if (len >= SSHSIG_TEXT_MAX || len < frame)
		return -EBADMSG;
	for (size_t i = strlen(HEAD); i < len - strlen(TAIL); i++) {
		if (text[i] == '\n')
			continue;
		if (n == sizeof(packed))
			return -EBADMSG;
		packed[n++] = (unsigned char)text[i];
	}
	decoded = EVP_DecodeBlock(ret->at, packed, (int)n);
	ret->len = decoded < 0 ? 0 : (size_t)decoded;
	return decoded < 0 ? -EBADMSG : 0;
}

void sshsig_public_line(const uint8_t key[SSHSIG_KEY_BYTES], char ret[SSHSIG_LINE_MAX])
{
	struct blob b;

	key_blob(key, &b);
	memcpy(ret, KEY_TYPE " ", sizeof(KEY_TYPE " "));
	(void)base64(&b, ret + strlen(ret));
}

void sshsig_fingerprint(const uint8_t key[SSHSIG_KEY_BYTES], char ret[SSHSIG_FINGERPRINT_MAX])
{
	struct blob b, digest = { .len = 32 };
	char text[48];

	key_blob(key, &b);
	if (!EVP_Digest(b.at, b.len, digest.at, NULL, EVP_sha256(), NULL))
		digest.len = 0;
	(void)base64(&digest, text);
	text[strcspn(text, "=")] = '\0';
	(void)str_format(ret, SSHSIG_FINGERPRINT_MAX, "SHA256:%s", text);
}

/* ---- signing and verifying ---- */

int sshsig_sign(const struct sshsig_key *k, const void *data, size_t len, char ret[SSHSIG_TEXT_MAX])
{
	uint8_t key[SSHSIG_KEY_BYTES], signature[SIGNATURE_BYTES];
	size_t n = sizeof(signature);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	struct blob b;
	bool done;

	done = c && !message_blob(data, len, &b) &&
	       EVP_DigestSignInit(c, NULL, NULL, NULL, sshsig_key_evp(k)) &&
	       EVP_DigestSign(c, signature, &n, b.at, b.len) && n == sizeof(signature);
	EVP_MD_CTX_free(c);
	if (!done)
		return -EIO;
	sshsig_key_public(k, key);
	signature_blob(key, signature, &b);
	armor(&b, ret);
	return 0;
}

static bool is_signed(const uint8_t key[SSHSIG_KEY_BYTES], const uint8_t *signature,
		      const struct blob *message)
{
	EVP_PKEY *p = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, SSHSIG_KEY_BYTES);
	EVP_MD_CTX *c = EVP_MD_CTX_new();
	bool is = p && c && EVP_DigestVerifyInit(c, NULL, NULL, NULL, p) &&
		  EVP_DigestVerify(c, signature, SIGNATURE_BYTES, message->at, message->len) == 1;

	EVP_MD_CTX_free(c);
	EVP_PKEY_free(p);
	return is;
}

int sshsig_verify(const char *text, size_t text_len, const void *data, size_t len,
		  uint8_t ret_key[SSHSIG_KEY_BYTES])
{
	static const uint8_t zero[SIGNATURE_BYTES];
	uint8_t key[SSHSIG_KEY_BYTES], signature[SIGNATURE_BYTES];
	char again[SSHSIG_TEXT_MAX];
	struct blob b, message;
	size_t total;

	signature_blob(zero, zero, &b); /* for its length, which is always the same */
	total = b.len;
	if (dearmor(text, text_len, &b) || b.len < total)
		return -EBADMSG;
	memcpy(key, b.at + strlen(MAGIC) + 4 + 4 + 4 + strlen(KEY_TYPE) + 4, sizeof(key));
	memcpy(signature, b.at + total - SIGNATURE_BYTES, sizeof(signature));
	signature_blob(key, signature, &b);
	armor(&b, again);
	if (strlen(again) != text_len || memcmp(again, text, text_len) != 0)
		return -EBADMSG;
	if (message_blob(data, len, &message) || !is_signed(key, signature, &message))
		return -EBADMSG;
	memcpy(ret_key, key, sizeof(key));
	return 0;
}

/* ---- keys that somebody trusts ---- */

/* The next word of a line, in which quotes keep blanks together; "" at its end. */
static size_t next_word(const char **line)
{
	const char *p = *line + strspn(*line, " \t");
	size_t n = 0;

	*line = p;
	for (bool quoted = false; p[n] && p[n] != '\n' && p[n] != '\r'; n++) {
		if (p[n] == '"')
			quoted = !quoted;
		else if (!quoted && (p[n] == ' ' || p[n] == '\t'))
			break;
	}
	return n;
}

static bool is_word(const char *word, size_t n, const char *want)
{
	return n == strlen(want) && !memcmp(word, want, n);
}

/* "KEY", "PRINCIPALS KEY" or "PRINCIPALS namespaces="sentinel-evidence" KEY": where its key is. */
static const char *key_of_line(const char *line)
{
	for (int words = 0; words < 3; words++) {
		size_t n = next_word(&line);

		if (!n || (!words && *line == '#'))
			return NULL;
		if (is_word(line, n, KEY_TYPE))
			return line;
		if (words == 1 && !is_word(line, n, "namespaces=\"" SSHSIG_NAMESPACE "\""))
			return NULL;
		line += n;
	}
	return NULL;
}

bool sshsig_is_among(const uint8_t key[SSHSIG_KEY_BYTES], const char *text, size_t *ret_usable)
{
	char want[SSHSIG_LINE_MAX];
	size_t len;
	bool found = false;

	sshsig_public_line(key, want);
	len = strlen(want);
	*ret_usable = 0;
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = key_of_line(text);

		if (!at)
			continue;
		++*ret_usable;
		if (!strncmp(at, want, len) && (!at[len] || strchr(" \t\r\n", at[len])))
			found = true;
	}
	return found;
}

// SPDX-License-Identifier: Apache-2.0
/*
 * The low-level SHA256_*() calls, deprecated since OpenSSL 3.0: SHA256() and HMAC() go through the
 * provider machinery, which opens openssl.cnf, reads the environment and costs the static probe a
 * millisecond at each start. A probe reads nothing but its argv.
 */
#define OPENSSL_API_COMPAT 0x10100000L
#include "user/base/mac.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "user/base/util.h"

#define BLOCK 64 /* of SHA-256 */
#define MESSAGE_MAX 256

/* SHA-256 of one padded key block and a message. */
static void sha256_padded(const uint8_t block[BLOCK], const void *msg, size_t len,
			  uint8_t ret[MAC_BYTES])
{
	SHA256_CTX c;

	(void)SHA256_Init(&c);
	(void)SHA256_Update(&c, block, BLOCK);
	(void)SHA256_Update(&c, msg, len);
	(void)SHA256_Final(ret, &c);
}

/* RFC 2104; the keys here are at most one block. */
static void hmac_sha256(const uint8_t *key, size_t key_len, const uint8_t *msg, size_t msg_len,
			uint8_t ret[MAC_BYTES])
{
	uint8_t inner[BLOCK], outer[BLOCK], digest[MAC_BYTES];

	memset(inner, 0x36, BLOCK);
	memset(outer, 0x5c, BLOCK);
	for (size_t i = 0; i < key_len; i++) {
		inner[i] ^= key[i];
		outer[i] ^= key[i];
	}
	sha256_padded(inner, msg, msg_len, digest);
	sha256_padded(outer, digest, sizeof(digest), ret);
}

/* label | a | b, each part whole */
struct message {
	uint8_t bytes[MESSAGE_MAX];
	size_t len;
};

static void message_add(struct message *m, const void *data, size_t len)
{
	size_t room = sizeof(m->bytes) - m->len, n = MIN(len, room);

	memcpy(m->bytes + m->len, data, n);
	m->len += n;
}

void mac_token(const uint8_t nonce[MAC_NONCE_BYTES], const char *probe,
	       uint8_t ret[MAC_NONCE_BYTES])
{
	struct message m = { .len = 0 };
	uint8_t mac[MAC_BYTES];

	message_add(&m, "token", 5);
	message_add(&m, probe, strlen(probe));
	hmac_sha256(nonce, MAC_NONCE_BYTES, m.bytes, m.len, mac);
	memcpy(ret, mac, MAC_NONCE_BYTES);
}

static void mac_moment(const uint8_t nonce[MAC_NONCE_BYTES], const char *label,
		       const uint8_t challenge[MAC_NONCE_BYTES],
		       const uint8_t instance[MAC_NONCE_BYTES], uint8_t ret[MAC_BYTES])
{
	struct message m = { .len = 0 };

	message_add(&m, label, strlen(label));
	message_add(&m, challenge, MAC_NONCE_BYTES);
	message_add(&m, instance, MAC_NONCE_BYTES);
	hmac_sha256(nonce, MAC_NONCE_BYTES, m.bytes, m.len, ret);
}

void mac_alive(const uint8_t nonce[MAC_NONCE_BYTES], int which,
	       const uint8_t challenge[MAC_NONCE_BYTES], const uint8_t instance[MAC_NONCE_BYTES],
	       uint8_t ret[MAC_BYTES])
{
	mac_moment(nonce, which == 1 ? "alive1" : "alive2", challenge, instance, ret);
}

void mac_ran(const uint8_t nonce[MAC_NONCE_BYTES], const uint8_t challenge[MAC_NONCE_BYTES],
	     const uint8_t instance[MAC_NONCE_BYTES], uint8_t ret[MAC_BYTES])
{
	mac_moment(nonce, "ran", challenge, instance, ret);
}

static void answer_by(const uint8_t *key, size_t key_len, const uint8_t token[MAC_NONCE_BYTES],
		      uint8_t ret[MAC_BYTES])
{
	struct message m = { .len = 0 };

	message_add(&m, "answer", 6);
	message_add(&m, token, MAC_NONCE_BYTES);
	hmac_sha256(key, key_len, m.bytes, m.len, ret);
}

void mac_answer(const uint8_t key[MAC_BYTES], const uint8_t token[MAC_NONCE_BYTES],
		uint8_t ret[MAC_BYTES])
{
	answer_by(key, MAC_BYTES, token, ret);
}

void mac_sibling_answer(const uint8_t secret[MAC_NONCE_BYTES], const uint8_t token[MAC_NONCE_BYTES],
			uint8_t ret[MAC_BYTES])
{
	answer_by(secret, MAC_NONCE_BYTES, token, ret);
}

static void mac_planted(const uint8_t key[MAC_BYTES], const char *label,
			const uint8_t nonce[MAC_NONCE_BYTES], uint8_t ret[MAC_NONCE_BYTES])
{
	struct message m = { .len = 0 };
	uint8_t mac[MAC_BYTES];

	message_add(&m, label, strlen(label));
	message_add(&m, nonce, MAC_NONCE_BYTES);
	hmac_sha256(key, MAC_BYTES, m.bytes, m.len, mac);
	memcpy(ret, mac, MAC_NONCE_BYTES);
}

void mac_secret(const uint8_t key[MAC_BYTES], const uint8_t nonce[MAC_NONCE_BYTES],
		uint8_t ret[MAC_NONCE_BYTES])
{
	mac_planted(key, "secret", nonce, ret);
}

void mac_twin(const uint8_t key[MAC_BYTES], const uint8_t nonce[MAC_NONCE_BYTES],
	      uint8_t ret[MAC_NONCE_BYTES])
{
	mac_planted(key, "twin", nonce, ret);
}

void mac_plant(const uint8_t planted[MAC_NONCE_BYTES], const uint8_t challenge[MAC_NONCE_BYTES],
	       const uint8_t instance[MAC_NONCE_BYTES], uint8_t ret[MAC_BYTES])
{
	mac_moment(planted, "plant", challenge, instance, ret);
}

bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES])
{
	return CRYPTO_memcmp(a, b, MAC_BYTES) == 0;
}

uint64_t mac_mark(const uint8_t nonce[MAC_NONCE_BYTES])
{
	uint64_t mark = 0;

	for (size_t i = 0; i < sizeof(mark); i++)
		mark = mark << 8 | nonce[i];
	return mark;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proofs and tokens. One place says what is hashed, for the probe, the collector and the judge.
 *
 *   token  = first 16 bytes of HMAC-SHA256(nonce, "token" | probe name)
 *   alive  = HMAC-SHA256(nonce, "alive1" or "alive2" | challenge | instance)
 *   ran    = HMAC-SHA256(nonce, "ran" | challenge1 | instance)
 *   answer = HMAC-SHA256(run key, "answer" | token)
 *   secret = first 16 bytes of HMAC-SHA256(run key, "secret" | nonce); its harmless twin: "twin"
 *   plant  = HMAC-SHA256(secret or twin, "plant" | challenge1 | instance)
 *
 * The sandbox beside a trial's own (DEST_SIBLING) has neither nonce nor run key: of it, alive and
 * answer are made with the trial's secret in their place.
 *
 * The nonce (16 bytes) and the challenges travel in argv and on stdin, so alive and ran only tie
 * lines to one instance and one moment; they grant nothing. The run key is known to the daemon and
 * the far side alone: answer proves that the far side was reached, plant that the secret was read.
 */
#ifndef SENTINEL_BASE_MAC_H
#define SENTINEL_BASE_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_NONCE_BYTES 16
#define MAC_BYTES 32

/* A token as text, wherever a channel carries text: this and 32 hexadecimal digits. The far side
 * answers a token that came so by the other, 64 digits and a newline. */
#define MAC_TOKEN_PREFIX "SENTINEL "
#define MAC_ANSWER_PREFIX "SENTINEL-ANSWER "

void mac_token(const uint8_t nonce[MAC_NONCE_BYTES], const char *probe,
	       uint8_t ret[MAC_NONCE_BYTES]);
void mac_alive(const uint8_t nonce[MAC_NONCE_BYTES], int which,
	       const uint8_t challenge[MAC_NONCE_BYTES], const uint8_t instance[MAC_NONCE_BYTES],
	       uint8_t ret[MAC_BYTES]);
void mac_ran(const uint8_t nonce[MAC_NONCE_BYTES], const uint8_t challenge[MAC_NONCE_BYTES],
	     const uint8_t instance[MAC_NONCE_BYTES], uint8_t ret[MAC_BYTES]);
void mac_answer(const uint8_t key[MAC_BYTES], const uint8_t token[MAC_NONCE_BYTES],
		uint8_t ret[MAC_BYTES]);
void mac_sibling_answer(const uint8_t secret[MAC_NONCE_BYTES], const uint8_t token[MAC_NONCE_BYTES],
			uint8_t ret[MAC_BYTES]);

/* What is planted for a trial: 16 bytes each. */
void mac_secret(const uint8_t key[MAC_BYTES], const uint8_t nonce[MAC_NONCE_BYTES],
		uint8_t ret[MAC_NONCE_BYTES]);
void mac_twin(const uint8_t key[MAC_BYTES], const uint8_t nonce[MAC_NONCE_BYTES],
	      uint8_t ret[MAC_NONCE_BYTES]);
/* What only a session that read it can say. planted: the secret or the twin. */
void mac_plant(const uint8_t planted[MAC_NONCE_BYTES], const uint8_t challenge[MAC_NONCE_BYTES],
	       const uint8_t instance[MAC_NONCE_BYTES], uint8_t ret[MAC_BYTES]);

/* In constant time. */
bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES]);

/* The first 8 bytes of a nonce, the first the most significant: what the kernel side knows a trial
 * by (bpf/events.h, snt_hdr.mark). */
uint64_t mac_mark(const uint8_t nonce[MAC_NONCE_BYTES]);

#endif

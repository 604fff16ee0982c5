/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sentinel-probe is besides a session: somebody whom a session may find. It says
 * SESSION_LINE_READY on a line of its own once it is there, and goes with its stdin.
 *
 * That it is there counts for the verdict, since nobody finds who is not: it proves itself alive,
 * as a session does (session_line.h), before it says that, and again when it is challenged; with
 * the secret in the nonce's place.
 */
#ifndef SENTINEL_PROBES_STAND_IN_H
#define SENTINEL_PROBES_STAND_IN_H

#include "user/base/session_line.h"

/*
 * `sentinel-probe decoy NONCE CHALLENGE`: a process with an environment (decoy.c). Its exit code.
 */
int decoy_run(const char *nonce, const char *challenge, int in, int out);

/*
 * `sentinel-probe sibling PORT CHALLENGE`: another sandbox's listener (sibling.c). The first line
 * of its stdin is the secret, 32 hexadecimal digits; SESSION_LINE_READY is followed by " at=" and
 * the address by which others may reach it, where it has one. Its exit code.
 */
int sibling_run(const char *port, const char *challenge, int in, int out);

struct stand_in {
	uint8_t secret[MAC_NONCE_BYTES], instance[MAC_NONCE_BYTES];
	int out;
};

/* which: 1, or 2 where it is challenged. 0 or -errno. */
int stand_in_say_alive(const struct stand_in *s, int which,
		       const uint8_t challenge[MAC_NONCE_BYTES]) must_check;

/* Whether a line of its stdin is a challenge. */
bool stand_in_challenge(const char *line, uint8_t ret[MAC_NONCE_BYTES]);

#endif

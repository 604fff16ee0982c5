/* SPDX-License-Identifier: Apache-2.0 */
/* What the probes' functions share: the destination, waiting, and saying how it went. */
#ifndef SENTINEL_PROBES_ATTEMPT_H
#define SENTINEL_PROBES_ATTEMPT_H

#include <sys/socket.h>

#include "probes/probe.h"

/* "SENTINEL ", the token's digits, newline */
#define ATTEMPT_TEXT_MAX (sizeof(MAC_TOKEN_PREFIX) + 2 * MAC_NONCE_BYTES + 1)

/* The destination as an address of the family of the manifest's socket, an IPv4 one v4-mapped where
 * that is AF_INET6; its length. */
socklen_t attempt_destination(const struct probe_attempt *a, struct sockaddr_storage *ret);

/* The token as text into out; its length without the NUL. */
size_t attempt_token_text(const struct probe_attempt *a, char out[ATTEMPT_TEXT_MAX]);

/* Waits for poll() events on fd until the deadline (CLOCK_MONOTONIC). 1 ready, 0 the deadline
 * passed, even where there is something to read: nobody can keep us longer by sending. -errno. */
int wait_until(uint64_t deadline_ns, int fd, short events);

/* Sets the view to a word, or to the name of errno value err (> 0). */
void outcome_word(struct probe_outcome *o, const char *word);
void outcome_errno(struct probe_outcome *o, int err);

/* The far side's 64 digits: fills answer, and the view with "answered". */
bool outcome_answer_hex(struct probe_outcome *o, const void *hex, size_t len);

/* Finds an answer line ("SENTINEL-ANSWER ", digits, newline) in what the far side sent. */
bool outcome_answer_text(struct probe_outcome *o, const void *text, size_t len);

/* How a datagram leaves. 0 or -errno. */
typedef int (*datagram_send)(int fd, const void *data, size_t len, const struct sockaddr *to,
			     socklen_t to_len);
int datagram_sendto(int fd, const void *data, size_t len, const struct sockaddr *to,
		    socklen_t to_len);

/*
 * Sends one datagram to the destination and hands each that comes back to check(), until that says
 * that the outcome is settled or the deadline passes (view "sent"). ICMP errors are failures of the
 * receiving call.
 */
typedef bool (*datagram_check)(struct probe_outcome *o, const uint8_t *data, size_t len,
			       const void *arg);
void attempt_datagram(const struct probe_attempt *a, datagram_send send_it, const void *data,
		      size_t len, datagram_check check, const void *arg, struct probe_outcome *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's command line: everything it knows comes from here, since many platforms drop the
 * environment.
 *
 *   sentinel-probe SENTINEL1:<32 hex nonce> probe=NAME to=ADDR port=N challenge=<32 hex>
 *                  timeout_ms=N hold_ms=N [wait_ms=N] [name=NAME]
 *                  [home=PATH] [twin=TEXT] [canary=connect] [-- COMMAND [WORD]...]
 *
 * The nonce stands in argv[1], where the kernel side reads it at exec (bpf/events.h). The others
 * follow in any order, each once, those in brackets at most. A probe of AF_UNIX has to=unix:/PATH
 * or to=unix:@NAME and no port, one of a secret neither. A command makes it a user's own probe
 * (own.h), and NAME is none of ours.
 */
#ifndef SENTINEL_PROBES_SESSION_ARGS_H
#define SENTINEL_PROBES_SESSION_ARGS_H

#include "probes/probe.h"

#define SESSION_TIMEOUT_MS_MAX 60000u
#define SESSION_HOLD_MS_MAX 3600000u
#define SESSION_WAIT_MS_MAX 600000u
#define SESSION_PATH_MAX 256

struct session_args {
	uint8_t nonce[MAC_NONCE_BYTES];
	uint8_t challenge[MAC_NONCE_BYTES];
	const struct probe_manifest *manifest;
	uint8_t to[16]; /* of the manifest's family; IPv4 as v4-mapped */
	uint16_t port;
	char path[108];		     /* AF_UNIX; '@' for an abstract name's leading NUL */
	char home[SESSION_PATH_MAX]; /* of a secret: see probe_attempt */
	char twin[SESSION_PATH_MAX];
	uint32_t timeout_ms;	/* for the whole attempt */
	uint32_t hold_ms;	/* how long it waits for the second challenge */
	uint32_t wait_ms;	/* the attempt is made that long after the session's start */
	char name[EV_NAME_MAX]; /* "": the probe's own; see probe_attempt */
	bool canary;		/* a call that the sandbox must refuse is made first (canary.h) */
	char *const *command;	/* of a user's own probe, borrowed from argv; NULL: one of ours */
	char own_name[EV_NAME_MAX];
};

/* 0, or -EINVAL with a line for people in why (of size n). *ret is unspecified then. */
int session_args_parse(int argc, char *const argv[], struct session_args *ret, char *why,
		       size_t n) must_check;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS over a connection of a probe's. It asks nobody for a certificate that it trusts: whoever
 * answers is handed the token, and only the far side can prove that it had it. Reads no
 * configuration, no file and no environment. Nothing of the library runs before the first use.
 */
#ifndef SENTINEL_PROBES_TLS_CLIENT_H
#define SENTINEL_PROBES_TLS_CLIENT_H

#include "probes/http_client.h"

struct tls_client;

/* Shakes hands over fd, which stays the caller's, by the deadline; name is said as that of the
 * server (SNI). 0; -ETIMEDOUT; -EPROTO where the other side speaks no TLS with us; -EPIPE where it
 * ended; -ENOMEM; or the connection's -errno. */
int tls_client_new(const struct probe_attempt *a, int fd, const char *name,
		   struct tls_client **ret) must_check;
void tls_client_free(struct tls_client *t);

/* For requests over it. */
struct http_io tls_client_io(struct tls_client *t);

#endif

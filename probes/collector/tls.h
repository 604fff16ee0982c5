/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The far side's TLS: a server in memory, fed with the bytes that came and asked for those to send.
 * It never touches a descriptor, waits for nothing, and reads no file and no environment.
 */
#ifndef SENTINEL_COLLECTOR_TLS_H
#define SENTINEL_COLLECTOR_TLS_H

#include <sys/types.h>

#include "user/base/util.h"

struct tls_server; /* key and certificate, both made up */
struct tls;	   /* one connection */

/* NULL: it can't be made. A millisecond or two. */
struct tls_server *tls_server_new(void);
void tls_server_free(struct tls_server *s);

struct tls *tls_new(struct tls_server *s); /* NULL: no memory */
void tls_free(struct tls *t);

/* Takes len bytes that came. 0 or -ENOMEM. */
int tls_feed(struct tls *t, const void *raw, size_t len) must_check;

/* Goes on with the handshake. 1 it is over, 0 more must come, -EPROTO. Whatever it says, there may
 * be something to send. */
int tls_handshake(struct tls *t) must_check;

/* Deciphered bytes into buf. How many; 0: more must come; -EPIPE at the end, or -EPROTO. */
ssize_t tls_read(struct tls *t, void *buf, size_t n) must_check;

/* Enciphers all of it. 0 or -EPROTO. */
int tls_write(struct tls *t, const void *data, size_t len) must_check;

/* Says that nothing more will come from us. */
void tls_finish(struct tls *t);

/* Takes what is to be sent into buf. How many bytes; 0: nothing is. */
size_t tls_take(struct tls *t, void *buf, size_t n) must_check;

#endif

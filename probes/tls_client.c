// SPDX-License-Identifier: Apache-2.0
#include "probes/tls_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>

struct tls_client {
	const struct probe_attempt *a;
	int fd;
	SSL_CTX *ctx;
	SSL *ssl;
};

/* After a call that returned n: 0 where it is to be made again, else its error. */
static int wait_or_fail(const struct tls_client *t, int n)
{
	int ready, saved = errno;

	switch (SSL_get_error(t->ssl, n)) {
	case SSL_ERROR_WANT_READ:
		ready = wait_until(t->a->deadline_ns, t->fd, POLLIN);
		break;
	case SSL_ERROR_WANT_WRITE:
		ready = wait_until(t->a->deadline_ns, t->fd, POLLOUT);
		break;
	case SSL_ERROR_ZERO_RETURN:
		return -EPIPE;
	case SSL_ERROR_SYSCALL:
		return saved ? -saved : -EPIPE;
	default: /* an end without TLS's own goodbye is an error to the library, and to us none */
		return ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
			       ? -EPIPE
			       : -EPROTO;
	}
	if (ready > 0)
		return 0;
	return ready ? ready : -ETIMEDOUT;
}

static void before_call(void)
{
	ERR_clear_error();
	errno = 0;
}

static int shake_hands(const struct tls_client *t)
{
	int err = 0;

	while (!err) {
		int n;

		before_call();
		n = SSL_connect(t->ssl);
		if (n == 1)
			return 0;
		err = wait_or_fail(t, n);
	}
	return err;
}

int tls_client_new(const struct probe_attempt *a, int fd, const char *name, struct tls_client **ret)
{
	struct tls_client *t = calloc(1, sizeof(*t));
	int err = -ENOMEM;

	if (!t)
		return -ENOMEM;
	t->a = a;
	t->fd = fd;
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL))
		t->ctx = SSL_CTX_new(TLS_client_method());
	if (t->ctx) {
		SSL_CTX_set_verify(t->ctx, SSL_VERIFY_NONE, NULL);
		t->ssl = SSL_new(t->ctx);
	}
	if (t->ssl && SSL_set_fd(t->ssl, fd) && SSL_set_tlsext_host_name(t->ssl, name))
		err = shake_hands(t);
	if (err)
		tls_client_free(t);
	else
		*ret = t;
	return err;
}

void tls_client_free(struct tls_client *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	SSL_CTX_free(t->ctx);
	free(t);
}

/* The library takes all of it or, for the moment, nothing. */
static int send_tls(const struct http_io *io, const void *data, size_t len)
{
	const struct tls_client *t = io->tls;
	int err = 0;

	while (!err) {
		int n;

		before_call();
		n = SSL_write(t->ssl, data, (int)len);
		if (n > 0)
			return 0;
		err = wait_or_fail(t, n);
	}
	return err;
}

static ssize_t recv_tls(const struct http_io *io, void *out, size_t len)
{
	const struct tls_client *t = io->tls;
	int err = 0;

	while (!err) {
		int n;

		before_call();
		n = SSL_read(t->ssl, out, (int)len);
		if (n > 0)
			return n;
		err = wait_or_fail(t, n);
	}
	return err == -EPIPE ? 0 : err;
}

struct http_io tls_client_io(struct tls_client *t)
{
	return (struct http_io){
		.send = send_tls, .recv = recv_tls, .a = t->a, .fd = t->fd, .tls = t
	};
}

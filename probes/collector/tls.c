// SPDX-License-Identifier: Apache-2.0
#include "probes/collector/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#define NAME "sentinel.test"
/* Not by the clock, whose reading by libcrypto would take the environment's time zone. */
#define NOT_BEFORE "20200101000000Z"
#define NOT_AFTER "20491231235959Z"

struct tls_server {
	SSL_CTX *ctx;
};

struct tls {
	SSL *ssl; /* owns both */
	BIO *in, *out;
};

static bool add_name(X509 *x)
{
	X509_NAME *name = X509_get_subject_name(x);

	return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)NAME, -1,
					  -1, 0) &&
	       X509_set_issuer_name(x, name);
}

/* NULL where it can't be made. */
static X509 *make_certificate(EVP_PKEY *key)
{
	X509 *x = X509_new();

	if (x && X509_set_version(x, X509_VERSION_3) &&
	    ASN1_INTEGER_set(X509_get_serialNumber(x), 1) &&
	    ASN1_TIME_set_string(X509_getm_notBefore(x), NOT_BEFORE) &&
	    ASN1_TIME_set_string(X509_getm_notAfter(x), NOT_AFTER) && X509_set_pubkey(x, key) &&
	    add_name(x) && X509_sign(x, key, EVP_sha256()))
		return x;
	X509_free(x);
	return NULL;
}

/* Nothing that would be kept between two connections: no tickets, no sessions, no second handshake
 * within one. */
static bool set_up(SSL_CTX *ctx)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = key ? make_certificate(key) : NULL;
	bool ok = x && SSL_CTX_use_certificate(ctx, x) == 1 &&
		  SSL_CTX_use_PrivateKey(ctx, key) == 1 &&
		  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) == 1 &&
		  SSL_CTX_set_num_tickets(ctx, 0) == 1;

	(void)SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION |
					       SSL_OP_NO_COMPRESSION);
	(void)SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	(void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	X509_free(x);
	EVP_PKEY_free(key);
	return ok;
}

struct tls_server *tls_server_new(void)
{
	struct tls_server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	/* before anything else of it: once it has looked for openssl.cnf, it has */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1)
		s->ctx = SSL_CTX_new(TLS_server_method());
	if (s->ctx && set_up(s->ctx))
		return s;
	tls_server_free(s);
	return NULL;
}

void tls_server_free(struct tls_server *s)
{
	if (!s)
		return;
	SSL_CTX_free(s->ctx);
	free(s);
}

struct tls *tls_new(struct tls_server *s)
{
	struct tls *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->ssl = SSL_new(s->ctx);
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->ssl || !t->in || !t->out) {
		BIO_free(t->in);
		BIO_free(t->out);
		SSL_free(t->ssl);
		free(t);
		return NULL;
	}
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_accept_state(t->ssl);
	return t;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t);
}

int tls_feed(struct tls *t, const void *raw, size_t len)
{
	size_t written;

	return !len || (BIO_write_ex(t->in, raw, len, &written) && written == len) ? 0 : -ENOMEM;
}

/* What a call that did not succeed means. */
static int error_of(const struct tls *t, int ret)
{
	switch (SSL_get_error(t->ssl, ret)) {
	case SSL_ERROR_WANT_READ:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		return -EPIPE;
	default:
		return -EPROTO;
	}
}

int tls_handshake(struct tls *t)
{
	int ret;

	ERR_clear_error();
	ret = SSL_do_handshake(t->ssl);
	return ret == 1 ? 1 : error_of(t, ret) ? -EPROTO : 0;
}

ssize_t tls_read(struct tls *t, void *buf, size_t n)
{
	size_t got = 0;
	int ret;

	ERR_clear_error();
	ret = SSL_read_ex(t->ssl, buf, n, &got);
	return ret == 1 ? (ssize_t)got : error_of(t, ret);
}

int tls_write(struct tls *t, const void *data, size_t len)
{
	size_t written = 0;

	ERR_clear_error();
	return SSL_write_ex(t->ssl, data, len, &written) == 1 && written == len ? 0 : -EPROTO;
}

void tls_finish(struct tls *t)
{
	ERR_clear_error();
	(void)SSL_shutdown(t->ssl);
}

size_t tls_take(struct tls *t, void *buf, size_t n)
{
	size_t got = 0;

	return BIO_read_ex(t->out, buf, n, &got) ? got : 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "user/record/digest.h"

#include <openssl/evp.h>

struct digest {
	EVP_MD_CTX *running, *copy;
};

int digest_new(struct digest **ret)
{
	struct digest *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->running = EVP_MD_CTX_new();
	d->copy = EVP_MD_CTX_new();
	if (!d->running || !d->copy || !EVP_DigestInit_ex(d->running, EVP_sha256(), NULL)) {
		digest_free(d);
		return -ENOMEM;
	}
	*ret = d;
	return 0;
}

void digest_free(struct digest *d)
{
	if (!d)
		return;
	EVP_MD_CTX_free(d->running);
	EVP_MD_CTX_free(d->copy);
	free(d);
}

int digest_add(struct digest *d, const void *data, size_t len)
{
	return EVP_DigestUpdate(d->running, data, len) ? 0 : -EIO;
}

int digest_now(struct digest *d, uint8_t ret[EV_DIGEST_BYTES])
{
	if (!EVP_MD_CTX_copy_ex(d->copy, d->running) || !EVP_DigestFinal_ex(d->copy, ret, NULL))
		return -EIO;
	return 0;
}

int digest_file(int fd, uint8_t ret[EV_DIGEST_BYTES])
{
	uint8_t chunk[1 << 16];
	struct digest *d;
	ssize_t n;
	int err = digest_new(&d);

	if (err)
		return err;
	while (!err && (n = read(fd, chunk, sizeof(chunk)))) {
		if (n > 0)
			err = digest_add(d, chunk, (size_t)n);
		else if (errno != EINTR)
			err = -errno;
	}
	if (!err)
		err = digest_now(d, ret);
	digest_free(d);
	return err;
}

// SPDX-License-Identifier: Apache-2.0
/* The key's file: who makes it, who may read it, and what lies beside it. */
#include "user/record/sshsig_key.h"

#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "user/record/sshsig.h"

#define PEM_MAX 4096

struct sshsig_key {
	EVP_PKEY *evp;
};

EVP_PKEY *sshsig_key_evp(const struct sshsig_key *k)
{
	return k->evp;
}

void sshsig_key_public(const struct sshsig_key *k, uint8_t ret[SSHSIG_KEY_BYTES])
{
	size_t n = SSHSIG_KEY_BYTES;

	if (!EVP_PKEY_get_raw_public_key(k->evp, ret, &n) || n != SSHSIG_KEY_BYTES)
		memset(ret, 0, SSHSIG_KEY_BYTES);
}

void sshsig_key_free(struct sshsig_key *k)
{
	if (!k)
		return;
	EVP_PKEY_free(k->evp);
	free(k);
}

/* ---- the file ---- */

struct place {
	const char *path;
	const char *name; /* its last component */
	int dir;	  /* its folder */
};

static int refuse(struct diag *d, int err, const char *path, const char *what)
{
	return diag_set(d, err, path, 0, 0, "%s: %s", what, strerror(-err));
}

/* Nobody but us and root may put another key in its place. */
static int check_folder(const struct place *p, struct diag *d)
{
	struct stat st;

	if (fstat(p->dir, &st))
		return refuse(d, -errno, p->path, "can't look at its folder");
	if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return diag_set(d, -EPERM, p->path, 0, 0,
				"others may write to its folder: a key is kept where only its "
				"owner may");
	return 0;
}

/* Of the folders above it one may be missing: that of a first use. */
static int open_place(struct place *ret, const char *path, struct diag *d)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	int err = slash ? str_format(folder, sizeof(folder), "%.*s",
				     slash == path ? 1 : (int)(slash - path), path)
			: str_copy(folder, sizeof(folder), ".");

	*ret = (struct place){ .path = path, .name = slash ? slash + 1 : path, .dir = -1 };
	if (err || !*ret->name)
		return diag_set(d, -EINVAL, path, 0, 0, "not a name for a key's file");
	if (mkdir(folder, 0755) && errno != EEXIST)
		return refuse(d, -errno, path, "can't make its folder");
	ret->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir < 0)
		return refuse(d, -errno, path, "can't open its folder");
	err = check_folder(ret, d);
	if (err)
		(void)close(ret->dir);
	return err;
}

/* Whole or not at all. replace: else -EEXIST where there is one. */
static int write_beside(const struct place *p, const char *suffix, bool replace, mode_t mode,
			const char *text, size_t len)
{
	char name[NAME_MAX + 1], part[NAME_MAX + 1], hex[17];
	uint8_t random[8];
	int fd, err = random_bytes(random, sizeof(random));

	hex_encode(hex, random, sizeof(random));
	if (!err)
		err = str_format(name, sizeof(name), "%s%s", p->name, suffix);
	if (!err)
		err = str_format(part, sizeof(part), ".%s.%s", name, hex);
	if (err)
		return err;
	fd = openat(p->dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text, len);
	if (!err && (fchmod(fd, mode) || fsync(fd)))
		err = -errno;
	if (close(fd) && !err)
		err = -errno;
	if (!err && replace && renameat(p->dir, part, p->dir, name))
		err = -errno;
	if (!err && !replace && linkat(p->dir, part, p->dir, name, 0))
		err = -errno;
	if (err || !replace)
		(void)unlinkat(p->dir, part, 0);
	if (!err && fsync(p->dir))
		err = -errno;
	return err;
}

/* ---- making one ---- */

static int make_pem(BIO *bio)
{
	EVP_PKEY *p = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	bool done = p && PEM_write_bio_PrivateKey(bio, p, NULL, NULL, 0, NULL, NULL);

	EVP_PKEY_free(p);
	return done ? 0 : -EIO;
}

static int make_key(const struct place *p)
{
	BIO *bio = BIO_new(BIO_s_secmem()); /* wiped when it is freed */
	char *text;
	long len;
	int err = bio ? make_pem(bio) : -ENOMEM;

	if (!err) {
		len = BIO_get_mem_data(bio, &text);
		err = write_beside(p, "", false, 0600, text, (size_t)len);
	}
	BIO_free(bio);
	return err == -EEXIST ? 0 : err; /* somebody was faster: theirs, then */
}

/* ---- reading one ---- */

/* libcrypto would ask on the terminal. */
static int no_passphrase(char *buf unused_arg, int size unused_arg, int rwflag unused_arg,
			 void *arg unused_arg)
{
	return -1;
}

static int parse_key(const char *pem, size_t len, EVP_PKEY **ret)
{
	BIO *bio = BIO_new_mem_buf(pem, (int)len);
	EVP_PKEY *p = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;

	BIO_free(bio);
	if (!p || EVP_PKEY_get_base_id(p) != EVP_PKEY_ED25519) {
		EVP_PKEY_free(p);
		return -EKEYREJECTED;
	}
	*ret = p;
	return 0;
}

static int read_key(const struct place *p, EVP_PKEY **ret, struct diag *d)
{
	cleanup_fd int fd = open_regular(p->dir, p->name, O_NOFOLLOW);
	char pem[PEM_MAX];
	struct stat st;
	ssize_t n;
	int err;

	if (fd == -ENOENT)
		return fd;
	if (fd < 0 || fstat(fd, &st))
		return refuse(d, fd < 0 ? fd : -errno, p->path, "can't open the key");
	if ((st.st_uid && st.st_uid != geteuid()) || (st.st_mode & (S_IRWXG | S_IRWXO)))
		return diag_set(d, -EPERM, p->path, 0, 0,
				"others may read the key; if nobody has: chmod 600, and chown");
	n = read(fd, pem, sizeof(pem));
	if (n < 0)
		return refuse(d, -errno, p->path, "can't read the key");
	err = parse_key(pem, (size_t)n, ret);
	OPENSSL_cleanse(pem, sizeof(pem));
	return err ? diag_set(d, err, p->path, 0, 0,
			      "no Ed25519 key in PEM, without a passphrase; `openssl genpkey "
			      "-algorithm ed25519` makes one")
		   : 0;
}

/* For those who check: a key for ssh-keygen -l, a line for ssh-keygen -Y verify. */
static int write_public(const struct place *p, const struct sshsig_key *k)
{
	char line[SSHSIG_LINE_MAX], text[2 * SSHSIG_LINE_MAX];
	uint8_t key[SSHSIG_KEY_BYTES];
	int err;

	sshsig_key_public(k, key);
	sshsig_public_line(key, line);
	(void)str_format(text, sizeof(text), "%s %s\n", line, SSHSIG_NAMESPACE);
	err = write_beside(p, ".pub", true, 0644, text, strlen(text));
	(void)str_format(text, sizeof(text),
			 SSHSIG_PRINCIPAL " namespaces=\"" SSHSIG_NAMESPACE "\" %s\n", line);
	if (!err)
		err = write_beside(p, ".allowed_signers", true, 0644, text, strlen(text));
	return err;
}

static bool has_public(const struct place *p)
{
	char pub[NAME_MAX + 1], signers[NAME_MAX + 1];

	return !str_format(pub, sizeof(pub), "%s.pub", p->name) &&
	       !str_format(signers, sizeof(signers), "%s.allowed_signers", p->name) &&
	       !faccessat(p->dir, pub, F_OK, 0) && !faccessat(p->dir, signers, F_OK, 0);
}

static int open_or_make(const struct place *p, struct sshsig_key *k, struct diag *d)
{
	int err = read_key(p, &k->evp, d);

	if (err == -ENOENT) {
		err = make_key(p);
		if (err)
			return refuse(d, err, p->path, "can't make a key");
		err = read_key(p, &k->evp, d);
	}
	if (err || has_public(p))
		return err;
	err = write_public(p, k);
	return err ? refuse(d, err, p->path, "can't write its public half beside it") : 0;
}

int sshsig_key_open(struct sshsig_key **ret, const char *path, struct diag *d)
{
	struct sshsig_key *k = calloc(1, sizeof(*k));
	struct place p;
	int err;

	if (!k)
		return diag_set(d, -ENOMEM, path, 0, 0, "out of memory");
	err = open_place(&p, path, d);
	if (!err) {
		err = open_or_make(&p, k, d);
		(void)close(p.dir);
	}
	if (err) {
		sshsig_key_free(k);
		return err;
	}
	*ret = k;
	return 0;
}

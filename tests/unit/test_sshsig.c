// SPDX-License-Identifier: Apache-2.0
/*
 * A signature is one of exactly these bytes by exactly this key, or none; and a key is nobody
 * else's.
 *
 *   test_sshsig --sign KEY <DATA   prints the signature, for a test with ssh-keygen
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "user/record/sshsig.h"

static char dir[64];

static const char *path_of(const char *name)
{
	static char path[128];

	(void)str_format(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int make(void **state unused_arg)
{
	(void)str_copy(dir, sizeof(dir), "/tmp/test_sshsig.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state unused_arg)
{
	static const char *const names[] = { "key",	"key.pub",     "key.allowed_signers",
					     "sub/key", "sub/key.pub", "sub/key.allowed_signers" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlink(path_of(names[i]));
	(void)rmdir(path_of("sub"));
	return rmdir(dir); /* nothing else was left there */
}

static struct sshsig_key *open_key(const char *name)
{
	struct sshsig_key *k = NULL;
	struct diag d = { .text = "" };

	if (sshsig_key_open(&k, path_of(name), &d))
		fail_msg("%s: %s", d.file, d.text);
	return k;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
	cleanup_fd int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static const char data[] = "ca978112  targets/a.yaml\n";

static void test_a_signature_verifies(void **state unused_arg)
{
	struct sshsig_key *k = open_key("key");
	uint8_t mine[SSHSIG_KEY_BYTES], signer[SSHSIG_KEY_BYTES];
	char text[SSHSIG_TEXT_MAX], empty[SSHSIG_TEXT_MAX];

	sshsig_key_public(k, mine);
	assert_int_equal(sshsig_sign(k, data, strlen(data), text), 0);
	assert_int_equal(sshsig_verify(text, strlen(text), data, strlen(data), signer), 0);
	assert_memory_equal(signer, mine, sizeof(mine));
	assert_int_equal(sshsig_verify(text, strlen(text), data, strlen(data) - 1, signer),
			 -EBADMSG);
	assert_int_equal(sshsig_sign(k, "", 0, empty), 0);
	assert_int_equal(sshsig_verify(empty, strlen(empty), "", 0, signer), 0);
	assert_int_equal(sshsig_verify(empty, strlen(empty), data, strlen(data), signer), -EBADMSG);
	sshsig_key_free(k);
}

/* Each byte in turn, each of its bits: the text has one form. */
static void test_no_byte_can_change(void **state unused_arg)
{
	struct sshsig_key *k = open_key("key");
	uint8_t signer[SSHSIG_KEY_BYTES];
	char text[SSHSIG_TEXT_MAX], longer[SSHSIG_TEXT_MAX + 1];
	size_t len;

	assert_int_equal(sshsig_sign(k, data, strlen(data), text), 0);
	len = strlen(text);
	for (size_t i = 0; i < len; i++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			text[i] = (char)(text[i] ^ (1 << bit));
			if (!sshsig_verify(text, len, data, strlen(data), signer))
				fail_msg("bit %u of byte %zu changed, and nobody saw it", bit, i);
			text[i] = (char)(text[i] ^ (1 << bit));
		}
	for (size_t n = 0; n < len; n++)
		assert_int_equal(sshsig_verify(text, n, data, strlen(data), signer), -EBADMSG);
	for (size_t i = 0; i <= len; i++) {
		(void)str_format(longer, sizeof(longer), "%.*s\n%s", (int)i, text, text + i);
		assert_int_equal(sshsig_verify(longer, len + 1, data, strlen(data), signer),
				 -EBADMSG);
	}
	assert_int_equal(sshsig_verify(text, len, data, strlen(data), signer), 0);
	sshsig_key_free(k);
}

static void assert_mode(const char *name, mode_t mode)
{
	struct stat st;

	assert_int_equal(stat(path_of(name), &st), 0);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void test_a_key_is_made_once(void **state unused_arg)
{
	uint8_t first[SSHSIG_KEY_BYTES], again[SSHSIG_KEY_BYTES];
	struct sshsig_key *k;

	(void)umask(0);
	k = open_key("sub/key");
	sshsig_key_public(k, first);
	sshsig_key_free(k);
	assert_mode("sub", 0755);
	assert_mode("sub/key", 0600);
	assert_mode("sub/key.pub", 0644);
	assert_int_equal(unlink(path_of("sub/key.allowed_signers")), 0);
	k = open_key("sub/key");
	sshsig_key_public(k, again);
	sshsig_key_free(k);
	assert_memory_equal(first, again, sizeof(first));
	assert_mode("sub/key.allowed_signers", 0644); /* it was missing */
	(void)umask(022);
}

/* Ten of us at once: one key comes of it, and all have that. */
static void test_a_key_is_made_by_one(void **state unused_arg)
{
	enum { N = 10 };
	uint8_t got[SSHSIG_KEY_BYTES], first[SSHSIG_KEY_BYTES];
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	for (int i = 0; i < N; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			struct sshsig_key *k = open_key("key");

			sshsig_key_public(k, got);
			_exit(write_all(ends[1], got, sizeof(got)) ? 1 : 0);
		}
	}
	for (int i = 0; i < N; i++) {
		int status;

		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
		assert_int_equal(read(ends[0], got, sizeof(got)), sizeof(got));
		if (i)
			assert_memory_equal(got, first, sizeof(got));
		memcpy(first, got, sizeof(first));
	}
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void assert_refused(int want)
{
	struct sshsig_key *k = NULL;
	struct diag d = { .text = "" };

	assert_int_equal(sshsig_key_open(&k, path_of("key"), &d), want);
	assert_true(d.text[0]);
	assert_null(k);
}

static void test_what_others_could_have_is_no_key(void **state unused_arg)
{
	sshsig_key_free(open_key("key"));
	assert_int_equal(chmod(path_of("key"), 0640), 0);
	assert_refused(-EPERM);
	assert_int_equal(chmod(path_of("key"), 0604), 0);
	assert_refused(-EPERM);
	assert_int_equal(chmod(path_of("key"), 0600), 0);
	assert_int_equal(chmod(dir, 0720), 0);
	assert_refused(-EPERM);
	assert_int_equal(chmod(dir, 01707), 0);
	assert_refused(-EPERM);
	assert_int_equal(chmod(dir, 0700), 0);
	sshsig_key_free(open_key("key"));
	write_file("key", "", 0600);
	assert_refused(-EKEYREJECTED);
	write_file("key", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", 0600);
	assert_refused(-EKEYREJECTED);
	assert_int_equal(unlink(path_of("key")), 0);
	assert_int_equal(symlink("key.pub", path_of("key")), 0);
	assert_refused(-ELOOP);
}

/* ---- whom one trusts ---- */

static const uint8_t ours[SSHSIG_KEY_BYTES] = { 1, 2, 3 };

static bool is_among(const char *before, const char *behind, size_t want_usable)
{
	char line[SSHSIG_LINE_MAX], text[1024];
	size_t usable;
	bool is;

	sshsig_public_line(ours, line);
	(void)str_format(text, sizeof(text), "%s%s%s", before, line, behind);
	is = sshsig_is_among(ours, text, &usable);
	assert_int_equal(usable, want_usable);
	return is;
}

static void test_a_key_is_found(void **state unused_arg)
{
	size_t usable;

	assert_true(is_among("", "", 1));
	assert_true(is_among("", " me@here\n", 1));
	assert_true(is_among("# a word\n\nsentinel ", "\n", 1));
	assert_true(is_among("a@b,*@c namespaces=\"sentinel-evidence\" ", " x\n", 1));
	assert_true(is_among("ssh-ed25519 AAAA other\r\n", "\r\n", 2));
	assert_false(is_among("# ", "\n", 0));
	assert_false(is_among("a namespaces=\"git\" ", "\n", 0));
	assert_false(is_among("a cert-authority ", "\n", 0));
	assert_false(is_among("a valid-before=\"20200101\" ", "\n", 0));
	assert_false(is_among("a namespaces=\"sentinel-evidence\" valid-before=\"2\" ", "\n", 0));
	assert_false(is_among("", "A\n", 1));
	assert_false(is_among("\"a b ", "\n", 0));
	assert_false(sshsig_is_among(ours, "", &usable));
	assert_int_equal(usable, 0);
}

/* As ssh-keygen -l -f shows the key of 32 zero bytes. */
static void test_a_fingerprint_is_ssh_keygens(void **state unused_arg)
{
	static const uint8_t zero[SSHSIG_KEY_BYTES];
	char text[SSHSIG_FINGERPRINT_MAX], line[SSHSIG_LINE_MAX];

	sshsig_public_line(zero, line);
	assert_string_equal(line, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAAAAAAAAAAAA"
				  "AAAAAAAAAAAAAAAAAA");
	sshsig_fingerprint(zero, text);
	assert_string_equal(text, "SHA256:kmYcvdi2GkPeWxB6XLjrZB8JHsy2Hm8luHMFp9GMvqk");
}

static int sign_input(const char *key)
{
	static char text[1 << 20];
	char signature[SSHSIG_TEXT_MAX];
	size_t n = fread(text, 1, sizeof(text), stdin);
	struct sshsig_key *k;
	struct diag d;

	if (sshsig_key_open(&k, key, &d) || sshsig_sign(k, text, n, signature))
		return 1;
	sshsig_key_free(k);
	return fputs(signature, stdout) < 0;
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_signature_verifies, make, clean),
		cmocka_unit_test_setup_teardown(test_no_byte_can_change, make, clean),
		cmocka_unit_test_setup_teardown(test_a_key_is_made_once, make, clean),
		cmocka_unit_test_setup_teardown(test_a_key_is_made_by_one, make, clean),
		cmocka_unit_test_setup_teardown(test_what_others_could_have_is_no_key, make, clean),
		cmocka_unit_test(test_a_key_is_found),
		cmocka_unit_test(test_a_fingerprint_is_ssh_keygens),
	};

	if (argc == 3 && !strcmp(argv[1], "--sign"))
		return sign_input(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

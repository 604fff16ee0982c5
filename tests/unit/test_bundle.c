// SPDX-License-Identifier: Apache-2.0
/* A bundle is closed by sums that sha256sum checks, and no file of it changes, goes or comes
 * unseen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>

#include "user/record/bundle.h"

static char dir[64];

static const char *path_of(const char *name)
{
	static char path[128];

	(void)str_format(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static const char *const names[] = {
	"targets/b.yaml", "targets/a.yaml", "verdict.json", "extra", "targets/link",
	BUNDLE_SUMS,	  BUNDLE_SIGNATURE, "input.yaml",   "a\nb",
};

static int make(void **state unused_arg)
{
	(void)str_copy(dir, sizeof(dir), "/tmp/test_bundle.XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int clean(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlink(path_of(names[i]));
	(void)rmdir(path_of("targets"));
	return rmdir(dir);
}

static void add(const char *name, const char *text)
{
	struct diag d;

	assert_int_equal(bundle_add_bytes(dir, name, text, strlen(text), &d), 0);
}

static void fill_and_seal(void)
{
	struct diag d;

	add("verdict.json", "{}");
	add("targets/b.yaml", "b");
	add("targets/a.yaml", "a");
	assert_int_equal(bundle_seal(dir, &d), 0);
}

static void assert_check(int want, const char *file)
{
	struct diag d = { .text = "" };

	assert_int_equal(bundle_check(dir, &d), want);
	if (file)
		assert_string_equal(d.file, file);
}

static void test_the_sums_are_sha256sums(void **state unused_arg)
{
	cleanup_free char *text = NULL;
	size_t len;

	fill_and_seal();
	assert_int_equal(read_file(path_of(BUNDLE_SUMS), 4096, &text, &len), 0);
	assert_string_equal(
		text,
		"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  targets/a.yaml\n"
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  targets/b.yaml\n"
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a  verdict.json\n");
	assert_check(0, NULL);
	assert_int_equal(bundle_seal(dir, NULL), 0);
	assert_check(0, NULL);
}

static void test_changes_are_seen(void **state unused_arg)
{
	fill_and_seal();
	add("targets/b.yaml", "c");
	assert_check(-EBADMSG, "targets/b.yaml");
	fill_and_seal();
	add("verdict.json", "{} ");
	assert_check(-EBADMSG, "verdict.json");
	fill_and_seal();
	assert_int_equal(unlink(path_of("targets/a.yaml")), 0);
	assert_check(-EBADMSG, "targets/a.yaml");
	fill_and_seal();
	assert_int_equal(unlink(path_of("verdict.json")), 0);
	assert_check(-EBADMSG, "verdict.json");
	fill_and_seal();
	add("extra", "");
	assert_check(-EBADMSG, "extra");
	assert_int_equal(unlink(path_of("extra")), 0);
	assert_check(0, NULL);
}

static void test_a_signature_counts(void **state unused_arg)
{
	uint8_t mine[SSHSIG_KEY_BYTES], signer[SSHSIG_KEY_BYTES];
	struct diag d = { .text = "" };
	struct sshsig_key *k = NULL;

	fill_and_seal();
	assert_int_equal(bundle_signer(dir, signer, &d), -ENOENT);
	assert_int_equal(sshsig_key_open(&k, path_of("key"), &d), 0);
	sshsig_key_public(k, mine);
	(void)unlink(path_of("key"));
	(void)unlink(path_of("key.pub"));
	(void)unlink(path_of("key.allowed_signers"));
	assert_int_equal(bundle_sign(dir, k, &d), 0);
	assert_check(0, NULL);
	assert_int_equal(bundle_signer(dir, signer, &d), 0);
	assert_memory_equal(signer, mine, sizeof(mine));

	fill_and_seal(); /* takes the old one away */
	assert_int_equal(bundle_signer(dir, signer, &d), -ENOENT);
	assert_int_equal(bundle_sign(dir, k, &d), 0);
	add("verdict.json", "{ }");
	assert_check(-EBADMSG, "verdict.json");
	fill_and_seal();
	add(BUNDLE_SIGNATURE, "signed later");
	assert_check(-EBADMSG, BUNDLE_SIGNATURE);
	assert_int_equal(unlink(path_of(BUNDLE_SIGNATURE)), 0);
	assert_check(0, NULL);
	sshsig_key_free(k);
}

static void test_broken_sums_are_seen(void **state unused_arg)
{
	static const char *const bad[] = {
		"x\n",
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a  ",
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8g  verdict.json\n",
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a verdict.json\n",
		"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a  verdict.json",
	};

	assert_check(-ENOENT, NULL);
	add("verdict.json", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		add(BUNDLE_SUMS, bad[i]);
		assert_check(-EBADMSG, NULL);
	}
	assert_int_equal(bundle_add_bytes(dir, BUNDLE_SUMS, "a\0b", 3, NULL), 0);
	assert_check(-EBADMSG, NULL);
	add(BUNDLE_SUMS, "");
	assert_check(-EBADMSG, "verdict.json");
}

static void test_names_lead_nowhere_else(void **state unused_arg)
{
	static const char *const bad[] = { "",	   "/etc/x", "../x", "a/../x", "a/b/c", ".",
					   "a//b", "a\nb",   "a\\b", "a/",     "..",	"\x1b[2J" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(bundle_add_bytes(dir, bad[i], "", 0, NULL), -EINVAL);
}

static void test_only_plain_files_are_sealed(void **state unused_arg)
{
	struct diag d;

	fill_and_seal();
	assert_int_equal(symlink("/etc/passwd", path_of("targets/link")), 0);
	assert_true(bundle_seal(dir, &d) < 0);
	assert_true(bundle_check(dir, &d) < 0);
	assert_int_equal(unlink(path_of("targets/link")), 0);
	assert_int_equal(mkfifo(path_of("extra"), 0600), 0);
	assert_int_equal(bundle_seal(dir, &d), -EINVAL);
	assert_int_equal(unlink(path_of("extra")), 0);
	assert_int_equal(unlink(path_of(BUNDLE_SUMS)), 0);
	assert_int_equal(mkfifo(path_of(BUNDLE_SUMS), 0600), 0);
	assert_int_equal(bundle_check(dir, &d), -EMEDIUMTYPE);
	assert_int_equal(unlink(path_of(BUNDLE_SUMS)), 0);
	assert_int_equal(close(open(path_of("a\nb"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
	assert_int_equal(bundle_seal(dir, &d), -EINVAL);
}

static void test_inputs_are_copied_once(void **state unused_arg)
{
	cleanup_free char *text = NULL;
	struct diag d;
	size_t len;

	add("input.yaml", "schema: 1\n");
	assert_int_equal(bundle_add_file(dir, "targets", path_of("input.yaml"), &d), 0);
	(void)str_copy(d.text, sizeof(d.text), path_of("targets/input.yaml"));
	assert_int_equal(read_file(d.text, 100, &text, &len), 0);
	assert_string_equal(text, "schema: 1\n");
	assert_int_equal(bundle_add_file(dir, "targets", path_of("input.yaml"), &d), -EEXIST);
	assert_int_equal(bundle_add_file(dir, "targets", path_of("none"), &d), -ENOENT);
	assert_int_equal(bundle_add_file(dir, "../up", path_of("input.yaml"), &d), -EINVAL);
	assert_int_equal(unlink(path_of("targets/input.yaml")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_sums_are_sha256sums, make, clean),
		cmocka_unit_test_setup_teardown(test_changes_are_seen, make, clean),
		cmocka_unit_test_setup_teardown(test_a_signature_counts, make, clean),
		cmocka_unit_test_setup_teardown(test_broken_sums_are_seen, make, clean),
		cmocka_unit_test_setup_teardown(test_names_lead_nowhere_else, make, clean),
		cmocka_unit_test_setup_teardown(test_only_plain_files_are_sealed, make, clean),
		cmocka_unit_test_setup_teardown(test_inputs_are_copied_once, make, clean),
	};

	return cmocka_run_group_tests_name("bundle", tests, NULL, NULL);
}

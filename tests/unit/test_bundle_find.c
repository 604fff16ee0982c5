// SPDX-License-Identifier: Apache-2.0
/* Which bundles are found where, in which order, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/record/bundle_find.h"

static char scratch[64];

static const char *in_scratch(const char *path)
{
	static char full[PATH_MAX];

	(void)str_format(full, sizeof(full), "%s%s%s", scratch, *path ? "/" : "", path);
	return full;
}

static void make_file(const char *path, const char *text)
{
	cleanup_fd int fd = open(in_scratch(path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, text, strlen(text)), 0);
}

static void make_folder(const char *path)
{
	assert_int_equal(mkdir(in_scratch(path), 0700), 0);
}

static void make_bundle(const char *path, const char *file)
{
	char full[128];

	make_folder(path);
	(void)str_format(full, sizeof(full), "%s/%s", path, file);
	make_file(full, "12345");
}

static int setup(void **state unused_arg)
{
	(void)str_copy(scratch, sizeof(scratch), "/tmp/test_bundle_find.XXXXXX");
	return mkdtemp(scratch) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st unused_arg, int type unused_arg,
		      struct FTW *ftw unused_arg)
{
	return remove(path);
}

static int teardown(void **state unused_arg)
{
	return nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The paths, without the scratch folder, each followed by a space. */
static void assert_list(const struct bundle_list *l, const char *wanted)
{
	char found[1024] = "";

	for (size_t i = 0; i < l->n; i++) {
		size_t at = strlen(found), skip = strlen(scratch) + 1;

		assert_int_equal(strncmp(l->path[i], scratch, strlen(scratch)), 0);
		(void)str_format(found + at, sizeof(found) - at, "%s ", l->path[i] + skip);
	}
	assert_string_equal(found, wanted);
}

static void assert_found(const char *path, const char *wanted)
{
	struct bundle_list l = { .path = NULL };
	struct diag d = { .text = "" };

	if (bundle_list_add(&l, in_scratch(path), &d))
		fail_msg("'%s': %s: %s", path, d.file, d.text);
	assert_list(&l, wanted);
	bundle_list_done(&l);
}

static void assert_refused(const char *path, int err, const char *why)
{
	struct bundle_list l = { .path = NULL };
	struct diag d = { .text = "" };

	assert_int_equal(bundle_list_add(&l, in_scratch("b/one"), &d), 0);
	assert_int_equal(bundle_list_add(&l, in_scratch(path), &d), err);
	assert_non_null(strstr(d.text, why));
	assert_list(&l, "b/one ");
	bundle_list_done(&l);
}

/* b-two comes before b/..., as bytes do. */
static void make_tree(void)
{
	make_folder("b");
	make_bundle("b/one", "capture-000001.pcapng");
	make_folder("b/deep");
	make_bundle("b/deep/two", "capture-000001.pcapng.part");
	make_bundle("b-two", "capture-000002.pcapng");
	make_bundle("gone", "verdict.json"); /* its capture was taken away */
	make_bundle("sums", "SHA256SUMS");
	make_bundle("other", "notes.txt");
	make_folder("b/one/targets"); /* nothing is looked for in a bundle */
	make_bundle("b/one/inner", "capture-000001.pcapng");
	make_folder("nothing");
	assert_int_equal(symlink("..", in_scratch("b/loop")), 0);
	assert_int_equal(symlink("b-two", in_scratch("link")), 0);
}

static void test_folders(void **state unused_arg)
{
	make_tree();
	assert_found("", "b-two b/deep/two b/one gone sums ");
	assert_found("b", "b/deep/two b/one ");
	assert_found("b//", "b/deep/two b/one ");
	assert_found("b/one", "b/one ");
	assert_found("gone", "gone ");
	/* what is named may be a link, a file, or nothing at all */
	assert_found("link", "link ");
	assert_found("b/one/capture-000001.pcapng", "b/one/capture-000001.pcapng ");
	assert_found("missing", "missing ");
	assert_refused("nothing", -ENOENT, "no bundle in this folder or below");
	assert_refused("other", -ENOENT, "no bundle in this folder or below");
}

static void test_depth(void **state unused_arg)
{
	char path[256] = "deep", wanted[256], old[PATH_MAX];

	make_folder(path);
	for (unsigned int i = 0; i < BUNDLE_FIND_DEPTH; i++) {
		(void)str_copy(path + strlen(path), 3, "/d");
		make_folder(path);
	}
	(void)str_format(wanted, sizeof(wanted), "%s ", path);
	(void)str_copy(path + strlen(path), 16, "/SHA256SUMS");
	make_file(path, "x");
	assert_found("deep", wanted);
	(void)str_copy(old, sizeof(old), in_scratch("deep"));
	make_folder("top");
	assert_int_equal(rename(old, in_scratch("top/deep")), 0);
	assert_refused("top", -ELOOP, "deeper than");
}

static void test_list(void **state unused_arg)
{
	struct bundle_list l = { .path = NULL };
	struct diag d = { .text = "" };
	char text[512];

	(void)str_format(text, sizeof(text), "%s/sums\n\n%s/b\n%s/sums", scratch, scratch, scratch);
	make_file("list", text);
	assert_int_equal(bundle_list_read(&l, in_scratch("list"), &d), 0);
	assert_list(&l, "sums b/deep/two b/one sums ");
	(void)str_format(text, sizeof(text), "%s/gone\n%s/nothing/at\n%s/other\n", scratch, scratch,
			 scratch);
	make_file("bad", text);
	assert_int_equal(bundle_list_read(&l, in_scratch("bad"), &d), -ENOENT);
	assert_list(&l, "sums b/deep/two b/one sums ");
	assert_int_equal(bundle_list_read(&l, in_scratch("no-list"), &d), -ENOENT);
	assert_non_null(strstr(d.text, "can't read the list"));
	bundle_list_done(&l);
}

static void test_size(void **state unused_arg)
{
	assert_int_equal(bundle_size(in_scratch("b/one")), 5);
	make_file("b/one/capture-000002.pcapng", "678");
	assert_int_equal(bundle_size(in_scratch("b/one")), 8);
	assert_int_equal(bundle_size(in_scratch("b/one/capture-000002.pcapng")), 3);
	assert_int_equal(bundle_size(in_scratch("gone")), 0);
	assert_int_equal(bundle_size(in_scratch("missing")), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

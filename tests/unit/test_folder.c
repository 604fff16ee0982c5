// SPDX-License-Identifier: Apache-2.0
/* Folders of trials, and what a dead client left. Needs root, whose folder they lie in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "user/rig/folder.h"

#define NOBODY 65534

static void fill(const char *folder)
{
	char path[128];

	(void)str_format(path, sizeof(path), "%s/sub", folder);
	assert_int_equal(mkdir(path, 0), 0);
	(void)str_format(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink("/", path), 0);
}

static bool is_there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static void test_make_and_remove(void **state unused_arg)
{
	char a[FOLDER_PATH_MAX], b[FOLDER_PATH_MAX], parent[FOLDER_PATH_MAX];
	struct folders f = FOLDERS_NONE;
	mode_t before = umask(077);
	struct stat st;

	assert_int_equal(folder_make(&f, NOBODY, NOBODY, a), 0);
	assert_int_equal(folder_make(&f, NOBODY, NOBODY, b), 0);
	(void)umask(before);
	memcpy(parent, f.path, sizeof(parent));
	assert_int_equal(stat(a, &st), 0);
	assert_int_equal(st.st_uid, NOBODY);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(parent, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0711);
	assert_int_equal(stat(FOLDER_PARENT, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	fill(a);
	folder_remove(a);
	assert_false(is_there(a));
	assert_true(is_there(b));
	fill(b);
	folders_done(&f);
	assert_false(is_there(parent));
	folders_done(&f);
	folder_remove("");
}

static void test_sweep(void **state unused_arg)
{
	char ours[FOLDER_PATH_MAX], theirs[FOLDER_PATH_MAX] = "";
	struct folders f = FOLDERS_NONE;
	int pipe_fds[2], status;
	pid_t pid;

	assert_int_equal(folder_make(&f, NOBODY, NOBODY, ours), 0);
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		struct folders dead = FOLDERS_NONE;
		char path[FOLDER_PATH_MAX];
		int err = folder_make(&dead, NOBODY, NOBODY, path);

		if (!err)
			err = write_all(pipe_fds[1], path, sizeof(path));
		_exit(err ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(read(pipe_fds[0], theirs, sizeof(theirs)), (int)sizeof(theirs));
	(void)close(pipe_fds[0]);
	(void)close(pipe_fds[1]);
	assert_true(is_there(theirs));
	folders_sweep();
	assert_false(is_there(theirs));
	assert_true(is_there(ours));
	folders_done(&f);
	assert_false(is_there(ours));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_make_and_remove),
		cmocka_unit_test(test_sweep),
	};

	if (geteuid() != 0) {
		(void)fprintf(stderr, "skipped: root is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a fuzz target over the files given, and over all files of the folders given: how a corpus is
 * replayed with a compiler that has no fuzzer, under a sanitizer or valgrind.
 */
#include <sys/stat.h>

#include "user/base/util.h"

#define INPUT_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned int ran;

static int run_file(const char *path)
{
	cleanup_free char *data = NULL;
	cleanup_free uint8_t *exact = NULL;
	size_t len;
	int err;

	err = read_file(path, INPUT_MAX, &data, &len);
	if (err < 0)
		return err;
	/* Without read_file()'s NUL, so that a read of one byte too many is seen. */
	exact = malloc(len ? len : 1);
	if (!exact)
		return -ENOMEM;
	memcpy(exact, data, len);
	(void)LLVMFuzzerTestOneInput(exact, len);
	ran++;
	return 0;
}

static int run_folder(const char *path)
{
	cleanup_dir DIR *dir = opendir(path);
	const struct dirent *e;
	char file[4096];
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		err = str_format(file, sizeof(file), "%s/%s", path, e->d_name);
		if (!err)
			err = run_file(file);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct stat st;

	for (int i = 1; i < argc; i++) {
		int err = stat(argv[i], &st) < 0 ? -errno : 0;

		if (!err)
			err = S_ISDIR(st.st_mode) ? run_folder(argv[i]) : run_file(argv[i]);
		if (err < 0) {
			fprintf(stderr, "'%s': %s\n", argv[i], strerror(-err));
			return 1;
		}
	}
	printf("%u inputs\n", ran);
	return ran ? 0 : 1;
}

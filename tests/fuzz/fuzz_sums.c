// SPDX-License-Identifier: Apache-2.0
/*
 * A bundle's SHA256SUMS, which somebody else wrote. In the folder are two files; only a list that
 * has both of them, with their sums, is what was sealed.
 */
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>

#include "user/record/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-sums-XXXXXX";

static void path_of(char out[64], const char *name)
{
	if (str_format(out, 64, "%s/%s", folder, name) < 0)
		abort();
}

static void remove_folder(void)
{
	static const char *const names[] = { "a", "sub/b", BUNDLE_SUMS, "sub" };
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		path_of(path, names[i]);
		(void)remove(path);
	}
	(void)rmdir(folder);
}

static void make_folder(void)
{
	static bool made;

	if (made)
		return;
	made = true;
	if (!mkdtemp(folder) || atexit(remove_folder) ||
	    bundle_add_bytes(folder, "a", "abc", 3, NULL) ||
	    bundle_add_bytes(folder, "sub/b", "", 0, NULL))
		abort();
}

static void write_sums(const uint8_t *data, size_t size)
{
	char path[64];
	int fd;

	path_of(path, BUNDLE_SUMS);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write_all(fd, data, size) < 0)
		abort();
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char abc[] =
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	static const char none[] =
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	struct diag d = { .text = "" };
	int err;

	make_folder();
	write_sums(data, size);
	err = bundle_check(folder, &d);
	if (err ? !d.text[0]
		: size != 2 * 64 + sizeof("  a\n  sub/b\n") - 1 ||
			    strncasecmp((const char *)data, abc, 64) != 0 ||
			    strncasecmp((const char *)data + 64 + 4, none, 64) != 0)
		abort();
	return 0;
}

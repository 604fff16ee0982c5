// SPDX-License-Identifier: Apache-2.0
/* Probe files are a user's own text, as target files are; so are the words of their commands. */
#include <fcntl.h>
#include <sys/mman.h>

#include "user/base/own_words.h"
#include "user/rig/probe_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Manifests are another program's part; these are as good. */
const struct probe_manifest *probe_manifest_find(const char *name)
{
	static const struct probe_manifest ours;

	return strcmp(name, "tcp-connect") ? NULL : &ours;
}

static void use(const struct probe_file *p)
{
	static const char *const value[OWN_WORDS] = { "203.0.113.1", "9000", "00", "100" };
	char out[OWN_ARG_MAX];

	for (size_t i = 0; p->run[i]; i++)
		if (own_words_fill(p->run[i], value, out) == -EINVAL)
			__builtin_trap(); /* the loader let an unknown word through */
	for (size_t i = 0; i < PROBE_FAMILIES_MAX && p->m.families[i]; i++)
		if (p->m.families[i][0] != '@')
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_fd int fd = memfd_create("probe", MFD_CLOEXEC);
	struct probe_file *p = NULL;
	struct diag d = { .text = "" };
	char path[64];

	if (fd < 0 || write_all(fd, data, size) < 0 ||
	    str_format(path, sizeof(path), "/proc/self/fd/%d", fd) < 0)
		return 0;
	if (probe_file_load(&p, path, &d) == 0)
		use(p);
	else if (!d.text[0])
		__builtin_trap(); /* an error that says nothing */
	probe_file_free(p);
	return 0;
}

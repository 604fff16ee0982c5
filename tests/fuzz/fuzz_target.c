// SPDX-License-Identifier: Apache-2.0
/* Target files are a user's own text: the loader reads whatever is in them and never crashes. */
#include <fcntl.h>
#include <sys/mman.h>

#include "user/rig/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(struct target *t)
{
	static const char *const families[] = { "@tcp" };
	char *const cmd[] = { (char[]){ "probe" }, NULL };
	struct target_vars vars = { .cmd = cmd };
	const struct target_off *off = target_off_for(t, "tcp-connect", families, 1);
	char **argv = NULL, missing[64];

	for (size_t i = 0; i < ARRAY_SIZE(vars.value); i++)
		vars.value[i] = "/x";
	(void)target_claim_for(t, "tcp-connect", families, 1);
	(void)target_available(t, missing, sizeof(missing));
	if (target_expand(off ? off->run : t->run, &vars, &argv) == 0)
		target_argv_free(argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_fd int fd = memfd_create("target", MFD_CLOEXEC);
	struct target *t = NULL;
	struct diag d = { 0 };
	char path[64];

	if (fd < 0 || write_all(fd, data, size) < 0 ||
	    str_format(path, sizeof(path), "/proc/self/fd/%d", fd) < 0)
		return 0;
	if (target_load(&t, path, &d) == 0)
		use(t);
	else if (!d.text[0])
		__builtin_trap(); /* an error that says nothing */
	target_free(t);
	return 0;
}

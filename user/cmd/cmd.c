// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/cmd.h"

#include "user/base/log.h"

int cmd_fail(const struct diag *d, int code)
{
	char text[1024];

	log_error("%s", diag_text(d, text, sizeof(text)));
	return code;
}

static int own_folder(char *ret, size_t n)
{
	ssize_t len = readlink("/proc/self/exe", ret, n - 1);
	char *slash;

	if (len < 0)
		return -errno;
	ret[len] = '\0';
	slash = strrchr(ret, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int cmd_beside(char *ret, size_t n, const char *name)
{
	char folder[4096];
	int err = own_folder(folder, sizeof(folder));

	return err ? err : str_format(ret, n, "%s/%s", folder, name);
}

int cmd_policies(char *ret, size_t n, const char *name)
{
	static const char *const places[] = { "../policies", "../../policies",
					      "../share/sentinel/policies" };
	char folder[4096];
	int err = own_folder(folder, sizeof(folder));

	for (size_t i = 0; i < ARRAY_SIZE(places) && !err; i++) {
		err = str_format(ret, n, "%s/%s/%s", folder, places[i], name);
		if (!err && !access(ret, R_OK | X_OK))
			return 0;
	}
	return err ? err : -ENOENT;
}

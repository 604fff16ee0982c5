// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/cmd.h"

#include "user/base/log.h"
#include "user/judge/verdict.h"

void cmd_log(bool json)
{
	log_open("sentinel", LOG_INFO_, json);
}

int cmd_fail(const struct diag *d, int code)
{
	char text[1024];

	log_error("%s", diag_text(d, text, sizeof(text)));
	return code;
}

int cmd_output_failed(void)
{
	log_error("can't write to standard output: %s", strerror(errno));
	clearerr(stdout);
	return EXIT_OUTPUT;
}

int cmd_flush(int code)
{
	errno = EIO; /* for what failed before, and was overlooked */
	return fflush(stdout) || ferror(stdout) ? cmd_output_failed() : code;
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

int cmd_policies(char *ret, size_t n, const char *name, struct diag *d)
{
	static const char *const places[] = { "../policies", "../../policies",
					      "../share/sentinel/policies" };
	char folder[4096];
	int err = own_folder(folder, sizeof(folder));

	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't tell where this program is: %s",
				strerror(-err));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!str_format(ret, n, "%s/%s/%s", folder, places[i], name) &&
		    !access(ret, R_OK | X_OK))
			return 0;
	return diag_set(d, -ENOENT, folder, 0, 0,
			"can't find the folder policies/%s: not as %s, %s or %s from here", name,
			places[0], places[1], places[2]);
}

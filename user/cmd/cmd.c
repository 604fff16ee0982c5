// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/cmd.h"

#include <sys/stat.h>

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

/* Targets say what is run, as root too: theirs is a folder of root or of whoever owns this program,
 * that not everybody may write to. A build below /tmp would else take what anybody puts beside it.
 */
static bool is_trusted(const char *policies, const char *program_folder)
{
	struct stat p, f;

	return !stat(policies, &p) && !stat(program_folder, &f) && S_ISDIR(p.st_mode) &&
	       !(p.st_mode & S_IWOTH) && (p.st_uid == 0 || p.st_uid == f.st_uid);
}

int cmd_policies(char *ret, size_t n, const char *name, struct diag *d)
{
	static const char *const places[] = { "policies", "../policies",
					      "../share/sentinel/policies" };
	char folder[4096];
	int err = own_folder(folder, sizeof(folder));

	if (err)
		return diag_set(d, err, NULL, 0, 0, "can't tell where this program is: %s",
				strerror(-err));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (!str_format(ret, n, "%s/%s/%s", folder, places[i], name) &&
		    is_trusted(ret, folder))
			return 0;
	return diag_set(d, -ENOENT, folder, 0, 0,
			"can't find the folder policies/%s: not as %s, %s or %s from here", name,
			places[0], places[1], places[2]);
}

// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/recorded.h"

#include <limits.h>

#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

/* A file that is longer than what it is compared with is another one, and not read: memory. */
static int compare(const char *path, const struct json_out *now)
{
	cleanup_free char *recorded = NULL;
	size_t len;
	int err = read_file(path, now->len, &recorded, &len);

	if (err == -EFBIG)
		return 0;
	if (err)
		return err == -ENOTDIR ? -ENOENT : err;
	return len == now->len && !memcmp(recorded, now->buf, len);
}

int recorded_is_same(const char *bundle, const struct run_result *r)
{
	struct json_out now;
	char path[PATH_MAX];
	int err = str_format(path, sizeof(path), "%s/verdict.json", bundle);

	if (err)
		return err;
	json_out_init(&now);
	err = verdict_json(&now, r, hook_name);
	if (!err)
		err = compare(path, &now);
	json_out_done(&now);
	return err;
}

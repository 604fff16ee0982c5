// SPDX-License-Identifier: Apache-2.0
#include "user/cmd/recorded.h"

#include <limits.h>

#include "user/report/verdict_json.h"
#include "user/sense/hook_names.h"

#define VERDICT_FILE_MAX (64u << 20)

int recorded_is_same(const char *bundle, const struct run_result *r)
{
	cleanup_free char *recorded = NULL;
	struct json_out now;
	char path[PATH_MAX];
	size_t len;
	int err = str_format(path, sizeof(path), "%s/verdict.json", bundle);

	if (!err)
		err = read_file(path, VERDICT_FILE_MAX, &recorded, &len);
	if (err)
		return err == -ENOTDIR ? -ENOENT : err;
	json_out_init(&now);
	err = verdict_json(&now, r, hook_name);
	if (!err)
		err = len == now.len && !memcmp(recorded, now.buf, len);
	json_out_done(&now);
	return err;
}

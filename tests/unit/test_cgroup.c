// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "user/base/cgroup_root.h"
#include "user/rig/cgroup.h"

static void mounts(void **state unused_arg)
{
	static const struct {
		const char *line;
		int err;
		const char *point;
	} rows[] = {
		/* pure */
		{ "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 "
		  "rw,nsdelegate\n",
		  0, "/sys/fs/cgroup" },
		/* beside v1, with no and with two optional fields */
		{ "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n", 0,
		  "/sys/fs/cgroup/unified" },
		{ "41 31 0:38 / /cg rw shared:1 master:2 - cgroup2 none rw\n", 0, "/cg" },
		/* another root than the hierarchy's own is found, and refused when it is opened */
		{ "41 31 0:38 /../.. /cg rw - cgroup2 none rw\n", 0, "/cg" },
		{ "41 31 0:38 / /a\\040b\\134c\\011d rw - cgroup2 none rw\n", 0, "/a b\\c\td" },
		{ "41 31 0:38 / /a\\04 rw - cgroup2 none rw\n", 0, "/a\\04" },
		/* others */
		{ "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n", -ENOENT,
		  NULL },
		{ "31 23 0:28 / /sys/fs/cgroup rw - tmpfs cgroup2 rw,mode=755\n", -ENOENT, NULL },
		{ "32 31 0:29 / /x rw - cgroup2fs none rw\n", -ENOENT, NULL },
		/* what the kernel never writes */
		{ "", -ENOENT, NULL },
		{ " - cgroup2 \n", -ENOENT, NULL },
		{ "1 2 3 4 - cgroup2 none rw\n", -ENOENT, NULL },
		{ "1 2 3 /cg\n", -ENOENT, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char point[64] = "untouched";

		if (cgroup_parse_mount(rows[i].line, point, sizeof(point)) != rows[i].err)
			fail_msg("row %zu", i);
		if (rows[i].point)
			assert_string_equal(point, rows[i].point);
	}
}

static void mount_too_long(void **state unused_arg)
{
	const char *line = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 none rw\n";
	char point[15];

	assert_int_equal(cgroup_parse_mount(line, point, sizeof(point)), 0);
	assert_string_equal(point, "/sys/fs/cgroup");
	assert_int_equal(cgroup_parse_mount(line, point, 14), -ENAMETOOLONG);
}

/* Names that would leave their directory, or could not be told from others, make nothing. */
static void run_ids(void **state unused_arg)
{
	static const char *const bad[] = {
		"",    ".",   "..",   "a/b",	  "../x",
		"a.b", "a b", "a\nb", "\xc3\xa4", "12345678901234567890123456789012345678901"
	};
	struct diag d;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct cgroup_run r;

		assert_int_equal(cgroup_run_make(&r, bad[i], &d), -EINVAL);
		cgroup_run_remove(&r);
	}
	cgroup_run_remove(NULL);
	cgroup_run_remove(&(struct cgroup_run){ 0 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts),
		cmocka_unit_test(mount_too_long),
		cmocka_unit_test(run_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

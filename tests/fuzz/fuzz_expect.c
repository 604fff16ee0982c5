// SPDX-License-Identifier: Apache-2.0
/* A file of expected verdicts, compared with a small run: what is said is one printable line. */
#include <sys/mman.h>

#include "user/report/expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool in_family(const char *probe, const char *family)
{
	return family[0] == '@' && probe[0] == family[1];
}

static void differs(void *arg, const char *text, bool escaped unused_arg)
{
	uint32_t *n = arg;

	if (!*text)
		abort();
	for (; *text; text++)
		if (*text < 0x20 || *text == 0x7f)
			abort();
	++*n;
}

static void compare(const struct expect *e)
{
	struct cell_result cells[] = {
		{ .target = "box", .probe = "udp-send", .n = 1, .role = ROLE_TARGET },
		{ .target = "net\x1b[31m", .probe = "tcp-connect", .n = 4, .role = ROLE_TARGET },
		{ .target = "deny-all", .probe = "udp-send", .n = 1, .role = ROLE_CONTAINS },
	};
	const struct run_result r = { .cells = cells, .cells_n = ARRAY_SIZE(cells) };
	uint32_t n = 0;

	cells[0].judgement.verdict = VERDICT_CONTAINED;
	(void)str_copy(cells[0].stopped_by, sizeof(cells[0].stopped_by), "no-route");
	cells[1].judgement =
		(struct judgement){ .verdict = VERDICT_ESCAPED, .grade = GRADE_PAYLOAD };
	cells[1].crossed = 2;
	cells[1].steady_ms = 3000;
	if (expect_compare(e, &r, in_family, differs, &n) != n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_fd int fd = memfd_create("expect", MFD_CLOEXEC);
	struct diag d = { .text = "" };
	struct expect *e = NULL;
	char path[64];

	if (fd < 0 || write_all(fd, data, size) < 0 ||
	    str_format(path, sizeof(path), "/proc/self/fd/%d", fd) < 0)
		return 0;
	if (expect_load(&e, path, &d) == 0)
		compare(e);
	else if (!d.text[0])
		abort(); /* an error that says nothing */
	expect_free(e);
	return 0;
}
